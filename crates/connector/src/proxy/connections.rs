//! Connections to the proxy, and how long each may do nothing.

use std::future::Future;
use std::pin::pin;
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
use tracing::debug;

/// How much of a head may be there before its end is, in bytes. Browsers send a fraction of that.
const HEAD_LIMIT: usize = 64 * 1024;

/// Serves HTTP/1 until `stopped` is ready; then takes nothing new, and is over when what is under way has ended.
///
/// This is `axum::serve` with bounds, which that has none of: somebody who sends a head byte by byte, or never fetches
/// an answer, would hold a connection for as long as they like.
pub(super) async fn serve_connections(
    mut listener: TcpListener,
    app: Router,
    timeout: Duration,
    stopped: impl Future<Output = ()>,
) {
    let mut stopped = pin!(stopped);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(timeout).max_buf_size(HEAD_LIMIT);
    let connections = GracefulShutdown::new();
    loop {
        let (stream, address) = tokio::select! {
            accepted = Listener::accept(&mut listener) => accepted,
            () = &mut stopped => break,
        };
        let service = TowerToHyperService::new(AddExtension::new(app.clone(), ConnectInfo(address)));
        let connection = http.serve_connection(TokioIo::new(patient(stream, timeout)), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                debug!("a connection broke off: {error}");
            }
        });
    }
    drop(listener);
    connections.shutdown().await;
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
