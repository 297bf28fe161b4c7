//! The handling of one request: checks, then the cache or the service, then the response with its security
//! headers.

use std::net::SocketAddr;
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::routing::any;
use chat_protocol::Endpoint;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use ipnet::IpNet;
use tower_http::cors::CorsLayer;
use tracing::info;

use super::client_address::{resolve_client, warn_about_untrusted_hop};
use super::config_cache::ConfigStore;
use super::failure::Failure;
use super::metrics::ProxyMetrics;
use super::options::{ProxyOptions, SetupError};
use super::rate::ClientLimiter;
use super::response::{ProxyResponse, is_json};
use super::upstream::{Upstream, UpstreamRequest};
use super::visitor::VisitorHook;

/// The paths of the five calls.
const PATHS: [&str; 4] = ["/chat/config", "/chat/messages", "/chat/presence", "/events"];

/// The state behind the routes.
#[derive(Debug)]
pub(super) struct Proxy {
    pub(super) upstream: Upstream,
    message_body_limit: usize,
    events_body_limit: usize,
    timeout: Duration,
    limiter: Option<ClientLimiter>,
    trusted_hops: Vec<IpNet>,
    untrusted_hop: Once,
    pub(super) configs: Option<ConfigStore>,
    pub(super) metrics: Option<ProxyMetrics>,
    visitor: Option<VisitorHook>,
}

/// Returns the state of a proxy, and the CORS layer of its allowed origins.
pub(super) fn build(options: ProxyOptions) -> Result<(Arc<Proxy>, Option<CorsLayer>), SetupError> {
    let upstream = Upstream::new(&options.origin, &options.token, options.answer_limit, options.timeout)?;
    let cors_layer = cors_layer(&options.allowed_origins)?;
    let proxy = Arc::new(Proxy {
        upstream,
        message_body_limit: options.message_body_limit,
        events_body_limit: options.events_body_limit,
        timeout: options.timeout,
        limiter: options.client_rate.map(ClientLimiter::new),
        trusted_hops: options.trusted_hops,
        untrusted_hop: Once::new(),
        configs: options.config_cache.map(ConfigStore::new),
        metrics: options.metrics,
        visitor: options.visitor,
    });
    Ok((proxy, cors_layer))
}

/// Returns a proxy as a router.
pub(super) fn routes(proxy: Arc<Proxy>, cors_layer: Option<CorsLayer>) -> Router {
    let mut router = Router::new();
    for path in PATHS {
        router = router.route(path, any(serve));
    }
    let router = router.fallback(not_found).with_state(proxy);
    match cors_layer {
        Some(layer) => router.layer(layer),
        None => router,
    }
}

/// Returns the CORS layer for the allowed origins; `None` when there are none. Credentials are not allowed.
fn cors_layer(allowed: &[String]) -> Result<Option<CorsLayer>, SetupError> {
    if allowed.is_empty() {
        return Ok(None);
    }
    let mut origins = Vec::new();
    for text in allowed {
        if text.trim().eq_ignore_ascii_case("null") {
            return Err(SetupError::NullOrigin);
        }
        let origin = crate::origin::parse(text).map_err(|_| SetupError::AllowedOrigin(text.clone()))?;
        // Browsers write an origin without the slash at the end.
        let origin = origin.origin().ascii_serialization();
        origins.push(HeaderValue::try_from(origin).map_err(|_| SetupError::AllowedOrigin(text.clone()))?);
    }
    let exposed = [
        "x-request-id",
        "x-service-api-version",
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
    ];
    let layer = CorsLayer::new()
        .allow_origin(origins)
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([header::CONTENT_TYPE, header::ACCEPT_LANGUAGE, IDEMPOTENCY_KEY, VISITOR_TOKEN])
        .expose_headers(
            exposed.map(HeaderName::from_static).into_iter().chain([header::RETRY_AFTER]).collect::<Vec<_>>(),
        )
        .max_age(Duration::from_mins(10));
    Ok(Some(layer))
}

/// The Content-Security-Policy of every response: none of them is a page.
pub(super) const CONTENT_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const VISITOR_TOKEN: HeaderName = HeaderName::from_static(chat_protocol::VISITOR_TOKEN);

async fn not_found(request: Request) -> ProxyResponse {
    with_security_headers(failure_response(&Failure::NotFound, !request.body().is_end_stream()))
}

