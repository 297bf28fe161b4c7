//! The metrics and the log of requests.
//!
//! A line of the log has the route's pattern, never the path, the query, a header or the body: these contain
//! ids, tokens and what visitors wrote.

use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use tracing::{info, warn};

use super::body_timeout::with_timeout;
use crate::response::REQUEST_ID;
use crate::{API_BASE, Service};

/// The label of requests that no route matches.
const NO_ROUTE: &str = "none";

/// The path of a call of the connector API, which has one route for all. An extension of the response.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RouteLabel(pub(crate) &'static str);

/// Counts and logs the requests of a router, and limits how long their bodies take.
pub(super) fn observed(router: Router, service: &Service) -> Router {
    router.layer(from_fn_with_state(service.clone(), observe))
}

async fn observe(State(service): State<Service>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let _in_flight = service.0.metrics.begin();
    let method = name_of(request.method());
    let matched = request.extensions().get::<MatchedPath>().cloned();
    let limit = service.0.options.body_timeout;
    let response = next.run(request.map(|body| with_timeout(body, limit))).await;
    let call = response.extensions().get::<RouteLabel>().map(|label| format!("{API_BASE}{}", label.0));
    let matched = matched.as_ref().map_or(NO_ROUTE, MatchedPath::as_str);
    let route = call.as_deref().unwrap_or(matched);
    let status = response.status().as_u16();
    let took = began.elapsed();
    service.0.metrics.request(method, route, status, took);
    let request_id = response.headers().get(&REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or("-");
    let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
    if status >= 500 {
        warn!(method, route, status, took_ms, request_id, "answered");
    } else {
        info!(method, route, status, took_ms, request_id, "answered");
    }
    response
}

/// Returns the name of a method. Clients can invent others, which are all counted as one.
fn name_of(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
