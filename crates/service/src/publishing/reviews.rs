//! The review-and-publish list of a site: articles and overlays, from draft to published (1).

use std::fmt::Write as _;

use chat_protocol::Value;
use chat_protocol::admin::publishing::{self as shown, Decision, EntryKind};
use sqlx::AssertSqlSafe;

use crate::clock::iso;
use crate::db::{Db, DbError, Row, Tx, args};
use crate::error::ApiError;
use crate::secrets::new_id;

/// Maximum overlays of one response (4.10).
const MAX_OVERLAYS: i64 = 10_000;

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

impl From<ReviewKind> for EntryKind {
    fn from(kind: ReviewKind) -> Self {
        match kind {
            ReviewKind::Article => Self::Article,
            ReviewKind::Overlay => Self::Overlay,
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
    /// Deleted by the site; a page head: taken back.
    Withdrawn,
    /// A person does not want it.
    Dismissed,
    /// The job failed at its last attempt.
    Failed,
}

impl ReviewStatus {
    const ALL: [Self; 6] =
        [Self::Draft, Self::Queued, Self::Published, Self::Withdrawn, Self::Dismissed, Self::Failed];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Queued => "queued",
            Self::Published => "published",
            Self::Withdrawn => "withdrawn",
            Self::Dismissed => "dismissed",
            Self::Failed => "failed",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}

/// An entry of the list: an article or an overlay.
#[derive(Clone, Debug)]
pub(crate) struct Review {
    /// The position in the list, by which it is paged.
    pub(crate) no: i64,
    pub(crate) id: String,
    pub(crate) kind: ReviewKind,
    pub(crate) status: ReviewStatus,
    pub(crate) path: String,
    pub(crate) locale: String,
    pub(crate) title: String,
    /// An article's payload or an overlay.
    pub(crate) body: Value,
    pub(crate) created_ms: i64,
    pub(crate) updated_ms: i64,
    /// The decision of the rules: why the entry waits. `None` where no rule has decided.
    pub(crate) decision: Option<Decision>,
    /// Whether the site shows it now, as far as it has reported.
    pub(crate) live: bool,
    /// Whether its queued job takes its page head back.
    pub(crate) undoing: bool,
}

/// The columns that [`read`] reads, of which there are [`COLUMN_COUNT`].
pub(super) const COLUMNS: &str =
    "no, id, kind, status, path, locale, title, body, created_ms, updated_ms, decision, live, undoing";
pub(super) const COLUMN_COUNT: usize = 13;

pub(super) fn read(row: &Row) -> Result<Review, DbError> {
    Ok(Review {
        no: row.int(0)?,
        id: row.text(1)?,
        kind: if row.text(2)? == "article" { ReviewKind::Article } else { ReviewKind::Overlay },
        status: ReviewStatus::from_name(&row.text(3)?).unwrap_or(ReviewStatus::Draft),
        path: row.text(4)?,
        locale: row.text(5)?,
        title: row.text(6)?,
        body: json(&row.text(7)?),
        created_ms: row.int(8)?,
        updated_ms: row.int(9)?,
        decision: row.optional_text(10)?.and_then(|decision| serde_json::from_str(&decision).ok()),
        live: row.flag(11)?,
        undoing: row.flag(12)?,
    })
}

/// Reads stored JSON; null if it is invalid, as after an edit by hand.
pub(super) fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

impl Review {
    /// Returns whether it is a page head that its page should have.
    pub(super) fn is_wanted(&self) -> bool {
        matches!(self.status, ReviewStatus::Published | ReviewStatus::Queued) && !self.undoing
    }

    /// Returns whether a person has declined it, or has taken it back.
    pub(super) fn is_declined(&self) -> bool {
        matches!(self.status, ReviewStatus::Dismissed | ReviewStatus::Withdrawn) || self.undoing
    }

    /// Returns whether a newer suggestion takes its place.
    pub(super) fn is_outdated(&self) -> bool {
        matches!(self.status, ReviewStatus::Draft | ReviewStatus::Failed) && !self.live && !self.undoing
    }

    /// Returns the entry as the console shows it.
    pub(super) fn shown(self) -> shown::Review {
        shown::Review {
            id: self.id,
            kind: self.kind.into(),
            status: self.status.as_str().to_owned(),
            path: self.path,
            locale: self.locale,
            title: self.title,
            body: self.body,
            created_at: iso(self.created_ms),
            updated_at: iso(self.updated_ms),
            decision: self.decision,
            live: self.live,
        }
    }
}

/// Returns at most `limit` entries without their bodies, newest first, before the one with the number
/// `before`.
pub(super) async fn list(
    db: &Db,
    site_id: &str,
    status: Option<ReviewStatus>,
    before: i64,
    limit: i64,
) -> Result<Vec<Review>, DbError> {
    let mut values = args![site_id, before, limit];
    let mut only = "";
    if let Some(status) = status {
        values.push(status.as_str().into());
        only = "AND status = $4";
    }
    let columns = COLUMNS.replace("body", "'null'");
    let sql = format!(
        "SELECT {columns} FROM reviews WHERE site_id = $1 AND no < $2 {only} ORDER BY no DESC LIMIT $3"
    );
    db.all(AssertSqlSafe(sql), values).await?.iter().map(read).collect()
}

/// Returns an entry, which no other transaction changes until this one ends.
pub(super) async fn lock(tx: &mut Tx, site_id: &str, id: &str) -> Result<Option<Review>, DbError> {
    let sql =
        format!("UPDATE reviews SET status = status WHERE site_id = $1 AND id = $2 RETURNING {COLUMNS}");
    let row = tx.optional(AssertSqlSafe(sql), args![site_id, id]).await?;
    row.as_ref().map(read).transpose()
}

/// Returns the ids of the drafts of overlays, newest first.
pub(super) async fn overlay_drafts(tx: &mut Tx, site_id: &str, limit: i64) -> Result<Vec<String>, DbError> {
    let sql = "SELECT id FROM reviews WHERE site_id = $1 AND kind = 'overlay' AND status = 'draft'
               ORDER BY no DESC LIMIT $2";
    tx.all(sql, args![site_id, limit]).await?.iter().map(|row| row.text(0)).collect()
}

/// Returns the page heads of a page, with those for all languages, newest first. No other transaction changes
/// them while the rules of the site are locked.
pub(super) async fn heads_of(
    tx: &mut Tx,
    site_id: &str,
    path: &str,
    locale: &str,
) -> Result<Vec<Review>, DbError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM reviews WHERE site_id = $1 AND kind = 'overlay' AND path = $2
             AND locale IN ($3, '') ORDER BY no DESC"
    );
    tx.all(AssertSqlSafe(sql), args![site_id, path, locale]).await?.iter().map(read).collect()
}

