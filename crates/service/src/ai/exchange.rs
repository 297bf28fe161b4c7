//! The HTTP client for AI endpoints. An endpoint is not trusted: its response may be slow, endless or a
//! redirect, and its name may lead into the host's own network.

use std::error::Error;
use std::fmt::Write;
use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, header};
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use jiff::Timestamp;
use reqwest::{Client, ClientBuilder, Response, StatusCode, Url, redirect};

use crate::addresses::CheckedResolver;

/// Maximum bytes of a response, also after decompression. A stream of events has about 300 bytes for a token.
pub(super) const MAX_RESPONSE_BYTES: usize = 1024 * 1024;
/// The timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A failed request. The text omits the address, which may contain a key.
#[derive(Debug, thiserror::Error)]
pub(super) enum AiClientError {
    /// The connection or TLS failed, or the request timed out.
    #[error("{}", with_causes(.0))]
    Request(reqwest::Error),
    /// The endpoint redirects, which would send the key to another address.
    #[error("the endpoint redirects: configure the address that it redirects to")]
    Redirect,
    #[error("invalid response: expected at most {MAX_RESPONSE_BYTES} bytes")]
    TooLong,
    #[error("invalid response: expected no compression, as requested, got one that is not known or damaged")]
    Compressed,
}

/// The response to a request.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: StatusCode,
    /// When the endpoint wants to be asked again, from now on.
    pub(super) retry_after: Option<Duration>,
    pub(super) body: String,
}

impl From<reqwest::Error> for AiClientError {
    fn from(error: reqwest::Error) -> Self {
        Self::Request(error.without_url())
    }
}

/// Returns an error with its chain of causes; a TLS error is the last of them.
fn with_causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

/// A client for one scheme. Clones share its connections.
#[derive(Clone, Debug)]
pub(super) struct AiClient(Client);

impl AiClient {
    /// Creates a client for addresses that begin with `https`, or, if not `is_https`, with `http`.
    pub(super) fn new(is_https: bool, allows_private: bool) -> Result<Self, reqwest::Error> {
        // Does nothing in an application that has already installed a provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder();
        if !is_https {
            // Plain HTTP is for a local AI: neither certificates nor the system's proxy are needed.
            client = client.tls_certs_only([]).no_proxy();
        }
        if !allows_private {
            // A proxy would resolve names itself, so that nobody checked where they lead.
            client = client.no_proxy();
        }
        Self::with(client.dns_resolver(Arc::new(CheckedResolver { allows_private })))
    }

    fn with(client: ClientBuilder) -> Result<Self, reqwest::Error> {
        let client = client
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .build()?;
        Ok(Self(client))
    }

    /// Sends a JSON body. `headers` carry the key.
    pub(super) async fn post(
        &self,
        url: Url,
        headers: HeaderMap,
        timeout: Duration,
        body: String,
    ) -> Result<Reply, AiClientError> {
        let request = self
            .0
            .post(url)
            .timeout(timeout)
            .headers(headers)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json")
            .header(header::ACCEPT_ENCODING, "identity")
            .body(body);
        let response = request.send().await?;
        let status = response.status();
        if status.is_redirection() {
            return Err(AiClientError::Redirect);
        }
        let retry_after = retry_after(response.headers());
        let encoding =
            response.headers().get(header::CONTENT_ENCODING).map(|value| value.as_bytes().to_vec());
        let body = bounded_body(response).await?;
        // Some servers and gateways compress whatever was asked for.
        let body = match encoding.as_deref() {
            None | Some(b"identity" | b"") => body,
            Some(b"gzip" | b"x-gzip") => decompressed(MultiGzDecoder::new(body.as_slice()))?,
            Some(b"deflate") => decompressed(ZlibDecoder::new(body.as_slice()))?,
            Some(_) => return Err(AiClientError::Compressed),
        };
        Ok(Reply { status, retry_after, body: String::from_utf8_lossy(&body).into_owned() })
    }
}

/// Returns the time to wait that a response names, in seconds, in milliseconds or as a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.parse().ok()) {
        return Some(Duration::from_millis(ms));
    }
    let value = text("retry-after")?;
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    Some(until.duration_since(Timestamp::now()).try_into().unwrap_or_default())
}

fn decompressed(from: impl Read) -> Result<Vec<u8>, AiClientError> {
    let mut body = Vec::new();
    let limit = MAX_RESPONSE_BYTES as u64;
    from.take(limit + 1).read_to_end(&mut body).map_err(|_| AiClientError::Compressed)?;
    if body.len() > MAX_RESPONSE_BYTES { Err(AiClientError::TooLong) } else { Ok(body) }
}

async fn bounded_body(mut response: Response) -> Result<Vec<u8>, AiClientError> {
    let limit = MAX_RESPONSE_BYTES as u64;
    if response.content_length().is_some_and(|declared| declared > limit) {
        return Err(AiClientError::TooLong);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_RESPONSE_BYTES {
            return Err(AiClientError::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn reports_a_tls_error_with_its_cause_and_without_the_address() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        tokio::spawn(async move {
            let (mut peer, _) = listener.accept().await.expect("a connection");
            peer.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.expect("written");
        });
        let url = format!("https://127.0.0.1:{port}/v1?key=secret").parse().expect("an address");
        let client = Client::builder().tls_certs_only([]).no_proxy();
        let client = AiClient::with(client).expect("a client");
        let sent = client.post(url, HeaderMap::new(), Duration::from_secs(10), "{}".to_owned()).await;
        let error = sent.expect_err("no TLS").to_string();
        assert!(error.contains("corrupt message"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }

    #[tokio::test]
    async fn does_not_connect_to_a_name_that_leads_to_a_private_address() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let client = AiClient::new(false, false).expect("a client");
        let url = format!("http://localhost:{port}/v1").parse().expect("an address");
        let sent = client.post(url, HeaderMap::new(), Duration::from_secs(10), "{}".to_owned()).await;
        let error = sent.expect_err("refused").to_string();
        assert!(error.contains("no address that this service may connect to"), "{error}");
        let accepted = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
        assert!(accepted.is_err(), "nothing connected");
    }

    #[test]
    fn reads_every_form_of_retry_after() {
        let wait = |name: &'static str, value: &str| {
            retry_after(&HeaderMap::from_iter([(
                name.parse().expect("a name"),
                value.parse().expect("a value"),
            )]))
        };
        assert_eq!(wait("retry-after", " 2 "), Some(Duration::from_secs(2)));
        assert_eq!(wait("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(wait("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(wait("retry-after", "Fri, 27 Nov 2020 13:00:00 GMT"), Some(Duration::ZERO));
        let later = wait("retry-after", "Fri, 27 Nov 2099 13:00:00 GMT").expect("a time");
        assert!(later > Duration::from_hours(24), "{later:?}");
        for invalid in ["-1", "soon", "1e99", ""] {
            assert_eq!(wait("retry-after", invalid), None, "{invalid}");
        }
    }
}
