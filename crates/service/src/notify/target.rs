//! The URLs that webhooks may send to.

use std::fmt;
use std::net::IpAddr;

use reqwest::Url;

use crate::addresses::{is_allowed, is_localhost};
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

    pub(in crate::notify) fn url(&self) -> &Url {
        &self.0
    }
}

impl fmt::Display for TargetUrl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
