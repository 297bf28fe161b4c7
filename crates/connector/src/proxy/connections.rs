//! Serves connections with limits: how many one address may open, and how long each may be idle.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::HttpBody;
use axum::extract::ConnectInfo;
use axum::http::{Request, Response};
use axum::serve::Listener;
use axum::{BoxError, Router};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use ipnet::IpNet;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio_io_timeout::TimeoutStream;
use tokio_util::sync::CancellationToken;
use tower_http::add_extension::AddExtension;
use tracing::{debug, warn};

use super::client_address::rate_key;
use super::log_throttle::LogThrottle;

/// Maximum size of a request's head, in bytes. Browsers send far less.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The number of open connections up to which a runtime is preferred to the later ones. With little traffic,
/// requests then find the connections to the service that earlier ones have left.
const PREFERRED_CONNECTIONS: usize = 4;

/// The limits of connections.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionLimits {
    /// The time limit of a handshake, of an idle connection, of a request's head, and of a stalled write.
    pub(crate) timeout: Duration,
    /// Maximum open connections.
    pub(crate) total: usize,
    /// Maximum open connections from one address.
    pub(crate) per_address: usize,
    /// Networks of trusted reverse proxies, exempt from the limit of one address.
    pub(crate) exempt: Vec<IpNet>,
}

/// The response to a connection beyond the limits. It fits into any socket's buffer, so writing it does not
/// block.
const TOO_MANY_CONNECTIONS: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nretry-after: 5\r\n\
    connection: close\r\n\r\n";

/// A connection whose stalled writes end.
pub(crate) type TimedStream = Pin<Box<TimeoutStream<TcpStream>>>;

/// What happens to a connection before its first request, such as a TLS handshake.
pub(crate) trait Handshake: Clone + Send + 'static {
    /// The stream that requests are read from.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    fn handshake(&self, stream: TimedStream) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// No handshake: requests are not encrypted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plain;

impl Handshake for Plain {
    type Stream = TimedStream;

    async fn handshake(&self, stream: TimedStream) -> io::Result<TimedStream> {
        Ok(stream)
    }
}

/// The service of a connection whose requests go to a router.
pub(crate) type RouterService = TowerToHyperService<AddExtension<Router, ConnectInfo<SocketAddr>>>;

/// Returns the service of a connection from `peer`.
pub(crate) fn with_peer(app: Router, peer: SocketAddr) -> RouterService {
    TowerToHyperService::new(AddExtension::new(app, ConnectInfo(peer)))
}

/// Serves HTTP/1 until `stopped` is ready, then finishes the requests in progress. A connection gets the
/// first of the `runtimes` that has few, or else the one with the fewest. `service` returns the service of a
/// new connection from its peer and the number of its runtime.
///
/// `axum::serve` has no such limits: a client that sends a head byte by byte, never reads a response, or
/// opens idle connections would hold them without end.
pub(crate) async fn serve_connections<H, S, B>(
    mut listener: TcpListener,
    service: impl Fn(SocketAddr, usize) -> S,
    limits: ConnectionLimits,
    handshake: H,
    runtimes: Vec<Handle>,
    stopped: impl Future<Output = ()>,
) where
    H: Handshake,
    S: Service<Request<Incoming>, Response = Response<B>, Error: Into<BoxError>, Future: Send>
        + Send
        + 'static,
    B: HttpBody<Data: Send, Error: Into<BoxError>> + Send + 'static,
{
    let mut stopped = pin!(stopped);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.timeout).max_buf_size(MAX_HEAD_BYTES);
    let connections = GracefulShutdown::new();
    let is_stopping = CancellationToken::new();
    let open = OpenConnections::new(runtimes.len());
    let refusals = LogThrottle::default();
    loop {
        let (stream, address) = tokio::select! {
            accepted = Listener::accept(&mut listener) => accepted,
            () = &mut stopped => break,
        };
        let Some(permit) = open.acquire(address, &limits) else {
            // Best effort: a failed write changes nothing.
            let _ = stream.try_write(TOO_MANY_CONNECTIONS);
            if let Some(times) = refusals.occurrences() {
                let (each, all) = (limits.per_address, limits.total);
                warn!(times, "refused connections beyond {each} from one address, or {all} in total");
            }
            continue;
        };
        let runtime = permit.runtime;
        let service = service(address, runtime);
        let (http, handshake, is_stopping) = (http.clone(), handshake.clone(), is_stopping.clone());
        let (watcher, limit) = (connections.watcher(), limits.timeout);
        // The runtime of a stream is the one that it is created in.
        let stream = stream.into_std();
        runtimes[runtime].spawn(async move {
            let stream = match stream.and_then(TcpStream::from_std) {
                Ok(stream) => with_write_timeout(stream, limit),
                Err(error) => return debug!("a connection was lost: {error}"),
            };
            let shaken = tokio::select! {
                shaken = tokio::time::timeout(limit, handshake.handshake(stream)) => shaken,
                () = is_stopping.cancelled() => return,
            };
            match shaken {
                Ok(Ok(stream)) => {
                    let connection = http.serve_connection(TokioIo::new(stream), service);
                    if let Err(error) = watcher.watch(connection).await {
                        debug!("a connection broke off: {error}");
                    }
                }
                Ok(Err(error)) => debug!("a handshake failed: {error}"),
                Err(_) => debug!("a handshake did not end within {limit:?}"),
            }
            drop(permit);
        });
    }
    drop(listener);
    is_stopping.cancel();
    connections.shutdown().await;
}

