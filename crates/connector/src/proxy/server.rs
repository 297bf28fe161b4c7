//! The proxy as a standalone server, behind the site's web server or beside it.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, Request, Response, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tower_http::cors::CorsLayer;
use tracing::{info, warn};

use super::connections::{ConnectionLimits, Plain, serve_connections, with_peer};
use super::handler::{CONTENT_POLICY, PATHS, Proxy, build, routes};
use super::metrics::ProxyMetrics;
use super::options::{ProxyOptions, SetupError};
use super::token_check::check_token;
use super::workers::Workers;

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
    prefix: Arc<str>,
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
        let prefix = prefix.into();
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
        let workers = Workers::start().map_err(ServerError::Server)?;
        let stopped = CancellationToken::new();
        let limits = self.limits;
        if let Some(listener) = self.metrics {
            let metrics_source = self.metrics_source;
            let text = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
            let render = move || async move {
                ([(header::CONTENT_TYPE, text)], metrics_source.render()).into_response()
            };
            let app = Router::new().route("/metrics", get(render)).route("/healthz", health(&self.stopping));
            let service = move |peer, _| with_peer(app.clone(), peer);
            let stopped = stopped.clone().cancelled_owned();
            let runtimes = vec![Handle::current()];
            tokio::spawn(serve_connections(listener, service, limits.clone(), Plain, runtimes, stopped));
        }
        // An even share, as accepted connections are spread evenly: together with those in use, the threads
        // hold at most as many connections to the service as visitors may open.
        let max_idle = limits.total.div_ceil(workers.runtimes().len());
        let site = |_| {
            let proxy = Arc::new(self.proxy.with_own_connections(max_idle));
            Arc::new(Site::new(proxy, self.cors_layer.clone(), &self.prefix, &self.stopping))
        };
        let sites: Vec<_> = workers.runtimes().iter().map(site).collect();
        let service = move |peer, runtime: usize| site_service(Arc::clone(&sites[runtime]), peer);
        let (runtimes, is_stopped) = (workers.runtimes().to_vec(), stopped.clone().cancelled_owned());
        let server = serve_connections(self.listener, service, limits, Plain, runtimes, is_stopped);
        let mut server = tokio::spawn(server);
        let broken = |error| ServerError::Server(io::Error::other(error));
        tokio::select! {
            () = stop => {}
            ended = &mut server => return ended.map_err(broken),
        }
        info!("stopping");
        self.stopping.store(true, Ordering::Relaxed);
        stopped.cancel();
        if let Ok(ended) = tokio::time::timeout(self.grace, &mut server).await {
            return ended.map_err(broken);
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

/// The state of one worker thread.
#[derive(Debug)]
struct Site {
    proxy: Arc<Proxy>,
    prefix: Arc<str>,
    /// Whether pages of other origins may use the proxy.
    is_shared: bool,
    /// Everything but the calls of pages of this origin.
    others: Router,
}

fn site_service(
    site: Arc<Site>,
    peer: SocketAddr,
) -> impl Service<Request<Incoming>, Response = Response<SiteBody>, Error = Infallible, Future: Send> {
    service_fn(move |request| {
        let site = Arc::clone(&site);
        async move { Ok(site.respond(peer, request).await) }
    })
}

type SiteBody = Either<Full<Bytes>, Body>;

impl Site {
    fn new(
        proxy: Arc<Proxy>,
        cors_layer: Option<CorsLayer>,
        prefix: &Arc<str>,
        stopping: &Arc<AtomicBool>,
    ) -> Self {
        let is_shared = cors_layer.is_some();
        let routes = routes(Arc::clone(&proxy), cors_layer);
        let others = Router::new().nest(prefix, routes).route("/healthz", health(stopping));
        Self { proxy, prefix: Arc::clone(prefix), is_shared, others }
    }

    async fn respond(&self, peer: SocketAddr, request: Request<Incoming>) -> Response<SiteBody> {
        let mut response = if self.is_call(request.uri().path()) {
            let (parts, body) = request.into_parts();
            let path = &parts.uri.path()[self.prefix.len()..];
            self.proxy.respond(path, Some(peer.ip()), &parts, body).await.into_http().map(Either::Left)
        } else {
            // Boxed, as most requests do without.
            let others = Box::pin(with_peer(self.others.clone(), peer).call(request));
            others.await.unwrap_or_else(|never| match never {}).map(Either::Right)
        };
        let shared_with = if self.is_shared { "cross-origin" } else { "same-origin" };
        for (name, value) in [
            (header::CONTENT_SECURITY_POLICY, CONTENT_POLICY),
            (header::REFERRER_POLICY, "no-referrer"),
            (HeaderName::from_static("cross-origin-resource-policy"), shared_with),
        ] {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }

    /// Returns whether a path is that of a call, without allowed origins to check.
    fn is_call(&self, path: &str) -> bool {
        !self.is_shared && path.strip_prefix(&*self.prefix).is_some_and(|path| PATHS.contains(&path))
    }
}
