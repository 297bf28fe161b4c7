//! Sends requests as a browser does, and reads the proxy's responses.

use std::time::Duration;

use axum::http::HeaderMap;
use chat_protocol::{ErrorCode, FieldError, Value, open_envelope};
use reqwest::{Client, Method, Url};
use tokio::time::Instant;
use tracing::warn;

use crate::bounded_body::{BodyError, read_bounded};
use crate::client::ConnectorError;
use crate::connection::{chain, retry_after};

/// Minimum delay after a 429.
const MIN_WAIT: Duration = Duration::from_secs(1);
/// Maximum bytes of a response.
const MAX_RESPONSE_BYTES: usize = 8 * 1024 * 1024;

pub(super) struct ProxyClient {
    client: Client,
    prefix: String,
    timeout: Duration,
}

/// A response of the proxy.
pub(super) struct ProxyResponse {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl ProxyClient {
    pub(super) fn new(client: Client, prefix: &Url, timeout: Duration) -> Self {
        Self { client, prefix: prefix.as_str().trim_end_matches('/').to_owned(), timeout }
    }

    /// Fails if nothing responds at the URL.
    pub(super) async fn reach(&self) -> Result<(), ConnectorError> {
        let unreachable = |reason: String| {
            ConnectorError::unreachable(&format!("no response from {}", self.prefix), &reason)
        };
        self.send_once(Method::GET, "/chat/config", None, None, "").await.map(drop).map_err(unreachable)
    }

    pub(super) async fn get(&self, path: &str) -> Result<ProxyResponse, String> {
        self.send(Method::GET, path, None, None, "").await
    }

    pub(super) async fn post(
        &self,
        path: &str,
        key: Option<&str>,
        body: &Value,
    ) -> Result<ProxyResponse, String> {
        self.send(Method::POST, path, Some("application/json"), key, &body.to_string()).await
    }

    /// Sends a request, and repeats it after a 429 once `Retry-After` is over: the checks may exceed the rate
    /// limit of one client.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        content_type: Option<&str>,
        key: Option<&str>,
        body: &str,
    ) -> Result<ProxyResponse, String> {
        let started = Instant::now();
        loop {
            let response = self.send_once(method.clone(), path, content_type, key, body).await?;
            if response.status != 429 {
                return Ok(response);
            }
            let Some(wait) = retry_after(&response.headers) else {
                return Err("got 429 without Retry-After".to_owned());
            };
            // The minimum prevents requests without pause if Retry-After is 0.
            let wait = wait.max(MIN_WAIT);
            if started.elapsed() + wait > self.timeout {
                return Err(format!(
                    "got 429 with Retry-After {}: check again after this time",
                    wait.as_secs()
                ));
            }
            warn!("429 (too many requests): continuing in {} s, as Retry-After says", wait.as_secs());
            tokio::time::sleep(wait).await;
        }
    }

    async fn send_once(
        &self,
        method: Method,
        path: &str,
        content_type: Option<&str>,
        key: Option<&str>,
        body: &str,
    ) -> Result<ProxyResponse, String> {
        let mut request = self.client.request(method, format!("{}{path}", self.prefix)).timeout(self.timeout);
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type).body(body.to_owned());
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let mut response = request.send().await.map_err(chain)?;
        let body = read_bounded(&mut response, MAX_RESPONSE_BYTES).await.map_err(|error| match error {
            BodyError::Http(error) => chain(error),
            error @ BodyError::TooLarge { .. } => error.to_string(),
        })?;
        Ok(ProxyResponse { status: response.status().as_u16(), headers: response.headers().clone(), body })
    }
}

impl ProxyResponse {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    fn value(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Parses `data` of a success.
    pub(super) fn data<T: TryFrom<Value, Error = FieldError>>(&self) -> Result<T, String> {
        let data = open_envelope(self.status, self.value()).map_err(|error| format!("got {error}"))?;
        T::try_from(data).map_err(|error| format!("invalid response: {error}"))
    }

    /// Checks that the response is a failure with this status and code.
    pub(super) fn is_failure(&self, status: u16, code: &ErrorCode) -> Result<(), String> {
        match open_envelope(self.status, self.value()) {
            Err(error) if error.status == status && error.code == *code => Ok(()),
            Err(error) => Err(format!("expected {status} {}, got {error}", code.as_str())),
            Ok(_) => Err(format!("expected {status} {}, got {}", code.as_str(), self.status)),
        }
    }
}
