//! Opens connections to the service, encrypted if its origin is `https`.

use std::error::Error;
use std::fmt::{self, Debug, Formatter};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::Uri;
use hyper::service::Service as _;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::GaiResolver;
use hyper_util::service::TowerToHyperService;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::connection::CONNECT_TIMEOUT;

/// The interval in which the system checks an idle connection.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// The failed checks after which a connection is closed.
const KEEPALIVE_RETRIES: u32 = 3;

/// Opens connections to one origin.
#[derive(Clone)]
pub(super) struct Connector {
    origin: Uri,
    tcp: TowerToHyperService<HttpConnector>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Debug for Connector {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_tuple("Connector").field(&self.origin).finish()
    }
}

/// A connection could not be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("cannot connect")]
    Failed(#[source] io::Error),
    #[error("no connection within {CONNECT_TIMEOUT:?}")]
    Timeout,
}

impl Connector {
    /// Returns a connector that trusts the system's certificates.
    pub(super) fn new(origin: Uri) -> Result<Self, rustls::Error> {
        let tls = match origin.scheme_str() {
            Some("https") => Some(tls(&origin)?),
            _ => None,
        };
        Ok(Self { origin, tcp: TowerToHyperService::new(tcp(GaiResolver::new())), tls })
    }

    pub(super) async fn connect(&self) -> Result<Stream, ConnectError> {
        let opened = tokio::time::timeout(CONNECT_TIMEOUT, self.open()).await;
        opened.map_err(|_| ConnectError::Timeout)?.map_err(|error| {
            if is_timeout(&error) { ConnectError::Timeout } else { ConnectError::Failed(error) }
        })
    }

    async fn open(&self) -> io::Result<Stream> {
        let stream = self.tcp.call(self.origin.clone()).await.map_err(io::Error::other)?.into_inner();
        Ok(match &self.tls {
            None => Stream::Plain(stream),
            Some((tls, name)) => Stream::Tls(Box::new(tls.connect(name.clone(), stream).await?)),
        })
    }
}

fn tcp<R>(resolver: R) -> HttpConnector<R> {
    let mut tcp = HttpConnector::new_with_resolver(resolver);
    tcp.enforce_http(false);
    // Divided by the number of addresses, so that a dead one does not use the time of the others.
    tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
    tcp.set_nodelay(true);
    tcp.set_keepalive(Some(KEEPALIVE_INTERVAL));
    tcp.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
    tcp.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
    tcp
}

/// Returns whether an error, or one of its causes, is a timeout.
fn is_timeout(error: &io::Error) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::TimedOut) {
            return true;
        }
        cause = error.source();
    }
    false
}

fn tls(origin: &Uri) -> Result<(TlsConnector, ServerName<'static>), rustls::Error> {
    let mut config = ClientConfig::builder().with_platform_verifier()?.with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    // An IPv6 address has brackets in an origin, and none in a certificate.
    let host = origin.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let name = ServerName::try_from(host).map_err(|error| rustls::Error::General(error.to_string()))?;
    Ok((TlsConnector::from(Arc::new(config)), name))
}

/// A connection to the service.
#[derive(Debug)]
pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use hyper_util::client::legacy::connect::dns::Name;
    use tokio::net::{TcpListener, TcpSocket};

    use super::*;

    /// Opens a port that completes no handshake, as its queue of connections is full. It stays so while the
    /// returned sockets live.
    async fn dead_port() -> (SocketAddr, TcpListener, Vec<TcpStream>) {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
        let listener = socket.listen(1).expect("a queue");
        let address = listener.local_addr().expect("an address");
        let mut queued = Vec::new();
        let second = Duration::from_secs(1);
        while let Ok(connected) = tokio::time::timeout(second, TcpStream::connect(address)).await {
            queued.push(connected.expect("a connection"));
        }
        (address, listener, queued)
    }

    #[tokio::test]
    async fn tries_the_second_address_if_the_first_one_is_dead() {
        let (dead, _listener, _queued) = dead_port().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let alive = listener.local_addr().expect("an address");
        let resolver =
            tower::service_fn(move |_: Name| async move { Ok::<_, io::Error>([dead, alive].into_iter()) });
        let tcp = TowerToHyperService::new(tcp(resolver));
        let connecting = tcp.call(Uri::from_static("http://service.example"));
        let stream = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await.expect("within the time limit");
        assert_eq!(stream.expect("connected").inner().peer_addr().expect("an address"), alive);
    }

    #[tokio::test]
    async fn a_service_of_which_all_addresses_are_dead_is_a_timeout() {
        let (dead, _listener, _queued) = dead_port().await;
        let origin = Uri::try_from(format!("http://{dead}")).expect("an origin");
        let connector = Connector::new(origin).expect("a connector");
        // Nothing happens but the passing of time.
        tokio::time::pause();
        assert!(matches!(connector.connect().await, Err(ConnectError::Timeout)));
    }
}
