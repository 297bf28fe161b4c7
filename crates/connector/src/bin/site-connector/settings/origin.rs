//! The origin under which browsers reach the service.

use std::net::{IpAddr, SocketAddr};

use crate::failure::Failure;
use crate::service::site_origin;

/// Parses a public origin.
pub(crate) fn public_origin(text: &str) -> Result<String, Failure> {
    let origin = site_origin(text)
        .ok()
        .filter(|origin| ["http://", "https://"].iter().any(|scheme| origin.starts_with(scheme)));
    origin.ok_or_else(|| {
        Failure::usage(format!(
            "invalid public origin: expected one such as https://chat.example without a path, got {text}"
        ))
    })
}

/// Returns the host of an origin; that of an IPv6 address in brackets.
pub(super) fn host_of(origin: &str) -> Option<&str> {
    let (_, authority) = origin.trim_end_matches('/').split_once("://")?;
    match authority.split_once(']') {
        Some((address, _)) => authority.get(..=address.len()),
        None => authority.split(':').next(),
    }
}

/// Returns the origin of an address that a browser on this machine can open: of all addresses, that is the
/// loopback one.
pub(crate) fn local_origin(address: SocketAddr, is_tls: bool) -> String {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => "127.0.0.1".to_owned(),
        IpAddr::V6(ip) if ip.is_unspecified() => "[::1]".to_owned(),
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    format!("{}://{ip}:{}", if is_tls { "https" } else { "http" }, address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_origin_is_of_the_web_and_has_no_path() {
        assert_eq!(public_origin("https://chat.example/").expect("valid"), "https://chat.example");
        assert_eq!(public_origin("http://127.0.0.1:8090").expect("valid"), "http://127.0.0.1:8090");
        for text in [
            "chat.example",
            "https://chat.example/x",
            "ftp://chat.example",
            "https://u@chat.example",
            "",
            "null",
        ] {
            let error = public_origin(text).expect_err(text).shown();
            assert!(error.contains("such as https://chat.example"), "{error}");
        }
    }

    #[test]
    fn announces_an_address_that_can_be_opened() {
        let local = |text: &str, is_tls| local_origin(text.parse().expect("an address"), is_tls);
        assert_eq!(local("0.0.0.0:80", false), "http://127.0.0.1:80");
        assert_eq!(local("[::]:443", true), "https://[::1]:443");
        assert_eq!(local("192.0.2.1:8090", false), "http://192.0.2.1:8090");
    }
}