/// Removes an entry.
pub(super) async fn remove(tx: &mut Tx, site_id: &str, id: &str) -> Result<(), DbError> {
    tx.execute("DELETE FROM reviews WHERE site_id = $1 AND id = $2", args![site_id, id]).await?;
    Ok(())
}

/// A draft to add.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewDraft<'a> {
    pub(super) kind: ReviewKind,
    pub(super) path: &'a str,
    pub(super) locale: &'a str,
    pub(super) title: &'a str,
}

/// Adds a draft to the list, and returns its id. A published overlay stays until the draft is approved.
pub(super) async fn add_draft(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    NewDraft { kind, path, locale, title }: NewDraft<'_>,
    body: impl FnOnce(&str) -> Value,
) -> Result<String, DbError> {
    let id = new_id(kind.as_str());
    let body = body(&id);
    tx.execute(
        "INSERT INTO reviews (id, site_id, kind, status, path, locale, title, body, created_ms, updated_ms)
         VALUES ($1, $2, $3, 'draft', $4, $5, $6, $7, $8, $8)",
        args![&id, site_id, kind.as_str(), path, locale, title, &body, now_ms],
    )
    .await?;
    Ok(id)
}

pub(super) async fn set_status(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    id: &str,
    status: ReviewStatus,
) -> Result<(), DbError> {
    let sql = "UPDATE reviews SET status = $1, updated_ms = $2 WHERE site_id = $3 AND id = $4";
    tx.execute(sql, args![status.as_str(), now_ms, site_id, id]).await?;
    Ok(())
}

/// Stores whether the site shows an entry.
pub(super) async fn set_live(tx: &mut Tx, site_id: &str, id: &str, live: bool) -> Result<(), DbError> {
    let sql = "UPDATE reviews SET live = $1 WHERE site_id = $2 AND id = $3";
    tx.execute(sql, args![live, site_id, id]).await?;
    Ok(())
}

/// Stores whether the queued job of a page head takes it back.
pub(super) async fn set_undoing(tx: &mut Tx, site_id: &str, id: &str, undoing: bool) -> Result<(), DbError> {
    let sql = "UPDATE reviews SET undoing = $1 WHERE site_id = $2 AND id = $3";
    tx.execute(sql, args![undoing, site_id, id]).await?;
    Ok(())
}

