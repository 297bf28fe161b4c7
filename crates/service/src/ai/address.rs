//! The address of an AI endpoint, as sites paste it: checked before it is stored and before each request.

use std::net::IpAddr;

use chat_protocol::admin::settings::{AI_PROVIDERS, AiProvider};
use reqwest::Url;

use crate::addresses::{is_allowed, is_localhost};

/// The version of Azure's API that is named for a deployment's address without one.
const AZURE_VERSION: (&str, &str) = ("api-version", "2024-10-21");

/// What an address may end with that belongs to one operation of the API, and not to its base.
const OPERATIONS: [&str; 4] = ["/responses", "/completions", "/models", "/embeddings"];

/// An invalid AI endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EndpointError {
    /// The base is not an HTTP address, or contains a password.
    #[error("invalid base address of the AI: expected one such as https://ai.example/v1")]
    Base,
    /// The address has a query, which may contain a key.
    #[error(
        "invalid base address of the AI: expected no query but api-version; the key belongs into the field of the key"
    )]
    Query,
    /// The key would be readable on its way.
    #[error(
        "invalid base address of the AI: expected https, got http (the service's host can allow http for a local AI)"
    )]
    Plain,
    /// The address is in the host's own network.
    #[error(
        "invalid base address of the AI: expected a public address, got a private one (the service's host can allow it)"
    )]
    Private,
    /// The key cannot be sent as a header.
    #[error("invalid key of the AI: expected one line of ASCII characters")]
    Key,
}

/// The format of requests and responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// OpenAI's chat completions, which nearly every provider and server speaks.
    ChatCompletions,
    /// Anthropic's messages.
    Messages,
    /// Ollama's own chat, the only one of its formats that takes the length of the context.
    Ollama,
}

/// The header that carries the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyHeader {
    /// `Authorization: Bearer KEY`
    Bearer,
    /// `api-key: KEY`, of Azure.
    ApiKey,
    /// `x-api-key: KEY`, of Anthropic.
    XApiKey,
}

/// Where and how an endpoint is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) provider: AiProvider,
    pub(super) url: Url,
    pub(super) format: Format,
    pub(super) key_header: KeyHeader,
}

impl Target {
    /// Returns the target of a base address. People paste the address of an operation, or that of the server
    /// alone: both lead to the same target. `provider` is what the site has chosen; for `custom`, the host's
    /// name tells some.
    pub(super) fn new(base: &str, provider: &str, allows_private: bool) -> Result<Self, EndpointError> {
        let mut url = Url::parse(base.trim()).map_err(|_| EndpointError::Base)?;
        check(&url, allows_private)?;
        let provider = provider_of(provider, url.host_str().unwrap_or_default());
        let is_azure = provider.id == "azure";
        let path = url.path().trim_end_matches('/').to_owned();
        let completions = path.strip_suffix("/chat/completions");
        let path = completions.unwrap_or(&path);
        let path = OPERATIONS.iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path);
        let format = match provider.id {
            // An address with an operation decides the format.
            _ if completions.is_some() => Format::ChatCompletions,
            "ollama" => Format::Ollama,
            "anthropic" => Format::Messages,
            _ => Format::ChatCompletions,
        };
        let base = match format {
            Format::Messages => path.strip_suffix("/messages").unwrap_or(path),
            Format::Ollama => {
                ["/api/chat", "/api", "/v1"].iter().find_map(|end| path.strip_suffix(end)).unwrap_or(path)
            }
            Format::ChatCompletions => path,
        };
        let base = match base {
            "" | "/openai" if is_azure => "/openai/v1",
            "/v1beta" if provider.id == "gemini" => "/v1beta/openai",
            "" if format != Format::Ollama && completions.is_none() => &path_of(provider),
            base => base,
        };
        let operation = match format {
            Format::ChatCompletions => "/chat/completions",
            Format::Messages => "/messages",
            Format::Ollama => "/api/chat",
        };
        url.set_path(&format!("{base}{operation}"));
        if is_azure && base.contains("/deployments/") && url.query().is_none() {
            url.query_pairs_mut().append_pair(AZURE_VERSION.0, AZURE_VERSION.1);
        }
        let key_header = match format {
            Format::Messages => KeyHeader::XApiKey,
            // A gateway in front of Azure has a host of its own, but the same query.
            _ if is_azure || url.query().is_some() => KeyHeader::ApiKey,
            _ => KeyHeader::Bearer,
        };
        Ok(Self { provider, url, format, key_header })
    }
}

