//! A worker's turn with a source: a part of a run, which goes on where the last turn ended.
//!
//! Everything that a turn has learned is in the database after each page, so that a run survives a restart,
//! and goes on at any node.

use std::collections::HashSet;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

use chat_protocol::admin::settings::SkipReason;
use reqwest::Url;
use tokio::time::Instant;

use super::claim::{Claimed, Phase};
use super::discover::{address_bytes, discover, max_addresses, read_sitemaps};
use super::fetch::Fetcher;
use super::outdated;
use super::queue::{self, Entry, Link, Outcome};
use super::read_page::{self, ReadResult};
use super::scope::Scope;
use super::store;
use super::visit::{Stopped, Visit};
use crate::Service;
use crate::clock::millis;
use crate::db::work;
use crate::sites;

/// Maximum time that workers spend on a run.
const MAX_ACTIVE: Duration = Duration::from_hours(2);
/// Maximum time of a run with that in which other sources had their turns, and servers asked to wait.
const MAX_RUN: Duration = Duration::from_hours(24);

/// Reads a source for a turn. The run is over if this returns `Ok`.
pub(super) async fn take_turn(service: &Service, source: Claimed, fetcher: &Fetcher) -> Result<(), Stopped> {
    let site = sites::find(service.db(), &source.site_id).await?.ok_or(Stopped::Lost)?;
    let address: Url = source.address.parse().map_err(|_| Stopped::Failed(SkipReason::Unreachable))?;
    let scope = Scope::new(&address, &site);
    let tenant_id = site.tenant_id.clone();
    let began = Instant::now();
    let mut visit = Visit {
        service,
        source,
        tenant_id,
        scope,
        fetcher,
        began,
        ends: began + service.0.options.crawl.turn,
        paused_until_ms: AtomicI64::new(0),
    };
    loop {
        let begins = matches!(visit.source.phase, Phase::Discover | Phase::Sitemaps);
        // A run that has read pages gets the same time again to store them.
        if (begins && is_over(&visit, 1)) || is_over(&visit, 2) {
            return Err(Stopped::Failed(SkipReason::Timeout));
        }
        match visit.source.phase {
            Phase::Discover => discover(&mut visit).await?,
            Phase::Sitemaps => read_sitemaps(&mut visit).await?,
            Phase::Read => read_queue(&mut visit).await?,
            Phase::Check => check_unfound(&mut visit).await?,
            Phase::Store => return store::store(&visit).await,
        }
    }
}

/// Reads the queue, breadth first, until it is empty or enough pages are read.
async fn read_queue(visit: &mut Visit<'_>) -> Result<(), Stopped> {
    let (db, run, max) = (visit.service.db(), visit.source.run, visit.source.max_pages);
    let source_id = visit.source.lease.source_id.clone();
    let mut found = queue::found(db, &source_id, run).await?;
    let mut known = queue::known(db, &source_id).await?;
    let mut read = queue::count_read(db, &source_id, run).await?;
    loop {
        if is_over(visit, 1) {
            return go_on(visit, Phase::Store, Some(SkipReason::Timeout)).await;
        }
        let entry = queue::next(db, &source_id, run).await?;
        if read >= max {
            let problem = entry.map(|_| SkipReason::MaxPages);
            return go_on(visit, Phase::Store, problem).await;
        }
        let Some(entry) = entry else {
            return go_on(visit, Phase::Check, None).await;
        };
        let result = read_page::read(visit, &entry).await?;
        // A redirect to a page that is known already is no other page.
        let address = result.address.as_ref();
        let is_new = address.is_none_or(|link| link.key == entry.key || !found.contains(&link.key));
        let is_read = is_new && matches!(result.outcome, Outcome::Read { .. } | Outcome::Unchanged);
        read += i64::from(is_read);
        if !record(visit, entry, result, &mut found, &mut known).await? {
            return go_on(visit, Phase::Store, Some(SkipReason::Storage)).await;
        }
        visit.check_turn()?;
    }
}

