//! The turns of sources: which one a worker reads next, and for how long it is its own.

use std::time::Duration;

use chat_protocol::admin::settings::SkipReason;

use crate::Service;
use crate::clock::millis;
use crate::db::{Db, DbError, Tx, args, transaction};
use crate::secrets::new_id;

/// The time after which another node may go on with what a node that died was reading.
const LIFETIME: Duration = Duration::from_mins(3);
/// The time after which it is forgotten when a host was asked.
const HOST_MS: i64 = 24 * 60 * 60 * 1000;

/// The source that is due, and whose tenant has waited longest.
const NEXT: &str = "SELECT s.id, s.site_id, s.state, s.deleted_ms FROM sources s
       JOIN sites w ON w.id = s.site_id JOIN tenants t ON t.id = w.tenant_id
       WHERE s.due_ms <= $1 AND s.lease_until_ms <= $1 AND w.deleted_ms IS NULL
           AND (s.deleted_ms IS NOT NULL OR (w.disabled_ms IS NULL AND t.disabled_ms IS NULL))
           AND NOT EXISTS (SELECT 1 FROM sources o JOIN sites x ON x.id = o.site_id
               WHERE x.tenant_id = w.tenant_id AND o.lease_until_ms > $1)
       ORDER BY (SELECT max(o.turn_ms) FROM sources o JOIN sites x ON x.id = o.site_id
           WHERE x.tenant_id = w.tenant_id), s.turn_ms, s.id LIMIT 1";

/// The right to change a source and its pages.
#[derive(Clone, Debug)]
pub(super) struct Lease {
    pub(super) source_id: String,
    pub(super) token: String,
}

impl Lease {
    /// Renews the lease. Returns false if it was lost, or the source was removed.
    pub(super) async fn renew(&self, tx: &mut Tx, now_ms: i64) -> Result<bool, DbError> {
        let sql =
            "UPDATE sources SET lease_until_ms = $3 WHERE id = $1 AND lease = $2 AND deleted_ms IS NULL";
        let until_ms = now_ms.saturating_add(millis(LIFETIME));
        Ok(tx.execute(sql, args![&self.source_id, &self.token, until_ms]).await? == 1)
    }

    /// Gives the source back after this time of a worker, to go on at `due_ms`.
    pub(super) async fn give_back(&self, db: &Db, due_ms: i64, active: Duration) -> Result<(), DbError> {
        let Self { source_id, token } = self.clone();
        let active_ms = millis(active);
        transaction!(db, |tx| {
            let sql = "UPDATE sources SET lease = NULL, lease_until_ms = 0, due_ms = $3,
                           active_ms = active_ms + $4
                       WHERE id = $1 AND lease = $2";
            tx.execute(sql, args![&source_id, &token, due_ms, active_ms]).await.map(drop)
        })
        .await
    }
}

/// The part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Reads `robots.txt`.
    Discover,
    /// Reads the sitemaps.
    Sitemaps,
    /// Reads the pages.
    Read,
    /// Asks for pages of earlier runs that nothing leads to any more.
    Check,
    /// Makes content of the pages.
    Store,
}

impl Phase {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Discover => "discover",
            Self::Sitemaps => "sitemaps",
            Self::Read => "read",
            Self::Check => "check",
            Self::Store => "store",
        }
    }

    fn parse(name: &str) -> Self {
        [Self::Sitemaps, Self::Read, Self::Check, Self::Store]
            .into_iter()
            .find(|phase| phase.as_str() == name)
            .unwrap_or(Self::Discover)
    }
}

/// A source that this worker reads.
#[derive(Clone, Debug)]
pub(super) struct Claimed {
    pub(super) lease: Lease,
    pub(super) site_id: String,
    pub(super) address: String,
    pub(super) max_pages: i64,
    pub(super) run: i64,
    pub(super) phase: Phase,
    pub(super) follows_links: bool,
    /// Whether a part of the website could not be read, so that nothing is known of unlinked pages.
    pub(super) is_partial: bool,
    pub(super) problem: Option<SkipReason>,
    pub(super) started_ms: i64,
    /// The time that workers have spent on the run, without this turn.
    pub(super) active_ms: i64,
    /// Whether it was removed, so that only its pages are left to remove.
    pub(super) is_removed: bool,
}

