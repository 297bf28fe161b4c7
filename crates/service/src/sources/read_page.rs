//! Reads one page of a website.

use axum::http::header;
use chat_page::{Headers, Page};
use chat_protocol::admin::settings::SkipReason;
use reqwest::{StatusCode, Url};

use super::fetch::{Answer, Fetcher, Limit, MAX_PAGE_BYTES, Validators};
use super::queue::{Entry, Link, Outcome, page};
use super::scope::Scope;
use super::stored_page::{MAX_LINKS, StoredPage};
use super::visit::{Followed, Stopped, Visit};
use crate::content::{address_key, host_key, path_key};

/// Maximum requests of a page whose server is busy.
const MAX_ATTEMPTS: i64 = 3;

/// What came of a page.
#[derive(Debug)]
pub(super) struct ReadResult {
    pub(super) outcome: Outcome,
    /// The addresses that it links to.
    pub(super) links: Vec<Link>,
    /// The address that it names instead of its own.
    pub(super) leads_to: Option<Link>,
    /// The address of the page, if it is another one than the one that was requested.
    pub(super) address: Option<Link>,
}

impl ReadResult {
    fn of(outcome: Outcome) -> Self {
        Self { outcome, links: Vec::new(), leads_to: None, address: None }
    }

    fn skipped(reason: SkipReason) -> Self {
        Self::of(Outcome::Skipped(reason))
    }
}

/// Returns the reason of a response that is no page.
pub(super) fn reason_of_status(status: StatusCode) -> SkipReason {
    match status.as_u16() {
        404 | 410 => SkipReason::NotFound,
        401 | 402 | 403 | 407 | 451 => SkipReason::Forbidden,
        _ => SkipReason::ServerError,
    }
}

/// Reads a page, or learns that it is as it was.
pub(super) async fn read(visit: &Visit<'_>, entry: &Entry) -> Result<ReadResult, Stopped> {
    let Ok(requested) = Url::parse(&entry.address) else {
        return Ok(ReadResult::skipped(SkipReason::NotFound));
    };
    let validators = if entry.was_read { entry.validators.clone() } else { Validators::default() };
    let followed = visit.follow(requested.clone(), &validators, Limit::Whole(MAX_PAGE_BYTES)).await?;
    let (answer, url) = match followed {
        Followed::Answer(answer, url) => (answer, url),
        Followed::Skipped(reason) => return Ok(ReadResult::skipped(reason)),
        Followed::Busy if entry.attempts + 1 < MAX_ATTEMPTS => return Ok(ReadResult::of(Outcome::Again)),
        Followed::Busy => return Ok(ReadResult::skipped(SkipReason::ServerError)),
    };
    if answer.status == StatusCode::NOT_MODIFIED && entry.was_read {
        return unchanged(visit, entry).await;
    }
    if !answer.status.is_success() {
        return Ok(ReadResult::skipped(reason_of_status(answer.status)));
    }
    if !is_page(&answer) {
        return Ok(ReadResult::skipped(SkipReason::NotPage));
    }
    let (scope, fetcher) = (visit.scope.clone(), visit.fetcher.clone());
    let parsed = visit.blocking(move || parse(&answer, &requested, &url, &scope, &fetcher)).await;
    Ok(parsed.unwrap_or_else(|| ReadResult::skipped(SkipReason::NotPage)))
}

/// Returns the links of a page that has not changed.
async fn unchanged(visit: &Visit<'_>, entry: &Entry) -> Result<ReadResult, Stopped> {
    let packed = page(visit.service.db(), entry.no).await?.unwrap_or_default();
    let links = visit.blocking(move || StoredPage::unpack(&packed).links).await.unwrap_or_default();
    let links = links.iter().filter_map(|address| Url::parse(address).ok());
    let links = links.filter_map(|url| visit.scope.page(visit.fetcher, url)).collect();
    Ok(ReadResult { links, ..ReadResult::of(Outcome::Unchanged) })
}

fn is_page(answer: &Answer) -> bool {
    let kind = answer.header(header::CONTENT_TYPE).unwrap_or_default().to_ascii_lowercase();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    match kind {
        "text/html" | "application/xhtml+xml" => true,
        // A server that names no type is believed if it looks like a page.
        "" => chat_page::is_html(&String::from_utf8_lossy(&answer.body[..answer.body.len().min(4096)])),
        _ => false,
    }
}

/// Reads the body of a page.
fn parse(answer: &Answer, requested: &Url, url: &Url, scope: &Scope, fetcher: &Fetcher) -> ReadResult {
    let headers = Headers { content_type: answer.header(header::CONTENT_TYPE), robots: &answer.robots() };
    let page = Page::read_response(&answer.body, headers);
    let base = page.head.base.as_deref().and_then(|base| url.join(base).ok());
    let base = base.unwrap_or_else(|| url.clone());
    let own = address_key(url);
    let address = (own != address_key(requested)).then(|| scope.page(fetcher, url.clone())).flatten();
    let follows = !page.head.robots.iter().any(|rule| rule == "nofollow" || rule == "none");
    let links = if follows { links(&page, &base, url, scope, fetcher) } else { Vec::new() };
    let target = |address: &str| base.join(address).ok();
    // A page that sends its readers elsewhere, or names another one as the original.
    let redirect = page.head.redirect.as_deref().filter(|address| !address.is_empty()).and_then(target);
    let redirect = redirect.filter(|target| address_key(target) != own);
    let canonical = page.head.canonical.as_deref().and_then(target);
    let canonical = canonical.filter(|target| {
        // A canonical address that differs in its host only is that of the page itself.
        let is_own = address_key(target) == own;
        let is_own_on_other_host = !scope.contains(target) && path_key(target) == path_key(url);
        !is_own && !is_own_on_other_host
    });
    let elsewhere = [(redirect, Outcome::Moved), (canonical, Outcome::Skipped(SkipReason::Duplicate))];
    for (target, outcome) in elsewhere {
        let Some(target) = target else { continue };
        let leads_to = scope.page(fetcher, target);
        let outcome = if leads_to.is_some() { outcome } else { Outcome::Skipped(SkipReason::Elsewhere) };
        return ReadResult { outcome, links, leads_to, address };
    }
    if page.head.is_noindex() {
        return ReadResult { links, address, ..ReadResult::skipped(SkipReason::Noindex) };
    }
    if page.text().trim().is_empty() {
        return ReadResult { links, address, ..ReadResult::skipped(SkipReason::Empty) };
    }
    let followed = links.iter().map(|link| link.address.clone()).collect();
    let page = StoredPage::new(page, followed).packed();
    ReadResult { links, address, ..ReadResult::of(Outcome::Read { page, validators: answer.validators() }) }
}

/// Returns the links of a page to others of its host.
fn links(page: &Page, base: &Url, url: &Url, scope: &Scope, fetcher: &Fetcher) -> Vec<Link> {
    let host = host_key(url);
    let mut links: Vec<Link> = Vec::new();
    let found = page.outline.links.iter().filter(|link| !link.is_nofollow).take(4 * MAX_LINKS);
    for target in found.filter_map(|link| base.join(&link.href).ok()) {
        if links.len() >= MAX_LINKS {
            break;
        }
        if host_key(&target) != host {
            continue;
        }
        if let Some(link) = scope.page(fetcher, target)
            && !links.contains(&link)
        {
            links.push(link);
        }
    }
    links
}
