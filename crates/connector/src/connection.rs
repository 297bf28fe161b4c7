//! The HTTP client for the service, and the headers of its requests.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};
use jiff::Timestamp;
use reqwest::{Client, ClientBuilder, Url, redirect};
use secrecy::{ExposeSecret, SecretString};
use tracing::warn;

use crate::origin::is_loopback;

/// The path of the connector API below the service's origin (9).
pub(crate) const API_BASE: &str = "/api/connector/v1";

/// The time limit of connecting. The addresses of the service share it, so that a dead one does not use the
/// time of the others.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A token that no header can carry. The message does not contain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid site token: expected one line of visible ASCII characters; copy it again from where it was issued"
)]
pub struct InvalidToken;

/// Returns the `Authorization` header of a token, marked as sensitive: `Debug` does not show it, and HTTP/2
/// does not index it.
pub(crate) fn bearer(token: &SecretString) -> Result<HeaderValue, InvalidToken> {
    let token = token.expose_secret();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(InvalidToken);
    }
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| InvalidToken)?;
    value.set_sensitive(true);
    Ok(value)
}

/// Logs a warning if the token is sent unencrypted over a network.
pub(crate) fn warn_if_unencrypted(origin: &Url) {
    if origin.scheme() == "http" && !is_loopback(origin) {
        warn!("the site token is sent to {origin} without encryption: use https");
    }
}

/// The name of this program in its requests.
pub(crate) const USER_AGENT: &str = concat!("site-connector/", env!("CARGO_PKG_VERSION"));

/// Installs the provider of cryptography, unless the application has already installed one.
pub(crate) fn install_crypto_provider() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Returns a client for the service, with a pool of connections. A request is sent again only if the service
/// had closed the connection before anything of it was written.
pub(crate) fn http_client(origin: &Url) -> Result<Client, reqwest::Error> {
    client_builder(origin).build()
}

fn client_builder(origin: &Url) -> ClientBuilder {
    install_crypto_provider();
    let mut client = Client::builder()
        .user_agent(USER_AGENT)
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT);
    if origin.scheme() == "http" {
        // No TLS is used, so no root certificates are needed.
        client = client.tls_certs_only([]);
    }
    if is_loopback(origin) {
        // A system proxy has no route back to this machine.
        client = client.no_proxy();
    }
    client
}

/// Returns the text of an error of [`http_client`], with its causes and what to do.
pub(crate) fn client_error(error: &reqwest::Error) -> String {
    format!(
        "cannot create the HTTP client: {}. A service with https needs the certificates of public authorities: \
         install the package ca-certificates, or set SSL_CERT_FILE to a file with them",
        with_causes(error)
    )
}

/// Returns an error's text with its causes, which reqwest omits. The URL is left out, as its query may
/// identify a conversation.
pub(crate) fn chain(error: reqwest::Error) -> String {
    with_causes(&error.without_url())
}

/// Returns an error's text with its causes.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text = format!("{text}: {inner}");
        cause = inner.source();
    }
    text
}

/// Returns the URL of a path below the service's base.
pub(crate) fn address(origin: &Url, path: &str, query: Option<&str>) -> Url {
    let mut url = origin.clone();
    url.set_path(&format!("{API_BASE}{path}"));
    url.set_query(query);
    url
}

/// Maximum delay that `Retry-After` can ask for; a longer one is reduced to it.
pub(crate) const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);

/// Returns the delay of `Retry-After`, given in seconds or as a date; at most [`MAX_RETRY_AFTER`].
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    parse_retry_after(headers.get(header::RETRY_AFTER)?.to_str().ok()?.trim(), Timestamp::now())
}

