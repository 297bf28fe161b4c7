//! The proxy of section 4.13: forwards five calls to the service with the site token.
//!
//! ```no_run
//! # fn main() -> Result<(), chat_connector::proxy::SetupError> {
//! use chat_connector::proxy::{self, ProxyOptions};
//!
//! let options = ProxyOptions::new("https://service.example",
//! std::env::var("SITE_TOKEN").unwrap_or_default().into()); let site: axum::Router =
//! axum::Router::new().nest("/connector", proxy::router(options)?);
//! # Ok(())
//! # }
//! ```

pub(crate) mod client_address;
mod config_cache;
mod config_requests;
pub(crate) mod connections;
mod failure;
mod handler;
mod log_throttle;
mod metrics;
mod options;
mod rate;
mod response;
mod server;
pub(crate) mod tasks;
mod token_check;
mod upstream;
mod visitor;

use axum::Router;

use handler::{build, routes};

pub use crate::origin::OriginError;
pub use config_cache::ConfigCache;
pub use ipnet::IpNet;
pub use metrics::ProxyMetrics;
pub use options::{ProxyOptions, SetupError};
pub use rate::ClientRate;
pub use server::{ProxyServer, ServerError, ServerOptions};
pub use visitor::{Identity, InvalidVisitorSecret, VisitorHook, VisitorSecret};

/// Returns the proxy as a router, to be nested under the site's prefix.
///
/// Forwarded to the service: query, JSON body, `Idempotency-Key`, `Accept-Language`, and `Visitor-Token`
/// unless a [`VisitorHook`] replaces it. Returned: status, body, `Content-Type` (anything but JSON becomes
/// plain text), `X-Request-Id`, `X-Service-API-Version`, `Retry-After`, `X-RateLimit-*`. Nothing else passes
/// in either direction.
///
/// Errors of the proxy itself are failure envelopes (2.1) with their own request id: 502
/// `UPSTREAM_UNAVAILABLE` if the service cannot be reached or its response is not usable, 504
/// `UPSTREAM_TIMEOUT` if it takes too long.
///
/// # Errors
///
/// Fails if the origin, the token or an allowed origin is invalid, or if the HTTP client cannot be created.
pub fn router(options: ProxyOptions) -> Result<Router, SetupError> {
    let (proxy, cors_layer) = build(options)?;
    Ok(routes(proxy, cors_layer))
}
