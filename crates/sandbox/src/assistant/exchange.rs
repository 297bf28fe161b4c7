//! One request to the AI's endpoint, which is not trusted: it may be slow, endless, or point elsewhere.

use std::error::Error;
use std::fmt::Write;
use std::time::Duration;

use axum::http::{HeaderValue, header};
use reqwest::{Client, ClientBuilder, Response, StatusCode, Url, redirect};

/// Maximum bytes of an answer that are read.
pub(super) const MAX_RESPONSE_BYTES: usize = 256 * 1024;
/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Why there is no answer. The address is left out, as a key may be in it.
#[derive(Debug, thiserror::Error)]
pub(super) enum ExchangeError {
    /// The connection, its TLS, or the time allowed.
    #[error("{}", with_causes(.0))]
    Request(reqwest::Error),
    /// The key would go to another address.
    #[error("it redirects, which is not followed: give the address that it redirects to")]
    Redirect,
    #[error("its answer has more than {MAX_RESPONSE_BYTES} bytes")]
    TooLong,
    #[error("its answer is compressed, although it was asked not to be")]
    Compressed,
}

impl From<reqwest::Error> for ExchangeError {
    fn from(error: reqwest::Error) -> Self {
        Self::Request(error.without_url())
    }
}

/// An error with all that led to it: what TLS did not like is the last of them.
fn with_causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

#[derive(Debug)]
pub(super) struct Exchange {
    client: Client,
    url: Url,
    authorization: Option<HeaderValue>,
}

impl Exchange {
    pub(super) fn new(
        url: Url,
        authorization: Option<HeaderValue>,
        timeout: Duration,
    ) -> Result<Self, reqwest::Error> {
        // An application that chose its own provider keeps it: then this does nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder();
        if url.scheme() == "http" {
            // No TLS will be spoken, and the AI is near: neither certificates nor the system's proxy are needed.
            client = client.tls_certs_only([]).no_proxy();
        }
        Self::with(client, url, authorization, timeout)
    }

    fn with(
        client: ClientBuilder,
        url: Url,
        mut authorization: Option<HeaderValue>,
        timeout: Duration,
    ) -> Result<Self, reqwest::Error> {
        if let Some(authorization) = &mut authorization {
            authorization.set_sensitive(true);
        }
        let client = client
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT.min(timeout))
            .timeout(timeout)
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .build()?;
        Ok(Self { client, url, authorization })
    }

    /// Sends a body of JSON, and gives the status and the text of the answer.
    pub(super) async fn post(&self, body: String) -> Result<(StatusCode, String), ExchangeError> {
        let mut request = self
            .client
            .post(self.url.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json")
            .header(header::ACCEPT_ENCODING, "identity")
            .body(body);
        if let Some(authorization) = &self.authorization {
            request = request.header(header::AUTHORIZATION, authorization.clone());
        }
        let response = request.send().await?;
        let status = response.status();
        if status.is_redirection() {
            return Err(ExchangeError::Redirect);
        }
        let encoding = response.headers().get(header::CONTENT_ENCODING);
        if encoding.is_some_and(|encoding| encoding.as_bytes() != b"identity") {
            return Err(ExchangeError::Compressed);
        }
        Ok((status, bounded_text(response).await?))
    }
}

async fn bounded_text(mut response: Response) -> Result<String, ExchangeError> {
    let most = MAX_RESPONSE_BYTES as u64;
    if response.content_length().is_some_and(|declared| declared > most) {
        return Err(ExchangeError::TooLong);
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_RESPONSE_BYTES {
            return Err(ExchangeError::TooLong);
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
    async fn an_error_of_tls_is_told_as_what_it_is_and_without_the_address() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        tokio::spawn(async move {
            let (mut peer, _) = listener.accept().await.expect("a connection");
            peer.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.expect("written");
        });
        let url = format!("https://127.0.0.1:{port}/v1?key=secret").parse().expect("an address");
        let client = Client::builder().tls_certs_only([]).no_proxy();
        let exchange = Exchange::with(client, url, None, Duration::from_secs(10)).expect("a client");
        let error = exchange.post("{}".to_owned()).await.expect_err("no TLS").to_string();
        assert!(error.contains("corrupt message"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }

    #[tokio::test]
    async fn the_key_is_in_no_debug_output() {
        let url: Url = "http://127.0.0.1/v1".parse().expect("an address");
        let key = HeaderValue::from_static("Bearer an-ai-key");
        let exchange = Exchange::new(url, Some(key), Duration::from_secs(1)).expect("a client");
        assert!(!format!("{exchange:?}").contains("an-ai-key"));
    }
}
