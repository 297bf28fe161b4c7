//! When the questions of a site are asked: on request, and some time after its knowledge has changed.
//!
//! Triggers of the database note each change of the knowledge of a site with test questions, whatever has
//! changed it. All nodes share the schedule. A site is asked by one of them at a time, and so is a tenant.

use std::time::Duration;

use crate::clock::millis;
use crate::db::{Db, DbError, Tx, Wake, args, transaction};
use crate::secrets::new_id;

/// The time without changes after which the questions are asked.
const QUIET: Duration = Duration::from_secs(30);
/// Maximum time after the first change, however many follow.
const MAX_DELAY: Duration = Duration::from_mins(10);
/// The lifetime of a lease, which is longer than a run.
const LEASE: Duration = Duration::from_mins(5);
/// Maximum sites whose changes are read at once.
const BATCH: i64 = 100;

/// The site that is due and whose tenant has waited longest. A tenant has one at a time.
const NEXT: &str = "SELECT t.site_id FROM test_sets t JOIN sites w ON w.id = t.site_id
        JOIN tenants n ON n.id = w.tenant_id
    WHERE t.due_ms <= $1 AND t.lease_until_ms <= $1 AND w.deleted_ms IS NULL AND n.disabled_ms IS NULL
        AND NOT EXISTS (SELECT 1 FROM test_sets o JOIN sites ow ON ow.id = o.site_id
            WHERE ow.tenant_id = w.tenant_id AND o.lease_until_ms > $1)
    ORDER BY (SELECT max(o.turn_ms) FROM test_sets o JOIN sites ow ON ow.id = o.site_id
        WHERE ow.tenant_id = w.tenant_id), t.due_ms, t.site_id LIMIT 1";

/// A site whose questions this worker asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claimed {
    pub(super) site_id: String,
    lease: String,
    began_ms: i64,
}

/// Lets changes of a site's knowledge be noted.
pub(super) async fn begin(tx: &mut Tx, site_id: &str) -> Result<(), DbError> {
    let sql = "INSERT INTO test_sets (site_id) VALUES ($1) ON CONFLICT (site_id) DO NOTHING";
    tx.execute(sql, args![site_id]).await.map(drop)
}

/// Lets the questions of a site be asked at once.
pub(super) async fn request(tx: &mut Tx, now_ms: i64, site_id: &str) -> Result<(), DbError> {
    tx.execute("UPDATE test_sets SET due_ms = $2 WHERE site_id = $1", args![site_id, now_ms]).await?;
    tx.wake(Wake::Queue);
    Ok(())
}

/// Returns whether the questions of a site are being asked, or are due.
pub(super) async fn is_running(db: &Db, now_ms: i64, site_id: &str) -> Result<bool, DbError> {
    let sql = "SELECT 1 FROM test_sets WHERE site_id = $1 AND (due_ms <= $2 OR lease_until_ms > $2)";
    Ok(db.optional(sql, args![site_id, now_ms]).await?.is_some())
}

/// Reads which sites have changed, and lets their questions be asked once nothing changes any more.
pub(super) async fn read_changes(db: &Db, now_ms: i64) -> Result<(), DbError> {
    if db.optional("SELECT 1 FROM knowledge_changes LIMIT 1", args![]).await?.is_none() {
        return Ok(());
    }
    transaction!(db, |tx| {
        let sql = "SELECT DISTINCT site_id FROM knowledge_changes ORDER BY site_id LIMIT $1";
        for row in tx.all(sql, args![BATCH]).await? {
            let site_id = row.text(0)?;
            tx.execute("DELETE FROM knowledge_changes WHERE site_id = $1", args![&site_id]).await?;
            // A run that is due already is not put off.
            let sql = "UPDATE test_sets SET changed_ms = coalesce(changed_ms, $2),
                           due_ms = CASE WHEN due_ms <= $2 THEN due_ms
                               WHEN coalesce(changed_ms, $2) + $4 < $2 + $3 THEN coalesce(changed_ms, $2) + $4
                               ELSE $2 + $3 END
                       WHERE site_id = $1";
            tx.execute(sql, args![site_id, now_ms, millis(QUIET), millis(MAX_DELAY)]).await?;
        }
        Ok::<_, DbError>(())
    })
    .await
}

/// Takes the next site whose questions are due; `None` if there is none, with the time at which the next one
/// is due.
pub(super) async fn claim(db: &Db, now_ms: i64) -> Result<(Option<Claimed>, Option<i64>), DbError> {
    let next = db.one("SELECT min(due_ms) FROM test_sets WHERE due_ms > $1", args![now_ms]).await?;
    let next = next.optional_int(0)?;
    if db.optional(NEXT, args![now_ms]).await?.is_none() {
        return Ok((None, next));
    }
    let claimed = transaction!(db, |tx| {
        // Nodes claim one after the other, so that two do not take two sites of one tenant.
        let lock = "INSERT INTO service_values (name, value) VALUES ('test questions', '')
                    ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        tx.execute(lock, args![]).await?;
        let Some(row) = tx.optional(NEXT, args![now_ms]).await? else { return Ok(None) };
        let claimed = Claimed { site_id: row.text(0)?, lease: new_id("lease"), began_ms: now_ms };
        let sql = "UPDATE test_sets SET lease = $2, lease_until_ms = $3, turn_ms = $4 WHERE site_id = $1";
        let until_ms = now_ms.saturating_add(millis(LEASE));
        tx.execute(sql, args![&claimed.site_id, &claimed.lease, until_ms, now_ms]).await?;
        Ok::<_, DbError>(Some(claimed))
    })
    .await?;
    Ok((claimed, next))
}

impl Claimed {
    /// Ends a run. Returns false if another worker has the site meanwhile. A request that came during the run
    /// stays due.
    pub(super) async fn finish(&self, tx: &mut Tx) -> Result<bool, DbError> {
        let sql = "UPDATE test_sets SET lease = NULL, lease_until_ms = 0, changed_ms = NULL,
                       due_ms = CASE WHEN due_ms <= $3 THEN NULL ELSE due_ms END
                   WHERE site_id = $1 AND lease = $2";
        Ok(tx.execute(sql, args![&self.site_id, &self.lease, self.began_ms]).await? == 1)
    }

    /// Gives the site back, to be asked at `due_ms`.
    pub(super) async fn give_back(&self, db: &Db, due_ms: i64) -> Result<(), DbError> {
        let Self { site_id, lease, .. } = self.clone();
        transaction!(db, |tx| {
            let sql = "UPDATE test_sets SET lease = NULL, lease_until_ms = 0, due_ms = $3
                       WHERE site_id = $1 AND lease = $2";
            tx.execute(sql, args![site_id, lease, due_ms]).await.map(drop)
        })
        .await
    }
}
