//! Addresses to serve on: an IP address or the name of this machine, with a port.

use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error};

/// An address to serve on, as a flag, a variable or a file sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ListenAddress(pub(crate) SocketAddr);

/// The advice for an invalid text. The text is not shown: it may be a token in the wrong line.
const EXPECTED: &str = "expected an address with a port, such as 127.0.0.1:8081 or localhost:8081";

impl FromStr for ListenAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found: Vec<_> = text.to_socket_addrs().map_err(|_| EXPECTED)?.collect();
        // A name often has both kinds of address. Clients that know one only, know IPv4.
        found.iter().find(|address| address.is_ipv4()).or(found.first()).copied().map(Self).ok_or(EXPECTED)
    }
}

impl<'de> Deserialize<'de> for ListenAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|expected| D::Error::custom(format!("invalid value, {expected}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_or_a_name_with_a_port_is_accepted() {
        let parsed = |text: &str| text.parse::<ListenAddress>().map(|address| address.0.to_string());
        assert_eq!(parsed("127.0.0.1:8081").as_deref(), Ok("127.0.0.1:8081"));
        assert_eq!(parsed("[::1]:8081").as_deref(), Ok("[::1]:8081"));
        assert_eq!(parsed("localhost:8081").as_deref(), Ok("127.0.0.1:8081"));
        for text in ["localhost", "8081", ":8081", "127.0.0.1:99999", "", "127.0.0.1:8081/x"] {
            assert_eq!(parsed(text), Err(EXPECTED), "{text}");
        }
    }
}
