//! The content of a site: what its server syncs (4.9), and what its sources were read from. An item of the
//! sync takes the place of a page of a source that has the same address.

mod address;
mod prepared;
mod read_pages;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chat_protocol::{ContentItem, ContentPage, FieldError};

use crate::db::{Db, DbError, Tx, args};
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::knowledge::search_index::put_content;
use crate::publishing::Suggestion;
use crate::storage::{self, Room};
use crate::text::truncate_words;

pub(crate) use address::{address_key, host_key, path_key, remove_tracking};
pub(crate) use prepared::{PreparedItem, prepare};
pub(crate) use read_pages::{ReadPage, backfill_keys, put_read, remove_read};

/// Maximum bytes of the names of an item: `externalId` and `type`.
const MAX_NAME_BYTES: usize = 512;
/// Maximum characters of an item's id in an error.
const MAX_SHOWN_ID: usize = 100;
/// Maximum items of a site.
const MAX_ITEMS: i64 = 100_000;
const COUNT: &str = "SELECT count(*) FROM content WHERE site_id = $1 AND source_page IS NULL";

/// The changes of a sync.
#[derive(Debug, Default)]
pub(crate) struct SyncOutcome {
    pub(crate) accepted: i64,
    pub(crate) removed: i64,
    /// The bytes of the items that are new or changed; less those that they replace, the site grows by them.
    pub(crate) bytes: u64,
    /// What the pages of the items need that are new or changed.
    pub(crate) suggestions: Vec<Suggestion>,
}

/// Refuses names that the database's index cannot hold.
fn check_names(items: &[PreparedItem]) -> Result<(), ApiError> {
    for (index, PreparedItem { item, .. }) in items.iter().enumerate() {
        for (name, value) in [("externalId", item.external_id.as_str()), ("type", item.kind.as_str())] {
            if value.len() > MAX_NAME_BYTES || value.contains('\0') {
                let problem = format!("must have at most {MAX_NAME_BYTES} bytes, none of them NUL");
                return Err(FieldError::new(name, problem)
                    .within(&format!("[{index}]"))
                    .within("items")
                    .into());
            }
        }
    }
    Ok(())
}

/// Stores a page of a site's content. A page that does not fit into `room` is refused as a whole, and the
/// error names the first item that did not fit: nothing is lost, and the sync can go on with this page.
pub(crate) async fn sync(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    page: &ContentPage,
    items: Vec<PreparedItem>,
    room: &Room,
) -> Result<SyncOutcome, ApiError> {
    check_names(&items)?;
    // Syncs of one site run one after the other, so that two nodes never wait for each other's items.
    tx.execute("UPDATE sites SET name = name WHERE id = $1", args![site_id]).await?;
    let mut outcome = SyncOutcome::default();
    let sources = "SELECT 1 FROM sources WHERE site_id = $1 LIMIT 1";
    let has_sources = tx.optional(sources, args![site_id]).await?.is_some();
    let snapshot = stored_snapshot(&page.snapshot_id);
    // Items replace others, so that only the database knows by how much the site grows. It is asked where
    // that may be too much.
    let needed = items.iter().fold(0, |all: u64, item| all.saturating_add(item.stored_bytes()));
    let max_bytes =
        if needed > room.bytes { Some(storage::used(tx, site_id).await? + room.bytes) } else { None };
    for prepared in items {
        outcome.accepted += 1;
        if has_sources && !prepared.item.deleted {
            read_pages::displace(tx, site_id, &prepared.keys).await?;
        }
        if prepared.item.deleted {
            outcome.removed += remove(tx, site_id, &prepared).await?;
        } else if put(tx, now_ms, site_id, &snapshot, &prepared).await? {
            if let Some(max) = max_bytes
                && storage::used(tx, site_id).await? > max
            {
                return Err(does_not_fit(&room.full, &prepared.item));
            }
            outcome.bytes = outcome.bytes.saturating_add(prepared.stored_bytes());
            outcome.suggestions.extend(prepared.suggestion);
        }
    }
    if page.complete {
        let outdated = "DELETE FROM content WHERE site_id = $1 AND snapshot <> $2 AND source_page IS NULL";
        let removed = tx.execute(outdated, args![site_id, snapshot.as_str()]).await?;
        outcome.removed += i64::try_from(removed).unwrap_or(i64::MAX);
    }
    let count = tx.one(COUNT, args![site_id]).await?.int(0)?;
    if count > MAX_ITEMS {
        return Err(ApiError::InvalidRequest(format!(
            "This site has too many items: expected at most {MAX_ITEMS}, got {count}."
        )));
    }
    Ok(outcome)
}

/// Returns the error of a page with an item that does not fit.
fn does_not_fit(full: &ApiError, item: &ContentItem) -> ApiError {
    match full {
        ApiError::StorageFull(reason) => {
            let id = truncate_words(item.external_id.as_str(), MAX_SHOWN_ID);
            ApiError::StorageFull(format!("{reason} The first item that does not fit is {id}."))
        }
        other => other.clone(),
    }
}

/// Returns a snapshot's id as it is stored: in a bounded length, and without NUL.
fn stored_snapshot(snapshot_id: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(fingerprint(&[snapshot_id.as_bytes()]))
}

/// Stores an item. Returns whether it is new or changed.
async fn put(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    snapshot: &str,
    prepared: &PreparedItem,
) -> Result<bool, DbError> {
    let PreparedItem { item, body, title, location, text, terms, .. } = prepared;
    let kind = item.kind.as_str();
    let id = item.external_id.as_str();
    let seen = tx
        .execute(
            "UPDATE content SET snapshot = $5
             WHERE site_id = $1 AND type = $2 AND external_id = $3 AND locale = $4 AND item = $6
                 AND source_page IS NULL",
            args![site_id, kind, id, prepared.locale(), snapshot, body],
        )
        .await?;
    if seen > 0 {
        return Ok(false);
    }
    let row = tx
        .one(
            "INSERT INTO content
                 (site_id, type, external_id, locale, location, title, text, item, snapshot, synced_ms,
                  address_key, path_key)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
             ON CONFLICT (site_id, type, external_id, locale) DO UPDATE SET location = excluded.location,
                 title = excluded.title, text = excluded.text, item = excluded.item,
                 snapshot = excluded.snapshot, synced_ms = excluded.synced_ms,
                 address_key = excluded.address_key, path_key = excluded.path_key, source_page = NULL
             RETURNING no",
            args![
                site_id,
                kind,
                id,
                prepared.locale(),
                location.clone(),
                title,
                text,
                body,
                snapshot,
                now_ms,
                prepared.keys.address.clone(),
                prepared.keys.path.clone(),
            ],
        )
        .await?;
    put_content(tx, site_id, row.int(0)?, terms).await?;
    Ok(true)
}

/// Removes an item. Returns the number of removed items.
async fn remove(tx: &mut Tx, site_id: &str, prepared: &PreparedItem) -> Result<i64, DbError> {
    let item = &prepared.item;
    let removed = tx
        .execute(
            "DELETE FROM content WHERE site_id = $1 AND type = $2 AND external_id = $3 AND locale = $4
                 AND source_page IS NULL",
            args![site_id, item.kind.as_str(), item.external_id.as_str(), prepared.locale()],
        )
        .await?;
    Ok(i64::try_from(removed).unwrap_or(i64::MAX))
}

/// Returns the number of the items that a site has synced.
pub(crate) async fn count(db: &Db, site_id: &str) -> Result<i64, DbError> {
    db.one(COUNT, args![site_id]).await?.int(0)
}

#[cfg(test)]
mod content_tests;
