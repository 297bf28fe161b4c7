//! Decides which addresses the service connects to: those of tenants must not reach the host's own network.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::EndpointError;

/// Checks the address of an endpoint. `allows_private` is set when the host allows endpoints in its own
/// network, such as a model on the same machine.
pub(super) fn check(url: &Url, allows_private: bool) -> Result<(), EndpointError> {
    let is_https = url.scheme() == "https";
    if !(is_https || (url.scheme() == "http" && allows_private)) {
        return Err(if url.scheme() == "http" { EndpointError::Plain } else { EndpointError::Base });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(EndpointError::Base);
    }
    let host = url.host_str().ok_or(EndpointError::Base)?;
    if !allows_private && is_localhost(host) {
        return Err(EndpointError::Private);
    }
    // Url has brought numbers such as 0x7f.1 into the usual form.
    let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    match literal {
        Ok(address) if !allows_private && !is_public(address) => Err(EndpointError::Private),
        _ => Ok(()),
    }
}

/// Returns whether a name always leads to the own machine. Others are checked when they are resolved.
pub(crate) fn is_localhost(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
}

/// Resolves names, and refuses those that lead into the host's own network. The client connects to the
/// addresses that were checked, so that a name cannot change its meaning in between.
#[derive(Debug)]
pub(super) struct PublicResolver;

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let addresses: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            Ok(Box::new(public_only(addresses)?.into_iter()) as Addrs)
        })
    }
}

/// Refuses a name with any private address: one that has both kinds is an attempt to get past the check.
fn public_only(addresses: Vec<SocketAddr>) -> io::Result<Vec<SocketAddr>> {
    if addresses.iter().all(|address| is_public(address.ip())) {
        return Ok(addresses);
    }
    let refused = "the name leads to a private address, which this service does not allow";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, refused))
}

/// Returns whether an address belongs to the public internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = matches!(
        (a, b, c),
        (0 | 10 | 127 | 224.., ..)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18..=19, _)
            | (198, 51, 100)
            | (203, 0, 113)
    );
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => embedded(high, low),
        // Teredo, benchmarks, ORCHID and the other special blocks; documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_public_addresses_from_all_others() {
        for public in
            ["1.1.1.1", "93.184.216.34", "100.128.0.1", "172.32.0.1", "2606:4700::1111", "64:ff9b::101:101"]
        {
            assert!(is_public(public.parse().expect("an address")), "{public}");
        }
        for private in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "127.9.9.9",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.9.9",
            "192.168.1.1",
            "192.0.0.8",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(private.parse().expect("an address")), "{private}");
        }
    }

    #[test]
    fn refuses_private_addresses_in_any_notation() {
        let check = |base: &str| check(&base.parse().expect("a URL"), false);
        for base in [
            "https://127.0.0.1/v1",
            "https://2130706433/v1",
            "https://0x7f.1/v1",
            "https://017700000001/v1",
            "https://[::1]/v1",
            "https://[::ffff:10.0.0.1]/v1",
            "https://169.254.169.254/v1",
            "https://127.1:8443/v1",
        ] {
            assert!(matches!(check(base), Err(EndpointError::Private)), "{base}");
        }
        assert!(check("https://ai.example/v1").is_ok() && check("https://1.1.1.1/v1").is_ok());
        assert!(
            matches!(check("http://ai.example/v1"), Err(EndpointError::Plain)),
            "the key would be readable"
        );
        for base in ["ftp://ai.example", "file:///etc/passwd", "https://user:secret@ai.example/v1", "data:x"]
        {
            assert!(matches!(check(base), Err(EndpointError::Base)), "{base}");
        }
        assert!(super::check(&"http://127.0.0.1:11434/v1".parse().expect("a URL"), true).is_ok());
    }

    #[test]
    fn refuses_a_name_with_both_kinds_of_addresses() {
        let public: SocketAddr = "1.1.1.1:0".parse().expect("an address");
        let private: SocketAddr = "10.0.0.1:0".parse().expect("an address");
        assert!(public_only(vec![public, private]).is_err());
        assert_eq!(public_only(vec![public]).expect("public"), [public]);
    }

    #[tokio::test]
    async fn the_resolver_refuses_localhost() {
        let name: Name = "localhost".parse().expect("a name");
        let Err(refused) = PublicResolver.resolve(name).await else { panic!("localhost is private") };
        assert!(refused.to_string().contains("private address"), "{refused}");
    }
}
