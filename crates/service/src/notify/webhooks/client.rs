//! The HTTP client of webhooks. Receivers are not trusted: a response may be slow, endless or a redirect.

use std::error::Error;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::{Client, Response, StatusCode, redirect};
use tokio::time::Instant;

use super::target::TargetUrl;
use crate::addresses::CheckedResolver;
use crate::clock::millis;

/// The timeout of a request, from resolving the host to the last byte of the response that is read.
pub(super) const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum bytes of a response that are read.
const MAX_RESPONSE_BYTES: usize = 1024;
/// Maximum characters of a response that the log of deliveries shows.
const MAX_EXCERPT_LENGTH: usize = 200;
/// The time that an unused connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);
const USER_AGENT: &str = concat!("site-connector-webhooks/", env!("CARGO_PKG_VERSION"));

/// A signed request.
#[derive(Clone, Debug)]
pub(super) struct SignedRequest {
    pub(super) event_id: String,
    pub(super) timestamp_s: i64,
    /// Signatures, separated by spaces.
    pub(super) signature: String,
    pub(super) body: String,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// The HTTP status; `None` without a response.
    pub(super) status: Option<StatusCode>,
    /// The error, for the log of deliveries.
    pub(super) error: Option<String>,
    /// The time that the receiver asks to wait.
    pub(super) retry_after: Option<Duration>,
    pub(super) duration_ms: i64,
}

impl Outcome {
    /// Describes a request that was not sent.
    pub(super) fn not_sent(error: impl Into<String>) -> Self {
        Self { status: None, error: Some(error.into()), retry_after: None, duration_ms: 0 }
    }

    pub(super) fn is_delivered(&self) -> bool {
        self.status.is_some_and(|status| status.is_success())
    }
}

#[derive(Clone, Debug)]
pub(super) struct WebhookClient(Client);

impl WebhookClient {
    /// Creates a client. `allows_private` allows private addresses.
    pub(super) fn new(allows_private: bool) -> Result<Self, reqwest::Error> {
        // Does nothing in an application that has already installed a provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .dns_resolver(CheckedResolver { allows_private })
            // A proxy would resolve the host itself, without the check.
            .no_proxy()
            .redirect(redirect::Policy::none())
            .referer(false)
            .timeout(REQUEST_TIMEOUT)
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(1)
            .no_gzip()
            .no_brotli()
            .no_zstd()
            .no_deflate()
            .user_agent(USER_AGENT)
            .build()?;
        Ok(Self(client))
    }

    /// Sends a request once.
    pub(super) async fn send(&self, target: &TargetUrl, request: SignedRequest) -> Outcome {
        let started = Instant::now();
        let mut outcome = self.exchange(target, request).await;
        outcome.duration_ms = millis(started.elapsed());
        outcome
    }

    async fn exchange(&self, target: &TargetUrl, request: SignedRequest) -> Outcome {
        let sent = self
            .0
            .post(target.url().clone())
            .header(header::CONTENT_TYPE, "application/json")
            .header(HeaderName::from_static("webhook-id"), request.event_id)
            .header(HeaderName::from_static("webhook-timestamp"), request.timestamp_s)
            .header(HeaderName::from_static("webhook-signature"), request.signature)
            .body(request.body)
            .send()
            .await;
        let response = match sent {
            Ok(response) => response,
            Err(error) => return Outcome::not_sent(describe(error)),
        };
        let status = response.status();
        let retry_after = retry_after(response.headers(), Timestamp::now());
        let error = if status.is_success() {
            None
        } else if status.is_redirection() {
            Some("redirects are not followed: change the webhook's URL".to_owned())
        } else {
            Some(excerpt(response).await)
        };
        Outcome { status: Some(status), error, retry_after, duration_ms: 0 }
    }
}

/// Returns the cause of an error, without the URL, which may contain a secret.
fn describe(error: reqwest::Error) -> String {
    let error = error.without_url();
    if error.is_timeout() {
        return format!("no response within {} s", REQUEST_TIMEOUT.as_secs());
    }
    let mut cause: &dyn Error = &error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    let kind = if error.is_connect() { "cannot connect" } else { "no valid response" };
    format!("{kind}: {cause}")
}

/// Returns the beginning of a response's text.
async fn excerpt(mut response: Response) -> String {
    let mut body = Vec::new();
    while body.len() < MAX_RESPONSE_BYTES {
        // A response that breaks off has still said something.
        let Ok(Some(chunk)) = response.chunk().await else { break };
        body.extend_from_slice(&chunk[..chunk.len().min(MAX_RESPONSE_BYTES - body.len())]);
    }
    let text = String::from_utf8_lossy(&body);
    // PostgreSQL stores no NUL.
    let printable = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    printable.take(MAX_EXCERPT_LENGTH).collect()
}

/// Returns the time that a response asks to wait, in seconds or until a date.
fn retry_after(headers: &HeaderMap<HeaderValue>, now: Timestamp) -> Option<Duration> {
    let value = headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
    Some(date.duration_since(now).try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn reads_the_time_to_wait_as_seconds_or_as_a_date() {
        let now = "2026-11-22T16:00:00Z".parse().expect("a time");
        let wait = |value: &'static str| {
            let headers = HeaderMap::from_iter([(header::RETRY_AFTER, HeaderValue::from_static(value))]);
            retry_after(&headers, now)
        };
        assert_eq!(wait("120"), Some(Duration::from_mins(2)));
        assert_eq!(wait("Sun, 22 Nov 2026 16:02:00 GMT"), Some(Duration::from_mins(2)));
        assert_eq!(wait("Sun, 22 Nov 2026 15:00:00 GMT"), Some(Duration::ZERO), "in the past");
        for nonsense in ["", "soon", "-5", "1e9", "99999999999999999999999"] {
            assert_eq!(wait(nonsense), None, "{nonsense}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }

    #[tokio::test]
    async fn a_name_that_resolves_to_this_machine_is_not_connected_to() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        // Accepted as if it were a name that only the resolver knows to be this machine.
        let target = TargetUrl::parse(&format!("https://localhost:{port}/"), true).expect("a URL");
        let request = SignedRequest {
            event_id: "evt_1".to_owned(),
            timestamp_s: 1,
            signature: String::new(),
            body: String::new(),
        };
        let outcome = WebhookClient::new(false).expect("a client").send(&target, request).await;
        assert!(outcome.error.expect("refused").contains("private address"));
        assert!(listener.accept().now_or_never().is_none(), "nobody connected");
    }
}
