//! Forwards a request to the service: limited in size and time, without following redirects.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use chat_protocol::Endpoint;
use reqwest::{Client, Url};
use secrecy::SecretString;
use tracing::{debug, warn};

use super::failure::Failure;
use super::log_throttle::LogThrottle;
use super::options::SetupError;
use super::response::{ProxyResponse, is_json};
use crate::bounded_body::{BodyError, read_bounded};
use crate::connection::{address, bearer, chain, http_client, warn_if_unencrypted};
use crate::origin;

/// The response headers that are returned to the browser.
const RETURNED_HEADERS: [HeaderName; 7] = [
    header::CONTENT_TYPE,
    header::RETRY_AFTER,
    HeaderName::from_static("x-request-id"),
    HeaderName::from_static("x-service-api-version"),
    HeaderName::from_static("x-ratelimit-limit"),
    HeaderName::from_static("x-ratelimit-remaining"),
    HeaderName::from_static("x-ratelimit-reset"),
];

/// A request to be forwarded to the service.
#[derive(Clone)]
pub(crate) struct UpstreamRequest {
    pub(crate) endpoint: Endpoint,
    pub(crate) query: Option<String>,
    pub(crate) headers: HeaderMap,
    /// The body of a POST; `None` for a GET.
    pub(crate) body: Option<Bytes>,
}

/// The service, with the token that authenticates the site.
#[derive(Debug)]
pub(crate) struct Upstream {
    client: Client,
    /// The URL of each call, in the order of [`Endpoint::ALL`].
    addresses: [Url; Endpoint::ALL.len()],
    authorization: HeaderValue,
    answer_limit: usize,
    timeout: Duration,
    refusals: LogThrottle,
    failures: LogThrottle,
}

impl Upstream {
    pub(crate) fn new(
        origin: &str,
        token: &SecretString,
        answer_limit: usize,
        timeout: Duration,
    ) -> Result<Self, SetupError> {
        let origin = origin::parse(origin)?;
        let authorization = bearer(token).map_err(|_| SetupError::Token)?;
        warn_if_unencrypted(&origin);
        let client = http_client(&origin).map_err(SetupError::Client)?;
        let addresses = Endpoint::ALL.map(|endpoint| address(&origin, endpoint.path(), None));
        let (refusals, failures) = (LogThrottle::default(), LogThrottle::default());
        Ok(Self { client, addresses, authorization, answer_limit, timeout, refusals, failures })
    }

    pub(crate) async fn forward(&self, request: UpstreamRequest) -> Result<ProxyResponse, Failure> {
        let endpoint = request.endpoint;
        match tokio::time::timeout(self.timeout, self.exchange(request)).await {
            Ok(Ok(response)) => {
                debug!(?endpoint, status = response.status.as_u16(), "forwarded");
                self.log_refusal(response.status);
                Ok(response)
            }
            Ok(Err(reason)) => {
                if let Some(times) = self.failures.occurrences() {
                    warn!(?endpoint, times, "cannot reach the service: {reason}");
                }
                Err(if reason.is_timeout() { Failure::Timeout } else { Failure::Unavailable })
            }
            Err(_) => {
                if let Some(times) = self.failures.occurrences() {
                    warn!(?endpoint, times, "the service did not answer within {:?}", self.timeout);
                }
                Err(Failure::Timeout)
            }
        }
    }

    /// Logs, at most once a minute, that the service refuses the whole site: the chat then works for no
    /// visitor, and only the operator of the proxy can fix it.
    fn log_refusal(&self, status: StatusCode) {
        let reason = match status.as_u16() {
            401 => "the site token is missing or invalid",
            402 => "the account's quota is exhausted",
            403 => "the site is not allowed to use it",
            429 => "the site sends too many requests",
            _ => return,
        };
        if let Some(times) = self.refusals.occurrences() {
            warn!(status = status.as_u16(), times, "the service refuses requests: {reason}");
        }
    }

    pub(super) async fn exchange(&self, request: UpstreamRequest) -> Result<ProxyResponse, UpstreamError> {
        let mut url = self.addresses[request.endpoint as usize].clone();
        url.set_query(request.query.as_deref());
        let sent = match request.body {
            Some(body) => self.client.post(url).header(header::CONTENT_TYPE, "application/json").body(body),
            None => self.client.get(url),
        };
        let mut response = sent
            .headers(request.headers)
            .header(header::ACCEPT, "application/json")
            .header(header::ACCEPT_ENCODING, "identity")
            .header(header::AUTHORIZATION, self.authorization.clone())
            .send()
            .await?;
        if response.status().is_redirection() || response.status().is_informational() {
            return Err(UpstreamError::Redirect(response.status().as_u16()));
        }
        if let Some(encoding) = response.headers().get(header::CONTENT_ENCODING)
            && !encoding.as_bytes().eq_ignore_ascii_case(b"identity")
        {
            return Err(UpstreamError::Compressed);
        }
        let body = read_bounded(&mut response, self.answer_limit).await?;
        let mut headers = HeaderMap::new();
        for name in RETURNED_HEADERS {
            if let Some(value) = response.headers().get(&name) {
                headers.insert(name, value.clone());
            }
        }
        // A gateway in front of the service may respond with a page. No browser must show it as a page of
        // this site.
        if !headers.get(header::CONTENT_TYPE).is_some_and(is_json) {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        }
        Ok(ProxyResponse { status: response.status(), headers, body: body.into() })
    }
}

/// There is no response to return. The text is for the log.
#[derive(Debug, thiserror::Error)]
pub(super) enum UpstreamError {
    #[error("{reason}")]
    Http { reason: String, timeout: bool },
    #[error("invalid response: expected no redirect, got {0}")]
    Redirect(u16),
    #[error("invalid response: expected at most {0} bytes")]
    TooLarge(usize),
    #[error("invalid response: expected no compression, as requested")]
    Compressed,
}

impl UpstreamError {
    fn is_timeout(&self) -> bool {
        matches!(self, Self::Http { timeout: true, .. })
    }
}

impl From<BodyError> for UpstreamError {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge { max_bytes } => Self::TooLarge(max_bytes),
            BodyError::Http(error) => error.into(),
        }
    }
}

impl From<reqwest::Error> for UpstreamError {
    fn from(error: reqwest::Error) -> Self {
        let timeout = error.is_timeout();
        Self::Http { reason: chain(error), timeout }
    }
}
