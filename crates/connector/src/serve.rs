//! The service as a server: its ports, TLS, the clients behind reverse proxies, and an orderly end.

mod clients;
mod starting;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::Router;
use chat_service::{OpenError, Service, ServiceOptions};
use ipnet::IpNet;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::proxy::connections::{ConnectionLimits, serve_connections};
use crate::proxy::tasks::{describe, first_end};
use crate::tls::{Certificate, TlsError, TlsFiles};

/// The least time that background work has to finish, also when requests have used up the grace period.
const MIN_CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The settings of the server.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// The settings of the service.
    pub service: ServiceOptions,
    /// The address that visitors, sites and operators use.
    pub listen: SocketAddr,
    /// The certificate; `None` serves plain HTTP, behind a reverse proxy.
    pub tls: Option<TlsFiles>,
    /// The interval at which the files of the certificate are looked at, as they may be replaced.
    pub tls_reload_interval: Duration,
    /// The address of `GET /metrics`, for the operator only. It also serves `/livez` and `/readyz`, which the
    /// limits on other connections do not affect.
    pub metrics_listen: Option<SocketAddr>,
    /// Networks of reverse proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted.
    pub trusted_hops: Vec<IpNet>,
    /// The time limit of a TLS handshake, of a request's head, of a response that the client does not read,
    /// and of an idle connection.
    pub connection_timeout: Duration,
    /// Maximum open connections.
    pub connections: usize,
    /// Maximum open connections from one address. Trusted hops are exempt.
    pub connections_per_address: usize,
    /// The time that requests in progress have to finish after the server is told to stop.
    pub grace: Duration,
}

/// The server could not start, or failed.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address cannot be bound.
    #[error(
        "cannot listen on {address}: {source}; stop the program that uses it, or choose another address with {flag}"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The flag that sets the address.
        flag: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The TLS library refuses its settings.
    #[error("cannot set up TLS: {0}")]
    TlsSetup(String),
    /// The database cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A running server failed.
    #[error("the server failed: {0}")]
    Server(String),
}

/// A server whose ports are open. Until the service is ready, it answers that it starts.
#[derive(Debug)]
pub struct Server {
    options: ServeOptions,
    listener: TcpListener,
    metrics: Option<TcpListener>,
    certificate: Option<Arc<Certificate>>,
}

impl Server {
    /// Reads the certificate, and binds the ports.
    pub async fn bind(options: ServeOptions) -> Result<Self, ServeError> {
        let certificate = options.tls.clone().map(Certificate::load).transpose()?;
        let bind = async |address: SocketAddr, flag| {
            TcpListener::bind(address).await.map_err(|source| ServeError::Listen { address, flag, source })
        };
        let listener = bind(options.listen, "--listen").await?;
        let metrics = match options.metrics_listen {
            Some(address) => Some(bind(address, "--metrics-listen").await?),
            None => None,
        };
        Ok(Self { options, listener, metrics, certificate })
    }

    /// Returns the address that is served.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Returns the address of the metrics, if there is one.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Opens the service, calls `ready` with it, and serves until `stop` is ready. Then it accepts no more
    /// connections, ends event streams, finishes the requests in progress within the grace period, and
    /// finishes background work.
    pub async fn serve<R: Future<Output = ()>>(
        self,
        stop: impl Future<Output = ()>,
        ready: impl FnOnce(Service) -> R,
    ) -> Result<(), ServeError> {
        let Self { options, listener, metrics, certificate } = self;
        let ServeOptions { service, tls_reload_interval, trusted_hops, grace, .. } = options;
        let limits = ConnectionLimits {
            timeout: options.connection_timeout,
            total: options.connections,
            per_address: options.connections_per_address,
            exempt: trusted_hops.clone(),
        };
        let stopped = CancellationToken::new();
        let (app, metrics_app) = (Arc::new(OnceLock::new()), Arc::new(OnceLock::new()));
        let tls = certificate.as_ref().map(Certificate::acceptor).transpose();
        let tls = tls.map_err(|error| ServeError::TlsSetup(error.to_string()))?;
        let mut tasks = JoinSet::new();
        if let Some(certificate) = &certificate {
            tasks.spawn(Arc::clone(certificate).follow(tls_reload_interval));
        }
        let public = serve_connections(listener, current(&app), limits.clone(), tls, stopped.clone());
        let mut server = tokio::spawn(public);
        // Served until the process ends, so that `/readyz` can say that it stops.
        if let Some(metrics) = metrics {
            let app = current(&metrics_app);
            tasks.spawn(serve_connections(metrics, app, limits, None, CancellationToken::new()));
        }
        let mut stop = std::pin::pin!(stop);
        let service = tokio::select! {
            opened = Service::open(service) => opened?,
            () = &mut stop => return Ok(()),
            ended = first_end(&mut server, &mut tasks) => return Err(ServeError::Server(ended)),
        };
        let router = clients::identified(service.router(), trusted_hops, certificate.is_some());
        let _ = app.set(router);
        let _ = metrics_app.set(service.metrics_router());
        let mut background = tokio::spawn({
            let service = service.clone();
            // The future is large.
            async move { Box::pin(service.run()).await }
        });
        ready(service.clone()).await;
        let outcome = tokio::select! {
            () = stop => Ok(()),
            ended = first_end(&mut server, &mut tasks) => Err(ServeError::Server(ended)),
            ended = &mut background => Err(ServeError::Server(describe(ended))),
        };
        info!("stopping");
        service.stop();
        stopped.cancel();
        let deadline = Instant::now() + grace;
        if outcome.is_ok() && tokio::time::timeout_at(deadline, &mut server).await.is_err() {
            warn!("some requests did not finish within {grace:?} and were aborted");
            server.abort();
        }
        close(&service, background, deadline).await;
        outcome
    }
}

/// Finishes background work and closes the database, within what is left of the grace period.
async fn close(service: &Service, background: JoinHandle<()>, deadline: Instant) {
    let deadline = deadline.max(Instant::now() + MIN_CLOSE_TIMEOUT);
    let finished = async {
        // A finished handle must not be awaited again. A task that panicked has reported it.
        if !background.is_finished() {
            let _ = background.await;
        }
        service.close().await;
    };
    if tokio::time::timeout_at(deadline, finished).await.is_err() {
        warn!("some background work did not finish in time; it is continued at the next start");
    }
}

/// Returns the application of each moment: the one that is set, or the one that says that the service starts.
fn current(app: &Arc<OnceLock<Router>>) -> impl Fn() -> Router + use<> {
    let (app, starting) = (Arc::clone(app), starting::router());
    move || app.get().unwrap_or(&starting).clone()
}
