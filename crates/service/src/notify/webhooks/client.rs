//! The HTTP client of webhooks.

use axum::http::{HeaderName, header};

use crate::notify::http::{self, CheckedClient, Outcome};
use crate::notify::target::TargetUrl;

const USER_AGENT: &str = concat!("site-connector-webhooks/", env!("CARGO_PKG_VERSION"));

/// A signed request.
#[derive(Clone, Debug)]
pub(super) struct SignedRequest {
    pub(super) event_id: String,
    pub(super) timestamp_s: i64,
    /// Signatures, separated by spaces.
    pub(super) signature: String,
    pub(super) body: String,
}

#[derive(Clone, Debug)]
pub(super) struct WebhookClient(CheckedClient);

impl WebhookClient {
    /// Creates a client. `allows_private` allows private addresses.
    pub(super) fn new(allows_private: bool) -> Result<Self, reqwest::Error> {
        CheckedClient::new(allows_private, USER_AGENT).map(Self)
    }

    /// Sends a request once.
    pub(super) async fn send(&self, target: &TargetUrl, request: SignedRequest) -> Outcome {
        let request = self
            .0
            .post(target)
            .header(header::CONTENT_TYPE, "application/json")
            .header(HeaderName::from_static("webhook-id"), request.event_id)
            .header(HeaderName::from_static("webhook-timestamp"), request.timestamp_s)
            .header(HeaderName::from_static("webhook-signature"), request.signature)
            .body(request.body);
        http::send(request).await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn a_name_that_resolves_to_this_machine_is_not_connected_to() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        // Accepted as if it were a name that only the resolver knows to be this machine.
        let target = TargetUrl::parse(&format!("https://localhost:{port}/"), true).expect("a URL");
        let request = SignedRequest {
            event_id: "evt_1".to_owned(),
            timestamp_s: 1,
            signature: String::new(),
            body: String::new(),
        };
        let outcome = WebhookClient::new(false).expect("a client").send(&target, request).await;
        assert_eq!(outcome.duration_ms, 0);
        assert!(outcome.error.expect("refused").ends_with("no address that this service may connect to"));
        assert!(listener.accept().now_or_never().is_none(), "nobody connected");
    }
}