/// Returns the response to a failure. A connection whose request body is left unread is closed, so that the
/// client does not lose its next request on it.
fn failure_response(failure: &Failure, has_body: bool) -> ProxyResponse {
    let mut response = ProxyResponse::from(failure);
    if has_body && failure.leaves_body_unread() {
        response.headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

async fn serve(State(proxy): State<Arc<Proxy>>, request: Request) -> ProxyResponse {
    let (parts, body) = request.into_parts();
    proxy.respond(&parts, body).await
}

/// Returns the name of a call in logs and metrics.
fn name(endpoint: Endpoint) -> &'static str {
    match endpoint {
        Endpoint::Config => "config",
        Endpoint::Send => "send",
        Endpoint::Messages => "messages",
        Endpoint::Presence => "presence",
        Endpoint::Events => "events",
    }
}

/// Adds the headers of every response: it is not stored, and runs nothing if a browser takes it for a page.
fn with_security_headers(mut response: ProxyResponse) -> ProxyResponse {
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        response.headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

impl Proxy {
    /// Responds to a request for one of [`PATHS`].
    async fn respond(self: &Arc<Self>, parts: &Parts, body: Body) -> ProxyResponse {
        let started = Instant::now();
        let call = endpoint(&parts.method, parts.uri.path());
        let name = call.as_ref().map_or("none", |endpoint| name(*endpoint));
        let has_body = !body.is_end_stream();
        let outcome = match call {
            Ok(endpoint) => self.answer(endpoint, parts, body).await,
            Err(failure) => Err(failure),
        };
        let response = outcome.unwrap_or_else(|failure| failure_response(&failure, has_body));
        let response = with_security_headers(response);
        let (status, took) = (response.status.as_u16(), started.elapsed());
        let request_id =
            response.headers.get("x-request-id").and_then(|id| id.to_str().ok()).unwrap_or_default();
        // Neither the client nor the content is logged.
        info!(call = name, status, took_ms = took.as_millis(), request_id, "answered");
        if let Some(metrics) = &self.metrics {
            metrics.record_request(name, status, took);
        }
        response
    }

    async fn answer(
        self: &Arc<Self>,
        endpoint: Endpoint,
        parts: &Parts,
        body: Body,
    ) -> Result<ProxyResponse, Failure> {
        if let Some(limiter) = &self.limiter
            && let Some(ConnectInfo(peer)) = parts.extensions.get::<ConnectInfo<SocketAddr>>()
        {
            warn_about_untrusted_hop(peer.ip(), &parts.headers, &self.trusted_hops, &self.untrusted_hop);
            let client = resolve_client(peer.ip(), &parts.headers, &self.trusted_hops);
            limiter.take(client).map_err(|wait| Failure::RateLimited { wait })?;
        }
        let body = match endpoint.method() {
            chat_protocol::Method::Get => None,
            chat_protocol::Method::Post => Some(self.body(endpoint, &parts.headers, body).await?),
        };
        let forwarded = |name: HeaderName| parts.headers.get(&name).cloned().map(|value| (name, value));
        let mut headers: HeaderMap =
            [IDEMPOTENCY_KEY, header::ACCEPT_LANGUAGE].into_iter().filter_map(forwarded).collect();
        // The config is the same for everybody.
        if endpoint != Endpoint::Config {
            let token = match &self.visitor {
                Some(hook) => hook.token(parts).await,
                None => parts.headers.get(&VISITOR_TOKEN).cloned(),
            };
            headers.extend(token.map(|token| (VISITOR_TOKEN, token)));
        }
        let query = parts.uri.query().map(str::to_owned);
        let request = UpstreamRequest { endpoint, query, headers, body };
        match &self.configs {
            Some(configs) if endpoint == Endpoint::Config => {
                self.config(configs, request, bypasses_cache(&parts.headers)).await
            }
            _ => self.upstream.forward(request).await,
        }
    }

    /// Returns the body if it is JSON by its content type and within its size limit. A page of another site
    /// cannot send JSON without a CORS preflight, so this also refuses its forms.
    async fn body(&self, endpoint: Endpoint, headers: &HeaderMap, body: Body) -> Result<Bytes, Failure> {
        if !headers.get(header::CONTENT_TYPE).is_some_and(is_json) {
            return Err(Failure::NotJson);
        }
        let limit =
            if endpoint == Endpoint::Events { self.events_body_limit } else { self.message_body_limit };
        // A declared size is checked before the body arrives.
        if body.size_hint().lower() > limit as u64 {
            return Err(Failure::TooLarge { limit });
        }
        let read = tokio::time::timeout(self.timeout, Limited::new(body, limit).collect()).await;
        match read.map_err(|_| Failure::SlowRequest)? {
            Ok(body) => Ok(body.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => Err(Failure::TooLarge { limit }),
            Err(_) => Err(Failure::BrokenRequest),
        }
    }
}

/// Returns whether a request bypasses caches, as `fetch` does with the mode `reload` or `no-store`.
fn bypasses_cache(headers: &HeaderMap) -> bool {
    let mut directives = headers.get_all(header::CACHE_CONTROL).iter().filter_map(|line| line.to_str().ok());
    directives.any(|line| line.split(',').any(|directive| directive.trim().eq_ignore_ascii_case("no-cache")))
}

fn endpoint(method: &Method, path: &str) -> Result<Endpoint, Failure> {
    let here = || Endpoint::ALL.into_iter().filter(|endpoint| endpoint.path() == path);
    let matches = |endpoint: &Endpoint| match endpoint.method() {
        chat_protocol::Method::Get => method == Method::GET,
        chat_protocol::Method::Post => method == Method::POST,
    };
    let allow = match path {
        "/chat/messages" => "GET, POST",
        "/events" => "POST",
        _ => "GET",
    };
    here().find(matches).ok_or(Failure::MethodNotAllowed { allow })
}
