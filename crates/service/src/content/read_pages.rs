//! The items that are made of the pages of a source.

use super::prepared::{Keys, PreparedItem};
use crate::db::{Db, DbError, Tx, args, transaction};
use crate::knowledge::search_index::put_content;

/// Rows without keys that are read at a time.
const BATCH: i64 = 100;

/// A page of a source, ready to be stored.
#[derive(Debug)]
pub(crate) struct ReadPage {
    /// The number of the source's page.
    pub(crate) no: i64,
    /// The key of its address.
    pub(crate) address_key: String,
    /// The key of its path, if a path of the sync means this host.
    pub(crate) path_key: Option<String>,
    /// The item of the page.
    pub(crate) item: PreparedItem,
}

impl ReadPage {
    /// Returns the bytes that the page needs if it is new.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.item.stored_bytes()
    }

    /// Returns the item as it is stored, by which a change is noticed.
    pub(crate) fn body(&self) -> &str {
        &self.item.body
    }
}

/// Stores a page. Returns false if the sync or another source has a page of this address: then it stays, and
/// what this page had goes.
pub(crate) async fn put_read(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    page: &ReadPage,
) -> Result<bool, DbError> {
    let ReadPage { no, address_key, path_key, item } = page;
    let taken = tx
        .optional(
            "SELECT 1 FROM content WHERE site_id = $1 AND address_key = $2
                 AND (source_page IS NULL OR source_page <> $4)
             UNION ALL
             SELECT 1 FROM content WHERE site_id = $1 AND path_key = $3 AND source_page IS NULL LIMIT 1",
            args![site_id, address_key, path_key.clone(), *no],
        )
        .await?;
    if taken.is_some() {
        remove_read(tx, *no).await?;
        return Ok(false);
    }
    let external_id = format!("source:{address_key}");
    tx.execute(
        "DELETE FROM content WHERE source_page = $1 AND (external_id <> $2 OR locale <> $3)",
        args![*no, &external_id, item.locale()],
    )
    .await?;
    let row = tx
        .optional(
            "INSERT INTO content (site_id, type, external_id, locale, location, title, text, item, snapshot,
                 synced_ms, address_key, path_key, source_page)
             VALUES ($1, 'page', $2, $3, $4, $5, $6, $7, '', $8, $9, $10, $11)
             ON CONFLICT (site_id, type, external_id, locale) DO UPDATE SET location = excluded.location,
                 title = excluded.title, text = excluded.text, item = excluded.item,
                 synced_ms = excluded.synced_ms, path_key = excluded.path_key
             WHERE content.source_page = excluded.source_page
             RETURNING no",
            args![
                site_id,
                &external_id,
                item.locale(),
                item.location.clone(),
                &item.title,
                &item.text,
                &item.body,
                now_ms,
                address_key,
                path_key.clone(),
                *no
            ],
        )
        .await?;
    let Some(row) = row else { return Ok(false) };
    put_content(tx, site_id, row.int(0)?, &item.terms).await?;
    Ok(true)
}

/// Removes the items of a source's page.
pub(crate) async fn remove_read(tx: &mut Tx, page_no: i64) -> Result<u64, DbError> {
    tx.execute("DELETE FROM content WHERE source_page = $1", args![page_no]).await
}

/// Removes the pages of sources that have the address of an item of the sync.
pub(super) async fn displace(tx: &mut Tx, site_id: &str, keys: &Keys) -> Result<(), DbError> {
    for (sql, key) in [
        (
            "SELECT source_page FROM content
             WHERE site_id = $1 AND address_key = $2 AND source_page IS NOT NULL",
            &keys.address,
        ),
        (
            "SELECT source_page FROM content WHERE site_id = $1 AND path_key = $2 AND source_page IS NOT NULL",
            &keys.path,
        ),
    ] {
        let Some(key) = key else { continue };
        for row in tx.all(sql, args![site_id, key]).await? {
            let page_no = row.int(0)?;
            // If the sync no longer has it, the next run stores it again. The page is changed before its
            // content, in the order of all other changes, so that no two of them wait for each other.
            tx.execute("UPDATE source_pages SET stored = NULL WHERE no = $1", args![page_no]).await?;
            remove_read(tx, page_no).await?;
        }
    }
    Ok(())
}

/// Adds the keys of items that were synced before sources existed.
pub(crate) async fn backfill_keys(db: &Db, site_id: &str) -> Result<(), DbError> {
    let mut after = 0;
    loop {
        let rows = db
            .all(
                "SELECT no, location FROM content WHERE site_id = $1 AND no > $2 AND source_page IS NULL
                     AND address_key IS NULL AND path_key IS NULL AND location IS NOT NULL
                 ORDER BY no LIMIT $3",
                args![site_id, after, BATCH],
            )
            .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = last.int(0)?;
        let mut keyed = Vec::new();
        for row in &rows {
            let location = row.text(1)?;
            let is_path = !location.contains("://");
            let keys =
                if is_path { Keys::of(None, Some(&location)) } else { Keys::of(Some(&location), None) };
            // An empty key, which no address has, says that there is none: it is not looked for again.
            let address = keys.address.or_else(|| keys.path.is_none().then(String::new));
            keyed.push((row.int(0)?, address, keys.path));
        }
        let site = site_id.to_owned();
        transaction!(db, |tx| {
            // As in a sync: one change of a site's content at a time.
            tx.execute("UPDATE sites SET name = name WHERE id = $1", args![site]).await?;
            for (no, address, path) in keyed {
                let sql = "UPDATE content SET address_key = $2, path_key = $3 WHERE no = $1";
                tx.execute(sql, args![no, address, path]).await?;
            }
            Ok::<_, DbError>(())
        })
        .await?;
    }
}
