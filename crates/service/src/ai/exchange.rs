//! The HTTP client for AI endpoints. An endpoint is not trusted: its response may be slow, endless or a
//! redirect, and its name may lead into the host's own network.

use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderValue, header};
use reqwest::{Client, ClientBuilder, Response, StatusCode, Url, redirect};

use crate::addresses::CheckedResolver;

/// Maximum bytes of a response.
pub(super) const MAX_RESPONSE_BYTES: usize = 256 * 1024;
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
    #[error("invalid response: expected no compression, as requested")]
    Compressed,
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

    /// Sends a JSON body, and returns the status and the text of the response.
    pub(super) async fn post(
        &self,
        url: Url,
        authorization: Option<HeaderValue>,
        timeout: Duration,
        body: String,
    ) -> Result<(StatusCode, String), AiClientError> {
        let mut request = self
            .0
            .post(url)
            .timeout(timeout)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json")
            .header(header::ACCEPT_ENCODING, "identity")
            .body(body);
        if let Some(mut authorization) = authorization {
            authorization.set_sensitive(true);
            request = request.header(header::AUTHORIZATION, authorization);
        }
        let response = request.send().await?;
        let status = response.status();
        if status.is_redirection() {
            return Err(AiClientError::Redirect);
        }
        let encoding = response.headers().get(header::CONTENT_ENCODING);
        if encoding.is_some_and(|encoding| encoding.as_bytes() != b"identity") {
            return Err(AiClientError::Compressed);
        }
        Ok((status, bounded_text(response).await?))
    }
}

async fn bounded_text(mut response: Response) -> Result<String, AiClientError> {
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
    Ok(String::from_utf8_lossy(&body).into_owned())
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
        let sent = client.post(url, None, Duration::from_secs(10), "{}".to_owned()).await;
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
        let sent = client.post(url, None, Duration::from_secs(10), "{}".to_owned()).await;
        let error = sent.expect_err("refused").to_string();
        assert!(error.contains("no address that this service may connect to"), "{error}");
        let accepted = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
        assert!(accepted.is_err(), "nothing connected");
    }
}
