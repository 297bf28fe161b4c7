//! The addresses that webhooks may send to. A tenant chooses the URL, so it must not reach what only this
//! machine and its network can reach.

use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::ai::is_localhost;
use crate::error::ApiError;

/// Maximum characters of a URL.
const MAX_URL_LENGTH: usize = 2000;

/// A URL that a webhook may have. Its host is resolved, and its addresses are checked, at each connection.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::notify) struct TargetUrl(Url);

impl TargetUrl {
    /// Checks a URL. `private` allows private addresses, and HTTP without TLS to loopback.
    pub(in crate::notify) fn parse(text: &str, private: bool) -> Result<Self, ApiError> {
        let invalid = |reason: &str| ApiError::InvalidRequest(format!("invalid url: {reason}."));
        if text.len() > MAX_URL_LENGTH {
            return Err(invalid(&format!("expected at most {MAX_URL_LENGTH} characters")));
        }
        let url: Url =
            text.parse().map_err(|_| invalid("expected one such as https://hooks.example/chat"))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(invalid("expected no user name and no password: check the signature instead"));
        }
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let address: Option<IpAddr> = host.parse().ok();
        let loopback = address.is_some_and(|address| address.is_loopback()) || is_localhost(host);
        match url.scheme() {
            "https" => {}
            "http" if private && loopback => {}
            _ => return Err(invalid("expected https://")),
        }
        if address.is_some_and(|address| !is_allowed(address, private)) || (loopback && !private) {
            return Err(invalid("expected a public address, got a private one"));
        }
        Ok(Self(url))
    }

    pub(super) fn url(&self) -> &Url {
        &self.0
    }
}

impl fmt::Display for TargetUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Returns whether webhooks may connect to an address. Link-local addresses never: the metadata services of
/// cloud providers, which hand out credentials, are there.
fn is_allowed(address: IpAddr, private: bool) -> bool {
    is_public(address) || (private && is_private(address))
}

fn is_private(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => address.is_private() || address.is_loopback(),
        // fd00:ec2::254 is the metadata service of AWS.
        IpAddr::V6(address) => {
            (address.is_unique_local() || address.is_loopback())
                && address.segments()[..2] != [0xfd00, 0x0ec2]
        }
    }
}

/// Returns whether an address is one of the public internet.
pub(in crate::notify) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// The IPv4 networks that are not public, by IANA's registry of special-purpose addresses.
const SPECIAL_V4: [(Ipv4Addr, u32); 15] = [
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    // Between a provider and its customers; 100.100.100.200 is the metadata service of Alibaba Cloud.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
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

fn is_public_v4(address: Ipv4Addr) -> bool {
    // The metadata service of Azure has a public address.
    address != Ipv4Addr::new(168, 63, 129, 16)
        && !SPECIAL_V4.iter().any(|(network, bits)| {
            let shift = 32 - bits;
            address.to_bits() >> shift == network.to_bits() >> shift
        })
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let [a, b, c, d, ..] = segments;
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match (a, b) {
        // Translated to the IPv4 address at the end.
        (0x64, 0xff9b) => (c, d) == (0, 0) && segments[4..6] == [0, 0] && embedded(segments[6], segments[7]),
        // 6to4 contains an IPv4 address.
        (0x2002, _) => embedded(b, c),
        // Teredo, benchmarks, ORCHID and other protocols; documentation.
        (0x2001, b) if b < 0x200 => false,
        (0x2001, 0xdb8) => false,
        (0x3fff, b) if b < 0x1000 => false,
        // All global unicast addresses are in 2000::/3.
        _ => a & 0xe000 == 0x2000,
    }
}

/// Resolves names to allowed addresses only. The connection uses the addresses that were checked, so that a
/// name that resolves differently the next time gains nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckedResolver {
    pub(super) private: bool,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let private = self.private;
        Box::pin(async move {
            let resolved = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed = allowed_addresses(resolved, private)?;
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Returns the allowed ones of a host's addresses, or an error if there is none.
fn allowed_addresses(
    resolved: impl Iterator<Item = SocketAddr>,
    private: bool,
) -> Result<Vec<SocketAddr>, Box<dyn Error + Send + Sync>> {
    let allowed: Vec<SocketAddr> = resolved.filter(|address| is_allowed(address.ip(), private)).collect();
    if allowed.is_empty() {
        return Err(io::Error::other("the host has no public address").into());
    }
    Ok(allowed)
}
