//! The network addresses that the service connects to on behalf of tenants: they choose the URLs of webhooks
//! and of AI endpoints, so these must not reach what only this machine and its network can reach.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// Returns whether the service may connect to an address. `allows_private` is set when the host allows its
/// own network. Link-local addresses and the metadata services of cloud providers, which hand out
/// credentials, are never allowed.
pub(crate) fn is_allowed(address: IpAddr, allows_private: bool) -> bool {
    is_public(address) || (allows_private && is_private(address))
}

/// Returns whether a name always leads to the own machine. Others are checked when they are resolved.
pub(crate) fn is_localhost(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
}

/// Returns whether an address belongs to a private network or to this machine.
fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let is_shared = is_in(address, SHARED_V4);
            (address.is_private() || address.is_loopback() || is_shared) && !METADATA_V4.contains(&address)
        }
        // fd00:ec2::254 is the metadata service of AWS.
        IpAddr::V6(address) => {
            (address.is_unique_local() || address.is_loopback())
                && address.segments()[..2] != [0xfd00, 0x0ec2]
        }
    }
}

/// Returns whether an address belongs to the public internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// The addresses between a provider and its customers, which private networks such as VPNs use too.
const SHARED_V4: (Ipv4Addr, u32) = (Ipv4Addr::new(100, 64, 0, 0), 10);

/// The metadata services of Azure, which has a public address, and of Alibaba Cloud.
const METADATA_V4: [Ipv4Addr; 2] = [Ipv4Addr::new(168, 63, 129, 16), Ipv4Addr::new(100, 100, 100, 200)];

/// The IPv4 networks that are not public, by IANA's registry of special-purpose addresses.
const SPECIAL_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    SHARED_V4,
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // Multicast, and everything above.
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

fn is_in(address: Ipv4Addr, (network, bits): (Ipv4Addr, u32)) -> bool {
    let shift = 32 - bits;
    address.to_bits() >> shift == network.to_bits() >> shift
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !METADATA_V4.contains(&address) && !SPECIAL_V4.iter().any(|network| is_in(address, *network))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        // Translated to the IPv4 address at the end; 6to4 has it behind its prefix.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => embedded(high, low),
        // Teredo, benchmarks, ORCHID and other protocols; documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // All global unicast addresses are in 2000::/3.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

/// Resolves names, and refuses those that lead to an address that is not allowed. The client connects to the
/// addresses that were checked, so that a name that resolves differently the next time gains nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CheckedResolver {
    pub(crate) allows_private: bool,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let allows_private = self.allows_private;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await;
            let addresses = found.map(|found| allowed(found, allows_private)).unwrap_or_default();
            if addresses.is_empty() {
                return Err(Box::new(NoAddress) as Box<dyn Error + Send + Sync>);
            }
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// A name cannot be resolved, or leads only to addresses that are not allowed. Tenants read this: because the
/// two look the same, it does not tell which names the service's own network has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name has no address that this service may connect to")]
pub(crate) struct NoAddress;

impl NoAddress {
    /// Returns whether this is the cause of an error.
    pub(crate) fn caused(error: &(dyn Error + 'static)) -> bool {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if error.is::<Self>() {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

/// Returns the allowed ones of a name's addresses.
fn allowed(addresses: impl Iterator<Item = SocketAddr>, allows_private: bool) -> Vec<SocketAddr> {
    addresses.filter(|address| is_allowed(address.ip(), allows_private)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLIC: [&str; 11] = [
        "1.1.1.1",
        "8.8.8.8",
        "100.63.255.255",
        "100.128.0.1",
        "172.15.255.255",
        "172.32.0.1",
        "198.17.255.255",
        "2606:4700::1111",
        "2001:4860::1",
        "64:ff9b::101:101",
        "2002:808:808::1",
    ];
    const PRIVATE: [&str; 12] = [
        "10.1.2.3",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.9.9.9",
        "172.16.0.1",
        "172.31.9.9",
        "192.168.1.1",
        "::1",
        "::ffff:127.0.0.1",
        "fc00::1",
        "fd12::1",
    ];
    const NEVER: [&str; 27] = [
        "0.0.0.0",
        "100.100.100.200",
        "168.63.129.16",
        "169.254.169.254",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.19.0.1",
        "203.0.113.1",
        "224.0.0.1",
        "255.255.255.255",
        "::",
        "::127.0.0.1",
        "::808:808",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::808:808",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "5f00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
    ];

    #[test]
    fn tells_public_addresses_from_private_ones_and_from_those_that_are_never_allowed() {
        for (list, public, private) in
            [(&PUBLIC[..], true, true), (&PRIVATE, false, true), (&NEVER, false, false)]
        {
            for address in list {
                let parsed = address.parse().expect("an address");
                assert_eq!((is_public(parsed), is_allowed(parsed, false)), (public, public), "{address}");
                assert_eq!(is_allowed(parsed, true), private, "{address}");
            }
        }
    }

    #[test]
    fn of_a_name_with_several_addresses_only_allowed_ones_are_used() {
        let socket = |text: &str| -> SocketAddr { text.parse().expect("an address") };
        let (public, private, metadata) =
            (socket("1.1.1.1:0"), socket("10.0.0.1:0"), socket("169.254.169.254:0"));
        let all = [metadata, private, public];
        assert_eq!(allowed(all.into_iter(), false), [public]);
        assert_eq!(allowed(all.into_iter(), true), [private, public]);
        assert_eq!(allowed([private].into_iter(), false), []);
        assert_eq!(allowed([metadata].into_iter(), true), []);
    }

    #[tokio::test]
    async fn a_private_name_looks_like_one_that_does_not_exist() {
        for name in ["localhost", "does-not-exist.invalid"] {
            let name: Name = name.parse().expect("a name");
            let Err(refused) = (CheckedResolver { allows_private: false }).resolve(name).await else {
                panic!("it has no public address")
            };
            assert!(NoAddress::caused(&*refused), "{refused}");
        }
    }
}