fn parse_retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number too large to parse is above the maximum.
        return Some(value.parse().map_or(MAX_RETRY_AFTER, Duration::from_secs).min(MAX_RETRY_AFTER));
    }
    let at = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    Some(Duration::try_from(at.duration_since(now)).unwrap_or_default().min(MAX_RETRY_AFTER))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use proptest::prelude::*;
    use tokio::net::{TcpListener, TcpSocket, TcpStream};
    use tokio::time::Instant;

    use super::*;

    /// Opens a port that completes no handshake, as its queue of connections is full. It stays so while the
    /// returned sockets live.
    async fn dead_port() -> (SocketAddr, TcpListener, Vec<TcpStream>) {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
        let listener = socket.listen(1).expect("a queue");
        let address = listener.local_addr().expect("an address");
        let mut queued = Vec::new();
        let second = Duration::from_secs(1);
        while let Ok(connected) = tokio::time::timeout(second, TcpStream::connect(address)).await {
            queued.push(connected.expect("a connection"));
        }
        (address, listener, queued)
    }

    /// Requests the config of a service with these addresses.
    async fn request(addresses: &[SocketAddr]) -> reqwest::Error {
        let origin = Url::parse("http://service.example").expect("an origin");
        let client = client_builder(&origin).resolve_to_addrs("service.example", addresses).build();
        client.expect("a client").get(origin).send().await.expect_err("no response")
    }

    #[tokio::test]
    async fn tries_the_second_address_if_the_first_one_is_dead() {
        let (dead, _listener, _queued) = dead_port().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let alive = listener.local_addr().expect("an address");
        let addresses = [dead, alive];
        tokio::select! {
            error = request(&addresses) => panic!("{error:?}"),
            accepted = listener.accept() => drop(accepted.expect("a connection")),
        }
    }

    #[tokio::test]
    async fn a_service_of_which_all_addresses_are_dead_is_a_timeout() {
        let (dead, _listener, _queued) = dead_port().await;
        // Nothing happens but the passing of time.
        tokio::time::pause();
        let started = Instant::now();
        assert!(request(&[dead]).await.is_timeout());
        assert!(started.elapsed() < CONNECT_TIMEOUT * 2);
    }

    fn parsed(text: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(header::RETRY_AFTER, text.parse().expect("a value"));
        retry_after(&headers)
    }

    #[test]
    fn parses_retry_after_in_seconds_and_as_a_date() {
        assert_eq!(parsed("7"), Some(Duration::from_secs(7)));
        assert_eq!(parsed("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        let soon = jiff::fmt::rfc2822::to_string(
            &(Timestamp::now() + Duration::from_secs(100)).to_zoned(jiff::tz::TimeZone::UTC),
        );
        let wait = parsed(&soon.expect("a date")).expect("a wait");
        assert!(wait > Duration::from_secs(90) && wait <= Duration::from_secs(100), "{wait:?}");
        assert_eq!(parsed("soon"), None);
    }

    #[test]
    fn limits_a_retry_after_of_any_length() {
        for text in ["86401", "18446744073709551615", "18446744073709551616", &"9".repeat(300)] {
            assert_eq!(parsed(text), Some(MAX_RETRY_AFTER), "{text}");
        }
        assert_eq!(parsed("Thu, 31 Dec 9998 23:59:59 GMT"), Some(MAX_RETRY_AFTER));
        assert_eq!(parsed("+5"), None);
        assert_eq!(parsed("-5"), None);
    }

    proptest! {
        #[test]
        fn any_retry_after_is_bounded_or_ignored(
            text in prop_oneof![
                "[0-9]{1,400}",
                "(Mon|Tue|Wed), [0-9]{1,3} (Jan|Feb|Dec) [0-9]{1,6} [0-9]{1,3}:[0-9]{1,3}:[0-9]{1,3} (GMT|[+-][0-9]{4})",
                any::<String>(),
            ],
            now in Timestamp::MIN.as_second()..=Timestamp::MAX.as_second(),
        ) {
            let now = Timestamp::from_second(now).expect("a time");
            if let Some(wait) = parse_retry_after(&text, now) {
                prop_assert!(wait <= MAX_RETRY_AFTER);
                // The sum that callers compute next must not overflow.
                let _ = std::time::Instant::now() + wait;
            }
        }
    }
}
