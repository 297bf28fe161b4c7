//! Finds the address of the client behind trusted reverse proxies.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Once;

use axum::http::HeaderMap;
use ipnet::IpNet;
use tracing::warn;

/// Warns once if a reverse proxy on this machine or in its network sends `X-Forwarded-For` and is not
/// trusted: all visitors then count as one client.
pub(crate) fn warn_about_untrusted_hop(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet], warned: &Once) {
    if warned.is_completed() || !headers.contains_key("x-forwarded-for") {
        return;
    }
    let peer = peer.to_canonical();
    if is_local(peer) && !trusted.iter().any(|network| network.contains(&peer)) {
        warned.call_once(|| {
            warn!(
                "X-Forwarded-For comes from {peer}, which is not a trusted hop: all visitors behind it count as one \
                 client and share its rate limit. If it is your own web server, start with --trusted-hop {peer} (in a \
                 file: trusted_hops = [\"{peer}\"])"
            );
        });
    }
}

/// Returns whether an address is a loopback, link-local or private one.
fn is_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_loopback() || address.is_private() || address.is_link_local(),
        IpAddr::V6(address) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
    }
}

/// Returns the client's address: the peer of the connection or, if that is a trusted hop, the last address in
/// `X-Forwarded-For` that is not a trusted hop.
pub(crate) fn resolve_client(peer: IpAddr, headers: &HeaderMap, trusted: &[IpNet]) -> IpAddr {
    let is_trusted = |address: &IpAddr| trusted.iter().any(|network| network.contains(address));
    let mut client = peer.to_canonical();
    let lines = headers.get_all("x-forwarded-for").iter().rev().filter_map(|line| line.to_str().ok());
    for entry in lines.flat_map(|line| line.rsplit(',')) {
        if !is_trusted(&client) {
            break;
        }
        // A value that is not an address was not written by a trusted hop.
        let Some(address) = address_in(entry.trim()) else { break };
        client = address.to_canonical();
    }
    client
}

/// Parses an address, with or without a port.
fn address_in(text: &str) -> Option<IpAddr> {
    let bare = text.trim_matches(['[', ']']);
    bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
}

/// Returns the address that a client is counted under: for IPv6 its /64 network, as one customer has all of
/// it.
pub(crate) fn rate_key(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(peer: &str, forwarded: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in forwarded {
            headers.append("x-forwarded-for", line.parse().expect("a value"));
        }
        let trusted = ["10.0.0.0/8".parse().expect("a network"), "::1/128".parse().expect("a network")];
        resolve_client(peer.parse().expect("an address"), &headers, &trusted).to_string()
    }

    #[test]
    fn trusts_x_forwarded_for_from_trusted_hops_only() {
        assert_eq!(client("192.0.2.1", &["198.51.100.7"]), "192.0.2.1");
        assert_eq!(client("10.0.0.1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(client("::1", &["198.51.100.7"]), "198.51.100.7");
        assert_eq!(client("10.0.0.1", &[]), "10.0.0.1");
    }

    #[test]
    fn ignores_x_forwarded_for_entries_of_the_client() {
        assert_eq!(client("10.0.0.1", &["1.2.3.4, 198.51.100.7"]), "198.51.100.7");
        assert_eq!(client("10.0.0.1", &["1.2.3.4", "198.51.100.7, 10.0.0.2"]), "198.51.100.7");
        assert_eq!(client("10.0.0.1", &["nonsense"]), "10.0.0.1");
    }

    #[test]
    fn loopback_and_private_addresses_are_local() {
        for text in ["127.0.0.1", "10.1.2.3", "192.168.0.1", "172.16.0.9", "::1", "fd00::1", "fe80::1"] {
            assert!(is_local(text.parse().expect("an address")), "{text}");
        }
        for text in ["192.0.2.1", "172.32.0.1", "2001:db8::1"] {
            assert!(!is_local(text.parse().expect("an address")), "{text}");
        }
    }

    #[test]
    fn parses_addresses_with_ports_and_counts_ipv6_by_network() {
        assert_eq!(client("10.0.0.1", &["198.51.100.7:4711"]), "198.51.100.7");
        assert_eq!(client("10.0.0.1", &["[2001:db8::1]:4711"]), "2001:db8::1");
        let key = |text: &str| rate_key(text.parse().expect("an address"));
        assert_eq!(key("2001:db8::1"), key("2001:db8::2"));
        assert_ne!(key("2001:db8::1"), key("2001:db8:0:1::1"));
    }
}
