//! Establishes each request's client: its address, and whether its connection is encrypted.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Once};

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use chat_service::ops::Client;
use ipnet::IpNet;

use crate::proxy::client_address::{resolve_client, warn_about_untrusted_hop};

struct Clients {
    trusted: Vec<IpNet>,
    /// Whether this server itself encrypts its connections.
    is_tls: bool,
    warned: Once,
}

/// Inserts the [`Client`] into each request of a router, and makes it the request's peer.
pub(super) fn identified(router: Router, trusted: Vec<IpNet>, is_tls: bool) -> Router {
    router.layer(from_fn_with_state(Arc::new(Clients { trusted, is_tls, warned: Once::new() }), identify))
}

async fn identify(State(clients): State<Arc<Clients>>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    if let Some(ConnectInfo(peer)) = parts.extensions.get::<ConnectInfo<SocketAddr>>().copied() {
        warn_about_untrusted_hop(peer.ip(), &parts.headers, &clients.trusted, &clients.warned);
        let client = clients.client(peer.ip(), &parts.headers);
        parts.extensions.insert(client);
        parts.extensions.insert(ConnectInfo(SocketAddr::new(client.address, peer.port())));
    }
    next.run(Request::from_parts(parts, body)).await
}

impl Clients {
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Client {
        let address = resolve_client(peer, headers, &self.trusted);
        let peer = peer.to_canonical();
        let is_trusted = self.trusted.iter().any(|network| network.contains(&peer));
        // The last value is that of the nearest reverse proxy, unless it only passes on what it was told.
        let forwarded = headers.get_all("x-forwarded-proto").iter().next_back();
        let scheme = forwarded.and_then(|value| value.to_str().ok()?.rsplit(',').next().map(str::trim));
        let https = match scheme {
            Some(scheme) if is_trusted => scheme.eq_ignore_ascii_case("https"),
            _ => self.is_tls,
        };
        Client { address, https }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, headers: &[(&'static str, &str)], is_tls: bool) -> (String, bool) {
        let trusted = vec!["10.0.0.0/8".parse().expect("a network")];
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a value"));
        }
        let clients = Clients { trusted, is_tls, warned: Once::new() };
        let client = clients.client(peer.parse().expect("an address"), &map);
        (client.address.to_string(), client.https)
    }

    #[test]
    fn the_scheme_is_the_one_that_a_trusted_hop_names() {
        let forwarded = [("x-forwarded-for", "198.51.100.7"), ("x-forwarded-proto", "https")];
        assert_eq!(client("10.0.0.1", &forwarded, false), ("198.51.100.7".to_owned(), true));
        assert_eq!(client("::ffff:10.0.0.1", &forwarded, false), ("198.51.100.7".to_owned(), true));
        assert!(!client("10.0.0.1", &[("x-forwarded-proto", "http")], true).1);
        assert!(!client("10.0.0.1", &[("x-forwarded-proto", "https, http")], false).1);
        assert!(client("10.0.0.1", &[], true).1);
    }

    #[test]
    fn nobody_else_can_claim_an_address_or_a_scheme() {
        let forwarded = [("x-forwarded-for", "198.51.100.7"), ("x-forwarded-proto", "https")];
        assert_eq!(client("192.0.2.1", &forwarded, false), ("192.0.2.1".to_owned(), false));
        assert!(client("192.0.2.1", &[("x-forwarded-proto", "http")], true).1);
    }
}
