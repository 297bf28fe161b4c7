//! Whether the running service is ready.

use chat_service::ops::Finding;

use super::public_origin::{cause, client};
use crate::settings::Settings;
use crate::settings::origin::local_origin;

const SUBJECT: &str = "live";

/// Asks the operator's port, or else the one of visitors, on this machine.
pub(super) async fn check(settings: &Settings) -> Finding {
    let origin = match settings.metrics_listen.map(|address| address.0) {
        Some(address) => local_origin(address, false),
        None => local_origin(settings.listen(), settings.tls_certificate.is_some()),
    };
    // The certificate has the public name, and this machine asks itself.
    let client = client().no_proxy().tls_danger_accept_invalid_certs(true).build();
    let asked = async { client?.get(format!("{origin}/readyz")).send().await };
    match asked.await {
        Ok(response) if response.status().is_success() => {
            let text = response.text().await.unwrap_or_default();
            match text.split_once('\n') {
                Some((_, state)) if !state.is_empty() => {
                    Finding::warning(SUBJECT, format!("the service is ready. {}", state.trim()))
                }
                _ => Finding::ok(SUBJECT, "the service is ready"),
            }
        }
        Ok(response) => Finding::error(SUBJECT, format!("the service is not ready: {}", response.status())),
        Err(error) => Finding::error(SUBJECT, format!("{origin} does not answer: {}", cause(&error))),
    }
}