/// Returns whether the time of a run is over, or a multiple of it.
fn is_over(visit: &Visit<'_>, times: u32) -> bool {
    let active_ms = visit.source.active_ms.saturating_add(millis(visit.began.elapsed()));
    let age_ms = visit.service.now_ms().saturating_sub(visit.source.started_ms);
    active_ms > millis(times * MAX_ACTIVE) || age_ms > millis(times * MAX_RUN)
}

/// Stores what came of an address. Returns false if the site has no space left for it. `found` has the keys
/// of the addresses of the run, `known` those of all.
async fn record(
    visit: &Visit<'_>,
    entry: Entry,
    result: ReadResult,
    found: &mut HashSet<String>,
    known: &mut HashSet<String>,
) -> Result<bool, Stopped> {
    let ReadResult { outcome, links, leads_to, address, is_permanent, moved_to } = result;
    let links = if visit.source.follows_links { links } else { Vec::new() };
    let free = max_addresses(visit.source.max_pages).saturating_sub(found.len());
    let links: Vec<Link> =
        leads_to.into_iter().chain(links).filter(|link| !found.contains(&link.key)).take(free).collect();
    // A page takes the place of the one that an earlier run has read.
    let page_bytes = if let Outcome::Read { page, .. } = &outcome { page.len() } else { 0 };
    let bytes = address_bytes(&links, known) + page_bytes.saturating_sub(entry.page_bytes);
    if !visit.has_room(bytes).await? {
        return Ok(false);
    }
    // The page has another address, which may be known already.
    let moved = address.filter(|link| link.key != entry.key);
    let is_new = moved.as_ref().is_none_or(|link| !found.contains(&link.key));
    found.extend(links.iter().chain(&moved).map(|link| link.key.clone()));
    known.extend(links.iter().chain(&moved).map(|link| link.key.clone()));
    let source = visit.source.clone();
    let work = work!(|tx| {
        match &moved {
            None => queue::record(tx, &entry, &outcome, moved_to.as_deref()).await?,
            Some(link) => {
                let to = is_permanent.then_some(link.key.as_str());
                queue::record(tx, &entry, &Outcome::Moved, to).await?;
                if is_new {
                    queue::record_moved(tx, &source, link, &outcome, moved_to.as_deref()).await?;
                }
            }
        }
        queue::add(tx, &source, &links).await
    });
    visit.change(work).await.map(|()| true)
}

/// Asks for the pages that nothing led to.
async fn check_unfound(visit: &mut Visit<'_>) -> Result<(), Stopped> {
    let (db, run) = (visit.service.db(), visit.source.run);
    let source_id = visit.source.lease.source_id.clone();
    loop {
        if is_over(visit, 1) {
            return go_on(visit, Phase::Store, Some(SkipReason::Timeout)).await;
        }
        let Some(entry) = queue::next_unfound(db, &source_id, run).await? else {
            return go_on(visit, Phase::Store, None).await;
        };
        let result = read_page::read(visit, &entry).await?;
        let ReadResult { outcome, address, is_permanent, moved_to, .. } = result;
        let (outcome, moved_to) = match address.filter(|link| link.key != entry.key) {
            Some(link) => (Outcome::Moved, is_permanent.then_some(link.key)),
            None => (outcome, moved_to),
        };
        let work = work!(|tx| queue::record_unfound(tx, &entry, run, &outcome, moved_to.as_deref()).await);
        visit.change(work).await?;
        visit.check_turn()?;
    }
}

/// Goes on with another part of the run. One that mostly failed ends before it stores anything.
async fn go_on(visit: &mut Visit<'_>, phase: Phase, problem: Option<SkipReason>) -> Result<(), Stopped> {
    if phase == Phase::Store {
        outdated::judge(visit).await?;
    }
    (visit.source.phase, visit.source.problem) = (phase, problem);
    let source = visit.source.clone();
    visit.change(work!(|tx| queue::set_phase(tx, &source, phase, problem).await)).await
}
