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
pub(super) struct ProxyAnswer {
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
        let nobody = |reason: String| {
            ConnectorError::unreachable(&format!("nobody answers at {}", self.prefix), &reason)
        };
        self.send_once(Method::GET, "/chat/config", None, None, "").await.map(drop).map_err(nobody)
    }

    pub(super) async fn get(&self, path: &str) -> Result<ProxyAnswer, String> {
        self.send(Method::GET, path, None, None, "").await
    }

    pub(super) async fn post(
        &self,
        path: &str,
        key: Option<&str>,
        body: &Value,
    ) -> Result<ProxyAnswer, String> {
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
    ) -> Result<ProxyAnswer, String> {
        let begun = Instant::now();
        loop {
            let answer = self.send_once(method.clone(), path, content_type, key, body).await?;
            if answer.status != 429 {
                return Ok(answer);
            }
            let Some(wait) = retry_after(&answer.headers) else {
                return Err("it answers 429 without Retry-After".to_owned());
            };
            // A minimum, so that a proxy that always says 0 is not asked without pause.
            let wait = wait.max(MIN_WAIT);
            if begun.elapsed() + wait > self.timeout {
                return Err(format!(
                    "it answers 429, and asks to wait {} s: check again then",
                    wait.as_secs()
                ));
            }
            warn!("429, too many requests: going on in {} s, as Retry-After asks", wait.as_secs());
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
    ) -> Result<ProxyAnswer, String> {
        let mut request = self.client.request(method, format!("{}{path}", self.prefix)).timeout(self.timeout);
        if let Some(content_type) = content_type {
            request = request.header("content-type", content_type).body(body.to_owned());
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let mut answer = request.send().await.map_err(chain)?;
        let body = read_bounded(&mut answer, MAX_RESPONSE_BYTES).await.map_err(|error| match error {
            BodyError::Http(error) => chain(error),
            error @ BodyError::TooLarge { .. } => error.to_string(),
        })?;
        Ok(ProxyAnswer { status: answer.status().as_u16(), headers: answer.headers().clone(), body })
    }
}

impl ProxyAnswer {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    fn value(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Parses `data` of a success.
    pub(super) fn data<T: TryFrom<Value, Error = FieldError>>(&self) -> Result<T, String> {
        let data = open_envelope(self.status, self.value()).map_err(|error| format!("it answers {error}"))?;
        T::try_from(data).map_err(|unusable| format!("the answer cannot be used: {unusable}"))
    }

    /// Checks that the response is a failure with this status and code.
    pub(super) fn is_refusal(&self, status: u16, code: &ErrorCode) -> Result<(), String> {
        match open_envelope(self.status, self.value()) {
            Err(error) if error.status == status && error.code == *code => Ok(()),
            Err(error) => Err(format!("it answers {error}, and not {status} {}", code.as_str())),
            Ok(_) => Err(format!("it answers {}, and not {status} {}", self.status, code.as_str())),
        }
    }
}
