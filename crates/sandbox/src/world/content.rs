//! What the site has published, as it was synced (4.9), and finding the passage that a question is about.

use chat_protocol::{ContentItem, ContentPage, Value};
use rusqlite::{OptionalExtension, Row, params};

use super::{World, json};
use crate::text::{is_a_word, plain, spaced, words};

/// What a sync changed.
#[derive(Debug, Default)]
pub(crate) struct Synced {
    pub(crate) accepted: i64,
    pub(crate) removed: i64,
    /// The items that are new or different.
    pub(crate) changed: Vec<ContentItem>,
}

/// A part of the site's content that may answer a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Passage {
    pub(crate) title: String,
    /// The path or the address of the page.
    pub(crate) place: Option<String>,
    pub(crate) text: String,
}

/// How many pages are looked at for a question.
const CANDIDATES: usize = 5;

/// Words that say nothing about what a question is about.
const EMPTY_WORDS: [&str; 44] = [
    "the", "and", "for", "you", "your", "yours", "are", "was", "were", "can", "could", "would", "should",
    "what", "which", "when", "where", "who", "how", "why", "does", "did", "have", "has", "had", "with",
    "about", "from", "this", "that", "there", "they", "them", "our", "tell", "please", "much", "many", "any",
    "some", "get", "know", "want", "more",
];

impl World {
    /// Takes over a page of content.
    pub(crate) fn sync(&self, page: &ContentPage) -> rusqlite::Result<Synced> {
        let change = self.db.unchecked_transaction()?;
        let mut synced = Synced::default();
        for item in &page.items {
            synced.accepted += 1;
            if item.deleted {
                synced.removed += self.remove(item)?;
            } else if self.put(item, &page.snapshot_id)? {
                synced.changed.push(item.clone());
            }
        }
        if page.complete {
            synced.removed += self.remove_where("snapshot != ?", &page.snapshot_id)?;
        }
        change.commit()?;
        Ok(synced)
    }

    /// Whether the item is new or different.
    fn put(&self, item: &ContentItem, snapshot: &str) -> rusqlite::Result<bool> {
        let body = Value::from(item).to_string();
        let name = params![item.kind.as_str(), item.external_id, item.locale.as_deref().unwrap_or_default()];
        let known: Option<(i64, String)> = self
            .db
            .prepare_cached(
                "SELECT position, body FROM content WHERE type = ? AND external_id = ? AND locale = ?",
            )?
            .query_row(name, |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if let Some((position, _)) = known.as_ref().filter(|(_, known)| *known == body) {
            let mut seen = self.db.prepare_cached("UPDATE content SET snapshot = ? WHERE position = ?")?;
            seen.execute(params![snapshot, position])?;
            return Ok(false);
        }
        if let Some((position, _)) = known {
            self.forget_words(position)?;
        }
        let title = item.title.as_deref().unwrap_or_default();
        let told = [item.summary.as_deref(), item.content.as_deref()];
        let text = told.into_iter().flatten().map(plain).collect::<Vec<_>>().join("\n");
        let position: i64 = self
            .db
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
                    item.locale.as_deref().unwrap_or_default(),
                    item.path.as_deref().or(item.url.as_deref()),
                    title,
                    text,
                    body,
                    snapshot,
                    self.clock.now()
                ],
                |row| row.get(0),
            )?;
        self.db
            .prepare_cached("INSERT INTO content_words (rowid, title, text) VALUES (?, ?, ?)")?
            .execute(params![position, spaced(title), spaced(&text)])?;
        Ok(true)
    }

    fn remove(&self, item: &ContentItem) -> rusqlite::Result<i64> {
        let name = (item.kind.as_str(), &item.external_id, item.locale.as_deref().unwrap_or_default());
        let found: Option<i64> = self
            .db
            .prepare_cached("SELECT position FROM content WHERE type = ? AND external_id = ? AND locale = ?")?
            .query_row(name, |row| row.get(0))
            .optional()?;
        found.map_or(Ok(0), |position| self.remove_where("position = ?", position))
    }

    fn remove_where(&self, condition: &str, value: impl rusqlite::ToSql) -> rusqlite::Result<i64> {
        let listed = format!(
            "DELETE FROM content_words WHERE rowid IN (SELECT position FROM content WHERE {condition})"
        );
        self.db.execute(&listed, [&value])?;
        let removed = self.db.execute(&format!("DELETE FROM content WHERE {condition}"), [&value])?;
        Ok(i64::try_from(removed).unwrap_or(i64::MAX))
    }

    fn forget_words(&self, position: i64) -> rusqlite::Result<()> {
        self.db.prepare_cached("DELETE FROM content_words WHERE rowid = ?")?.execute([position])?;
        Ok(())
    }

    /// How many items there are.
    pub(crate) fn content_count(&self) -> rusqlite::Result<i64> {
        self.db.prepare_cached("SELECT count(*) FROM content")?.query_row([], |row| row.get(0))
    }

    /// The items, the latest first, as they were told.
    pub(crate) fn content(&self, most: u32) -> rusqlite::Result<Vec<Value>> {
        let mut items = self.db.prepare_cached("SELECT body FROM content ORDER BY position DESC LIMIT ?")?;
        let body = |row: &Row<'_>| Ok(json(&row.get::<_, String>(0)?));
        items.query_map([most], body)?.collect()
    }

    /// The passages that have most to do with a question, best first; none when nothing has enough to do with it.
    pub(crate) fn passages(&self, question: &str) -> rusqlite::Result<Vec<Passage>> {
        let asked: Vec<String> = words(question)
            .filter(|word| word.chars().count() > 2 || word.chars().all(is_a_word))
            .filter(|word| !EMPTY_WORDS.contains(&word.as_str()))
            .collect();
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        // Each word in quotes: nothing that a visitor writes is an operator of the search.
        let terms: Vec<String> = asked.iter().map(|word| format!("\"{word}\"")).collect();
        let mut found = self.db.prepare_cached(
            "SELECT content.title, path, content.text FROM content_words JOIN content ON position = content_words.rowid
             WHERE content_words MATCH ? ORDER BY bm25(content_words, 5.0, 1.0), position LIMIT ?",
        )?;
        let pages = found
            .query_map(params![terms.join(" OR "), CANDIDATES], |row| {
                let (title, place, text): (String, Option<String>, String) =
                    (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok((title, place, text))
            })?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        // A question of several words needs two of them on the page: one alone is chance.
        let needed = asked.len().min(2);
        let mut passages = Vec::new();
        for (title, place, text) in pages {
            if shared(&asked, &format!("{title} {text}")) >= needed {
                passages.push(Passage { text: best_paragraph(&asked, &text), title, place });
            }
        }
        Ok(passages)
    }
}

/// How many of the words asked for are in a text.
fn shared(asked: &[String], text: &str) -> usize {
    let there: Vec<String> = words(text).collect();
    // By their beginnings, as the search goes by stems.
    let stem =
        |word: &str| word.chars().take(word.chars().count().saturating_sub(2).max(3)).collect::<String>();
    asked.iter().filter(|word| there.iter().any(|other| other.starts_with(&stem(word)))).count()
}

fn best_paragraph(asked: &[String], text: &str) -> String {
    const MOST: usize = 600;
    // Of equals the first, so backwards.
    let best =
        text.lines().filter(|line| !line.trim().is_empty()).rev().max_by_key(|line| shared(asked, line));
    let best = best.unwrap_or_default();
    match best.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", best[..end].trim_end()),
        None => best.to_owned(),
    }
}