/// Returns the provider with an id; where the site names none, that of the host.
fn provider_of(id: &str, host: &str) -> AiProvider {
    let chosen = AiProvider::of(id).unwrap_or(AiProvider::CUSTOM);
    if chosen != AiProvider::CUSTOM {
        return chosen;
    }
    let has_host = |provider: &AiProvider| match provider.id {
        "azure" => host.ends_with(".azure.com"),
        _ => Url::parse(provider.base).is_ok_and(|base| base.host_str() == Some(host)),
    };
    let found = AI_PROVIDERS.into_iter().find(|provider| provider.needs_key && has_host(provider));
    found.unwrap_or(AiProvider::CUSTOM)
}

/// Returns the path of a provider's API, for an address that names the server only. That of other endpoints
/// is not known.
fn path_of(provider: AiProvider) -> String {
    if provider == AiProvider::CUSTOM {
        return String::new();
    }
    let path = Url::parse(provider.base).map(|base| base.path().trim_end_matches('/').to_owned());
    path.unwrap_or_default()
}

/// Checks the address of an endpoint. `allows_private` is set when the host allows endpoints in its own
/// network, such as a model on the same machine.
fn check(url: &Url, allows_private: bool) -> Result<(), EndpointError> {
    let is_https = url.scheme() == "https";
    if !(is_https || (url.scheme() == "http" && allows_private)) {
        return Err(if url.scheme() == "http" { EndpointError::Plain } else { EndpointError::Base });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EndpointError::Base);
    }
    if url.fragment().is_some() {
        return Err(EndpointError::Base);
    }
    if url.query().is_some() && url.query_pairs().any(|(name, _)| name != AZURE_VERSION.0) {
        return Err(EndpointError::Query);
    }
    let host = url.host_str().ok_or(EndpointError::Base)?;
    if !allows_private && is_localhost(host) {
        return Err(EndpointError::Private);
    }
    // Url has brought numbers such as 0x7f.1 into the usual form.
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match literal {
        Ok(address) if !is_allowed(address, allows_private) => Err(EndpointError::Private),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_private_addresses_in_any_notation() {
        let check = |base: &str| check(&base.parse().expect("a URL"), false);
        for base in [
            "https://127.0.0.1/v1",
            "https://2130706433/v1",
            "https://0x7f.1/v1",
            "https://017700000001/v1",
            "https://[::1]/v1",
            "https://[::ffff:10.0.0.1]/v1",
            "https://169.254.169.254/v1",
            "https://127.1:8443/v1",
        ] {
            assert!(matches!(check(base), Err(EndpointError::Private)), "{base}");
        }
        assert!(check("https://ai.example/v1").is_ok() && check("https://1.1.1.1/v1").is_ok());
        assert!(
            matches!(check("http://ai.example/v1"), Err(EndpointError::Plain)),
            "the key would be readable"
        );
        for base in ["ftp://ai.example", "file:///etc/passwd", "https://user:secret@ai.example/v1", "data:x"]
        {
            assert!(matches!(check(base), Err(EndpointError::Base)), "{base}");
        }
        assert_eq!(check("https://ai.example/v1#"), Err(EndpointError::Base));
        for base in ["https://ai.example/v1?key=1", "https://ai.example/v1?api-version=1&key=1"] {
            assert_eq!(check(base), Err(EndpointError::Query), "{base}");
        }
    }

    #[test]
    fn a_host_that_allows_its_network_still_hides_the_metadata_services() {
        let check = |base: &str| super::check(&base.parse().expect("a URL"), true);
        assert!(check("http://127.0.0.1:11434/v1").is_ok() && check("http://ollama:11434/v1").is_ok());
        for base in [
            "http://169.254.169.254/v1",
            "http://[fd00:ec2::254]/v1",
            "http://[::ffff:169.254.169.254]/v1",
            "http://100.100.100.200/v1",
            "https://168.63.129.16/v1",
        ] {
            assert!(matches!(check(base), Err(EndpointError::Private)), "{base}");
        }
    }

    #[test]
    fn every_way_to_paste_an_address_leads_to_the_same_target() {
        const AZURE: &str = "https://x.openai.azure.com/openai";
        let version = "api-version=2024-10-21";
        let deployment = format!("{AZURE}/deployments/d/chat/completions?{version}");
        let cases: &[(&str, &[&str], &str)] = &[
            (
                "openai",
                &[
                    "https://api.openai.com",
                    "https://api.openai.com/v1",
                    "https://api.openai.com/v1/",
                    "https://api.openai.com/v1/chat/completions",
                    " https://api.openai.com/v1/responses ",
                    "https://api.openai.com/v1/models",
                ],
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "azure",
                &[
                    "https://x.openai.azure.com",
                    &format!("{AZURE}/v1/"),
                    &format!("{AZURE}/v1/chat/completions"),
                ],
                &format!("{AZURE}/v1/chat/completions"),
            ),
            (
                "azure",
                &[
                    &format!("{AZURE}/deployments/d"),
                    &format!("{AZURE}/deployments/d?{version}"),
                    &format!("{AZURE}/deployments/d/chat/completions?{version}"),
                ],
                &deployment,
            ),
            (
                "anthropic",
                &[
                    "https://api.anthropic.com",
                    "https://api.anthropic.com/v1",
                    "https://api.anthropic.com/v1/messages",
                ],
                "https://api.anthropic.com/v1/messages",
            ),
            (
                "gemini",
                &[
                    "https://generativelanguage.googleapis.com",
                    "https://generativelanguage.googleapis.com/v1beta",
                    "https://generativelanguage.googleapis.com/v1beta/openai/",
                ],
                "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
            ),
            ("groq", &["https://api.groq.com"], "https://api.groq.com/openai/v1/chat/completions"),
            ("openrouter", &["https://openrouter.ai"], "https://openrouter.ai/api/v1/chat/completions"),
            (
                "ollama",
                &[
                    "http://gpu:11434",
                    "http://gpu:11434/",
                    "http://gpu:11434/v1",
                    "http://gpu:11434/api",
                    "http://gpu:11434/api/chat",
                ],
                "http://gpu:11434/api/chat",
            ),
            ("vllm", &["http://gpu:8000", "http://gpu:8000/v1"], "http://gpu:8000/v1/chat/completions"),
            ("lmstudio", &["http://gpu:1234"], "http://gpu:1234/v1/chat/completions"),
            ("custom", &["https://ai.example"], "https://ai.example/chat/completions"),
            ("custom", &["https://ai.example/v1"], "https://ai.example/v1/chat/completions"),
        ];
        for (provider, bases, expected) in cases {
            for base in *bases {
                let targets = [*provider, "custom"].map(|provider| Target::new(base, provider, true));
                assert_eq!(targets[0].as_ref().map(|target| target.url.as_str()), Ok(*expected), "{base}");
                // The host's name tells the providers on the internet.
                if base.trim().starts_with("https") {
                    assert_eq!(targets[0], targets[1], "{base}");
                }
            }
        }
    }

    #[test]
    fn each_provider_gets_the_key_in_its_header() {
        use {Format::*, KeyHeader::*};
        let of = |base: &str, provider| {
            let target = Target::new(base, provider, true).expect("a target");
            (target.format, target.key_header)
        };
        assert_eq!(of("https://api.openai.com/v1", "openai"), (ChatCompletions, Bearer));
        assert_eq!(of("https://x.openai.azure.com/openai/v1", "custom"), (ChatCompletions, ApiKey));
        assert_eq!(
            of("https://gateway.example/openai/deployments/d?api-version=1", "custom"),
            (ChatCompletions, ApiKey)
        );
        assert_eq!(of("https://api.anthropic.com/v1", "anthropic"), (Messages, XApiKey));
        assert_eq!(
            of("https://api.anthropic.com/v1/chat/completions", "anthropic"),
            (ChatCompletions, Bearer)
        );
        assert_eq!(of("http://gpu:11434", "ollama"), (Ollama, Bearer));
        assert_eq!(of("http://gpu:11434/v1/chat/completions", "ollama"), (ChatCompletions, Bearer));
    }
}
