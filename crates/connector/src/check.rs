//! Whether a site's proxy does what section 4.13 asks of it: the same checks for every server, by its address.
//!
//! Nothing is assumed of what is behind the proxy but the contract. With [`CheckOptions::read_only`] nobody is written
//! to; otherwise one conversation is begun, in which the checks say what they are.

mod proxy;
mod requests;

use std::time::Duration;

use reqwest::Url;

use crate::client::ConnectorError;
use crate::connection::http_client;
use crate::printable::Printable;

/// What is checked, and how.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The proxy's address as a browser sees it, such as `https://shop.example/connector`.
    pub prefix: String,
    /// Leave out whatever writes a message or an event.
    pub read_only: bool,
    /// How long an answer may take.
    pub timeout: Duration,
}

impl CheckOptions {
    /// Every check, 40 s an answer.
    pub fn new(prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), read_only: false, timeout: Duration::from_secs(40) }
    }
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The sentence that it is about.
    pub sentence: &'static str,
    /// Why it does not hold, as one line in which nothing acts on a terminal; none when it does.
    pub problem: Option<String>,
}

/// Runs all checks, one after the other; `each` hears of each when it is over. Fails only if the address cannot be used,
/// or nobody answers there.
pub async fn check(
    options: &CheckOptions,
    mut each: impl FnMut(&Checked) + Send,
) -> Result<Vec<Checked>, ConnectorError> {
    let setup = |message: &str| ConnectorError::setup(message.to_owned());
    let prefix = Url::parse(options.prefix.trim())
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.query().is_none())
        .ok_or_else(|| setup("the proxy's address must be one such as https://shop.example/connector"))?;
    let http = http_client(&prefix).map_err(|error| setup(&error.to_string()))?;
    let client = requests::ProxyClient::new(http, &prefix, options.timeout);
    client.reach().await?;
    let mut checked = Vec::new();
    let mut note = |sentence, outcome: Result<(), String>| {
        let problem = outcome.err().map(|problem| Printable(&problem).to_string());
        let one = Checked { sentence, problem };
        each(&one);
        checked.push(one);
    };
    proxy::reading(&client, &mut note).await;
    if !options.read_only {
        proxy::writing(&client, &mut note).await;
    }
    Ok(checked)
}
