//! The HTTP client that reads websites. They are not trusted: a response may be slow, endless, a bomb or a
//! redirect.

use std::io::Read;
use std::time::Duration;

use axum::http::{HeaderMap, header};
use flate2::read::MultiGzDecoder;
use jiff::Timestamp;
use reqwest::{Client, Response, StatusCode, Url, redirect};

use super::robots::AGENT;
use crate::addresses::{CheckedResolver, is_allowed, is_localhost};
use crate::clock::retry_after;

/// Maximum bytes of a page, unpacked.
pub(super) const MAX_PAGE_BYTES: usize = 2 * 1024 * 1024;
/// Maximum bytes of an address.
const MAX_ADDRESS_BYTES: usize = 2048;

/// The headers by which a server tells whether a page has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Validators {
    pub(super) etag: Option<String>,
    pub(super) modified: Option<String>,
}

/// How much of a body is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Limit {
    /// A larger one is refused.
    Whole(usize),
    /// Of a larger one, the beginning is read.
    Beginning(usize),
}

/// A response.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    /// The body of a success, unpacked.
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// Returns a header; `None` if it has other characters than visible ASCII.
    pub(super) fn header(&self, name: header::HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns each `X-Robots-Tag`.
    pub(super) fn robots(&self) -> Vec<&str> {
        self.headers.get_all("x-robots-tag").iter().filter_map(|value| value.to_str().ok()).collect()
    }

    /// Returns the headers by which the next request asks for a change.
    pub(super) fn validators(&self) -> Validators {
        let short = |name| self.header(name).filter(|value| value.len() <= 256).map(str::to_owned);
        Validators { etag: short(header::ETAG), modified: short(header::LAST_MODIFIED) }
    }

    /// Returns the time that the server asks to wait.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        retry_after(self.header(header::RETRY_AFTER)?, Timestamp::now())
    }
}

/// A request without a response that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    Timeout,
    Unreachable,
    TooLarge,
    /// The body is packed in a way that was not asked for.
    Unreadable,
}

/// A client that connects to allowed addresses only, and follows no redirects.
#[derive(Clone, Debug)]
pub(super) struct Fetcher {
    client: Client,
    allows_private: bool,
}

impl Fetcher {
    /// Creates a client that names the service's public origin.
    pub(super) fn new(
        allows_private: bool,
        origin: Option<&str>,
        timeout: Duration,
    ) -> Result<Self, reqwest::Error> {
        // Does nothing in an application that has already installed a provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let version = env!("CARGO_PKG_VERSION");
        let agent = match origin {
            Some(origin) => format!("{AGENT}/{version} (+{}/)", origin.trim_end_matches('/')),
            None => format!("{AGENT}/{version}"),
        };
        let client = Client::builder()
            .dns_resolver(CheckedResolver { allows_private })
            // A proxy would resolve the host itself, without the check.
            .no_proxy()
            .redirect(redirect::Policy::none())
            .referer(false)
            .timeout(timeout)
            .pool_max_idle_per_host(1)
            // Bodies are unpacked here, within bounds.
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .user_agent(agent)
            .build()?;
        Ok(Self { client, allows_private })
    }

    /// Returns whether an address may be requested at all: a web address, without a password, and not of a
    /// private network. Names are checked again when they are resolved.
    pub(super) fn may_request(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let is_web = matches!(url.scheme(), "http" | "https") && !host.is_empty();
        let is_private = host.parse().is_ok_and(|address| !is_allowed(address, self.allows_private))
            || (is_localhost(host) && !self.allows_private);
        let is_short = url.as_str().len() <= MAX_ADDRESS_BYTES;
        is_web && is_short && !is_private && url.username().is_empty() && url.password().is_none()
    }

    /// Requests an address once.
    pub(super) async fn get(
        &self,
        url: &Url,
        validators: &Validators,
        limit: Limit,
    ) -> Result<Answer, Failure> {
        let mut request = self
            .client
            .get(url.clone())
            .header(header::ACCEPT, "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.1")
            .header(header::ACCEPT_ENCODING, "gzip");
        if let Some(etag) = &validators.etag {
            request = request.header(header::IF_NONE_MATCH, etag);
        }
        if let Some(modified) = &validators.modified {
            request = request.header(header::IF_MODIFIED_SINCE, modified);
        }
        let response = request.send().await.map_err(|error| failure(&error))?;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = if status.is_success() { read(response, limit).await? } else { Vec::new() };
        Ok(Answer { status, headers, body })
    }
}

fn failure(error: &reqwest::Error) -> Failure {
    if error.is_timeout() { Failure::Timeout } else { Failure::Unreachable }
}

async fn read(mut response: Response, limit: Limit) -> Result<Vec<u8>, Failure> {
    let (max, may_end) = match limit {
        Limit::Whole(max) => (max, false),
        Limit::Beginning(max) => (max, true),
    };
    let encoding = response.headers().get(header::CONTENT_ENCODING);
    let encoding = encoding.map(|value| value.to_str().unwrap_or("unknown").trim().to_ascii_lowercase());
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failure(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() > max {
            if !may_end {
                return Err(Failure::TooLarge);
            }
            break;
        }
    }
    match encoding.as_deref() {
        None | Some("" | "identity") => {}
        Some("gzip" | "x-gzip") => {
            let mut unpacked = Vec::new();
            let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
            let read = MultiGzDecoder::new(body.as_slice()).take(limit).read_to_end(&mut unpacked);
            if read.is_err() && !may_end {
                return Err(Failure::Unreadable);
            }
            body = unpacked;
        }
        Some(_) => return Err(Failure::Unreadable),
    }
    if body.len() > max {
        if !may_end {
            return Err(Failure::TooLarge);
        }
        body.truncate(max);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_of_the_public_internet_are_requested() {
        let may = |address: &str, allows_private| {
            let fetcher = Fetcher::new(allows_private, None, Duration::from_secs(1)).expect("a client");
            fetcher.may_request(&Url::parse(address).expect("an address"))
        };
        for address in ["https://shop.example/", "http://shop.example:8080/x", "https://1.1.1.1/"] {
            assert!(may(address, false), "{address}");
        }
        for address in [
            "ftp://shop.example/",
            "file:///etc/passwd",
            "https://user:secret@shop.example/",
            "http://169.254.169.254/",
            "http://0x7f.1/",
            "http://[::ffff:10.0.0.1]/",
            "http://localhost/",
            "http://a.localhost./",
        ] {
            assert!(!may(address, false), "{address}");
        }
        assert!(may("http://127.0.0.1:1/", true) && may("http://localhost/", true));
        assert!(!may("http://169.254.169.254/", true));
        assert!(!may(&format!("https://shop.example/{}", "x".repeat(3000)), false));
    }
}
