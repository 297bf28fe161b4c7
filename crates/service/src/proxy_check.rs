//! Requests a page of a site and its proxy as a browser would, and tells what is wrong with them.
//!
//! Operators choose the addresses, so that these must not reach the host's own network, and nothing of a
//! response is shown: only what it means for the widget.

use std::time::Duration;

use axum::http::header;
use chat_protocol::admin::settings::{CheckedPart, ProxyChecked, ProxyProblem};
use chat_protocol::{FieldError, Value, open_envelope};
use reqwest::{Client, Response, StatusCode, Url, redirect};

use crate::addresses::{CheckedResolver, is_allowed, is_localhost};
use crate::error::ApiError;
use crate::limits::{MAX_URL_LENGTH, check_text};

/// The timeout of each request, to the last byte that is read.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum bytes of a response that are read.
const MAX_RESPONSE_BYTES: usize = 1024 * 1024;
const USER_AGENT: &str = concat!("site-connector-check/", env!("CARGO_PKG_VERSION"));
/// Texts of which a page with a widget contains one.
const WIDGETS: [&str; 3] = ["chat-widget.js", "<chat-widget", "chat-widget/element.mjs"];

/// The addresses of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Addresses {
    page: Url,
    /// The chat's config behind the proxy.
    config: Url,
}

impl Addresses {
    /// Checks the address of a page, and that of a proxy, which may be relative to it.
    pub(crate) fn parse(page: &str, proxy: &str, allows_private: bool) -> Result<Self, FieldError> {
        let page = check_text("page", page, 1, MAX_URL_LENGTH)?;
        let proxy = check_text("proxy", proxy, 1, MAX_URL_LENGTH)?;
        let page: Url = page
            .parse()
            .map_err(|_| FieldError::new("page", "must be an address such as https://shop.example/"))?;
        check_address("page", &page, allows_private)?;
        let config = page
            .join(&format!("{}/chat/config", proxy.trim_end_matches('/')))
            .map_err(|_| FieldError::new("proxy", "must be a path such as /connector, or an address"))?;
        check_address("proxy", &config, allows_private)?;
        Ok(Self { page, config })
    }
}

fn check_address(field: &'static str, url: &Url, allows_private: bool) -> Result<(), FieldError> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let is_web = matches!(url.scheme(), "http" | "https") && !host.is_empty();
    if !is_web || !url.username().is_empty() || url.password().is_some() {
        return Err(FieldError::new(field, "must be an address such as https://shop.example/"));
    }
    let is_private_literal = host.parse().is_ok_and(|address| !is_allowed(address, allows_private));
    if is_private_literal || (is_localhost(host) && !allows_private) {
        return Err(FieldError::new(field, "must be a public address, not one of a private network"));
    }
    Ok(())
}

/// Checks a page and its proxy. Parts that cannot be checked because an earlier one failed are left out.
/// `attributes` are those by which the page's own code sets options of the site.
pub(crate) async fn check(
    addresses: &Addresses,
    site_id: &str,
    attributes: &[String],
    allows_private: bool,
) -> Result<Vec<ProxyChecked>, ApiError> {
    let client = client(allows_private).map_err(|_| ApiError::Internal)?;
    let mut checks = Vec::new();
    let page = get(&client, &addresses.page, "text/html").await;
    let found = page.as_ref().map_err(|(problem, _)| *problem);
    checks.push(result(CheckedPart::Page, &page, found.and_then(Answer::problem)));
    if let Ok(page) = page.as_ref()
        && page.status.is_success()
    {
        let has_widget = WIDGETS.iter().any(|widget| page.body.contains(widget));
        let problem = (!has_widget).then_some(ProxyProblem::NoWidget);
        let own = chat_page::attributes_of_script(page.body.as_bytes(), WIDGETS[0]);
        let own_options = own.into_iter().filter(|name| attributes.contains(name)).collect();
        checks.push(ProxyChecked { part: CheckedPart::Widget, problem, status: None, own_options });
    }
    let config = get(&client, &addresses.config, "application/json").await;
    let chat = config.as_ref().map_err(|(problem, _)| *problem).and_then(|answer| answer.config(site_id));
    let problem = chat.as_ref().map(|_| ()).map_err(|problem| *problem);
    checks.push(result(CheckedPart::Proxy, &config, problem));
    if let Ok(chat) = chat {
        let is_on = |name| chat.get(name) != Some(&Value::Bool(false));
        let problem = (!(is_on("enabled") && is_on("widgetEnabled"))).then_some(ProxyProblem::SwitchedOff);
        let own_options = Vec::new();
        checks.push(ProxyChecked { part: CheckedPart::Chat, problem, status: None, own_options });
    }
    Ok(checks)
}

