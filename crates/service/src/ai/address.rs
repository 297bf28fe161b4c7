//! Checks the address of an AI endpoint, before it is stored and before each request.

use std::net::IpAddr;

use reqwest::Url;

use crate::addresses::{is_allowed, is_localhost};

/// An invalid AI endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum EndpointError {
    /// The base is not an HTTP address, or contains a password.
    #[error("invalid base address of the AI: expected one such as https://ai.example/v1")]
    Base,
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

/// Checks the address of an endpoint. `allows_private` is set when the host allows endpoints in its own
/// network, such as a model on the same machine.
pub(super) fn check(url: &Url, allows_private: bool) -> Result<(), EndpointError> {
    let is_https = url.scheme() == "https";
    if !(is_https || (url.scheme() == "http" && allows_private)) {
        return Err(if url.scheme() == "http" { EndpointError::Plain } else { EndpointError::Base });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EndpointError::Base);
    }
    // The path of the API would end up in a query or in a fragment.
    if url.query().is_some() || url.fragment().is_some() {
        return Err(EndpointError::Base);
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
        for base in ["https://ai.example/v1?key=1", "https://ai.example/v1#"] {
            assert!(matches!(check(base), Err(EndpointError::Base)), "{base}");
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
}
