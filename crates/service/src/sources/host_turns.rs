//! The turns of requests to a host: one at a time, from all sites and all nodes, with a pause between two.

use super::claim::Lease;
use crate::db::{Db, DbError, args, work};

/// A turn, or the time to wait for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Taken,
    /// Somebody else has it, or the pause is not over before this time.
    Later(i64),
    /// The source has another reader, or was removed.
    Lost,
}

/// Takes the turn of a host until `until_ms`, and renews the lease of the source.
pub(super) async fn take(
    db: &Db,
    lease: &Lease,
    host: &str,
    now_ms: i64,
    until_ms: i64,
) -> Result<Turn, DbError> {
    let (lease, host) = (lease.clone(), host.to_owned());
    db.write_unflushed(work!(|tx| {
        if !lease.renew(tx, now_ms).await? {
            return Ok(Turn::Lost);
        }
        let sql = "INSERT INTO crawl_hosts (host, lease, until_ms, next_ms) VALUES ($1, $2, $3, 0)
                   ON CONFLICT (host) DO UPDATE SET lease = excluded.lease, until_ms = excluded.until_ms
                   WHERE crawl_hosts.until_ms <= $4 AND crawl_hosts.next_ms <= $4";
        if tx.execute(sql, args![&host, &lease.token, until_ms, now_ms]).await? == 1 {
            return Ok(Turn::Taken);
        }
        let row =
            tx.optional("SELECT until_ms, next_ms FROM crawl_hosts WHERE host = $1", args![&host]).await?;
        let Some(row) = row else { return Ok(Turn::Later(now_ms)) };
        Ok(Turn::Later(row.int(0)?.max(row.int(1)?)))
    }))
    .await
}

/// Gives a turn back. The next request may begin at `next_ms`.
pub(super) async fn give_back(db: &Db, lease: &Lease, host: &str, next_ms: i64) -> Result<(), DbError> {
    let (token, host) = (lease.token.clone(), host.to_owned());
    db.write_unflushed(work!(|tx| {
        let sql = "UPDATE crawl_hosts SET until_ms = 0, next_ms = $3 WHERE host = $1 AND lease = $2";
        tx.execute(sql, args![&host, &token, next_ms]).await.map(drop)
    }))
    .await
}
