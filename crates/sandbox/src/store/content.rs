//! What the site has published, as it was synced (4.9).

use std::sync::Arc;

use chat_protocol::{ContentItem, ContentPage, Value};
use rusqlite::{OptionalExtension, Row, params};
use tracing::warn;

use super::{Store, json};
use crate::publishing::Suggestion;
use crate::search::{Document, Index, MAX_TEXT_BYTES};
use crate::text::html_to_text;

/// Maximum length of an item, as JSON, that is shown.
const MAX_SHOWN_LENGTH: i64 = 64 * 1024;

/// What a sync changed.
#[derive(Debug, Default)]
pub(crate) struct SyncOutcome {
    pub(crate) accepted: i64,
    pub(crate) removed: i64,
    /// What to suggest for the items that are new or different.
    pub(crate) suggestions: Vec<Suggestion>,
}

/// An item with all that is made of its HTML: that takes longer than anything that is done under the lock.
#[derive(Debug)]
pub(crate) struct PreparedItem {
    item: ContentItem,
    body: String,
    text: String,
    document: Arc<Document>,
    suggestion: Option<Suggestion>,
}

/// Reads the HTML of items.
pub(crate) fn prepare(items: Vec<ContentItem>) -> Vec<PreparedItem> {
    items.into_iter().map(PreparedItem::new).collect()
}

impl PreparedItem {
    fn new(item: ContentItem) -> Self {
        let told = [item.summary.as_deref(), item.content.as_deref()];
        let texts: Vec<String> =
            told.into_iter().flatten().map(|html| html_to_text(html, MAX_TEXT_BYTES)).collect();
        let suggestion = Suggestion::new(&item, texts.first().map(String::as_str).unwrap_or_default());
        let text = texts.join("\n");
        let place = item.path.as_deref().or(item.url.as_deref());
        let document = Document::new(item.title.as_deref().unwrap_or_default(), place, &text);
        Self { body: Value::from(&item).to_string(), document: Arc::new(document), text, suggestion, item }
    }
}

/// Changes to the index in their order, which are made when those to the database have been: a page at its position, or
/// none there any more.
type IndexChanges = Vec<(i64, Option<Arc<Document>>)>;

impl Store {
    /// Returns the content as it is now, to be searched without the lock.
    pub(crate) fn index(&self) -> Arc<Index> {
        Arc::clone(&self.index)
    }

    /// Reads what is searched from the database.
    pub(super) fn read_index(&mut self) -> rusqlite::Result<()> {
        let mut pages =
            self.db.prepare("SELECT position, title, path, text FROM content ORDER BY position")?;
        let mut rows = pages.query([])?;
        let mut changes = IndexChanges::default();
        while let Some(row) = rows.next()? {
            let (title, place, text): (String, Option<String>, String) =
                (row.get(1)?, row.get(2)?, row.get(3)?);
            changes.push((row.get(0)?, Some(Arc::new(Document::new(&title, place.as_deref(), &text)))));
        }
        drop(rows);
        drop(pages);
        self.apply_index_changes(changes);
        Ok(())
    }

    fn apply_index_changes(&mut self, changes: IndexChanges) {
        // A search under way keeps the index that it began with; pages are shared.
        let index = Arc::make_mut(&mut self.index);
        let mut left_out = 0;
        for (position, page) in changes {
            match page {
                Some(page) => left_out += usize::from(!index.put(position, page)),
                None => index.remove(position),
            }
        }
        if left_out > 0 {
            warn!(
                "{left_out} pages are kept but not searched: there is more content than a sandbox searches"
            );
        }
    }

    /// Takes over a page of content.
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
            let mut gone =
                self.db.prepare_cached("DELETE FROM content WHERE snapshot != ? RETURNING position")?;
            for position in gone.query_map([&page.snapshot_id], |row| row.get(0))? {
                changes.push((position?, None));
            }
        }
        change.commit()?;
        let removed = changes.iter().filter(|(_, page)| page.is_none()).count();
        synced.removed = i64::try_from(removed).unwrap_or(i64::MAX);
        self.apply_index_changes(changes);
        Ok(synced)
    }

    /// Returns the position of the item if it is new or different.
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

    /// How many items there are.
    pub(crate) fn content_count(&self) -> rusqlite::Result<i64> {
        self.db.prepare_cached("SELECT count(*) FROM content")?.query_row([], |row| row.get(0))
    }

    /// The items, the latest first, as they were told: at most so many, without those that are very large.
    pub(crate) fn content(&self, limit: u32) -> rusqlite::Result<Vec<Value>> {
        let mut items = self.db.prepare_cached(
            "SELECT body FROM content WHERE length(body) <= ? ORDER BY position DESC LIMIT ?",
        )?;
        let body = |row: &Row<'_>| Ok(json(&row.get::<_, String>(0)?));
        items.query_map(params![MAX_SHOWN_LENGTH, limit], body)?.collect()
    }
}
