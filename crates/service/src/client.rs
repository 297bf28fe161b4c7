//! The client of a request, as the server in front of the router has established it.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::Extensions;
use axum::http::request::Parts;

/// The client of a request. The server inserts it into the request's extensions, because only the server
/// knows which reverse proxies are trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// The client's address, behind trusted reverse proxies.
    pub address: IpAddr,
    /// Whether the client's own connection is encrypted.
    pub https: bool,
}

impl Client {
    /// Returns the client of a request. Without a server that inserts it, the client is the peer of the
    /// connection, or 0.0.0.0 if that is unknown.
    pub fn of(extensions: &Extensions) -> Self {
        if let Some(client) = extensions.get::<Self>() {
            return *client;
        }
        let peer = extensions.get::<ConnectInfo<SocketAddr>>();
        let address = peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |ConnectInfo(peer)| peer.ip().to_canonical());
        Self { address, https: false }
    }
}

impl<S: Sync> FromRequestParts<S> for Client {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions))
    }
}
