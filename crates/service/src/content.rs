//! The synced content of a site (4.9).

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chat_page::{blocks, marked};
use chat_protocol::{ContentItem, ContentPage, FieldError, Value};

use crate::db::{Db, DbError, Tx, args};
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::knowledge::Language;
use crate::knowledge::search_index::{IndexTerms, put_content};
use crate::publishing::Suggestion;
use crate::storage::{self, Room};
use crate::text::{to_text, truncate_bytes, truncate_words};

/// Maximum bytes of an item's text that are stored and searched.
const MAX_TEXT_BYTES: usize = 32 * 1024;
/// Maximum characters of a title.
const MAX_TITLE_LENGTH: usize = 200;
/// Maximum bytes of a path or a URL; a longer one is dropped.
const MAX_LOCATION_BYTES: usize = 2048;
/// Maximum bytes of the names of an item: `externalId` and `type`.
const MAX_NAME_BYTES: usize = 512;
/// Bytes that a stored item needs beside its texts.
const ROW_BYTES: usize = 400;
/// Maximum characters of an item's id in an error.
const MAX_SHOWN_ID: usize = 100;
/// Maximum items of a site.
const MAX_ITEMS: i64 = 100_000;

/// The changes of a sync.
#[derive(Debug, Default)]
pub(crate) struct SyncOutcome {
    pub(crate) accepted: i64,
    pub(crate) removed: i64,
    /// Suggestions for the items that are new or changed.
    pub(crate) suggestions: Vec<Suggestion>,
}

/// An item with everything derived from its HTML, which takes too long to compute in a transaction.
#[derive(Debug)]
pub(crate) struct PreparedItem {
    item: ContentItem,
    body: String,
    title: String,
    location: Option<String>,
    text: String,
    terms: IndexTerms,
    suggestion: Option<Suggestion>,
}

/// Prepares items for [`sync`], outside of any transaction. It may take long, for a page of large items.
pub(crate) fn prepare(items: Vec<ContentItem>) -> Vec<PreparedItem> {
    items.into_iter().map(PreparedItem::new).collect()
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

impl PreparedItem {
    fn new(item: ContentItem) -> Self {
        let parts = [item.summary.as_deref(), item.content.as_deref()];
        let texts: Vec<String> = parts
            .into_iter()
            .flatten()
            .map(|part| marked(&to_text(part, item.format, MAX_TEXT_BYTES)))
            .collect();
        let suggestion =
            Suggestion::new(&item, &description(texts.first().map(String::as_str).unwrap_or_default()));
        let text = truncate_bytes(&texts.join("\n"), MAX_TEXT_BYTES).to_owned();
        let title = without_nul(&truncate_words(item.title.as_deref().unwrap_or_default(), MAX_TITLE_LENGTH));
        let location = item.path.as_deref().or(item.url.as_deref()).map(without_nul);
        let language = Language::of_text(item.locale.as_deref().unwrap_or_default(), &text);
        Self {
            body: Value::from(&item).to_string(),
            terms: IndexTerms::of_knowledge(language, &[&title, &text]),
            location: location.filter(|location| location.len() <= MAX_LOCATION_BYTES),
            title,
            text,
            suggestion,
            item,
        }
    }

    /// Returns the bytes that a new item needs, as the database counts them.
    fn stored_bytes(&self) -> u64 {
        let bytes = ROW_BYTES + self.body.len() + 2 * self.text.len();
        bytes.try_into().unwrap_or(u64::MAX)
    }

    fn locale(&self) -> &str {
        self.item.locale.as_deref().unwrap_or_default()
    }
}

/// Returns the text of a page without its headings.
fn description(text: &str) -> String {
    let blocks = blocks(text).into_iter().filter(|block| !block.is_heading);
    blocks.map(|block| block.text).collect::<Vec<_>>().join("\n")
}

/// Returns a text without NUL characters, which PostgreSQL does not store.
fn without_nul(text: &str) -> String {
    text.replace('\0', "")
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
    let snapshot = stored_snapshot(&page.snapshot_id);
    // Items replace others, so that only the database knows by how much the site grows. It is asked where
    // that may be too much.
    let needed = items.iter().fold(0, |all: u64, item| all.saturating_add(item.stored_bytes()));
    let max_bytes =
        if needed > room.bytes { Some(storage::used(tx, site_id).await? + room.bytes) } else { None };
    for prepared in items {
        outcome.accepted += 1;
        if prepared.item.deleted {
            outcome.removed += remove(tx, site_id, &prepared).await?;
        } else if put(tx, now_ms, site_id, &snapshot, &prepared).await? {
            if let Some(max) = max_bytes
                && storage::used(tx, site_id).await? > max
            {
                return Err(does_not_fit(&room.full, &prepared.item));
            }
            outcome.suggestions.extend(prepared.suggestion);
        }
    }
    if page.complete {
        let outdated = "DELETE FROM content WHERE site_id = $1 AND snapshot <> $2";
        let removed = tx.execute(outdated, args![site_id, snapshot.as_str()]).await?;
        outcome.removed += i64::try_from(removed).unwrap_or(i64::MAX);
    }
    let count = tx.one("SELECT count(*) FROM content WHERE site_id = $1", args![site_id]).await?.int(0)?;
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
             WHERE site_id = $1 AND type = $2 AND external_id = $3 AND locale = $4 AND item = $6",
            args![site_id, kind, id, prepared.locale(), snapshot, body],
        )
        .await?;
    if seen > 0 {
        return Ok(false);
    }
    let row = tx
        .one(
            "INSERT INTO content
                 (site_id, type, external_id, locale, location, title, text, item, snapshot, synced_ms)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
             ON CONFLICT (site_id, type, external_id, locale) DO UPDATE SET location = excluded.location,
                 title = excluded.title, text = excluded.text, item = excluded.item,
                 snapshot = excluded.snapshot, synced_ms = excluded.synced_ms
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
                now_ms
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
            "DELETE FROM content WHERE site_id = $1 AND type = $2 AND external_id = $3 AND locale = $4",
            args![site_id, item.kind.as_str(), item.external_id.as_str(), prepared.locale()],
        )
        .await?;
    Ok(i64::try_from(removed).unwrap_or(i64::MAX))
}

/// Returns the number of a site's items.
pub(crate) async fn count(db: &Db, site_id: &str) -> Result<i64, DbError> {
    db.one("SELECT count(*) FROM content WHERE site_id = $1", args![site_id]).await?.int(0)
}

#[cfg(test)]
mod content_tests;
