//! Parses the service's origin: scheme, host and port.

use reqwest::Url;

/// Why an origin is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OriginError {
    /// It is not a URL.
    #[error("the service's origin must be an address such as https://service.example")]
    NotAnAddress,
    /// Its scheme is neither http nor https.
    #[error("the service's origin must begin with https:// (or http:// on your own machine)")]
    Scheme,
    /// It includes the path that is added automatically.
    #[error("leave /api/connector/v1 out of the service's origin: it is added for you")]
    BasePath,
    /// It has a path, query, fragment, user name or password.
    #[error(
        "the service's origin is scheme, host and port only: no path, query, fragment, user name or password"
    )]
    MoreThanAnOrigin,
}

/// Parses an origin. A trailing slash is accepted.
pub(crate) fn parse(text: &str) -> Result<Url, OriginError> {
    let url = Url::parse(text.trim()).map_err(|_| OriginError::NotAnAddress)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(OriginError::Scheme);
    }
    if url.path().trim_end_matches('/').ends_with("/api/connector/v1") {
        return Err(OriginError::BasePath);
    }
    let bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    if !bare || !url.username().is_empty() || url.password().is_some() {
        return Err(OriginError::MoreThanAnOrigin);
    }
    Ok(url)
}

/// Returns whether the service runs on this machine.
pub(crate) fn is_loopback(origin: &Url) -> bool {
    let host = origin.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> OriginError {
        parse(text).expect_err("refused")
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        for text in ["https://service.example", "http://127.0.0.1:8090/", " https://[::1]:8443 "] {
            assert!(parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn an_origin_that_already_has_the_base_path_is_told_so() {
        assert_eq!(refusal("https://service.example/api/connector/v1"), OriginError::BasePath);
        assert_eq!(refusal("https://service.example/api/connector/v1/"), OriginError::BasePath);
        assert!(OriginError::BasePath.to_string().contains("leave /api/connector/v1 out"));
    }

    #[test]
    fn what_is_more_or_less_than_an_origin_is_refused() {
        assert_eq!(refusal("service.example"), OriginError::NotAnAddress);
        assert_eq!(refusal(""), OriginError::NotAnAddress);
        assert_eq!(refusal("ftp://service.example"), OriginError::Scheme);
        for more in ["/v2", "/?a=b", "/#top"] {
            assert_eq!(refusal(&format!("https://service.example{more}")), OriginError::MoreThanAnOrigin);
        }
        assert_eq!(refusal("https://me:secret@service.example"), OriginError::MoreThanAnOrigin);
    }

    #[test]
    fn only_this_machine_is_loopback() {
        let is = |text: &str| is_loopback(&parse(text).expect("an origin"));
        assert!(is("http://127.0.0.1:8090") && is("http://localhost") && is("http://[::1]:1"));
        assert!(!is("http://service.example") && !is("http://127.0.0.1.example"));
    }
}
