//! Sends requests to the service: directly, or through the system's HTTP proxy.

use std::error::Error;
use std::sync::Arc;

use axum::body::Bytes;
use axum::http::{Request, Response, Uri};
use http_body_util::{Either, Full};
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::{Client, Url};

use super::connector::{ConnectError, Connector};
use super::options::SetupError;
use super::pool::{Pool, PoolError, PooledBody};
use crate::connection::{chain, http_client, install_crypto_provider, with_causes};
use crate::origin::is_loopback;

#[derive(Debug)]
pub(super) enum Transport {
    /// Connections of our own.
    Direct(Arc<Pool>),
    /// The system's proxy (`HTTPS_PROXY`), which takes absolute addresses.
    SystemProxy(Client),
}

/// The body of the service's response.
pub(super) type ResponseBody = Either<PooledBody, reqwest::Body>;

/// There is no response. The text is for the log, and contains no URL, as its query may identify a
/// conversation.
#[derive(Debug, thiserror::Error)]
#[error("{reason}")]
pub(super) struct TransportError {
    reason: String,
    pub(super) is_timeout: bool,
}

impl Transport {
    pub(super) fn new(origin: &Url) -> Result<Self, SetupError> {
        install_crypto_provider();
        let address = Uri::try_from(origin.as_str()).map_err(|_| crate::origin::OriginError::NotAnAddress)?;
        // A system proxy has no route back to this machine.
        if !is_loopback(origin) && Matcher::from_system().intercept(&address).is_some() {
            return Ok(Self::SystemProxy(http_client(origin).map_err(SetupError::Client)?));
        }
        let connector = Connector::new(address).map_err(SetupError::Certificates)?;
        Ok(Self::Direct(Pool::new(connector, usize::MAX)))
    }

    /// Returns a transport to the same service. A direct one has its own connections, and keeps at most
    /// `max_idle` of them while they are idle. Transports through a system proxy share the connections of
    /// their client.
    pub(super) fn with_own_connections(&self, max_idle: usize) -> Self {
        match self {
            Self::Direct(pool) => Self::Direct(pool.with_own_connections(max_idle)),
            Self::SystemProxy(client) => Self::SystemProxy(client.clone()),
        }
    }

    /// Returns the scheme and the authority of a request's URI; an empty text for a direct connection.
    pub(super) fn base<'origin>(&self, origin: &'origin Url) -> &'origin str {
        match self {
            Self::Direct(_) => "",
            Self::SystemProxy(_) => origin.as_str().trim_end_matches('/'),
        }
    }

    pub(super) async fn send(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<ResponseBody>, TransportError> {
        match self {
            Self::Direct(pool) => Ok(pool.send(request.map(Full::new)).await?.map(Either::Left)),
            Self::SystemProxy(client) => {
                let response = client.execute(request.try_into()?).await?;
                Ok(Response::from(response).map(Either::Right))
            }
        }
    }
}

impl From<PoolError> for TransportError {
    fn from(error: PoolError) -> Self {
        let is_timeout = matches!(error, PoolError::Connect(ConnectError::Timeout));
        Self { reason: with_causes(&error), is_timeout }
    }
}

impl From<reqwest::Error> for TransportError {
    fn from(error: reqwest::Error) -> Self {
        let is_timeout = error.is_timeout();
        Self { reason: chain(error), is_timeout }
    }
}

/// The error of a [`ResponseBody`].
impl From<Box<dyn Error + Send + Sync>> for TransportError {
    fn from(error: Box<dyn Error + Send + Sync>) -> Self {
        match error.downcast::<reqwest::Error>() {
            Ok(error) => (*error).into(),
            Err(error) => Self { reason: with_causes(&*error), is_timeout: false },
        }
    }
}
