//! Reads one page of a website.

use axum::http::header;
use chat_page::{Head, Headers, Page};
use chat_protocol::admin::settings::SkipReason;
use reqwest::{StatusCode, Url};

use super::fetch::{Answer, Fetcher, Limit, MAX_PAGE_BYTES, Validators};
use super::queue::{Entry, Link, Outcome, page};
use super::scope::Scope;
use super::stored_page::{MAX_LINK_BYTES, MAX_LINKS, StoredPage};
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
    /// Whether all redirects to that address are for good.
    pub(super) is_permanent: bool,
    /// The key of the address that the page names as the original.
    pub(super) moved_to: Option<String>,
}

impl ReadResult {
    fn of(outcome: Outcome) -> Self {
        Self {
            outcome,
            links: Vec::new(),
            leads_to: None,
            address: None,
            is_permanent: false,
            moved_to: None,
        }
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
    if let Some(result) = read_if_changed(visit, entry, &requested, &validators).await? {
        return Ok(result);
    }
    // The page has not changed, but its links are not known.
    let result = read_if_changed(visit, entry, &requested, &Validators::default()).await?;
    Ok(result.unwrap_or_else(|| ReadResult::of(Outcome::Unchanged)))
}

/// Reads a page, unless the validators say that it is as it was; `None` if it is, and its links are needed
/// but were not kept.
async fn read_if_changed(
    visit: &Visit<'_>,
    entry: &Entry,
    requested: &Url,
    validators: &Validators,
) -> Result<Option<ReadResult>, Stopped> {
    let followed = visit.follow(requested.clone(), validators, Limit::Whole(MAX_PAGE_BYTES)).await?;
    let (answer, url, is_permanent) = match followed {
        Followed::Answer { answer, url, is_permanent } => (answer, url, is_permanent),
        Followed::Skipped(reason) => return Ok(Some(ReadResult::skipped(reason))),
        Followed::Busy if entry.attempts + 1 < MAX_ATTEMPTS => {
            return Ok(Some(ReadResult::of(Outcome::Again)));
        }
        Followed::Busy => return Ok(Some(ReadResult::skipped(SkipReason::ServerError))),
    };
    if answer.status == StatusCode::NOT_MODIFIED && entry.was_read {
        return unchanged(visit, entry, &answer).await;
    }
    if !answer.status.is_success() {
        return Ok(Some(ReadResult::skipped(reason_of_status(answer.status))));
    }
    if !is_page(&answer) {
        return Ok(Some(ReadResult::skipped(SkipReason::NotPage)));
    }
    let (scope, fetcher, requested) = (visit.scope.clone(), visit.fetcher.clone(), requested.clone());
    let keeps_links = visit.source.follows_links;
    let work = move || parse(&answer, &requested, &url, &scope, &fetcher, keeps_links);
    let parsed = visit.blocking(work).await;
    let result = parsed.unwrap_or_else(|| ReadResult::skipped(SkipReason::NotPage));
    Ok(Some(ReadResult { is_permanent, ..result }))
}

/// Returns the links of a page that has not changed; `None` if they are needed but were not kept. The
/// response may still say that the page is no longer to be indexed.
async fn unchanged(visit: &Visit<'_>, entry: &Entry, answer: &Answer) -> Result<Option<ReadResult>, Stopped> {
    let head = Page::read_response(b"", Headers { content_type: None, robots: &answer.robots() }).head;
    let is_noindex = head.is_noindex();
    let outcome = if is_noindex { Outcome::Skipped(SkipReason::Noindex) } else { Outcome::Unchanged };
    if !visit.source.follows_links || !follows(&head) {
        return Ok(Some(ReadResult::of(outcome)));
    }
    let packed = page(visit.service.db(), entry.no).await?.unwrap_or_default();
    let links = visit.blocking(move || StoredPage::unpack(&packed).links).await.flatten();
    let Some(links) = links else { return Ok(None) };
    let links = links.iter().filter_map(|address| Url::parse(address).ok());
    let links = links.filter_map(|url| visit.scope.page(visit.fetcher, url)).collect();
    Ok(Some(ReadResult { links, ..ReadResult::of(outcome) }))
}

/// Returns whether the links of a page may be followed.
fn follows(head: &Head) -> bool {
    !head.robots.iter().any(|rule| rule == "nofollow" || rule == "none")
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
fn parse(
    answer: &Answer,
    requested: &Url,
    url: &Url,
    scope: &Scope,
    fetcher: &Fetcher,
    keeps_links: bool,
) -> ReadResult {
    let headers = Headers { content_type: answer.header(header::CONTENT_TYPE), robots: &answer.robots() };
    let page = Page::read_response(&answer.body, headers);
    let base = page.head.base.as_deref().and_then(|base| url.join(base).ok());
    let base = base.unwrap_or_else(|| url.clone());
    let own = address_key(url);
    let address = (own != address_key(requested)).then(|| scope.page(fetcher, url.clone())).flatten();
    let links = if follows(&page.head) { links(&page, &base, url, scope, fetcher) } else { Vec::new() };
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
    let elsewhere =
        [(redirect, Outcome::Moved, false), (canonical, Outcome::Skipped(SkipReason::Duplicate), true)];
    for (target, outcome, is_original) in elsewhere {
        let Some(target) = target else { continue };
        let leads_to = scope.page(fetcher, target);
        let outcome = if leads_to.is_some() { outcome } else { Outcome::Skipped(SkipReason::Elsewhere) };
        let moved_to = leads_to.as_ref().filter(|_| is_original).map(|link| link.key.clone());
        return ReadResult { links, leads_to, address, moved_to, ..ReadResult::of(outcome) };
    }
    if page.head.is_noindex() {
        return ReadResult { links, address, ..ReadResult::skipped(SkipReason::Noindex) };
    }
    if page.text().trim().is_empty() {
        return ReadResult { links, address, ..ReadResult::skipped(SkipReason::Empty) };
    }
    let kept = keeps_links.then(|| links.iter().map(|link| link.address.clone()).collect());
    let page = StoredPage::new(page, kept).packed();
    ReadResult { links, address, ..ReadResult::of(Outcome::Read { page, validators: answer.validators() }) }
}

/// Returns the links of a page to others of its host.
fn links(page: &Page, base: &Url, url: &Url, scope: &Scope, fetcher: &Fetcher) -> Vec<Link> {
    let host = host_key(url);
    let (mut links, mut bytes): (Vec<Link>, usize) = (Vec::new(), 0);
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
            bytes += link.address.len();
            if bytes > MAX_LINK_BYTES {
                break;
            }
            links.push(link);
        }
    }
    links
}
