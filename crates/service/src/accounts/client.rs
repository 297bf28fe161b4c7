//! The client of a request: its address, and how its browser reaches the service.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::ConnectInfo;
use axum::http::header;
use axum::http::request::Parts;
use axum::http::uri::Authority;

use crate::Service;
use crate::client::Client;

/// How a browser reaches the service, on which the cookies depend that it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Https,
    /// Plain HTTP on the browser's own machine.
    Loopback,
    /// Plain HTTP over a network, where nobody can sign in.
    Plain,
}

/// Returns the client's address for the audit log; empty where it is not known.
pub(crate) fn address(parts: &Parts) -> String {
    ip_address(parts).map(|address| address.to_string()).unwrap_or_default()
}

/// Returns the network that attempts are counted for: an IPv4 address, or the /64 network of an IPv6 address.
/// Clients whose address is not known share one.
pub(super) fn network(parts: &Parts) -> String {
    match ip_address(parts) {
        Some(IpAddr::V4(address)) => address.to_string(),
        Some(IpAddr::V6(address)) => Ipv6Addr::from(address.to_bits() >> 64 << 64).to_string(),
        None => String::new(),
    }
}

fn ip_address(parts: &Parts) -> Option<IpAddr> {
    let client = parts.extensions.get::<Client>().map(|client| client.address);
    let peer = || parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    client.or_else(peer).map(|address| address.to_canonical())
}

/// Returns how the browser reaches the service.
pub(super) fn transport(service: &Service, parts: &Parts) -> Transport {
    let https = parts.extensions.get::<Client>().is_some_and(|client| client.https);
    let public = service.0.options.public_origin.as_deref().unwrap_or_default();
    if https || public.starts_with("https://") {
        Transport::Https
    } else if host(parts).is_some_and(|host| is_loopback(&host)) {
        Transport::Loopback
    } else {
        Transport::Plain
    }
}

/// Returns the host of a request, from its target or its header; `None` when there is no host, or more than
/// one.
pub(super) fn host(parts: &Parts) -> Option<Authority> {
    let mut named = parts.headers.get_all(header::HOST).iter();
    let named = match (named.next(), named.next()) {
        (Some(host), None) => Some(Authority::try_from(host.as_bytes()).ok()?),
        (Some(_), Some(_)) => return None,
        (None, _) => None,
    };
    let host = match (named, parts.uri.authority()) {
        (Some(named), Some(target)) if named != *target => return None,
        (Some(host), _) => host,
        (None, target) => target?.clone(),
    };
    (!host.as_str().contains('@') && !host.host().is_empty()).then_some(host)
}

/// Returns the IP address that a host is written as, if it is one.
pub(super) fn literal(host: &Authority) -> Option<IpAddr> {
    let name = host.host();
    match name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        Some(address) => address.parse().ok().map(IpAddr::V6),
        None => name.parse().ok().map(IpAddr::V4),
    }
}

/// Returns whether a host is `localhost`, or a name below it.
pub(super) fn is_localhost(host: &Authority) -> bool {
    let name = host.host().to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

fn is_loopback(host: &Authority) -> bool {
    is_localhost(host) || literal(host).is_some_and(|address| address.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn parts(address: &str) -> Parts {
        let client = Client { address: address.parse().expect("an address"), https: false };
        Request::builder().extension(client).body(()).expect("a request").into_parts().0
    }

    #[test]
    fn counts_networks_that_one_person_can_have() {
        assert_eq!(network(&parts("192.0.2.7")), "192.0.2.7");
        assert_eq!(network(&parts("::ffff:192.0.2.7")), "192.0.2.7");
        assert_eq!(network(&parts("2001:db8::1")), network(&parts("2001:db8::ffff:1")));
        assert_ne!(network(&parts("2001:db8::1")), network(&parts("2001:db8:0:1::1")));
    }

    #[test]
    fn recognises_the_own_machine() {
        let loopback = |host: &str| is_loopback(&host.parse().expect("a host"));
        for host in ["localhost", "LOCALHOST:8090", "a.localhost", "127.0.0.1:1", "127.9.9.9", "[::1]:8090"] {
            assert!(loopback(host), "{host}");
        }
        for host in
            ["192.168.1.7", "localhost.evil.example", "notlocalhost", "127.0.0.1.evil.example", "[::2]"]
        {
            assert!(!loopback(host), "{host}");
        }
    }
}
