//! The questions and answers that a site's operators write themselves.

use chat_protocol::Value;
use serde::Deserialize;

use super::language::Language;
use super::search_index::{IndexTerms, put_answer};
use crate::clock::iso;
use crate::db::containing;
use crate::db::{Db, DbError, Row, Tx, args};
use crate::error::ApiError;
use crate::secrets::new_id;

/// Maximum characters of a question.
const MAX_QUESTION_LENGTH: usize = 500;
/// Maximum characters of an answer.
const MAX_ANSWER_LENGTH: usize = 4000;
/// Maximum questions of a site.
const MAX_ANSWERS: i64 = 2000;
/// Maximum questions in one page of a list.
pub(super) const MAX_LISTED: u32 = 200;

const NO_ANSWER: ApiError = ApiError::NotFound("This answer");

/// A question and its answer, as an operator writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AnswerDraft {
    /// The question, in 1 to 500 characters. Several ways to ask it may be written on lines of their own.
    pub(crate) question: String,
    /// The answer, in 1 to 4000 characters.
    pub(crate) answer: String,
    /// The language tag of both; empty for any language.
    #[serde(default)]
    pub(crate) locale: String,
}

/// A stored question and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredAnswer {
    pub(crate) no: i64,
    pub(crate) id: String,
    pub(crate) draft: AnswerDraft,
    pub(crate) created_ms: i64,
    pub(crate) updated_ms: i64,
}

impl AnswerDraft {
    fn check(&self) -> Result<(), ApiError> {
        for (name, text, limit) in
            [("question", &self.question, MAX_QUESTION_LENGTH), ("answer", &self.answer, MAX_ANSWER_LENGTH)]
        {
            let length = text.chars().count();
            if text.trim().is_empty() || length > limit || text.contains('\0') {
                return Err(ApiError::InvalidRequest(format!(
                    "Invalid {name}: expected 1 to {limit} characters, got {length}."
                )));
            }
        }
        if !self.locale.is_empty() && !chat_protocol::is_language_tag(&self.locale) {
            return Err(ApiError::InvalidRequest(
                "Invalid locale: expected a language tag, such as de-AT, or nothing.".to_owned(),
            ));
        }
        Ok(())
    }

    fn terms(&self) -> IndexTerms {
        let language = Language::of_text(&self.locale, &format!("{}\n{}", self.question, self.answer));
        IndexTerms::of_knowledge(language, &[&self.question, &self.answer])
    }
}

/// Stores a new answer of a site, and returns it.
pub(crate) async fn add(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    draft: &AnswerDraft,
) -> Result<StoredAnswer, ApiError> {
    draft.check()?;
    // Operators of one site add answers one after the other, so that the limit holds.
    tx.execute("UPDATE sites SET name = name WHERE id = $1", args![site_id]).await?;
    let count = tx.one("SELECT count(*) FROM answers WHERE site_id = $1", args![site_id]).await?.int(0)?;
    if count >= MAX_ANSWERS {
        return Err(ApiError::Conflict(format!(
            "This site has {MAX_ANSWERS} answers, which is the maximum: delete some first."
        )));
    }
    let id = new_id("ans");
    let row = tx
        .one(
            "INSERT INTO answers (id, site_id, locale, question, answer, created_ms, updated_ms)
             VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING no",
            args![&id, site_id, &draft.locale, &draft.question, &draft.answer, now_ms],
        )
        .await?;
    let no = row.int(0)?;
    put_answer(tx, site_id, no, &draft.terms()).await?;
    Ok(StoredAnswer { no, id, draft: draft.clone(), created_ms: now_ms, updated_ms: now_ms })
}

/// Replaces an answer of a site, and returns it.
pub(crate) async fn replace(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    id: &str,
    draft: &AnswerDraft,
) -> Result<StoredAnswer, ApiError> {
    draft.check()?;
    let row = tx
        .optional(
            "UPDATE answers SET locale = $3, question = $4, answer = $5, updated_ms = $6
             WHERE site_id = $1 AND id = $2
             RETURNING no, id, locale, question, answer, created_ms, updated_ms",
            args![site_id, id, &draft.locale, &draft.question, &draft.answer, now_ms],
        )
        .await?;
    let stored = stored(&row.ok_or(NO_ANSWER)?)?;
    put_answer(tx, site_id, stored.no, &draft.terms()).await?;
    Ok(stored)
}

/// Deletes an answer of a site.
pub(crate) async fn delete(tx: &mut Tx, site_id: &str, id: &str) -> Result<(), ApiError> {
    let deleted =
        tx.execute("DELETE FROM answers WHERE site_id = $1 AND id = $2", args![site_id, id]).await?;
    if deleted == 0 { Err(NO_ANSWER) } else { Ok(()) }
}

/// Returns an answer of a site.
pub(crate) async fn find(db: &Db, site_id: &str, id: &str) -> Result<StoredAnswer, ApiError> {
    let row = db
        .optional(
            "SELECT no, id, locale, question, answer, created_ms, updated_ms FROM answers
             WHERE site_id = $1 AND id = $2",
            args![site_id, id],
        )
        .await?;
    Ok(stored(&row.ok_or(NO_ANSWER)?)?)
}

/// Returns the answers of a site that contain a text in the question or the answer, newest first. `before` is
/// the number of the last one that was read, for the next page.
pub(crate) async fn list(
    db: &Db,
    site_id: &str,
    text: Option<&str>,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<StoredAnswer>, DbError> {
    let rows = db
        .all(
            "SELECT no, id, locale, question, answer, created_ms, updated_ms FROM answers
             WHERE site_id = $1 AND no < $2
                 AND ($4 = '' OR lower(question) LIKE lower($4) ESCAPE '!' OR lower(answer) LIKE lower($4) ESCAPE '!')
             ORDER BY no DESC LIMIT $3",
            args![
                site_id,
                before.unwrap_or(i64::MAX),
                limit.min(MAX_LISTED),
                text.map(containing).unwrap_or_default()
            ],
        )
        .await?;
    rows.iter().map(stored).collect()
}

fn stored(row: &Row) -> Result<StoredAnswer, DbError> {
    Ok(StoredAnswer {
        no: row.int(0)?,
        id: row.text(1)?,
        draft: AnswerDraft { locale: row.text(2)?, question: row.text(3)?, answer: row.text(4)? },
        created_ms: row.int(5)?,
        updated_ms: row.int(6)?,
    })
}

impl From<&StoredAnswer> for Value {
    fn from(stored: &StoredAnswer) -> Self {
        Self::object([
            ("id", stored.id.as_str().into()),
            ("question", stored.draft.question.as_str().into()),
            ("answer", stored.draft.answer.as_str().into()),
            ("locale", stored.draft.locale.as_str().into()),
            ("createdAt", iso(stored.created_ms).into()),
            ("updatedAt", iso(stored.updated_ms).into()),
        ])
    }
}

#[cfg(test)]
mod tests;
