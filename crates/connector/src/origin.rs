//! Parses the service's origin: scheme, host and port.

use reqwest::Url;

/// An invalid origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OriginError {
    /// It is not a URL.
    #[error("invalid origin of the service: expected an address such as https://service.example")]
    NotAnAddress,
    /// Its scheme is neither http nor https.
    #[error("invalid origin of the service: expected https:// (or http:// on the same machine)")]
    Scheme,
    /// It includes the path that is added automatically.
    #[error("invalid origin of the service: leave /api/connector/v1 out, it is added automatically")]
    BasePath,
    /// It has a path, query, fragment, user name or password.
    #[error(
        "invalid origin of the service: expected scheme, host and port, without path, query, fragment, user name or password"
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

    fn error_of(text: &str) -> OriginError {
        parse(text).expect_err("refused")
    }

    #[test]
    fn accepts_scheme_host_and_port() {
        for text in ["https://service.example", "http://127.0.0.1:8090/", " https://[::1]:8443 "] {
            assert!(parse(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn reports_an_origin_that_includes_the_base_path() {
        assert_eq!(error_of("https://service.example/api/connector/v1"), OriginError::BasePath);
        assert_eq!(error_of("https://service.example/api/connector/v1/"), OriginError::BasePath);
        assert!(OriginError::BasePath.to_string().contains("leave /api/connector/v1 out"));
    }

    #[test]
    fn refuses_anything_but_an_origin() {
        assert_eq!(error_of("service.example"), OriginError::NotAnAddress);
        assert_eq!(error_of(""), OriginError::NotAnAddress);
        assert_eq!(error_of("ftp://service.example"), OriginError::Scheme);
        for more in ["/v2", "/?a=b", "/#top"] {
            assert_eq!(error_of(&format!("https://service.example{more}")), OriginError::MoreThanAnOrigin);
        }
        assert_eq!(error_of("https://me:secret@service.example"), OriginError::MoreThanAnOrigin);
    }

    #[test]
    fn recognises_loopback_origins() {
        let is = |text: &str| is_loopback(&parse(text).expect("an origin"));
        assert!(is("http://127.0.0.1:8090") && is("http://localhost") && is("http://[::1]:1"));
        assert!(!is("http://service.example") && !is("http://127.0.0.1.example"));
    }
}
