//! Opens connections to the service, encrypted if its origin is `https`.

use std::fmt::{self, Debug, Formatter};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::http::Uri;
use hyper::service::Service as _;
use hyper_util::client::legacy::connect::HttpConnector;
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
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_keepalive(Some(KEEPALIVE_INTERVAL));
        tcp.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
        tcp.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
        let tls = match origin.scheme_str() {
            Some("https") => Some(tls(&origin)?),
            _ => None,
        };
        Ok(Self { origin, tcp: TowerToHyperService::new(tcp), tls })
    }

    pub(super) async fn connect(&self) -> Result<Stream, ConnectError> {
        let opened = tokio::time::timeout(CONNECT_TIMEOUT, self.open()).await;
        opened.map_err(|_| ConnectError::Timeout)?.map_err(ConnectError::Failed)
    }

    async fn open(&self) -> io::Result<Stream> {
        let stream = self.tcp.call(self.origin.clone()).await.map_err(io::Error::other)?.into_inner();
        Ok(match &self.tls {
            None => Stream::Plain(stream),
            Some((tls, name)) => Stream::Tls(Box::new(tls.connect(name.clone(), stream).await?)),
        })
    }
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