type Got = Result<Answer, (ProxyProblem, Option<u16>)>;

fn result(part: CheckedPart, got: &Got, found: Result<(), ProxyProblem>) -> ProxyChecked {
    let status = match got {
        Ok(answer) => Some(answer.status.as_u16()),
        Err((_, status)) => *status,
    };
    ProxyChecked { part, problem: found.err(), status, own_options: Vec::new() }
}

/// A response that is not a redirect.
struct Answer {
    status: StatusCode,
    body: String,
}

impl Answer {
    /// Returns the problem with its status.
    fn problem(&self) -> Result<(), ProxyProblem> {
        match self.status {
            status if status.is_success() => Ok(()),
            StatusCode::NOT_FOUND => Err(ProxyProblem::NotFound),
            _ => Err(ProxyProblem::Status),
        }
    }

    /// Returns the chat's config, which has to be that of the site.
    fn config(&self, site_id: &str) -> Result<Value, ProxyProblem> {
        let body: Option<Value> = serde_json::from_str(&self.body).ok();
        let has_envelope = body.as_ref().is_some_and(|body| body.get("ok").is_some());
        match open_envelope(self.status.as_u16(), body.unwrap_or_default()) {
            Ok(data) => match (data.get("config"), data.get("siteId").and_then(Value::as_text)) {
                (None, _) => Err(ProxyProblem::NotTheProxy),
                (Some(_), Some(id)) if id != site_id => Err(ProxyProblem::OtherSite),
                (Some(config), _) => Ok(config.clone()),
            },
            Err(_) if has_envelope && self.status == StatusCode::UNAUTHORIZED => Err(ProxyProblem::Token),
            Err(_) if self.status == StatusCode::NOT_FOUND => Err(ProxyProblem::NotFound),
            Err(_) if has_envelope => Err(ProxyProblem::Status),
            Err(_) => Err(ProxyProblem::NotTheProxy),
        }
    }
}

fn client(allows_private: bool) -> Result<Client, reqwest::Error> {
    // Does nothing in an application that has already installed a provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .dns_resolver(CheckedResolver { allows_private })
        // A proxy would resolve the host itself, without the check.
        .no_proxy()
        .redirect(redirect::Policy::none())
        .referer(false)
        .timeout(REQUEST_TIMEOUT)
        .pool_max_idle_per_host(0)
        .no_gzip()
        .no_brotli()
        .no_zstd()
        .no_deflate()
        .user_agent(USER_AGENT)
        .build()
}

async fn get(client: &Client, url: &Url, accept: &'static str) -> Got {
    let sent = client
        .get(url.clone())
        .header(header::ACCEPT, accept)
        .header(header::ACCEPT_ENCODING, "identity")
        .send()
        .await;
    let response = sent.map_err(|_| (ProxyProblem::Unreachable, None))?;
    let status = response.status();
    if status.is_redirection() {
        return Err((ProxyProblem::Redirect, Some(status.as_u16())));
    }
    let body = beginning(response).await.ok_or((ProxyProblem::Unreachable, Some(status.as_u16())))?;
    Ok(Answer { status, body })
}

/// Returns the beginning of a response's text; `None` if it breaks off.
async fn beginning(mut response: Response) -> Option<String> {
    let mut body = Vec::new();
    while body.len() < MAX_RESPONSE_BYTES {
        let Some(chunk) = response.chunk().await.ok()? else { break };
        body.extend_from_slice(&chunk[..chunk.len().min(MAX_RESPONSE_BYTES - body.len())]);
    }
    Some(String::from_utf8_lossy(&body).into_owned())
}

#[cfg(test)]
mod proxy_check_tests;
