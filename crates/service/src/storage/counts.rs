//! The bytes of each site, as the triggers of the database count them.

use crate::db::{Db, DbError, args, work};

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
