//! The bytes of each site, as the triggers of the database count them.

use std::collections::HashMap;

use super::budgets::{Class, StorageBudgets};
use crate::db::{Db, DbError, Tx, args, work};

/// Maximum sites and tenants that are reported as full.
const MAX_FULL: i64 = 20;

/// Returns the bytes of each site of a tenant that has stored something.
pub(crate) async fn of_tenant(db: &Db, tenant_id: &str) -> Result<HashMap<String, u64>, DbError> {
    let sql = "SELECT s.id, CAST(coalesce(sum(u.bytes), 0) AS BIGINT) FROM sites s
               JOIN storage u ON u.site_id = s.id WHERE s.tenant_id = $1 GROUP BY s.id";
    let rows = db.all(sql, args![tenant_id]).await?;
    rows.iter().map(|row| Ok((row.text(0)?, u64::try_from(row.int(1)?).unwrap_or_default()))).collect()
}

/// Returns the bytes of a site, with those that this transaction has stored.
pub(crate) async fn used(tx: &mut Tx, site_id: &str) -> Result<u64, DbError> {
    let sql = "SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM storage WHERE site_id = $1";
    Ok(u64::try_from(tx.one(sql, args![site_id]).await?.int(0)?).unwrap_or_default())
}

/// A site or a tenant that has nearly used up its budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Full {
    /// `site` or `tenant`.
    pub(crate) kind: &'static str,
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) budget: u64,
}

/// Returns the sites and the tenants whose events and content are refused, the fullest first.
pub(crate) async fn fullest(db: &Db, budgets: &StorageBudgets) -> Result<Vec<Full>, DbError> {
    let mut found = Vec::new();
    for (kind, budget, sql) in [
        (
            "site",
            budgets.site,
            "SELECT s.name, CAST(sum(u.bytes) AS BIGINT) FROM sites s JOIN storage u ON u.site_id = s.id
             GROUP BY s.id, s.name HAVING sum(u.bytes) >= CAST($1 AS BIGINT) ORDER BY 2 DESC LIMIT $2",
        ),
        (
            "tenant",
            budgets.tenant,
            "SELECT t.name, CAST(sum(u.bytes) AS BIGINT) FROM tenants t JOIN sites s ON s.tenant_id = t.id
             JOIN storage u ON u.site_id = s.id
             GROUP BY t.id, t.name HAVING sum(u.bytes) >= CAST($1 AS BIGINT) ORDER BY 2 DESC LIMIT $2",
        ),
    ] {
        let min = i64::try_from(Class::Bulk.part(budget)).unwrap_or(i64::MAX);
        for row in db.all(sql, args![min, MAX_FULL]).await? {
            let bytes = u64::try_from(row.int(1)?).unwrap_or_default();
            found.push(Full { kind, name: row.text(0)?, bytes, budget });
        }
    }
    Ok(found)
}

/// Merges the rows of each site into one, on PostgreSQL. Rows that another node merges are left to it. A
/// crash may undo a merge as a whole, which loses nothing.
pub(super) async fn merge(db: &Db) -> Result<(), DbError> {
    let sql = "WITH found AS (
                   SELECT ctid FROM storage WHERE site_id IN
                       (SELECT site_id FROM storage GROUP BY site_id HAVING count(*) > 1)
                   FOR UPDATE SKIP LOCKED),
               gone AS (
                   DELETE FROM storage WHERE ctid IN (SELECT ctid FROM found) RETURNING site_id, bytes)
               INSERT INTO storage (site_id, bytes) SELECT site_id, sum(bytes) FROM gone GROUP BY site_id";
    db.write_unflushed(work!(|tx| tx.execute(sql, args![]).await.map(drop))).await
}
