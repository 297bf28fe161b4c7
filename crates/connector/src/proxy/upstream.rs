//! Forwards a request to the service: limited in size and time, without following redirects.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use axum::http::uri::InvalidUri;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri, header};
use chat_protocol::Endpoint;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use reqwest::Url;
use secrecy::SecretString;
use tracing::{debug, warn};

use super::failure::Failure;
use super::log_throttle::LogThrottle;
use super::options::SetupError;
use super::response::{ProxyResponse, is_json};
use super::transport::{ResponseBody, Transport, TransportError};
use crate::connection::{API_BASE, USER_AGENT, address, bearer, warn_if_unencrypted};
use crate::origin::{self, OriginError};

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

/// Maximum headers of a response: the returned ones, and those that the proxy adds.
const RESPONSE_HEADERS: usize = 16;

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
    transport: Transport,
    origin: Url,
    /// The headers of every request.
    headers: HeaderMap,
    answer_limit: usize,
    timeout: Duration,
    refusals: Arc<LogThrottle>,
    failures: Arc<LogThrottle>,
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
        let transport = Transport::new(&origin)?;
        let (refusals, failures) = (Arc::default(), Arc::default());
        let host = HeaderValue::try_from(origin.authority()).map_err(|_| OriginError::NotAnAddress)?;
        let headers = [
            (header::HOST, host),
            (header::USER_AGENT, HeaderValue::from_static(USER_AGENT)),
            (header::ACCEPT, HeaderValue::from_static("application/json")),
            (header::ACCEPT_ENCODING, HeaderValue::from_static("identity")),
            (header::AUTHORIZATION, authorization),
        ];
        let headers = headers.into_iter().collect();
        Ok(Self { transport, origin, headers, answer_limit, timeout, refusals, failures })
    }

    /// Returns an upstream of the same service with connections of its own, for another thread. At most
    /// `max_idle` of them are kept while they are idle.
    pub(crate) fn with_own_connections(&self, max_idle: usize) -> Self {
        Self {
            transport: self.transport.with_own_connections(max_idle),
            origin: self.origin.clone(),
            headers: self.headers.clone(),
            refusals: Arc::clone(&self.refusals),
            failures: Arc::clone(&self.failures),
            ..*self
        }
    }

    pub(crate) async fn forward(&self, request: UpstreamRequest) -> Result<ProxyResponse, Failure> {
        let endpoint = request.endpoint;
        match self.exchange(request).await {
            Ok(response) => {
                debug!(?endpoint, status = response.status.as_u16(), "forwarded");
                self.log_refusal(response.status);
                Ok(response)
            }
            Err(reason) => {
                if let Some(times) = self.failures.occurrences() {
                    if let UpstreamError::Timeout(_) = reason {
                        warn!(?endpoint, times, "{reason}");
                    } else {
                        warn!(?endpoint, times, "cannot reach the service: {reason}");
                    }
                }
                Err(if reason.is_timeout() { Failure::Timeout } else { Failure::Unavailable })
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

    /// Sends a request, and reads the response, within the time limit.
    pub(super) async fn exchange(&self, request: UpstreamRequest) -> Result<ProxyResponse, UpstreamError> {
        let exchanged = tokio::time::timeout(self.timeout, self.send(request)).await;
        exchanged.unwrap_or(Err(UpstreamError::Timeout(self.timeout)))
    }

    async fn send(&self, request: UpstreamRequest) -> Result<ProxyResponse, UpstreamError> {
        let response = self.transport.send(self.request(request)?).await?;
        let (head, body) = response.into_parts();
        if head.status.is_redirection() || head.status.is_informational() {
            return Err(UpstreamError::Redirect(head.status.as_u16()));
        }
        if let Some(encoding) = head.headers.get(header::CONTENT_ENCODING)
            && !encoding.as_bytes().eq_ignore_ascii_case(b"identity")
        {
            return Err(UpstreamError::Compressed);
        }
        let body = self.read(body).await?;
        let mut headers = HeaderMap::with_capacity(RESPONSE_HEADERS);
        for name in &RETURNED_HEADERS {
            if let Some(value) = head.headers.get(name) {
                headers.insert(name, value.clone());
            }
        }
        // A gateway in front of the service may respond with a page. No browser must show it as a page of
        // this site.
        if !headers.get(header::CONTENT_TYPE).is_some_and(is_json) {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        }
        Ok(ProxyResponse { status: head.status, headers, body })
    }

    fn request(&self, request: UpstreamRequest) -> Result<Request<Bytes>, UpstreamError> {
        let UpstreamRequest { endpoint, query, headers, body } = request;
        let has_body = body.is_some();
        let mut sent = Request::new(body.unwrap_or_default());
        if has_body {
            *sent.method_mut() = Method::POST;
        }
        *sent.uri_mut() = self.address(endpoint, query.as_deref()).map_err(UpstreamError::Address)?;
        sent.headers_mut().clone_from(&self.headers);
        sent.headers_mut().extend(headers);
        if has_body {
            sent.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        Ok(sent)
    }

    /// Returns the address of a call. Characters that do not belong into a query are encoded.
    fn address(&self, endpoint: Endpoint, query: Option<&str>) -> Result<Uri, InvalidUri> {
        let (base, path) = (self.transport.base(&self.origin), endpoint.path());
        match query {
            None => Uri::try_from(format!("{base}{API_BASE}{path}")),
            Some(query) if query.bytes().all(is_plain) => {
                Uri::try_from(format!("{base}{API_BASE}{path}?{query}"))
            }
            Some(query) => {
                let url = address(&self.origin, path, Some(query));
                Uri::try_from(format!("{base}{}?{}", url.path(), url.query().unwrap_or_default()))
            }
        }
    }

    /// Reads the whole body. A body whose `Content-Length` exceeds the maximum is refused before it arrives.
    async fn read(&self, body: ResponseBody) -> Result<Bytes, UpstreamError> {
        if body.size_hint().lower() > self.answer_limit as u64 {
            return Err(UpstreamError::TooLarge(self.answer_limit));
        }
        match Limited::new(body, self.answer_limit).collect().await {
            Ok(body) => Ok(body.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => Err(UpstreamError::TooLarge(self.answer_limit)),
            Err(error) => Err(TransportError::from(error).into()),
        }
    }
}

/// Returns whether a byte stands for itself in a query.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~%&=+,:;/?@!$()*".contains(&byte)
}

/// There is no response to return. The text is for the log.
#[derive(Debug, thiserror::Error)]
pub(super) enum UpstreamError {
    #[error(transparent)]
    Transport(#[from] TransportError),
    #[error("the service did not answer within {0:?}")]
    Timeout(Duration),
    #[error("invalid response: expected no redirect, got {0}")]
    Redirect(u16),
    #[error("invalid response: expected at most {0} bytes")]
    TooLarge(usize),
    #[error("invalid response: expected no compression, as requested")]
    Compressed,
    #[error("invalid address: {0}")]
    Address(#[source] InvalidUri),
}

impl UpstreamError {
    fn is_timeout(&self) -> bool {
        matches!(self, Self::Timeout(_) | Self::Transport(TransportError { is_timeout: true, .. }))
    }
}
