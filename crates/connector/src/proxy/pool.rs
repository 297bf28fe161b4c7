//! Keep-alive connections to the service. They have no tasks of their own: the request that uses a connection
//! drives it, so that a response wakes one task on the thread that waits for it.

use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use axum::body::{Bytes, HttpBody};
use axum::http::{Request, Response};
use http_body_util::Full;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::client::conn::TrySendError;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::task::coop::unconstrained;
use tokio::time::Instant;

use super::connector::{ConnectError, Connector, Stream};

/// The time that an unused connection is kept, unless the service closes it.
const IDLE_TIMEOUT: Duration = Duration::from_secs(90);
/// The interval in which unused connections are checked. Node closes its own after 5 s, for example.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The connections of one worker.
#[derive(Debug)]
pub(super) struct Pool {
    connector: Connector,
    /// Maximum unused connections.
    max_idle: usize,
    idle: Mutex<Idle>,
}

#[derive(Debug, Default)]
struct Idle {
    /// Each with the time since which it is unused. The least recently used one is the first.
    connections: VecDeque<(Instant, Box<Connection>)>,
    /// Can be upgraded while a task checks them. The task stays for a while when there are none: under load,
    /// this changes often. It ends with its runtime, which may not be that of the next request.
    closer: Weak<()>,
}

/// A request got no response.
#[derive(Debug, thiserror::Error)]
pub(super) enum PoolError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Http(#[from] hyper::Error),
}

impl Pool {
    pub(super) fn new(connector: Connector, max_idle: usize) -> Arc<Self> {
        Arc::new(Self { connector, max_idle, idle: Mutex::default() })
    }

    /// Returns a pool of the same service with connections of its own.
    pub(super) fn with_own_connections(&self, max_idle: usize) -> Arc<Self> {
        Self::new(self.connector.clone(), max_idle)
    }

    /// Sends a request on an idle connection, or on a new one.
    pub(super) async fn send(
        self: &Arc<Self>,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<PooledBody>, PoolError> {
        loop {
            let (mut connection, is_reused) = match self.take() {
                Some(connection) => (connection, true),
                None => (Connection::open(&self.connector).await?, false),
            };
            match connection.send(request).await {
                Ok(response) => {
                    let pool = Arc::clone(self);
                    return Ok(response.map(|body| PooledBody { body, connection: Some(connection), pool }));
                }
                Err(mut error) => match error.take_message() {
                    // The service has closed the connection, and nothing of the request was written.
                    Some(unsent) if is_reused => request = unsent,
                    _ => return Err(error.into_error().into()),
                },
            }
        }
    }

    fn idle(&self) -> MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Box<Connection>> {
        self.idle().connections.pop_back().map(|(_, connection)| connection)
    }

    fn put(self: &Arc<Self>, connection: Box<Connection>) {
        let mut idle = self.idle();
        idle.connections.push_back((Instant::now(), connection));
        let surplus =
            if idle.connections.len() > self.max_idle { idle.connections.pop_front() } else { None };
        let closer = (idle.closer.strong_count() == 0).then(Arc::<()>::default);
        if let Some(closer) = &closer {
            idle.closer = Arc::downgrade(closer);
        }
        drop(idle);
        drop(surplus);
        if let Some(closer) = closer {
            tokio::spawn(close_idle(Arc::downgrade(self), closer));
        }
    }

    /// Closes the connections that have been idle for too long, or that the service has closed. Returns
    /// whether another one is left, and the closer is to stay.
    fn close_idle(&self) -> bool {
        let mut idle = self.idle();
        // The next request on a connection registers its own waker.
        let mut nobody = Context::from_waker(Waker::noop());
        idle.connections.retain_mut(|(since, connection)| {
            since.elapsed() < IDLE_TIMEOUT && connection.is_ready(&mut nobody)
        });
        let is_needed = !idle.connections.is_empty();
        if !is_needed {
            idle.closer = Weak::new();
        }
        is_needed
    }
}

/// Closes idle connections in time, until a check finds none. The pool sees by `_closer` that it runs.
async fn close_idle(pool: Weak<Pool>, _closer: Arc<()>) {
    loop {
        tokio::time::sleep(IDLE_CHECK_INTERVAL).await;
        if !pool.upgrade().is_some_and(|pool| pool.close_idle()) {
            return;
        }
    }
}

/// A connection to the service.
#[derive(Debug)]
struct Connection {
    sender: SendRequest<Full<Bytes>>,
    /// Dropped when it has ended, which returns a request that it has not taken.
    driver: Option<Driver>,
}

type Driver = http1::Connection<TokioIo<Stream>, Full<Bytes>>;

impl Connection {
    async fn open(connector: &Connector) -> Result<Box<Self>, PoolError> {
        let stream = TokioIo::new(connector.connect().await?);
        let (sender, driver) = http1::handshake(stream).await?;
        Ok(Box::new(Self { sender, driver: Some(driver) }))
    }

