//! The proxy of section 4.13: five paths, passed on with the site token.
//!
//! ```no_run
//! # fn main() -> Result<(), chat_connector::proxy::SetupError> {
//! use chat_connector::proxy::{self, ProxyOptions};
//!
//! let options = ProxyOptions::new("https://service.example", std::env::var("SITE_TOKEN").unwrap_or_default().into());
//! let site: axum::Router = axum::Router::new().nest("/connector", proxy::router(options)?);
//! # Ok(())
//! # }
//! ```

mod failure;
mod upstream;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use chat_protocol::Endpoint;
use secrecy::SecretString;

use failure::Failure;
use upstream::{Forwarded, Upstream};

pub use crate::origin::OriginError;

/// What a proxy needs to know, and the bounds that it keeps.
///
/// `Debug` shows the token as redacted.
#[derive(Clone, Debug)]
pub struct ProxyOptions {
    /// The service's origin, such as `https://service.example`: without `/api/connector/v1`, which is added here.
    pub origin: String,
    /// The site token (5).
    pub token: SecretString,
    /// The largest body of `POST /chat/messages` that is passed on, in bytes.
    pub message_body_limit: usize,
    /// The largest body of `POST /events` that is passed on, in bytes.
    pub events_body_limit: usize,
    /// The largest answer that is passed back, in bytes.
    pub answer_limit: usize,
    /// How long the browser may take to send its body, and then the service to answer.
    pub timeout: Duration,
}

impl ProxyOptions {
    /// 64 KiB for a message, 256 KiB for events, 1 MiB for an answer, and 35 s, as an AI may think for a while.
    pub fn new(origin: impl Into<String>, token: SecretString) -> Self {
        Self {
            origin: origin.into(),
            token,
            message_body_limit: 64 * 1024,
            events_body_limit: 256 * 1024,
            answer_limit: 1024 * 1024,
            timeout: Duration::from_secs(35),
        }
    }
}

/// Why a proxy cannot be set up. No message repeats the token.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The service's origin cannot be used.
    #[error(transparent)]
    Origin(#[from] OriginError),
    /// The site token cannot be sent.
    #[error(
        "the site token must be visible ASCII characters, and not empty: copy it again from where it was issued"
    )]
    Token,
    /// The HTTP client cannot be made, as when the system has no root certificates.
    #[error("the HTTP client cannot be made: {0}")]
    Client(#[source] reqwest::Error),
}

#[derive(Debug)]
struct Proxy {
    upstream: Upstream,
    message_body_limit: usize,
    events_body_limit: usize,
    timeout: Duration,
}

/// The proxy as a router, to be nested under the site's prefix.
///
/// Goes on to the service: query, JSON body, `Idempotency-Key`, `Accept-Language`. Comes back: status, body,
/// `Content-Type`, `X-Request-Id`, `X-Service-API-Version`, `Retry-After`, `X-RateLimit-*`. Nothing else passes, in
/// either direction. What goes wrong on the way is a failure envelope (2.1) with a request id of the proxy's own: 502
/// `UPSTREAM_UNAVAILABLE` when the service cannot be reached or its answer cannot be used, 504 `UPSTREAM_TIMEOUT` when
/// it takes too long.
pub fn router(options: ProxyOptions) -> Result<Router, SetupError> {
    let ProxyOptions { origin, token, message_body_limit, events_body_limit, answer_limit, timeout } =
        options;
    let upstream = Upstream::new(&origin, &token, answer_limit, timeout)?;
    let proxy = Proxy { upstream, message_body_limit, events_body_limit, timeout };
    let mut router = Router::new();
    for path in ["/chat/config", "/chat/messages", "/chat/presence", "/events"] {
        router = router.route(path, any(serve));
    }
    Ok(router.fallback(not_found).with_state(Arc::new(proxy)))
}

async fn not_found() -> Response {
    sealed(Failure::NotFound)
}

async fn serve(State(proxy): State<Arc<Proxy>>, request: Request) -> Response {
    match proxy.forward(request).await {
        Ok(response) => sealed(response),
        Err(failure) => sealed(failure),
    }
}

/// What every answer of the proxy has: nobody stores it, and nobody takes it for a page.
fn sealed(answer: impl IntoResponse) -> Response {
    let headers = [
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (headers, answer).into_response()
}

impl Proxy {
    async fn forward(&self, request: Request) -> Result<Response, Failure> {
        let (parts, body) = request.into_parts();
        let endpoint = endpoint(&parts.method, &parts.uri)?;
        let body = match endpoint.method() {
            chat_protocol::Method::Get => None,
            chat_protocol::Method::Post => Some(self.body(endpoint, &parts.headers, body).await?),
        };
        let kept = |name: HeaderName| parts.headers.get(&name).cloned().map(|value| (name, value));
        self.upstream
            .forward(Forwarded {
                endpoint,
                query: parts.uri.query(),
                headers: [HeaderName::from_static("idempotency-key"), header::ACCEPT_LANGUAGE]
                    .into_iter()
                    .filter_map(kept)
                    .collect(),
                body,
            })
            .await
    }

    /// The body, if it is JSON by its type and within its bounds. A page of another site can send no JSON without
    /// asking first, so this also keeps forms on other sites from talking to the service.
    async fn body(&self, endpoint: Endpoint, headers: &HeaderMap, body: Body) -> Result<Bytes, Failure> {
        let content_type =
            headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        if !essence.eq_ignore_ascii_case("application/json") {
            return Err(Failure::NotJson);
        }
        let limit =
            if endpoint == Endpoint::Events { self.events_body_limit } else { self.message_body_limit };
        let read = tokio::time::timeout(self.timeout, to_bytes(body, limit)).await;
        // The other way to fail is that the browser is gone, and then nobody reads the refusal.
        read.map_err(|_| Failure::SlowRequest)?.map_err(|_| Failure::TooLarge { limit })
    }
}

fn endpoint(method: &Method, uri: &Uri) -> Result<Endpoint, Failure> {
    let here = || Endpoint::ALL.into_iter().filter(|endpoint| endpoint.path() == uri.path());
    let matches = |endpoint: &Endpoint| match endpoint.method() {
        chat_protocol::Method::Get => method == Method::GET,
        chat_protocol::Method::Post => method == Method::POST,
    };
    here().find(matches).ok_or_else(|| Failure::MethodNotAllowed {
        allow: match uri.path() {
            "/chat/messages" => "GET, POST",
            "/events" => "POST",
            _ => "GET",
        },
    })
}
