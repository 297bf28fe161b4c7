//! Forwards a request to the service: limited in size and time, without following redirects.

use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use chat_protocol::Endpoint;
use reqwest::{Client, Request, Url};
use secrecy::SecretString;
use tracing::{debug, warn};

use super::failure::Failure;
use super::log_throttle::LogThrottle;
use super::options::SetupError;
use super::response::{ProxyResponse, is_json};
use crate::bounded_body::{BodyError, read_bounded};
use crate::connection::{address, bearer, http_client, warn_if_unencrypted, with_causes};
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

/// Maximum headers of a response: the returned ones, and those that the proxy adds.
const RESPONSE_HEADERS: usize = 16;

/// The code of a refused visitor token.
const INVALID_VISITOR_TOKEN: &[u8] = b"INVALID_VISITOR_TOKEN";
/// The codes of an account that has no AI replies left, and of one that may store no more.
const INSUFFICIENT_QUOTA: &[u8] = b"INSUFFICIENT_QUOTA";
const STORAGE_FULL: &[u8] = b"STORAGE_FULL";

fn contains(body: &[u8], text: &[u8]) -> bool {
    body.windows(text.len()).any(|part| part == text)
}

/// Returns why the service refuses the whole site; `None` if it does not.
fn refusal_reason(status: StatusCode, body: &[u8]) -> Option<&'static str> {
    Some(match status.as_u16() {
        401 => "the site token is missing or invalid",
        402 if contains(body, INSUFFICIENT_QUOTA) => "the account's quota is exhausted",
        402 if contains(body, STORAGE_FULL) => "the site has stored as much as it may",
        402 => "the account has used up a limit",
        403 => "the site is not allowed to use it",
        429 => "the site sends too many requests",
        _ => return None,
    })
}

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
    origin: Url,
    /// The headers of every request.
    headers: HeaderMap,
    answer_limit: usize,
    timeout: Duration,
    refusals: LogThrottle,
    visitor_refusals: LogThrottle,
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
        let headers = [
            (header::ACCEPT, HeaderValue::from_static("application/json")),
            (header::ACCEPT_ENCODING, HeaderValue::from_static("identity")),
            (header::AUTHORIZATION, authorization),
        ];
        let headers = headers.into_iter().collect();
        let [refusals, visitor_refusals, failures] = [(); 3].map(|()| LogThrottle::default());
        Ok(Self { client, origin, headers, answer_limit, timeout, refusals, visitor_refusals, failures })
    }

    pub(crate) async fn forward(&self, request: UpstreamRequest) -> Result<ProxyResponse, Failure> {
        let endpoint = request.endpoint;
        match self.exchange(request).await {
            Ok(response) => {
                debug!(?endpoint, status = response.status.as_u16(), "forwarded");
                self.log_refusal(&response);
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
    fn log_refusal(&self, response: &ProxyResponse) {
        let status = response.status;
        // The site's own token is valid.
        if status == StatusCode::UNAUTHORIZED && contains(&response.body, INVALID_VISITOR_TOKEN) {
            if let Some(times) = self.visitor_refusals.occurrences() {
                warn!(
                    times,
                    "the service refuses a visitor's token: check the visitor secret, and the clock of the server \
                     that signs it"
                );
            }
            return;
        }
        let Some(reason) = refusal_reason(status, &response.body) else { return };
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
        let mut response = self.client.execute(self.request(request)).await?;
        let status = response.status();
        if status.is_redirection() || status.is_informational() {
            return Err(UpstreamError::Redirect(status.as_u16()));
        }
        if let Some(encoding) = response.headers().get(header::CONTENT_ENCODING)
            && !encoding.as_bytes().eq_ignore_ascii_case(b"identity")
        {
            return Err(UpstreamError::Compressed);
        }
        let body = read_bounded(&mut response, self.answer_limit).await?.into();
        let mut headers = HeaderMap::with_capacity(RESPONSE_HEADERS);
        for name in &RETURNED_HEADERS {
            if let Some(value) = response.headers().get(name) {
                headers.insert(name, value.clone());
            }
        }
        // A gateway in front of the service may respond with a page. No browser must show it as a page of
        // this site.
        if !headers.get(header::CONTENT_TYPE).is_some_and(is_json) {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        }
        Ok(ProxyResponse { status, headers, body })
    }

    fn request(&self, request: UpstreamRequest) -> Request {
        let UpstreamRequest { endpoint, query, headers, body } = request;
        let method = if body.is_some() { Method::POST } else { Method::GET };
        let mut sent = Request::new(method, address(&self.origin, endpoint.path(), query.as_deref()));
        sent.headers_mut().clone_from(&self.headers);
        sent.headers_mut().extend(headers);
        if let Some(body) = body {
            sent.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
            *sent.body_mut() = Some(body.into());
        }
        sent
    }
}

/// There is no response to return. The text is for the log.
#[derive(Debug, thiserror::Error)]
pub(super) enum UpstreamError {
    #[error("{}", with_causes(.0))]
    Http(#[source] reqwest::Error),
    #[error("the service did not answer within {0:?}")]
    Timeout(Duration),
    #[error("invalid response: expected no redirect, got {0}")]
    Redirect(u16),
    #[error("invalid response: expected at most {0} bytes")]
    TooLarge(usize),
    #[error("invalid response: expected no compression, as requested")]
    Compressed,
}

impl From<reqwest::Error> for UpstreamError {
    /// Removes the URL, as its query may identify a conversation.
    fn from(error: reqwest::Error) -> Self {
        Self::Http(error.without_url())
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

impl UpstreamError {
    fn is_timeout(&self) -> bool {
        match self {
            Self::Timeout(_) => true,
            Self::Http(error) => error.is_timeout(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_402_is_what_its_code_says() {
        for (status, body, reason) in [
            (402, r#"{"error":{"code":"INSUFFICIENT_QUOTA"}}"#, Some("the account's quota is exhausted")),
            (402, r#"{"error":{"code":"STORAGE_FULL"}}"#, Some("the site has stored as much as it may")),
            (402, "Payment required", Some("the account has used up a limit")),
            // The disk is full, for all sites.
            (507, r#"{"error":{"code":"STORAGE_FULL"}}"#, None),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            assert_eq!(refusal_reason(status, body.as_bytes()), reason, "{body}");
        }
    }
}
