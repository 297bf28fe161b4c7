//! A worker's turn with a source: a part of a run, which goes on where the last turn ended.
//!
//! Everything that a turn has learned is in the database after each page, so that a run survives a restart,
//! and goes on at any node.

use std::collections::HashSet;
use std::time::Duration;

use chat_protocol::admin::settings::SkipReason;
use reqwest::Url;
use tokio::time::Instant;

use super::claim::{Claimed, Phase};
use super::discover::{discover, max_addresses, read_sitemaps};
use super::fetch::Fetcher;
use super::queue::{self, Entry, Link, Outcome};
use super::read_page::{self, ReadResult};
use super::scope::Scope;
use super::store;
use super::visit::{Stopped, Visit};
use crate::Service;
use crate::clock::millis;
use crate::db::{DbError, transaction};
use crate::sites;
use crate::storage::{self, Class};

/// Maximum time of a run.
const MAX_RUN: Duration = Duration::from_hours(2);
/// Bytes that a new address needs.
const ADDRESS_BYTES: usize = 800;

/// Reads a source for a turn. The run is over if this returns `Ok`.
pub(super) async fn take_turn(service: &Service, source: Claimed, fetcher: &Fetcher) -> Result<(), Stopped> {
    let site = sites::find(service.db(), &source.site_id).await?.ok_or(Stopped::Lost)?;
    let address: Url = source.address.parse().map_err(|_| Stopped::Failed(SkipReason::Unreachable))?;
    let scope = Scope::new(&address, &site);
    let tenant_id = site.tenant_id.clone();
    let mut visit = Visit {
        service,
        source,
        tenant_id,
        scope,
        fetcher,
        ends: Instant::now() + service.0.options.crawl.turn,
    };
    loop {
        let begins = matches!(visit.source.phase, Phase::Discover | Phase::Sitemaps);
        let age_ms = service.now_ms().saturating_sub(visit.source.started_ms);
        // What was read is stored after the time of a run, unless that fails for as long again.
        if (begins && is_over(&visit)) || age_ms > millis(2 * MAX_RUN) {
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
    let mut read = queue::count_read(db, &source_id, run).await?;
    loop {
        if is_over(visit) {
            return go_on(visit, Phase::Store, Some(SkipReason::Timeout)).await;
        }
        if read >= max {
            return go_on(visit, Phase::Store, None).await;
        }
        let Some(entry) = queue::next(db, &source_id, run).await? else {
            return go_on(visit, Phase::Check, None).await;
        };
        let result = read_page::read(visit, &entry).await?;
        read += i64::from(matches!(result.outcome, Outcome::Read { .. } | Outcome::Unchanged));
        if !record(visit, entry, result, &mut found).await? {
            return go_on(visit, Phase::Store, Some(SkipReason::Storage)).await;
        }
        visit.check_turn()?;
    }
}

fn is_over(visit: &Visit<'_>) -> bool {
    visit.service.now_ms().saturating_sub(visit.source.started_ms) > millis(MAX_RUN)
}

/// Stores what came of an address. Returns false if the site has no space left for it.
async fn record(
    visit: &Visit<'_>,
    entry: Entry,
    result: ReadResult,
    found: &mut HashSet<String>,
) -> Result<bool, Stopped> {
    let ReadResult { outcome, links, leads_to, address } = result;
    let links = if visit.source.follows_links { links } else { Vec::new() };
    let free = max_addresses(visit.source.max_pages).saturating_sub(found.len());
    let links: Vec<Link> =
        leads_to.into_iter().chain(links).filter(|link| !found.contains(&link.key)).take(free).collect();
    let bytes =
        links.len() * ADDRESS_BYTES + if let Outcome::Read { page, .. } = &outcome { page.len() } else { 0 };
    let room = storage::room(visit.service, &visit.tenant_id, &visit.source.site_id, Class::Bulk).await?;
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    if bytes > room.bytes {
        room.count_refusal(visit.service);
        return Ok(false);
    }
    storage::expect(visit.service, &visit.tenant_id, &visit.source.site_id, bytes);
    // The page has another address, which may be known already.
    let moved = address.filter(|link| link.key != entry.key);
    let is_new = moved.as_ref().is_none_or(|link| !found.contains(&link.key));
    found.extend(links.iter().chain(&moved).map(|link| link.key.clone()));
    let (source, now_ms) = (visit.source.clone(), visit.service.now_ms());
    let stored: Result<bool, DbError> = transaction!(visit.service.db(), |tx| {
        if !source.lease.renew(tx, now_ms).await? {
            return Ok(false);
        }
        match &moved {
            None => queue::record(tx, &entry, &outcome).await?,
            Some(link) => {
                queue::record(tx, &entry, &Outcome::Moved).await?;
                if is_new {
                    queue::record_moved(tx, &source, link, &outcome).await?;
                }
            }
        }
        queue::add(tx, &source, &links).await?;
        Ok(true)
    })
    .await;
    if stored? { Ok(true) } else { Err(Stopped::Lost) }
}

/// Asks for the pages that nothing led to.
async fn check_unfound(visit: &mut Visit<'_>) -> Result<(), Stopped> {
    let (db, run) = (visit.service.db(), visit.source.run);
    let source_id = visit.source.lease.source_id.clone();
    loop {
        if is_over(visit) {
            return go_on(visit, Phase::Store, Some(SkipReason::Timeout)).await;
        }
        let Some(entry) = queue::next_unfound(db, &source_id, run).await? else {
            return go_on(visit, Phase::Store, None).await;
        };
        let ReadResult { outcome, .. } = read_page::read(visit, &entry).await?;
        let (lease, now_ms) = (visit.source.lease.clone(), visit.service.now_ms());
        let stored: Result<bool, DbError> = transaction!(db, |tx| {
            if !lease.renew(tx, now_ms).await? {
                return Ok(false);
            }
            queue::record_unfound(tx, &entry, run, &outcome).await?;
            Ok(true)
        })
        .await;
        if !stored? {
            return Err(Stopped::Lost);
        }
        visit.check_turn()?;
    }
}

/// Goes on with another part of the run.
async fn go_on(visit: &mut Visit<'_>, phase: Phase, problem: Option<SkipReason>) -> Result<(), Stopped> {
    (visit.source.phase, visit.source.problem) = (phase, problem);
    let (source, now_ms) = (visit.source.clone(), visit.service.now_ms());
    let stored: Result<bool, DbError> = transaction!(visit.service.db(), |tx| {
        if !source.lease.renew(tx, now_ms).await? {
            return Ok(false);
        }
        queue::set_phase(tx, &source, phase, problem).await?;
        Ok(true)
    })
    .await;
    if stored? { Ok(()) } else { Err(Stopped::Lost) }
}
