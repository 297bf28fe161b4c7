//! Connections to the proxy: how many one address may have, and how long each may do nothing.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::serve::Listener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_io_timeout::TimeoutStream;
use tower_http::add_extension::AddExtension;
use tracing::{debug, warn};

use super::IpNet;
use super::client_address::counted_as;
use super::log_throttle::LogThrottle;

/// How much of a head may be there before its end is, in bytes. Browsers send a fraction of that.
const HEAD_LIMIT: usize = 64 * 1024;

/// What a connection may take up.
#[derive(Clone, Debug)]
pub(super) struct Bounds {
    /// How long it may go without a request, and the head of a request or a reader may take.
    pub(super) timeout: Duration,
    /// Maximum number of open connections from one address.
    pub(super) per_address: usize,
    /// Networks that everybody comes through, and that are not counted.
    pub(super) uncounted: Vec<IpNet>,
}

/// The answer to a connection too many. It fits into the buffer of any socket, so that nobody waits for it.
const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nretry-after: 5\r\n\
    connection: close\r\n\r\n";

/// Serves HTTP/1 until `stopped` is ready; then takes nothing new, and is over when what is under way has ended.
///
/// This is `axum::serve` with bounds, which that has none of: somebody who sends a head byte by byte, never fetches an
/// answer, or opens connections and says nothing, would hold them for as long as they like.
pub(super) async fn serve_connections(
    mut listener: TcpListener,
    app: Router,
    bounds: Bounds,
    stopped: impl Future<Output = ()>,
) {
    let mut stopped = pin!(stopped);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(bounds.timeout).max_buf_size(HEAD_LIMIT);
    let connections = GracefulShutdown::new();
    let open = OpenConnections::default();
    let refusals = LogThrottle::default();
    loop {
        let (stream, address) = tokio::select! {
            accepted = Listener::accept(&mut listener) => accepted,
            () = &mut stopped => break,
        };
        let Some(counted) = open.count(address, &bounds) else {
            // Whether it arrives makes no difference to the others.
            let _ = stream.try_write(TOO_MANY);
            if let Some(times) = refusals.occurrences() {
                warn!(times, "more than {} connections from one address are refused", bounds.per_address);
            }
            continue;
        };
        let service = TowerToHyperService::new(AddExtension::new(app.clone(), ConnectInfo(address)));
        let connection = http.serve_connection(TokioIo::new(patient(stream, bounds.timeout)), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                debug!("a connection broke off: {error}");
            }
            drop(counted);
        });
    }
    drop(listener);
    connections.shutdown().await;
}

/// The number of open connections by address.
#[derive(Clone, Debug, Default)]
struct OpenConnections(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// A connection that is counted until it ends; without an address it is not counted.
#[derive(Debug)]
struct Counted {
    open: OpenConnections,
    address: Option<IpAddr>,
}

impl OpenConnections {
    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a connection, or returns `None` when its address has as many as it may have.
    fn count(&self, address: SocketAddr, bounds: &Bounds) -> Option<Counted> {
        let address = address.ip().to_canonical();
        if bounds.uncounted.iter().any(|network| network.contains(&address)) {
            return Some(Counted { open: self.clone(), address: None });
        }
        let address = counted_as(address);
        let mut open = self.lock();
        let connections = open.get(&address).copied().unwrap_or_default();
        if connections >= bounds.per_address {
            return None;
        }
        open.insert(address, connections + 1);
        Some(Counted { open: self.clone(), address: Some(address) })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut open = self.open.lock();
        if let Entry::Occupied(mut connections) = open.entry(address) {
            *connections.get_mut() -= 1;
            if *connections.get() == 0 {
                connections.remove();
            }
        }
    }
}

/// The stream, which waits for whoever reads from it for so long.
fn patient(stream: TcpStream, timeout: Duration) -> std::pin::Pin<Box<TimeoutStream<TcpStream>>> {
    // The last piece of an answer does not wait for the browser to confirm the one before.
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

    #[test]
    fn an_address_has_its_share_again_once_a_connection_ends_and_is_forgotten_with_the_last() {
        let open = OpenConnections::default();
        let bounds = Bounds { timeout: Duration::ZERO, per_address: 2, uncounted: Vec::new() };
        let address = |text: &str| SocketAddr::new(text.parse().expect("an address"), 1);
        let first = open.count(address("192.0.2.1"), &bounds).expect("room");
        let second = open.count(address("::ffff:192.0.2.1"), &bounds).expect("room");
        assert!(open.count(address("192.0.2.1"), &bounds).is_none());
        assert!(open.count(address("192.0.2.2"), &bounds).is_some(), "another client");
        drop(first);
        drop(open.count(address("192.0.2.1"), &bounds).expect("room"));
        drop(second);
        assert!(open.lock().is_empty());
    }

    #[test]
    fn what_comes_through_a_trusted_hop_is_not_counted() {
        let open = OpenConnections::default();
        let uncounted = vec!["10.0.0.0/8".parse().expect("a network")];
        let bounds = Bounds { timeout: Duration::ZERO, per_address: 0, uncounted };
        assert!(open.count(SocketAddr::from(([10, 1, 2, 3], 1)), &bounds).is_some());
        assert!(open.count(SocketAddr::from(([192, 0, 2, 1], 1)), &bounds).is_none());
        assert!(open.lock().is_empty());
    }
}
