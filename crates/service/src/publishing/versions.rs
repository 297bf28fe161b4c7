//! The versions of articles that sites have shown, so that a roll back returns to the one before.

use chat_protocol::Value;

use super::reviews::{NewDraft, Review, ReviewKind, json};
use crate::db::{Db, DbError, Row, Tx, args};

/// Maximum versions of an article that are kept.
const MAX_VERSIONS: i64 = 20;

/// A version of an article.
#[derive(Debug)]
pub(super) struct Version {
    no: i64,
    title: String,
    path: String,
    locale: String,
    pub(super) body: Value,
}

impl Version {
    pub(super) fn draft(&self) -> NewDraft<'_> {
        let Self { title, path, locale, .. } = self;
        NewDraft { kind: ReviewKind::Article, path, locale, title }
    }

    fn read(row: &Row) -> Result<Self, DbError> {
        let body = json(&row.text(4)?);
        Ok(Self { no: row.int(0)?, title: row.text(1)?, path: row.text(2)?, locale: row.text(3)?, body })
    }
}

/// Records the version that the site shows now, unless it is the newest one already.
pub(super) async fn record(tx: &mut Tx, now_ms: i64, review: &Review) -> Result<(), DbError> {
    if is_newest(tx, review).await? {
        return Ok(());
    }
    tx.execute(
        "INSERT INTO review_versions (review_id, title, path, locale, body, published_ms)
         VALUES ($1, $2, $3, $4, $5, $6)",
        args![&review.id, &review.title, &review.path, &review.locale, &review.body, now_ms],
    )
    .await?;
    let sql = "DELETE FROM review_versions WHERE review_id = $1 AND no NOT IN
                   (SELECT no FROM review_versions WHERE review_id = $1 ORDER BY no DESC LIMIT $2)";
    tx.execute(sql, args![&review.id, MAX_VERSIONS]).await?;
    Ok(())
}

/// Returns whether the site shows an article as it is in the list.
pub(super) async fn is_newest(tx: &mut Tx, review: &Review) -> Result<bool, DbError> {
    let sql = "SELECT body FROM review_versions WHERE review_id = $1 ORDER BY no DESC LIMIT 1";
    let newest = tx.optional(sql, args![&review.id]).await?.map(|row| row.text(0)).transpose()?;
    Ok(newest.is_some_and(|newest| json(&newest) == review.body))
}

const TWO: &str = "SELECT no, title, path, locale, body FROM review_versions WHERE review_id = $1
                   ORDER BY no DESC LIMIT 2";

/// Returns the version before the one that the site shows.
pub(super) async fn before(tx: &mut Tx, review_id: &str) -> Result<Option<Version>, DbError> {
    tx.all(TWO, args![review_id]).await?.get(1).map(Version::read).transpose()
}

/// Returns whether there is a version before the one that the site shows.
pub(super) async fn has_before(db: &Db, review_id: &str) -> Result<bool, DbError> {
    Ok(db.all(TWO, args![review_id]).await?.len() > 1)
}

/// Forgets the versions after this one, which the site shows again.
pub(super) async fn return_to(tx: &mut Tx, review_id: &str, version: &Version) -> Result<(), DbError> {
    let sql = "DELETE FROM review_versions WHERE review_id = $1 AND no > $2";
    tx.execute(sql, args![review_id, version.no]).await?;
    Ok(())
}
