//! The HTTP client that reads websites. They are not trusted: a response may be slow, endless, a bomb or a
//! redirect.

use std::io::Read;
use std::time::Duration;

use axum::http::{HeaderMap, header};
use flate2::read::GzDecoder;
use jiff::Timestamp;
use reqwest::{Client, Response, StatusCode, Url, redirect};

use crate::addresses::{CheckedResolver, is_allowed, is_localhost};
use crate::clock::retry_after;

/// The name by which a `robots.txt` addresses this service.
pub const AGENT: &str = "site-connector";
/// Maximum bytes of a page, unpacked.
pub const MAX_PAGE_BYTES: usize = 2 * 1024 * 1024;
/// Maximum bytes of a body that is packed.
pub const MAX_PACKED_BYTES: usize = 2 * 1024 * 1024;
/// Maximum bytes of an address.
const MAX_ADDRESS_BYTES: usize = 2048;

/// The headers by which a server tells whether a page has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    /// `ETag`.
    pub etag: Option<String>,
    /// `Last-Modified`.
    pub modified: Option<String>,
}

/// How much of a body is read.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// A larger one is refused.
    Whole(usize),
    /// Of a larger one, the beginning is read.
    Beginning(usize),
}

impl Limit {
    /// Returns the bytes, and whether a body may be cut off there.
    fn bytes(self) -> (usize, bool) {
        match self {
            Self::Whole(max) => (max, false),
            Self::Beginning(max) => (max, true),
        }
    }
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    headers: HeaderMap,
    /// The body of a success.
    pub body: Vec<u8>,
    /// Whether the body is packed: then [`Self::unpacked`] comes first.
    pub is_packed: bool,
}

impl Answer {
    /// Returns a header; `None` if it has other characters than visible ASCII.
    pub fn header(&self, name: header::HeaderName) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Unpacks the body, which may take long.
    pub fn unpacked(mut self, limit: Limit) -> Result<Self, Failure> {
        let (max, may_end) = limit.bytes();
        let mut unpacked = Vec::new();
        let most = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
        // One member, as servers send it: empty ones would take time without a byte that counts.
        let read = GzDecoder::new(self.body.as_slice()).take(most).read_to_end(&mut unpacked);
        if read.is_err() && !may_end {
            return Err(Failure::Unreadable);
        }
        if unpacked.len() > max {
            if !may_end {
                return Err(Failure::TooLarge);
            }
            unpacked.truncate(max);
        }
        (self.body, self.is_packed) = (unpacked, false);
        Ok(self)
    }

    /// Returns each `X-Robots-Tag`.
    pub fn robots(&self) -> Vec<&str> {
        self.headers.get_all("x-robots-tag").iter().filter_map(|value| value.to_str().ok()).collect()
    }

    /// Returns the headers by which the next request asks for a change.
    pub fn validators(&self) -> Validators {
        let short = |name| self.header(name).filter(|value| value.len() <= 256).map(str::to_owned);
        Validators { etag: short(header::ETAG), modified: short(header::LAST_MODIFIED) }
    }

    /// Returns the time that the server asks to wait.
    pub fn retry_after(&self) -> Option<Duration> {
        retry_after(self.header(header::RETRY_AFTER)?, Timestamp::now())
    }
}

/// A request without a response that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// There was no response in time.
    Timeout,
    /// There was no connection, or it ended early.
    Unreachable,
    /// The body is larger than the limit.
    TooLarge,
    /// The body is packed in a way that was not asked for.
    Unreadable,
}

/// A client that connects to allowed addresses only, and follows no redirects.
#[derive(Clone, Debug)]
pub struct Fetcher {
    client: Client,
    allows_private: bool,
}

impl Fetcher {
    /// Creates a client that names the service's public origin.
    pub fn new(
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
    pub fn may_request(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let is_web = matches!(url.scheme(), "http" | "https") && !host.is_empty();
        let is_private = host.parse().is_ok_and(|address| !is_allowed(address, self.allows_private))
            || (is_localhost(host) && !self.allows_private);
        let is_short = url.as_str().len() <= MAX_ADDRESS_BYTES;
        is_web && is_short && !is_private && url.username().is_empty() && url.password().is_none()
    }

    /// Requests an address once.
    pub async fn get(&self, url: &Url, validators: &Validators, limit: Limit) -> Result<Answer, Failure> {
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
        let (body, is_packed) =
            if status.is_success() { read(response, limit).await? } else { (Vec::new(), false) };
        Ok(Answer { status, headers, body, is_packed })
    }
}

fn failure(error: &reqwest::Error) -> Failure {
    if error.is_timeout() { Failure::Timeout } else { Failure::Unreachable }
}

/// Reads a body. Returns it with whether it is packed.
async fn read(mut response: Response, limit: Limit) -> Result<(Vec<u8>, bool), Failure> {
    let (max, may_end) = limit.bytes();
    let encoding = response.headers().get(header::CONTENT_ENCODING);
    let encoding = encoding.map(|value| value.to_str().unwrap_or("unknown").trim().to_ascii_lowercase());
    let is_packed = match encoding.as_deref() {
        None | Some("" | "identity") => false,
        Some("gzip" | "x-gzip") => true,
        Some(_) => return Err(Failure::Unreadable),
    };
    let max = if is_packed { max.min(MAX_PACKED_BYTES) } else { max };
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
    body.truncate(max);
    Ok((body, is_packed))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).expect("packed");
        encoder.finish().expect("packed")
    }

    #[test]
    fn a_packed_body_is_unpacked_within_its_bounds() {
        let unpacked = |body: Vec<u8>, limit| {
            let headers = HeaderMap::new();
            let answer = Answer { status: StatusCode::OK, headers, body, is_packed: true };
            answer.unpacked(limit).map(|answer| answer.body)
        };
        assert_eq!(unpacked(packed(b"celadon"), Limit::Whole(7)), Ok(b"celadon".to_vec()));
        assert_eq!(unpacked(packed(b"celadon"), Limit::Whole(6)), Err(Failure::TooLarge));
        assert_eq!(unpacked(packed(b"celadon"), Limit::Beginning(3)), Ok(b"cel".to_vec()));
        assert_eq!(unpacked(b"no gzip".to_vec(), Limit::Whole(100)), Err(Failure::Unreadable));
        // The members after the first are not looked at, however many they are.
        let members = [packed(b"celadon"), packed(b"").repeat(50_000)].concat();
        assert_eq!(unpacked(members, Limit::Whole(100)), Ok(b"celadon".to_vec()));
    }

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
