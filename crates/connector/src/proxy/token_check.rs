//! Checks at the start whether the service accepts the token, and logs the result.

use axum::http::{HeaderMap, StatusCode};
use chat_protocol::Endpoint;
use tracing::{info, warn};

use super::upstream::{Upstream, UpstreamError, UpstreamRequest};

/// Requests the chat's config, the cheapest call that needs the token. The result is only logged: the proxy
/// serves in any case.
pub(super) async fn check_token(upstream: &Upstream) {
    let request =
        UpstreamRequest { endpoint: Endpoint::Config, query: None, headers: HeaderMap::new(), body: None };
    match upstream.exchange(request).await {
        Ok(response) if response.status.is_success() => info!("the service accepts the site token"),
        Ok(response) if response.status == StatusCode::UNAUTHORIZED => warn!(
            "the service refuses the site token (401): no visitor can chat. Set the token of this site in its file or \
             variable, or activate again, then restart the proxy"
        ),
        Ok(response) => warn!(
            status = response.status.as_u16(),
            "the service does not return the chat's config: see its log"
        ),
        Err(reason @ UpstreamError::Timeout(_)) => warn!("{reason}"),
        Err(reason) => warn!("cannot reach the service yet: {reason}"),
    }
}