/// The number of open connections, in total, by address and by runtime.
#[derive(Clone, Debug)]
struct OpenConnections(Arc<Mutex<Counts>>);

#[derive(Debug)]
struct Counts {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
    by_runtime: Vec<usize>,
}

/// Counts a connection until it is dropped. Without an address it counts towards the total only.
#[derive(Debug)]
struct ConnectionPermit {
    open: OpenConnections,
    address: Option<IpAddr>,
    /// The number of the runtime that serves the connection.
    runtime: usize,
}

impl OpenConnections {
    fn new(runtimes: usize) -> Self {
        let counts = Counts { total: 0, by_address: HashMap::new(), by_runtime: vec![0; runtimes] };
        Self(Arc::new(Mutex::new(counts)))
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection; `None` if a limit is reached.
    fn acquire(&self, address: SocketAddr, limits: &ConnectionLimits) -> Option<ConnectionPermit> {
        let address = address.ip().to_canonical();
        let is_counted = !limits.exempt.iter().any(|network| network.contains(&address));
        let address = is_counted.then(|| rate_key(address));
        let mut open = self.lock();
        if open.total >= limits.total {
            return None;
        }
        let runtime = open.runtime()?;
        if let Some(address) = address {
            let connections = open.by_address.get(&address).copied().unwrap_or_default();
            if connections >= limits.per_address {
                return None;
            }
            open.by_address.insert(address, connections + 1);
        }
        open.total += 1;
        open.by_runtime[runtime] += 1;
        Some(ConnectionPermit { open: self.clone(), address, runtime })
    }
}

impl Counts {
    /// Returns the runtime of the next connection.
    fn runtime(&self) -> Option<usize> {
        let first = self.by_runtime.iter().position(|open| *open < PREFERRED_CONNECTIONS);
        first.or_else(|| (0..self.by_runtime.len()).min_by_key(|runtime| self.by_runtime[*runtime]))
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut open = self.open.lock();
        open.total -= 1;
        open.by_runtime[self.runtime] -= 1;
        let Some(address) = self.address else { return };
        if let Entry::Occupied(mut connections) = open.by_address.entry(address) {
            *connections.get_mut() -= 1;
            if *connections.get() == 0 {
                connections.remove();
            }
        }
    }
}

/// Wraps a stream with a timeout of stalled writes.
fn with_write_timeout(stream: TcpStream, timeout: Duration) -> TimedStream {
    // Without Nagle's algorithm the last segment of a response is not delayed.
    if let Err(error) = stream.set_nodelay(true) {
        debug!("a connection was lost before its first request: {error}");
    }
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(timeout));
    Box::pin(stream)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(total: usize, per_address: usize, exempt: &[&str]) -> ConnectionLimits {
        let exempt = exempt.iter().map(|network| network.parse().expect("a network")).collect();
        ConnectionLimits { timeout: Duration::ZERO, total, per_address, exempt }
    }

    fn address(text: &str) -> SocketAddr {
        SocketAddr::new(text.parse().expect("an address"), 1)
    }

    #[test]
    fn releases_connections_and_forgets_idle_addresses() {
        let open = OpenConnections::new(1);
        let limits = limits(10, 2, &[]);
        let first = open.acquire(address("192.0.2.1"), &limits).expect("room");
        let second = open.acquire(address("::ffff:192.0.2.1"), &limits).expect("room");
        assert!(open.acquire(address("192.0.2.1"), &limits).is_none());
        assert!(open.acquire(address("192.0.2.2"), &limits).is_some(), "another client");
        drop(first);
        drop(open.acquire(address("192.0.2.1"), &limits).expect("room"));
        drop(second);
        assert!(open.lock().by_address.is_empty());
        assert_eq!(open.lock().total, 0);
    }

    #[test]
    fn a_trusted_hop_is_limited_by_the_total_only() {
        let open = OpenConnections::new(1);
        let limits = limits(2, 1, &["10.0.0.0/8"]);
        let connections =
            ["10.1.2.3", "10.1.2.3"].map(|hop| open.acquire(address(hop), &limits).expect("room"));
        assert!(open.acquire(address("10.1.2.3"), &limits).is_none());
        assert!(open.acquire(address("192.0.2.1"), &limits).is_none(), "there is no room for anybody");
        drop(connections);
        assert!(open.acquire(address("192.0.2.1"), &limits).is_some());
    }

    #[test]
    fn few_connections_stay_together_and_many_are_spread_evenly() {
        let open = OpenConnections::new(3);
        let limits = limits(100, 100, &[]);
        let one_more = || open.acquire(address("192.0.2.1"), &limits).expect("room");
        for _ in 0..100 {
            assert_eq!(one_more().runtime, 0, "one at a time");
        }
        let mut permits: Vec<_> = (0..8).map(|_| one_more()).collect();
        assert_eq!(open.lock().by_runtime, [4, 4, 0]);
        permits.extend((0..13).map(|_| one_more()));
        assert_eq!(open.lock().by_runtime, [7, 7, 7]);
        permits.retain(|permit| permit.runtime != 1);
        permits.extend((0..6).map(|_| one_more()));
        assert_eq!(open.lock().by_runtime, [7, 6, 7]);
    }
}
