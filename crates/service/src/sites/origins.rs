//! The origins of websites, as owners type them and as browsers write them.

use chat_protocol::FieldError;

/// Returns an origin as browsers write it: in lower case, without a default port or a path.
pub(crate) fn checked_origin(origin: &str) -> Result<String, FieldError> {
    let advice = || FieldError::new("allowedOrigins", "must be origins such as https://shop.example");
    let url = reqwest::Url::parse(origin.trim()).map_err(|_| advice())?;
    let is_bare = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
    let is_plain = url.username().is_empty() && url.password().is_none();
    // A pattern such as https://*.example would never match.
    let is_name = url.host_str().is_some_and(|host| !host.contains('*') && !host.is_empty());
    if !matches!(url.scheme(), "http" | "https") || !is_bare || !is_plain || !is_name {
        return Err(advice());
    }
    Ok(url.origin().ascii_serialization())
}

/// Returns the origin of a website's address as people type it: the scheme may be missing, and a path is left
/// out.
pub(crate) fn origin_of_address(address: &str) -> Result<String, FieldError> {
    let advice =
        || FieldError::new("address", "must be the address of a website such as https://shop.example");
    let address = address.trim();
    let address = if address.contains("://") { address.to_owned() } else { format!("https://{address}") };
    let url = reqwest::Url::parse(&address).map_err(|_| advice())?;
    checked_origin(&url.origin().ascii_serialization()).map_err(|_| advice())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_origins_as_browsers_do() {
        for (given, expected) in [
            ("HTTPS://Shop.Example:443/", "https://shop.example"),
            ("http://localhost:8080", "http://localhost:8080"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
        ] {
            assert_eq!(checked_origin(given).expect(given), expected);
        }
    }

    #[test]
    fn takes_the_origin_from_an_address_as_people_type_it() {
        for (given, expected) in [
            (" Shop.example ", "https://shop.example"),
            ("https://shop.example/en/?from=mail#top", "https://shop.example"),
            ("http://localhost:8080/", "http://localhost:8080"),
            ("localhost:8080/page", "https://localhost:8080"),
            ("bücher.example", "https://xn--bcher-kva.example"),
        ] {
            assert_eq!(origin_of_address(given).expect(given), expected);
        }
        for given in
            ["", " ", "https://", "*.shop.example", "two words.example", "file:///tmp", "javascript:alert(1)"]
        {
            assert_eq!(origin_of_address(given).expect_err(given).field, "address");
        }
    }
}
