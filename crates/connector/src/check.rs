//! Checks a site's proxy against section 4.13, whatever it is written in.
//!
//! The checks rely on nothing but the contract. With [`CheckOptions::read_only`] nothing is written;
//! otherwise they start one conversation, whose messages say that they are a check.

mod proxy;
mod requests;

use std::time::Duration;

use reqwest::Url;

use crate::client::ConnectorError;
use crate::connection::{client_error, http_client};
use crate::printable::Printable;

/// The settings of a check.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The proxy's URL as a browser sees it, such as `https://shop.example/connector`.
    pub prefix: String,
    /// Whether to skip the checks that send messages or events.
    pub read_only: bool,
    /// The time limit of one response.
    pub timeout: Duration,
}

impl CheckOptions {
    /// All checks, 40 s for a response.
    pub fn new(prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), read_only: false, timeout: Duration::from_secs(40) }
    }
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// The requirement that was checked.
    pub requirement: &'static str,
    /// The problem if the requirement is not met: one line, without terminal control characters.
    pub problem: Option<String>,
}

/// Runs all checks in order, and calls `each` after each of them. Fails only if the URL is invalid or nothing
/// responds there.
pub async fn check(
    options: &CheckOptions,
    mut each: impl FnMut(&CheckResult) + Send,
) -> Result<Vec<CheckResult>, ConnectorError> {
    let setup = |message: &str| ConnectorError::setup(message.to_owned());
    let prefix = Url::parse(options.prefix.trim())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.query().is_none())
        .ok_or_else(|| {
            setup("invalid address of the proxy: expected one such as https://shop.example/connector")
        })?;
    let http = http_client(&prefix).map_err(|error| setup(&client_error(&error)))?;
    let client = requests::ProxyClient::new(http, &prefix, options.timeout);
    client.reach().await?;
    let mut results = Vec::new();
    let mut note = |requirement, outcome: Result<(), String>| {
        let problem = outcome.err().map(|problem| Printable(&problem).to_string());
        let result = CheckResult { requirement, problem };
        each(&result);
        results.push(result);
    };
    proxy::reading(&client, &mut note).await;
    if !options.read_only {
        proxy::writing(&client, &mut note).await;
    }
    Ok(results)
}