/// Replaces the content of an article.
pub(super) async fn rewrite(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    id: &str,
    NewDraft { path, locale, title, .. }: NewDraft<'_>,
    status: ReviewStatus,
    body: &Value,
) -> Result<(), DbError> {
    let sql =
        "UPDATE reviews SET title = $1, path = $2, locale = $3, body = $4, status = $5, updated_ms = $6,
                   decision = NULL WHERE site_id = $7 AND id = $8";
    tx.execute(sql, args![title, path, locale, body, status.as_str(), now_ms, site_id, id]).await?;
    Ok(())
}

/// Locks the list of a site, before one of its entries: entries that exclude each other are changed one after
/// the other.
pub(super) async fn lock_site(tx: &mut Tx, site_id: &str) -> Result<(), DbError> {
    tx.execute("UPDATE sites SET name = name WHERE id = $1", args![site_id]).await?;
    Ok(())
}

/// Returns the title of another article that the site shows, or is about to show, at a path.
pub(super) async fn article_at(
    tx: &mut Tx,
    site_id: &str,
    id: Option<&str>,
    path: &str,
) -> Result<Option<String>, DbError> {
    // `/news` and `/news/` are the same page.
    let path = path.trim_end_matches('/');
    let sql = "SELECT title FROM reviews WHERE site_id = $1 AND kind = 'article' AND id <> $2
                   AND (live = 1 OR status IN ('queued', 'published'))
                   AND (path IN ($3, $4) OR EXISTS (
                       SELECT 1 FROM review_versions v WHERE v.review_id = reviews.id AND v.path IN ($3, $4)
                           AND v.no = (SELECT max(n.no) FROM review_versions n WHERE n.review_id = reviews.id)))
               ORDER BY no LIMIT 1";
    let row = tx.optional(sql, args![site_id, id.unwrap_or_default(), path, format!("{path}/")]).await?;
    row.map(|row| row.text(0)).transpose()
}

/// Stores why an entry waits.
pub(super) async fn set_decision(
    tx: &mut Tx,
    site_id: &str,
    id: &str,
    decision: &Decision,
) -> Result<(), DbError> {
    let json = serde_json::to_string(decision).unwrap_or_default();
    let sql = "UPDATE reviews SET decision = $1 WHERE site_id = $2 AND id = $3";
    tx.execute(sql, args![json, site_id, id]).await?;
    Ok(())
}

/// Removes the other overlays of an overlay's page, which can have only one. Those that a person has declined
/// stay, so that they are not suggested again.
pub(super) async fn replace_overlays(tx: &mut Tx, site_id: &str, by: &Review) -> Result<(), DbError> {
    let sql = "DELETE FROM reviews
               WHERE site_id = $1 AND kind = 'overlay' AND path = $2 AND locale IN ($3, '') AND id <> $4
               AND status NOT IN ('dismissed', 'withdrawn')";
    tx.execute(sql, args![site_id, &by.path, &by.locale, &by.id]).await?;
    Ok(())
}

/// Stores the site's id of an article, which later jobs about it contain.
pub(super) async fn set_external_id(
    tx: &mut Tx,
    site_id: &str,
    id: &str,
    external_id: &str,
) -> Result<(), DbError> {
    let Some(review) = lock(tx, site_id, id).await?.filter(|review| review.kind == ReviewKind::Article)
    else {
        return Ok(());
    };
    let Value::Object(mut members) = review.body else { return Ok(()) };
    members.retain(|(name, _)| name != "externalId");
    members.push(("externalId".to_owned(), external_id.into()));
    let sql = "UPDATE reviews SET body = $1 WHERE site_id = $2 AND id = $3";
    tx.execute(sql, args![&Value::Object(members), site_id, id]).await?;
    Ok(())
}

/// Returns the overlays that pages should have (4.10), published or queued; `locale` includes those for all
/// locales.
pub(crate) async fn overlays(
    db: &Db,
    site_id: &str,
    path: Option<&str>,
    locale: Option<&str>,
) -> Result<Vec<Value>, ApiError> {
    let mut sql = "SELECT body FROM reviews WHERE site_id = $1 AND kind = 'overlay'
                   AND status IN ('queued', 'published') AND undoing = 0"
        .to_owned();
    let mut values = args![site_id];
    if let Some(path) = path {
        values.push(path.into());
        let _ = write!(sql, " AND path = ${}", values.len());
    }
    if let Some(locale) = locale {
        values.push(locale.into());
        let _ = write!(sql, " AND locale IN ('', ${})", values.len());
    }
    let _ = write!(sql, " ORDER BY no LIMIT {MAX_OVERLAYS}");
    let rows = db.all(AssertSqlSafe(sql), values).await?;
    let bodies = rows.iter().map(|row| Ok(json(&row.text(0)?)));
    Ok(bodies.collect::<Result<_, DbError>>()?)
}
