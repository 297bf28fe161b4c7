//! The proxy as a standalone server, behind the site's web server or beside it.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::routing::{MethodRouter, get};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tower_http::cors::CorsLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tracing::{info, warn};

use super::connections::{ConnectionLimits, serve_connections};
use super::handler::{CONTENT_POLICY, Proxy, build, routes};
use super::metrics::ProxyMetrics;
use super::options::{ProxyOptions, SetupError};
use super::tasks::first_end;
use super::token_check::check_token;

/// The settings of the server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The settings of the proxy.
    pub proxy: ProxyOptions,
    /// The address of the five paths and of `GET /healthz`.
    pub listen: SocketAddr,
    /// The prefix of the five paths, such as `/connector`.
    pub prefix: String,
    /// The address of `GET /metrics`, for the operator only. It also serves `GET /healthz`, which the limits
    /// on visitors' connections do not affect.
    pub metrics_listen: Option<SocketAddr>,
    /// The time limit of a request's head, of a response that the client does not read, and of an idle
    /// connection. ([`ProxyOptions::timeout`] limits the rest of a request.)
    pub connection_timeout: Duration,
    /// Maximum open connections. Each may need a second one to the service: use half of the limit on open
    /// files.
    pub connections: usize,
    /// Maximum open connections from one address. [`ProxyOptions::trusted_hops`] are exempt.
    pub connections_per_address: usize,
    /// The time that requests in progress have to finish after the server is told to stop.
    pub grace: Duration,
}

/// The server could not start, or failed.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The proxy cannot be set up.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// The prefix is invalid.
    #[error(
        "invalid prefix: expected a path such as /connector, which begins with /, does not end with / and contains none of {{}}*?#"
    )]
    Prefix,
    /// An address cannot be bound.
    #[error("cannot listen on {address}: {source}; stop the program that uses it, or choose another address")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// A running server failed.
    #[error("the server failed: {0}")]
    Server(#[source] io::Error),
}

/// A proxy whose ports are open.
#[derive(Debug)]
pub struct ProxyServer {
    listener: TcpListener,
    metrics: Option<TcpListener>,
    proxy: Arc<Proxy>,
    cors_layer: Option<CorsLayer>,
    prefix: String,
    metrics_source: ProxyMetrics,
    stopping: Arc<AtomicBool>,
    limits: ConnectionLimits,
    grace: Duration,
}

impl ProxyServer {
    /// Binds the ports.
    pub async fn bind(options: ServerOptions) -> Result<Self, ServerError> {
        let ServerOptions {
            mut proxy,
            listen,
            prefix,
            metrics_listen,
            connection_timeout,
            connections,
            connections_per_address,
            grace,
        } = options;
        if !prefix.starts_with('/') || prefix.ends_with('/') || prefix.contains(['{', '}', '*', '?', '#']) {
            return Err(ServerError::Prefix);
        }
        let metrics_source = proxy.metrics.get_or_insert_default().clone();
        let stopping = Arc::new(AtomicBool::new(false));
        let limits = ConnectionLimits {
            timeout: connection_timeout,
            total: connections,
            per_address: connections_per_address,
            exempt: proxy.trusted_hops.clone(),
        };
        let (proxy, cors_layer) = build(proxy)?;
        let open = async |address: SocketAddr| {
            TcpListener::bind(address).await.map_err(|source| ServerError::Listen { address, source })
        };
        let listener = open(listen).await?;
        let metrics = match metrics_listen {
            Some(address) => Some(open(address).await?),
            None => None,
        };
        Ok(Self { listener, metrics, proxy, cors_layer, prefix, metrics_source, stopping, limits, grace })
    }

    /// Returns the address of the five paths.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Returns the address of the metrics, if there is one.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Asks the service once whether it accepts the token, and logs the result. Run it beside
    /// [`Self::serve`].
    pub fn check_token(&self) -> impl Future<Output = ()> + Send + use<> {
        let proxy = Arc::clone(&self.proxy);
        async move { check_token(&proxy.upstream).await }
    }

    /// Serves until `stop` is ready, then finishes the requests in progress within the grace period.
    pub async fn serve(self, stop: impl Future<Output = ()>) -> Result<(), ServerError> {
        let stopped = CancellationToken::new();
        let limits = self.limits;
        let mut tasks = JoinSet::new();
        if let Some(listener) = self.metrics {
            let metrics_source = self.metrics_source;
            let text = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
            let render = move || async move { ([(header::CONTENT_TYPE, text)], metrics_source.render()) };
            let app = Router::new().route("/metrics", get(render)).route("/healthz", health(&self.stopping));
            let app = move || app.clone();
            tasks.spawn(serve_connections(listener, app, limits.clone(), None, stopped.clone()));
        }
        let app = site(self.proxy, self.cors_layer, &self.prefix, &self.stopping);
        let app = move || app.clone();
        let mut server = tokio::spawn(serve_connections(self.listener, app, limits, None, stopped.clone()));
        let broken = |ended: String| ServerError::Server(io::Error::other(ended));
        tokio::select! {
            () = stop => {}
            ended = first_end(&mut server, &mut tasks) => return Err(broken(ended)),
        }
        info!("stopping");
        self.stopping.store(true, Ordering::Relaxed);
        stopped.cancel();
        if let Ok(ended) = tokio::time::timeout(self.grace, &mut server).await {
            return ended.map_err(|error| broken(error.to_string()));
        }
        warn!("some requests did not finish within {:?} and were aborted", self.grace);
        server.abort();
        Ok(())
    }
}

/// Answers `GET /healthz`. The service's health is not checked: the proxy can serve cached configs without
/// it.
fn health(stopping: &Arc<AtomicBool>) -> MethodRouter {
    let stopping = Arc::clone(stopping);
    get(move || async move {
        if stopping.load(Ordering::Relaxed) {
            (StatusCode::SERVICE_UNAVAILABLE, "stopping\n")
        } else {
            (StatusCode::OK, "ok\n")
        }
    })
}

/// Returns the application of the server: the proxy below its prefix, and `/healthz`.
fn site(
    proxy: Arc<Proxy>,
    cors_layer: Option<CorsLayer>,
    prefix: &str,
    stopping: &Arc<AtomicBool>,
) -> Router {
    let shared_with = if cors_layer.is_some() { "cross-origin" } else { "same-origin" };
    let header = |name, value| SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value));
    Router::new().nest(prefix, routes(proxy, cors_layer)).route("/healthz", health(stopping)).layer((
        header(header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        header(header::REFERRER_POLICY, "no-referrer"),
        header(HeaderName::from_static("cross-origin-resource-policy"), shared_with),
    ))
}
