//! The review-and-publish list: articles and overlays, from draft to published (1).

use chat_protocol::Value;
use rusqlite::{OptionalExtension, Row, params};
use uuid::Uuid;

use super::{Store, json};

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReviewKind {
    Article,
    Overlay,
}

impl ReviewKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Article => "article",
            Self::Overlay => "overlay",
        }
    }
}

/// The state of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReviewStatus {
    /// Waits for approval.
    Draft,
    /// Approved; its job is not completed.
    Queued,
    Published,
    /// Deleted by the site.
    Withdrawn,
    /// The job failed at its last attempt.
    Failed,
}

impl ReviewStatus {
    const ALL: [Self; 5] = [Self::Draft, Self::Queued, Self::Published, Self::Withdrawn, Self::Failed];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Queued => "queued",
            Self::Published => "published",
            Self::Withdrawn => "withdrawn",
            Self::Failed => "failed",
        }
    }
}

/// An entry of the list: an article or an overlay.
#[derive(Clone, Debug)]
pub(crate) struct Review {
    pub(crate) id: String,
    pub(crate) kind: ReviewKind,
    pub(crate) status: ReviewStatus,
    pub(crate) path: String,
    pub(crate) locale: String,
    pub(crate) title: String,
    /// An article's payload or an overlay.
    pub(crate) body: Value,
    pub(crate) created_at: String,
    pub(crate) updated_at: String,
}

const COLUMNS: &str = "id, kind, status, path, locale, title, body, created_at, updated_at";

impl Store {
    /// Returns at most `limit` entries, newest first. Drafts take precedence over other entries.
    pub(crate) fn reviews(&self, limit: u32) -> rusqlite::Result<Vec<Review>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM
                 (SELECT * FROM reviews ORDER BY status = 'draft' DESC, position DESC LIMIT ?)
             ORDER BY position DESC"
        );
        self.db.prepare_cached(&sql)?.query_map([limit], read)?.collect()
    }

    pub(crate) fn review(&self, id: &str) -> rusqlite::Result<Option<Review>> {
        let sql = format!("SELECT {COLUMNS} FROM reviews WHERE id = ?");
        self.db.prepare_cached(&sql)?.query_row([id], read).optional()
    }

    /// Returns the ids of the drafts of one kind, oldest first.
    pub(crate) fn drafts(&self, kind: ReviewKind) -> rusqlite::Result<Vec<String>> {
        let mut drafts = self
            .db
            .prepare_cached("SELECT id FROM reviews WHERE kind = ? AND status = 'draft' ORDER BY position")?;
        drafts.query_map([kind.as_str()], |row| row.get(0))?.collect()
    }

    /// Adds a draft to the list. A new draft of an overlay replaces the previous draft for that page. A
    /// published overlay stays until the draft is approved.
    pub(crate) fn add_draft(
        &self,
        kind: ReviewKind,
        (path, locale, title): (&str, &str, &str),
        body: impl FnOnce(&str) -> Value,
    ) -> rusqlite::Result<String> {
        if kind == ReviewKind::Overlay {
            self.db
                .prepare_cached(
                    "DELETE FROM reviews WHERE kind = 'overlay' AND path = ? AND locale = ?
                     AND status NOT IN ('queued', 'published')",
                )?
                .execute([path, locale])?;
        }
        let id = format!("{}_{}", kind.as_str(), Uuid::new_v4().simple());
        let body = body(&id).to_string();
        self.db
            .prepare_cached(
                "INSERT INTO reviews (id, kind, status, path, locale, title, body, created_at, updated_at)
                 VALUES (?, ?, 'draft', ?, ?, ?, ?, ?7, ?7)",
            )?
            .execute(params![id, kind.as_str(), path, locale, title, body, self.clock.now()])?;
        Ok(id)
    }

    pub(crate) fn set_review_status(&self, id: &str, status: ReviewStatus) -> rusqlite::Result<()> {
        self.db
            .prepare_cached("UPDATE reviews SET status = ?, updated_at = ? WHERE id = ?")?
            .execute(params![status.as_str(), self.clock.now(), id])?;
        Ok(())
    }

    /// Removes the other overlays of an overlay's page, which can have only one.
    pub(crate) fn replace_overlays(&self, by: &Review) -> rusqlite::Result<()> {
        self.db
            .prepare_cached(
                "DELETE FROM reviews WHERE kind = 'overlay' AND path = ? AND locale = ? AND id != ?",
            )?
            .execute([&by.path, &by.locale, &by.id])?;
        Ok(())
    }

    /// Stores the site's id of an article, which later jobs about it contain.
    pub(crate) fn set_external_id(&self, id: &str, external_id: &str) -> rusqlite::Result<()> {
        self.db
            .prepare_cached("UPDATE reviews SET body = json_set(body, '$.externalId', ?) WHERE id = ? AND kind = 'article'")?
            .execute([external_id, id])?;
        Ok(())
    }

    /// Returns the overlays that pages should have (4.10): published, or queued.
    pub(crate) fn overlays(&self, path: Option<&str>, locale: Option<&str>) -> rusqlite::Result<Vec<Value>> {
        let mut overlays = self.db.prepare_cached(
            "SELECT body FROM reviews WHERE kind = 'overlay' AND status IN ('queued', 'published')
                 AND (?1 IS NULL OR path = ?1) AND (?2 IS NULL OR locale IN ('', ?2)) ORDER BY position",
        )?;
        let body = |row: &Row<'_>| Ok(json(&row.get::<_, String>(0)?));
        overlays.query_map(params![path, locale], body)?.collect()
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Review> {
    let (kind, status, body): (String, String, String) = (row.get(1)?, row.get(2)?, row.get(6)?);
    Ok(Review {
        id: row.get(0)?,
        kind: if kind == "article" { ReviewKind::Article } else { ReviewKind::Overlay },
        status: ReviewStatus::ALL
            .into_iter()
            .find(|known| known.as_str() == status)
            .unwrap_or(ReviewStatus::Draft),
        path: row.get(3)?,
        locale: row.get(4)?,
        title: row.get(5)?,
        body: json(&body),
        created_at: row.get(7)?,
        updated_at: row.get(8)?,
    })
}