    async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Full<Bytes>>>> {
        // A response that waits for more budget of the task wakes its waker, which `drive` does not pass on.
        let mut response = pin!(unconstrained(self.sender.try_send_request(request)));
        let driver = &mut self.driver;
        std::future::poll_fn(|context| drive(driver, context, |context| response.as_mut().poll(context)))
            .await
    }

    /// Returns whether the response has been read to its end, and another request can be sent.
    fn is_ready(&mut self, context: &mut Context<'_>) -> bool {
        let _ = drive(&mut self.driver, context, |_| Poll::<()>::Pending);
        self.driver.is_some() && self.sender.is_ready()
    }
}

/// Drives a connection, and polls a future that depends on nothing else: its response, or a part of the body.
///
/// Only the driver wakes that future, and both are polled in this call. A waker would only poll the whole
/// task a second time.
fn drive<T>(
    driver: &mut Option<Driver>,
    context: &mut Context<'_>,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Poll<T> {
    let mut nobody = Context::from_waker(Waker::noop());
    // The first poll may ask for more, which the driver may already have.
    for _ in 0..2 {
        // The error of an ended connection is the one of its request.
        if driver.as_mut().is_some_and(|driver| Pin::new(driver).poll(context).is_ready()) {
            *driver = None;
        }
        if let Poll::Ready(output) = poll(&mut nobody) {
            return Poll::Ready(output);
        }
    }
    Poll::Pending
}

/// The body of a response. Its connection is reused when it has been read to its end, and closed otherwise.
#[derive(Debug)]
pub(super) struct PooledBody {
    body: Incoming,
    connection: Option<Box<Connection>>,
    pool: Arc<Pool>,
}

impl PooledBody {
    fn release(&mut self, context: &mut Context<'_>) {
        if let Some(mut connection) = self.connection.take()
            && connection.is_ready(context)
        {
            self.pool.put(connection);
        }
    }
}

impl HttpBody for PooledBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Self { body, connection, .. } = &mut *self;
        let Some(connection) = connection else { return Poll::Ready(None) };
        let frame =
            drive(&mut connection.driver, context, |context| Pin::new(&mut *body).poll_frame(context));
        if matches!(frame, Poll::Ready(None)) || self.body.is_end_stream() {
            self.release(context);
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.connection.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};

    use super::*;

    /// Reads a request, and sends a response.
    async fn respond(stream: &mut TcpStream) {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            assert_ne!(stream.read_buf(&mut head).await.expect("a request"), 0);
        }
        let response = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        stream.write_all(response).await.expect("written");
    }

    #[tokio::test]
    async fn closes_the_least_recently_used_connection_above_the_maximum() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let origin = format!("http://{address}").parse().expect("an origin");
        let pool = Pool::new(Connector::new(origin).expect("a connector"), 2);
        let (mut streams, mut responses) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let service = async {
                let (mut stream, _) = listener.accept().await.expect("a connection");
                respond(&mut stream).await;
                streams.push(stream);
            };
            let (response, ()) = tokio::join!(pool.send(Request::default()), service);
            // A response that is not read to its end keeps its connection in use.
            responses.push(response.expect("a response"));
        }
        for response in responses {
            assert_eq!(response.into_body().collect().await.expect("a body").to_bytes(), "{}");
        }
        assert_eq!(streams[0].read(&mut [0]).await.expect("an end"), 0);
        let mut responses = Vec::new();
        for stream in streams[1..].iter_mut().rev() {
            let (response, ()) = tokio::join!(pool.send(Request::default()), respond(stream));
            responses.push(response.expect("a response on the same connection"));
        }
    }
}
