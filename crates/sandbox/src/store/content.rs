//! The site's synced content (4.9).

use std::sync::Arc;

use chat_protocol::{ContentItem, ContentPage, Value};
use rusqlite::{OptionalExtension, Row, params};
use tracing::warn;

use super::{Store, json};
use crate::publishing::Suggestion;
use crate::search::{Document, Index, MAX_TEXT_BYTES};
use crate::text::html_to_text;

/// Maximum length of a shown item, as JSON.
const MAX_SHOWN_LENGTH: i64 = 64 * 1024;

/// The changes of a sync.
#[derive(Debug, Default)]
pub(crate) struct SyncOutcome {
    pub(crate) accepted: i64,
    pub(crate) removed: i64,
    /// Suggestions for the items that are new or changed.
    pub(crate) suggestions: Vec<Suggestion>,
}

/// An item with everything derived from its HTML, which takes too long to compute under the lock.
#[derive(Debug)]
pub(crate) struct PreparedItem {
    item: ContentItem,
    body: String,
    text: String,
    document: Arc<Document>,
    suggestion: Option<Suggestion>,
}

/// Prepares items for [`Store::sync`], without the lock.
pub(crate) fn prepare(items: Vec<ContentItem>) -> Vec<PreparedItem> {
    items.into_iter().map(PreparedItem::new).collect()
}

impl PreparedItem {
    fn new(item: ContentItem) -> Self {
        let html = [item.summary.as_deref(), item.content.as_deref()];
        let texts: Vec<String> =
            html.into_iter().flatten().map(|html| html_to_text(html, MAX_TEXT_BYTES)).collect();
        let suggestion = Suggestion::new(&item, texts.first().map(String::as_str).unwrap_or_default());
        let text = texts.join("\n");
        let location = item.path.as_deref().or(item.url.as_deref());
        let document = Document::new(item.title.as_deref().unwrap_or_default(), location, &text);
        Self { body: Value::from(&item).to_string(), document: Arc::new(document), text, suggestion, item }
    }
}

/// Changes to the index, in order: the page at a position, or `None` to remove it. They are applied after the
/// database transaction has been committed.
type IndexChanges = Vec<(i64, Option<Arc<Document>>)>;

impl Store {
    /// Returns a snapshot of the index, which is searched without the lock.
    pub(crate) fn index(&self) -> Arc<Index> {
        Arc::clone(&self.index)
    }

    /// Builds the index from the database.
    pub(super) fn read_index(&mut self) -> rusqlite::Result<()> {
        let mut pages =
            self.db.prepare("SELECT position, title, path, text FROM content ORDER BY position")?;
        let mut rows = pages.query([])?;
        let mut changes = IndexChanges::default();
        while let Some(row) = rows.next()? {
            let (title, location, text): (String, Option<String>, String) =
                (row.get(1)?, row.get(2)?, row.get(3)?);
            changes.push((row.get(0)?, Some(Arc::new(Document::new(&title, location.as_deref(), &text)))));
        }
        drop(rows);
        drop(pages);
        self.apply_index_changes(changes);
        Ok(())
    }

    fn apply_index_changes(&mut self, changes: IndexChanges) {
        // A running search keeps its snapshot of the index; the pages are shared.
        let index = Arc::make_mut(&mut self.index);
        let mut skipped = 0;
        for (position, page) in changes {
            match page {
                Some(page) => skipped += usize::from(!index.put(position, page)),
                None => index.remove(position),
            }
        }
        if skipped > 0 {
            warn!("{skipped} pages are stored but not searched: the search index is full");
        }
    }

    /// Stores a page of content.
    pub(crate) fn sync(
        &mut self,
        page: &ContentPage,
        items: Vec<PreparedItem>,
    ) -> rusqlite::Result<SyncOutcome> {
        let change = self.db.unchecked_transaction()?;
        let mut synced = SyncOutcome::default();
        let mut changes = IndexChanges::default();
        for prepared in items {
            synced.accepted += 1;
            if prepared.item.deleted {
                changes.extend(self.remove(&prepared.item)?.map(|position| (position, None)));
            } else if let Some(position) = self.put(&prepared, &page.snapshot_id)? {
                changes.push((position, Some(prepared.document)));
                synced.suggestions.extend(prepared.suggestion);
            }
        }
        if page.complete {
            let mut outdated =
                self.db.prepare_cached("DELETE FROM content WHERE snapshot != ? RETURNING position")?;
            for position in outdated.query_map([&page.snapshot_id], |row| row.get(0))? {
                changes.push((position?, None));
            }
        }
        change.commit()?;
        let removed = changes.iter().filter(|(_, page)| page.is_none()).count();
        synced.removed = i64::try_from(removed).unwrap_or(i64::MAX);
        self.apply_index_changes(changes);
        Ok(synced)
    }

    /// Stores an item. Returns its position if it is new or changed.
    fn put(&self, prepared: &PreparedItem, snapshot: &str) -> rusqlite::Result<Option<i64>> {
        let PreparedItem { item, body, text, .. } = prepared;
        let locale = item.locale.as_deref().unwrap_or_default();
        let known: Option<(i64, String)> = self
            .db
            .prepare_cached(
                "SELECT position, body FROM content WHERE type = ? AND external_id = ? AND locale = ?",
            )?
            .query_row(params![item.kind.as_str(), item.external_id, locale], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .optional()?;
        if let Some((position, _)) = known.filter(|(_, known)| known == body) {
            let mut seen = self.db.prepare_cached("UPDATE content SET snapshot = ? WHERE position = ?")?;
            seen.execute(params![snapshot, position])?;
            return Ok(None);
        }
        self.db
            .prepare_cached(
                "INSERT INTO content (external_id, type, locale, path, title, text, body, snapshot, synced_at)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                 ON CONFLICT (type, external_id, locale) DO UPDATE SET path = excluded.path,
                     title = excluded.title, text = excluded.text, body = excluded.body,
                     snapshot = excluded.snapshot, synced_at = excluded.synced_at
                 RETURNING position",
            )?
            .query_row(
                params![
                    item.external_id,
                    item.kind.as_str(),
                    locale,
                    item.path.as_deref().or(item.url.as_deref()),
                    item.title.as_deref().unwrap_or_default(),
                    text,
                    body,
                    snapshot,
                    self.clock.now()
                ],
                |row| row.get(0),
            )
            .map(Some)
    }

    fn remove(&self, item: &ContentItem) -> rusqlite::Result<Option<i64>> {
        let name = (item.kind.as_str(), &item.external_id, item.locale.as_deref().unwrap_or_default());
        self.db
            .prepare_cached(
                "DELETE FROM content WHERE type = ? AND external_id = ? AND locale = ? RETURNING position",
            )?
            .query_row(name, |row| row.get(0))
            .optional()
    }

    /// Returns the number of items.
    pub(crate) fn content_count(&self) -> rusqlite::Result<i64> {
        self.db.prepare_cached("SELECT count(*) FROM content")?.query_row([], |row| row.get(0))
    }

    /// Returns the latest items as received, newest first, at most `limit`. Very large items are omitted.
    pub(crate) fn content(&self, limit: u32) -> rusqlite::Result<Vec<Value>> {
        let mut items = self.db.prepare_cached(
            "SELECT body FROM content WHERE length(body) <= ? ORDER BY position DESC LIMIT ?",
        )?;
        let body = |row: &Row<'_>| Ok(json(&row.get::<_, String>(0)?));
        items.query_map(params![MAX_SHOWN_LENGTH, limit], body)?.collect()
    }
}
