//! The beginning of a run: the rules of the website, and its sitemaps.

use std::collections::HashSet;

use chat_page::Sitemap;
use chat_protocol::admin::settings::SkipReason;
use reqwest::Url;
use tokio::time::Instant;

use super::claim::Phase;
use super::fetch::{Fetcher, Limit, Validators};
use super::queue::{self, Entry, Link, Outcome};
use super::read_page::reason_of_status;
use super::scope::Scope;
use super::visit::{Followed, PAGE_TIMEOUT, Stopped, Visit};
use crate::content::address_key;
use crate::db::work;

/// Maximum sitemaps that are read in a run.
const MAX_SITEMAPS: usize = 20;
/// Maximum addresses in the queue of a run, beyond two for each page that is read.
const MORE_ADDRESSES: i64 = 50;
/// Bytes that a new address needs.
const ADDRESS_BYTES: usize = 800;

/// Returns the bytes that the new ones of these addresses need.
pub(super) fn address_bytes(links: &[Link], known: &HashSet<String>) -> usize {
    links.iter().filter(|link| !known.contains(&link.key)).count() * ADDRESS_BYTES
}

/// Returns the maximum addresses in the queue of a run.
pub(super) fn max_addresses(max_pages: i64) -> usize {
    usize::try_from(max_pages.saturating_mul(2).saturating_add(MORE_ADDRESSES)).unwrap_or_default()
}

/// Returns whether an address is that of a sitemap.
pub(super) fn is_sitemap(url: &Url) -> bool {
    let path = url.path().to_ascii_lowercase();
    [".xml", ".xml.gz"].iter().any(|ending| path.ends_with(ending))
}

/// Begins a run: with the rules of the website, its address, and the sitemaps that are to be read.
pub(super) async fn discover(visit: &mut Visit<'_>) -> Result<(), Stopped> {
    let start = start(visit)?;
    if !visit.fetcher.may_request(&start) {
        return Err(Stopped::Failed(SkipReason::Elsewhere));
    }
    let ends = Instant::now() + PAGE_TIMEOUT;
    let robots = visit.robots(&start, ends).await?.map_err(Stopped::Failed)?;
    let named: Vec<Url> = if is_sitemap(&start) {
        vec![start.clone()]
    } else {
        robots.sitemaps.iter().filter_map(|address| start.join(address).ok()).collect()
    };
    let sitemaps = if named.is_empty() { start.join("/sitemap.xml").into_iter().collect() } else { named };
    let first = if is_sitemap(&start) { None } else { visit.scope.page(visit.fetcher, start) };
    let step = Step {
        pages: first.into_iter().collect(),
        sitemaps: sitemaps.into_iter().map(link).collect(),
        phase: Phase::Sitemaps,
    };
    take_step(visit, None, step).await
}

/// Reads the sitemaps of a run, one after the other.
pub(super) async fn read_sitemaps(visit: &mut Visit<'_>) -> Result<(), Stopped> {
    let (db, run) = (visit.service.db(), visit.source.run);
    let source_id = visit.source.lease.source_id.clone();
    let max = max_addresses(visit.source.max_pages);
    let start = start(visit)?;
    loop {
        let found = queue::found(db, &source_id, run).await?;
        let (read, pages) = queue::count_sitemaps(db, &source_id, run).await?;
        let next = queue::next_sitemap(db, &source_id, run).await?;
        let has_more = next.is_some();
        let Some(entry) = next.filter(|_| found.len() < max && read < MAX_SITEMAPS) else {
            // The pages of the others are not known.
            visit.source.is_partial |= has_more;
            // Beside the address itself, which is no sitemap's.
            let has_pages = pages > usize::from(!is_sitemap(&start));
            if is_sitemap(&start) && !has_pages {
                let reason = queue::first_reason(db, &source_id, run).await?;
                return Err(Stopped::Failed(reason.unwrap_or(SkipReason::Empty)));
            }
            visit.source.follows_links = !has_pages;
            let step = Step { pages: Vec::new(), sitemaps: Vec::new(), phase: Phase::Read };
            return take_step(visit, None, step).await;
        };
        let answer = read_sitemap(visit, &entry.address).await?;
        let (outcome, sitemap, url) = match answer {
            Ok((sitemap, url)) => (Outcome::Moved, sitemap, url),
            // A website need not have a sitemap where one usually is.
            Err(reason) if is_usual(&start, &entry.address) && is_absent(reason) => {
                (Outcome::Moved, Sitemap::default(), start.clone())
            }
            Err(reason) => {
                // Its pages are not known in this run, which says nothing about them.
                visit.source.is_partial |= reason != SkipReason::NotFound;
                (Outcome::Skipped(reason), Sitemap::default(), start.clone())
            }
        };
        let (scope, fetcher) = (visit.scope.clone(), visit.fetcher.clone());
        let step = visit.blocking(move || new_links(sitemap, &url, &scope, &fetcher, found, max)).await;
        let step = step.unwrap_or(Step { pages: Vec::new(), sitemaps: Vec::new(), phase: Phase::Sitemaps });
        take_step(visit, Some((entry, outcome)), step).await?;
        visit.check_turn()?;
    }
}