/// Takes the source that is due and whose tenant has waited longest; `None` if there is none, with the time
/// at which the next is due. A tenant has one at a time.
pub(super) async fn claim(service: &Service) -> Result<(Option<Claimed>, Option<i64>), DbError> {
    let (db, now_ms) = (service.db(), service.now_ms());
    // Sources of disabled sites are never claimed, so that they must not wake a worker.
    let sql = "SELECT min(s.due_ms) FROM sources s JOIN sites w ON w.id = s.site_id
                   JOIN tenants t ON t.id = w.tenant_id
               WHERE s.due_ms IS NOT NULL AND w.deleted_ms IS NULL
                   AND (s.deleted_ms IS NOT NULL OR (w.disabled_ms IS NULL AND t.disabled_ms IS NULL))";
    let next = db.one(sql, args![]).await?;
    let next = next.optional_int(0)?;
    if next.is_none_or(|due_ms| due_ms > now_ms) {
        return Ok((None, next));
    }
    if db.optional(NEXT, args![now_ms]).await?.is_none() {
        return Ok((None, next));
    }
    let claimed = transaction!(db, |tx| take(tx, now_ms).await).await?;
    Ok((claimed, next))
}

async fn take(tx: &mut Tx, now_ms: i64) -> Result<Option<Claimed>, DbError> {
    // Nodes claim one after the other, so that two do not take two sources of one tenant.
    let lock = "INSERT INTO service_values (name, value) VALUES ('sources', '')
                ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    tx.execute(lock, args![]).await?;
    let Some(row) = tx.optional(NEXT, args![now_ms]).await? else { return Ok(None) };
    let (id, site_id, state) = (row.text(0)?, row.text(1)?, row.text(2)?);
    let is_removed = !row.is_null(3)?;
    let token = new_id("lease");
    let until_ms = now_ms.saturating_add(millis(LIFETIME));
    // One that is not being read begins a new run.
    let begins = state != "reading" && !is_removed;
    let begin = if begins {
        "UPDATE sources SET lease = $2, lease_until_ms = $3, turn_ms = $4, state = 'reading', phase = 'discover',
             run = run + 1, started_ms = $4, problem = NULL, follows_links = 1, is_partial = 0,
             active_ms = 0 WHERE id = $1"
    } else {
        "UPDATE sources SET lease = $2, lease_until_ms = $3, turn_ms = $4 WHERE id = $1"
    };
    // One that was just removed is no longer there.
    if tx.execute(begin, args![&id, &token, until_ms, now_ms]).await? == 0 {
        return Ok(None);
    }
    tx.execute(
        "DELETE FROM crawl_hosts WHERE until_ms <= $1 AND next_ms <= $2",
        args![now_ms, now_ms - HOST_MS],
    )
    .await?;
    let sql =
        "SELECT address, max_pages, run, phase, follows_links, problem, started_ms, is_partial, active_ms
               FROM sources WHERE id = $1";
    let row = tx.one(sql, args![&id]).await?;
    Ok(Some(Claimed {
        lease: Lease { source_id: id, token },
        site_id,
        address: row.text(0)?,
        max_pages: row.int(1)?,
        run: row.int(2)?,
        phase: Phase::parse(&row.text(3)?),
        follows_links: row.flag(4)?,
        problem: row.optional_text(5)?.and_then(|name| SkipReason::parse(&name)),
        started_ms: row.optional_int(6)?.unwrap_or(now_ms),
        is_partial: row.flag(7)?,
        active_ms: row.int(8)?,
        is_removed,
    }))
}
