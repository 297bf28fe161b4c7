//! Serves connections with limits: how many one address may open, and how long each may be idle.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::extract::ConnectInfo;
use axum::serve::Listener;
use axum::{BoxError, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use ipnet::IpNet;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::either::Either;
use tokio_util::sync::CancellationToken;
use tower_http::add_extension::AddExtension;
use tracing::{debug, warn};

use super::client_address::rate_key;
use super::log_throttle::LogThrottle;

/// Maximum size of a request's head, in bytes. Browsers send far less.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The limits of connections.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionLimits {
    /// The time limit of a TLS handshake, of an idle connection, of a request's head, and of a stalled write.
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

/// Serves HTTP/1 until `stopped` is cancelled, then finishes the requests in progress. Dropping the future
/// aborts them. A new connection is served by the router that `app` returns, with its peer as `ConnectInfo`.
///
/// `axum::serve` has no such limits: a client that sends a head byte by byte, never reads a response, or
/// opens idle connections would hold them without end.
pub(crate) async fn serve_connections(
    mut listener: TcpListener,
    app: impl Fn() -> Router,
    limits: ConnectionLimits,
    tls: Option<TlsAcceptor>,
    stopped: CancellationToken,
) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.timeout).max_buf_size(MAX_HEAD_BYTES);
    let open = OpenConnections::default();
    let refusals = LogThrottle::default();
    let mut connections = JoinSet::new();
    loop {
        let (stream, peer) = tokio::select! {
            accepted = Listener::accept(&mut listener) => accepted,
            Some(_) = connections.join_next() => continue,
            () = stopped.cancelled() => break,
        };
        let Some(permit) = open.acquire(peer, &limits) else {
            // Best effort: a failed write changes nothing.
            let _ = stream.try_write(TOO_MANY_CONNECTIONS);
            if let Some(times) = refusals.occurrences() {
                let (each, all) = (limits.per_address, limits.total);
                warn!(times, "refused connections beyond {each} from one address, or {all} in total");
            }
            continue;
        };
        let connection = Connection {
            http: http.clone(),
            app: AddExtension::new(app(), ConnectInfo(peer)),
            tls: tls.clone(),
            timeout: limits.timeout,
            // A token of its own, as each poll of the connection locks it.
            stopped: stopped.child_token(),
        };
        connections.spawn(async move {
            if let Err(error) = connection.serve(stream).await {
                debug!("a connection broke off: {error}");
            }
            drop(permit);
        });
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// The service of one connection.
struct Connection {
    http: http1::Builder,
    app: AddExtension<Router, ConnectInfo<SocketAddr>>,
    tls: Option<TlsAcceptor>,
    timeout: Duration,
    stopped: CancellationToken,
}

/// A connection whose stalled writes end.
type TimedStream = Pin<Box<TimeoutStream<TcpStream>>>;

impl Connection {
    async fn serve(self, stream: TcpStream) -> Result<(), BoxError> {
        let stream = tokio::select! {
            opened = timeout(self.timeout, self.open(stream)) => opened??,
            () = self.stopped.cancelled() => return Ok(()),
        };
        let service = TowerToHyperService::new(self.app);
        let mut connection = pin!(self.http.serve_connection(TokioIo::new(stream), service));
        tokio::select! {
            served = connection.as_mut() => return Ok(served?),
            () = self.stopped.cancelled() => connection.as_mut().graceful_shutdown(),
        }
        Ok(connection.await?)
    }

    /// Sets the options of a stream, and encrypts it.
    async fn open(&self, stream: TcpStream) -> io::Result<Either<TimedStream, Box<TlsStream<TimedStream>>>> {
        // Without Nagle's algorithm the last segment of a response is not delayed.
        stream.set_nodelay(true)?;
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(self.timeout));
        let stream = Box::pin(stream);
        Ok(match &self.tls {
            None => Either::Left(stream),
            Some(tls) => Either::Right(Box::new(tls.accept(stream).await?)),
        })
    }
}

/// The number of open connections, in total and by address.
#[derive(Clone, Debug, Default)]
struct OpenConnections(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// Counts a connection until it is dropped. Without an address it counts towards the total only.
#[derive(Debug)]
struct ConnectionPermit {
    open: OpenConnections,
    address: Option<IpAddr>,
}

impl OpenConnections {
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
        if let Some(address) = address {
            let connections = open.by_address.get(&address).copied().unwrap_or_default();
            if connections >= limits.per_address {
                return None;
            }
            open.by_address.insert(address, connections + 1);
        }
        open.total += 1;
        Some(ConnectionPermit { open: self.clone(), address })
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let mut open = self.open.lock();
        open.total -= 1;
        let Some(address) = self.address else { return };
        if let Entry::Occupied(mut connections) = open.by_address.entry(address) {
            *connections.get_mut() -= 1;
            if *connections.get() == 0 {
                connections.remove();
            }
        }
    }
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
        let open = OpenConnections::default();
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
        let open = OpenConnections::default();
        let limits = limits(2, 1, &["10.0.0.0/8"]);
        let connections =
            ["10.1.2.3", "10.1.2.3"].map(|hop| open.acquire(address(hop), &limits).expect("room"));
        assert!(open.acquire(address("10.1.2.3"), &limits).is_none());
        assert!(open.acquire(address("192.0.2.1"), &limits).is_none(), "there is no room for anybody");
        drop(connections);
        assert!(open.acquire(address("192.0.2.1"), &limits).is_some());
    }
}