fn start(visit: &Visit<'_>) -> Result<Url, Stopped> {
    visit.source.address.parse().map_err(|_| Stopped::Failed(SkipReason::Unreachable))
}

fn link(url: Url) -> Link {
    Link { key: address_key(&url), address: url.into() }
}

/// Returns whether an address is the one at which sitemaps usually are, and not that of the source.
fn is_usual(start: &Url, address: &str) -> bool {
    !is_sitemap(start) && start.join("/sitemap.xml").is_ok_and(|usual| usual.as_str() == address)
}

/// Returns whether there is no sitemap, and not one that cannot be read this time. Many servers send a page
/// for any address.
fn is_absent(reason: SkipReason) -> bool {
    matches!(reason, SkipReason::NotFound | SkipReason::NotPage | SkipReason::Robots)
}

/// Reads a sitemap, and returns its address.
async fn read_sitemap(
    visit: &Visit<'_>,
    address: &str,
) -> Result<Result<(Sitemap, Url), SkipReason>, Stopped> {
    let Ok(url) = Url::parse(address) else { return Ok(Err(SkipReason::NotFound)) };
    let limit = Limit::Whole(Sitemap::MAX_BYTES);
    let (answer, url) = match visit.follow(url, &Validators::default(), limit).await? {
        Followed::Answer { answer, url, .. } if answer.status.is_success() => (answer, url),
        Followed::Answer { answer, .. } => return Ok(Err(reason_of_status(answer.status))),
        Followed::Skipped(reason) => return Ok(Err(reason)),
        Followed::Busy => return Ok(Err(SkipReason::ServerError)),
    };
    let sitemap = visit.blocking(move || Sitemap::parse(&answer.body)).await.flatten();
    Ok(sitemap.map(|sitemap| (sitemap, url)).ok_or(SkipReason::NotPage))
}

/// Returns the addresses in a sitemap that are not known yet, as long as there are fewer than `max`.
fn new_links(
    sitemap: Sitemap,
    url: &Url,
    scope: &Scope,
    fetcher: &Fetcher,
    mut known: HashSet<String>,
    max: usize,
) -> Step {
    let mut pages = Vec::new();
    for page in sitemap.pages {
        if known.len() >= max {
            break;
        }
        let page = url.join(&page).ok().and_then(|page| scope.page(fetcher, page));
        pages.extend(page.filter(|link| known.insert(link.key.clone())));
    }
    let sitemaps = sitemap.sitemaps.iter().filter_map(|address| url.join(address).ok()).take(MAX_SITEMAPS);
    let sitemaps = sitemaps.map(link).filter(|link| known.insert(link.key.clone())).collect();
    Step { pages, sitemaps, phase: Phase::Sitemaps }
}

/// What a step of the discovery has found.
struct Step {
    pages: Vec<Link>,
    sitemaps: Vec<Link>,
    phase: Phase,
}

/// Stores a step, with what came of the sitemap that was read in it.
async fn take_step(visit: &mut Visit<'_>, read: Option<(Entry, Outcome)>, step: Step) -> Result<(), Stopped> {
    visit.source.phase = step.phase;
    let links: Vec<Link> = step.pages.iter().chain(&step.sitemaps).cloned().collect();
    if !links.is_empty() {
        let known = queue::known(visit.service.db(), &visit.source.lease.source_id).await?;
        if !visit.has_room(address_bytes(&links, &known)).await? {
            return Err(Stopped::Failed(SkipReason::Storage));
        }
    }
    let source = visit.source.clone();
    let work = work!(|tx| {
        if let Some((entry, outcome)) = &read {
            queue::record(tx, entry, outcome, None).await?;
        }
        queue::add(tx, &source, &step.pages).await?;
        queue::add_sitemaps(tx, &source, &step.sitemaps).await?;
        queue::set_phase(tx, &source, step.phase, None).await
    });
    visit.change(work).await
}
