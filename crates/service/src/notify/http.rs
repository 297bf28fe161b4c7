//! The HTTP client of webhooks and pushes. Receivers are not trusted: a response may be slow, endless or a
//! redirect.

use std::error::Error;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use jiff::Timestamp;
use reqwest::{Client, RequestBuilder, Response, StatusCode, redirect};
use tokio::time::Instant;

use super::target::TargetUrl;
use crate::addresses::{CheckedResolver, NoAddress};
use crate::clock::{self, millis};

/// The timeout of a request, from resolving the host to the last byte of the response that is read.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum bytes of a response that are read.
const MAX_RESPONSE_BYTES: usize = 1024;
/// Maximum characters of a response that a log shows.
const MAX_EXCERPT_LENGTH: usize = 200;
/// The time that an unused connection is kept.
const IDLE_TIMEOUT: Duration = Duration::from_secs(15);

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// The HTTP status; `None` without a response.
    pub(super) status: Option<StatusCode>,
    /// The error, for a log.
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

/// A client that connects to allowed addresses only, and follows no redirects.
#[derive(Clone, Debug)]
pub(super) struct CheckedClient(Client);

impl CheckedClient {
    /// Creates a client. `allows_private` allows private addresses.
    pub(super) fn new(allows_private: bool, user_agent: &'static str) -> Result<Self, reqwest::Error> {
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
            .user_agent(user_agent)
            .build()?;
        Ok(Self(client))
    }

    /// Begins a request.
    pub(super) fn post(&self, target: &TargetUrl) -> RequestBuilder {
        self.0.post(target.url().clone())
    }
}

/// Sends a request once.
pub(super) async fn send(request: RequestBuilder) -> Outcome {
    let started = Instant::now();
    let mut outcome = match request.send().await {
        Ok(response) => read(response).await,
        // Without the duration, which would tell whether the name is one of the service's own network.
        Err(error) if NoAddress::caused(&error) => {
            return Outcome::not_sent(format!("cannot connect: {NoAddress}"));
        }
        Err(error) => Outcome::not_sent(describe(error)),
    };
    outcome.duration_ms = millis(started.elapsed());
    outcome
}

async fn read(response: Response) -> Outcome {
    let status = response.status();
    let retry_after = retry_after(response.headers(), Timestamp::now());
    let error = if status.is_success() {
        None
    } else if status.is_redirection() {
        Some("redirects are not followed: change the URL".to_owned())
    } else {
        Some(excerpt(response).await)
    };
    Outcome { status: Some(status), error, retry_after, duration_ms: 0 }
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
    clock::retry_after(headers.get(header::RETRY_AFTER)?.to_str().ok()?, now)
}

#[cfg(test)]
mod tests {
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
}
