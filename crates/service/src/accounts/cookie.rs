//! The cookies of the console: of the session, and of a browser that has signed in before.

use axum::http::{HeaderMap, HeaderValue, header};

use super::client::Transport;

/// Maximum length of a cookie's value that is looked at, in bytes.
const MAX_VALUE_BYTES: usize = 512;

/// A cookie of the console.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cookie {
    /// Holds the secret of a session.
    Session,
    /// Shows that this browser has signed in before, so that strangers who guess the password do not hold it
    /// up.
    Device,
}

impl Cookie {
    /// Returns the cookie's name, by which browsers enforce `Secure`, `Path=/` and no `Domain`. They refuse
    /// such a cookie on `http://localhost`, where another name has to do; there is none for plain HTTP from
    /// other machines.
    fn name(self, transport: Transport) -> Option<&'static str> {
        match (self, transport) {
            (Self::Session, Transport::Https) => Some("__Host-session"),
            (Self::Session, Transport::Loopback) => Some("session"),
            (Self::Device, Transport::Https) => Some("__Host-device"),
            (Self::Device, Transport::Loopback) => Some("device"),
            (_, Transport::Plain) => None,
        }
    }

    /// Returns the cookie's value; `None` without one, or with several, of which another site of the same
    /// domain may have set one.
    pub(super) fn read(self, headers: &HeaderMap, transport: Transport) -> Option<&str> {
        let name = self.name(transport)?;
        let mut values = headers.get_all(header::COOKIE).iter().flat_map(|header| pairs(header, name));
        match (values.next(), values.next()) {
            (Some(value), None) => Some(value),
            _ => None,
        }
    }

    /// Returns a `Set-Cookie` header; `None` where no cookie can be set.
    pub(super) fn set(self, value: &str, max_age_s: i64, transport: Transport) -> Option<HeaderValue> {
        let name = self.name(transport)?;
        let secure = if transport == Transport::Https { "; Secure" } else { "" };
        let cookie =
            format!("{name}={value}; Path=/; Max-Age={max_age_s}; HttpOnly; SameSite=Strict{secure}");
        HeaderValue::try_from(cookie).ok()
    }

    /// Returns a `Set-Cookie` header that removes the cookie.
    pub(super) fn remove(self, transport: Transport) -> Option<HeaderValue> {
        self.set("", 0, transport)
    }
}

/// Returns the values of this name in a `Cookie` header.
fn pairs<'header>(header: &'header HeaderValue, name: &str) -> impl Iterator<Item = &'header str> {
    let header = header.to_str().unwrap_or_default();
    header.split(';').filter_map(move |pair| {
        let (found, value) = pair.split_once('=')?;
        (found.trim() == name && is_value(value.trim())).then_some(value.trim())
    })
}

/// Returns whether a value is one that this service sets: base64 for URLs.
fn is_value(value: &str) -> bool {
    !value.is_empty()
        && value.len() <= MAX_VALUE_BYTES
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(headers: &[&str]) -> Option<String> {
        let headers =
            headers.iter().map(|value| (header::COOKIE, HeaderValue::from_str(value).expect("valid")));
        Cookie::Session.read(&headers.collect(), Transport::Https).map(str::to_owned)
    }

    #[test]
    fn reads_the_cookie_of_exactly_this_name() {
        assert_eq!(read(&["__Host-session=abc"]).as_deref(), Some("abc"));
        assert_eq!(read(&["a=b;__Host-session=a-b_C9 ; c=d"]).as_deref(), Some("a-b_C9"));
        assert_eq!(read(&["a=b", "__Host-session=abc"]).as_deref(), Some("abc"), "as HTTP/2 splits them");
        for other in [
            "session=abc",
            "__host-session=abc",
            "__Host-session",
            "__Host-session=",
            "__Host-session=\"abc\"",
            "__Host-session=a b",
            "x__Host-session=abc",
            "a=__Host-session=abc",
        ] {
            assert_eq!(read(&[other]), None, "{other}");
        }
        assert_eq!(read(&[&format!("__Host-session={}", "a".repeat(513))]), None);
    }

    #[test]
    fn refuses_two_cookies_of_one_name() {
        assert_eq!(read(&["__Host-session=abc; __Host-session=abd"]), None);
        assert_eq!(read(&["__Host-session=abc", "__Host-session=abd"]), None);
    }

    #[test]
    fn a_cookie_has_every_attribute_that_protects_it() {
        let set = Cookie::Session.set("abc", 60, Transport::Https).expect("a header");
        assert_eq!(set, "__Host-session=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Strict; Secure");
        let set = Cookie::Session.remove(Transport::Loopback).expect("a header");
        assert_eq!(set, "session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
        assert_eq!(Cookie::Session.set("abc", 60, Transport::Plain), None);
    }

    proptest! {
        #[test]
        fn any_header_gives_a_valid_value_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                let headers = HeaderMap::from_iter([(header::COOKIE, value)]);
                let read = Cookie::Session.read(&headers, Transport::Https);
                prop_assert!(read.is_none_or(is_value));
            }
        }

        #[test]
        fn finds_the_value_wherever_it_stands(
            before in "([a-z]{1,8}=[!-:<-~]{0,20}; ?){0,4}",
            value in "[A-Za-z0-9_-]{1,60}",
            after in "(; ?[a-z]{1,8}=[!-:<-~]{0,20}){0,4}",
        ) {
            let header = format!("{before}__Host-session={value}{after}");
            prop_assert_eq!(read(&[&header]), Some(value));
        }
    }
}
