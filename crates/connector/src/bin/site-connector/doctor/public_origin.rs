//! Whether browsers reach the service under its public origin, through the reverse proxy in front of it.

use std::time::Duration;

use chat_service::ops::Finding;
use reqwest::{Client, ClientBuilder, StatusCode, redirect};

use crate::settings::Settings;
use crate::settings::origin::public_origin;

/// The time limit of an answer.
const TIMEOUT: Duration = Duration::from_secs(10);
const SUBJECT: &str = "public origin";

pub(super) async fn check(settings: &Settings) -> Finding {
    let Some(origin) = &settings.public_origin else {
        return Finding::warning(
            SUBJECT,
            "not set: links in e-mails and script tags lead to this machine only; set public_origin",
        );
    };
    let origin = match public_origin(origin) {
        Ok(origin) => origin,
        Err(error) => return Finding::error(SUBJECT, error.shown()),
    };
    match ask(&origin).await {
        Err(error) => Finding::error(
            SUBJECT,
            format!(
                "{origin} does not answer: {}; check its DNS name, its certificate and the reverse proxy",
                cause(&error)
            ),
        ),
        Ok((status, _)) if status.is_redirection() => Finding::error(
            SUBJECT,
            format!(
                "{origin} redirects to another address: set public_origin to the address that it redirects to"
            ),
        ),
        Ok((StatusCode::SERVICE_UNAVAILABLE, _)) => {
            Finding::error(SUBJECT, format!("{origin} is reached, but the service is not ready: see its log"))
        }
        Ok((StatusCode::OK, text)) if text.starts_with("ok\n") => verdict(&origin),
        Ok((status, _)) => Finding::error(
            SUBJECT,
            format!(
                "{origin}/readyz answers {status}, not as the service: check where the reverse proxy forwards to"
            ),
        ),
    }
}

fn verdict(origin: &str) -> Finding {
    let is_local = ["://localhost", "://127.", "://[::1]"].iter().any(|local| origin.contains(local));
    if origin.starts_with("https://") || is_local {
        Finding::ok(SUBJECT, format!("{origin} reaches the service"))
    } else {
        Finding::error(
            SUBJECT,
            format!(
                "{origin} is not encrypted: browsers refuse to sign in; use https, see docs/self-host.md"
            ),
        )
    }
}

/// Returns the settings of a client that reports redirects.
pub(super) fn client() -> ClientBuilder {
    // Fails if a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().redirect(redirect::Policy::none()).timeout(TIMEOUT)
}

async fn ask(origin: &str) -> Result<(StatusCode, String), reqwest::Error> {
    let client = client().build()?;
    let mut response = client.get(format!("{origin}/readyz")).send().await?;
    let status = response.status();
    // The first chunk is enough: the body of a wrong server may have any size.
    let text = response.chunk().await?.map(|chunk| String::from_utf8_lossy(&chunk).into_owned());
    let text = text.unwrap_or_default();
    Ok((status, text))
}

/// Returns the innermost cause of an error, which says most.
pub(super) fn cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
