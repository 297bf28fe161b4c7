//! A connection to the SMTP server, which may say only so much at a time.
//!
//! The client's library reads a line of any length into memory, and parses the whole response again after
//! each of its lines. A server that never stops talking would fill the memory, or keep a thread busy.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use lettre::transport::smtp::Error as SmtpError;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{AsyncSmtpConnection, AsyncTokioStream, Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_util::compat::FuturesAsyncReadCompatExt;

/// The timeout for connecting.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time after which the next address of the server is tried beside those before.
const ATTEMPT_DELAY: Duration = Duration::from_millis(250);
/// Maximum bytes that the server sends between two writes of the client. A TLS handshake with a long chain of
/// certificates fits.
const MAX_RECEIVED_BYTES: usize = 32 * 1024;

/// The SMTP server, and how to sign in.
#[derive(Debug)]
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) tls: Tls,
    pub(super) credentials: Option<Credentials>,
    /// The name by which the client introduces itself.
    pub(super) hello: ClientId,
}

/// The server cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("connection error: {0}")]
    Network(#[from] io::Error),
    #[error(transparent)]
    Smtp(#[from] SmtpError),
}

impl Server {
    /// Connects, switches to TLS if that is set, and signs in.
    pub(super) async fn connect(&self) -> Result<AsyncSmtpConnection, ConnectError> {
        let connected = timeout(CONNECT_TIMEOUT, async {
            connect_to(tokio::net::lookup_host((&*self.host, self.port)).await?.collect()).await
        });
        let stream = connected.await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        let stream = match &self.tls {
            Tls::Wrapper(parameters) => encrypted(stream, parameters.clone()).await?,
            _ => Box::new(Bounded { peer: stream.peer_addr()?, stream, received: 0 }),
        };
        let mut connection = AsyncSmtpConnection::connect_with_transport(stream, &self.hello).await?;
        if let Tls::Required(parameters) = &self.tls {
            connection.starttls(parameters.clone(), &self.hello).await?;
        }
        if let Some(credentials) = &self.credentials {
            connection.auth(DEFAULT_MECHANISMS, credentials).await?;
        }
        Ok(connection)
    }
}

/// Connects to the first of a server's addresses that answers (RFC 8305). An address that stays silent delays
/// the next one by [`ATTEMPT_DELAY`] only.
async fn connect_to(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let mut next = by_turns(addresses).into_iter();
    let mut attempts = FuturesUnordered::new();
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    loop {
        attempts.extend(next.next().map(TcpStream::connect));
        let attempt = if next.len() > 0 {
            timeout(ATTEMPT_DELAY, attempts.next()).await
        } else {
            Ok(attempts.next().await)
        };
        match attempt {
            Ok(Some(Ok(stream))) => return Ok(stream),
            Ok(Some(Err(error))) => failure = error,
            Ok(None) => return Err(failure),
            Err(_silent) => {}
        }
    }
}

/// Returns addresses of both families by turns, beginning with the family of the first, which the system
/// prefers.
fn by_turns(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let is_first = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == is_first);
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut ordered = Vec::new();
    while first.len() + second.len() > 0 {
        ordered.extend(first.next());
        ordered.extend(second.next());
    }
    ordered
}

#[expect(deprecated, reason = "the library has no other way to begin with TLS on a given stream")]
async fn encrypted(
    stream: TcpStream,
    parameters: TlsParameters,
) -> Result<Box<dyn AsyncTokioStream>, ConnectError> {
    use lettre::transport::smtp::client::AsyncNetworkStream;
    let peer = stream.peer_addr()?;
    let mut stream = AsyncNetworkStream::use_existing_tokio1(Box::new(stream));
    stream.upgrade_tls(parameters).await?;
    Ok(Box::new(Bounded { peer, stream: stream.compat(), received: 0 }))
}

/// A stream that fails when the other side does not stop talking.
#[derive(Debug)]
struct Bounded<S> {
    stream: S,
    peer: SocketAddr,
    /// Bytes received since the last write.
    received: usize,
}

impl<S: AsyncRead + Unpin> AsyncRead for Bounded<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.received += buffer.filled().len() - before;
        if self.received > MAX_RECEIVED_BYTES {
            buffer.set_filled(before);
            return Poll::Ready(Err(io::Error::other("the SMTP server does not stop talking")));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Bounded<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.received = 0;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

impl<S> AsyncTokioStream for Bounded<S>
where
    S: AsyncRead + AsyncWrite + Send + Sync + Unpin + std::fmt::Debug,
{
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::net::{TcpListener, TcpSocket};
    use tokio::time::Instant;

    use super::*;

    #[tokio::test]
    async fn a_silent_address_does_not_keep_mails_from_the_next_one() {
        let local = |number| SocketAddr::from(([127, 0, 0, number], 0));
        // Its queue has one place, so that it answers nobody after the first.
        let silent = TcpSocket::new_v4().expect("a socket");
        silent.bind(local(1)).expect("a port");
        let silent = silent.listen(0).expect("listens");
        let silent_address = silent.local_addr().expect("an address");
        let _first = TcpStream::connect(silent_address).await.expect("a place");
        let refusing = TcpListener::bind(local(1)).await.expect("a port").local_addr().expect("an address");
        let server = TcpListener::bind(local(2)).await.expect("a port");
        let good = server.local_addr().expect("an address");
        let began = Instant::now();
        let stream =
            connect_to(vec![silent_address, refusing, silent_address, good]).await.expect("connected");
        assert_eq!(stream.peer_addr().expect("a peer"), good);
        assert!(began.elapsed() < CONNECT_TIMEOUT / 2, "{:?}", began.elapsed());
        assert!(connect_to(vec![refusing, refusing]).await.is_err());
        assert!(connect_to(vec![]).await.is_err());
    }

    #[test]
    fn addresses_are_tried_by_turns_of_their_families() {
        let parse = |list: &[&str]| -> Vec<SocketAddr> {
            list.iter().map(|text| text.parse().expect("an address")).collect()
        };
        for (given, expected) in [
            (
                vec!["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1"],
                vec!["[::1]:1", "1.1.1.1:1", "[::2]:1", "[::3]:1"],
            ),
            (vec!["1.1.1.1:1", "2.2.2.2:1", "[::1]:1"], vec!["1.1.1.1:1", "[::1]:1", "2.2.2.2:1"]),
            (vec![], vec![]),
        ] {
            assert_eq!(by_turns(parse(&given)), parse(&expected));
        }
    }

    #[tokio::test]
    async fn a_stream_may_say_much_in_turns_and_little_at_a_time() {
        let (mut server, client) = duplex(MAX_RECEIVED_BYTES * 2);
        let mut client = Bounded { stream: client, peer: ([127, 0, 0, 1], 25).into(), received: 0 };
        let mut said = vec![0; MAX_RECEIVED_BYTES];
        for _ in 0..3 {
            server.write_all(&said).await.expect("room");
            client.read_exact(&mut said).await.expect("as much as is allowed");
            client.write_all(b"QUIT\r\n").await.expect("room");
        }
        server.write_all(&said).await.expect("room");
        server.write_all(b"2").await.expect("room");
        let mut all = Vec::new();
        assert!(client.read_to_end(&mut all).await.is_err());
    }
}
