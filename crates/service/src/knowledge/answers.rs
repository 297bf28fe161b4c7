//! The questions and answers that a site's operators write themselves.

use chat_protocol::admin::settings::{Answer, AnswerPage, AnswerText};

use super::index_terms::IndexTerms;
use super::language::Language;
use super::search_index::put_answer;
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
const MAX_LISTED: u32 = 200;

const NO_ANSWER: ApiError = ApiError::NotFound("This answer");

fn check(written: &AnswerText) -> Result<(), ApiError> {
    for (name, text, limit) in
        [("question", &written.question, MAX_QUESTION_LENGTH), ("answer", &written.answer, MAX_ANSWER_LENGTH)]
    {
        let length = text.chars().count();
        if text.trim().is_empty() || length > limit || text.contains('\0') {
            return Err(ApiError::InvalidRequest(format!(
                "Invalid {name}: expected 1 to {limit} characters, got {length}."
            )));
        }
    }
    if !written.locale.is_empty() && !chat_protocol::is_language_tag(&written.locale) {
        return Err(ApiError::InvalidRequest(
            "Invalid locale: expected a language tag, such as de-AT, or nothing.".to_owned(),
        ));
    }
    Ok(())
}

fn terms(written: &AnswerText) -> IndexTerms {
    let AnswerText { question, answer, locale } = written;
    let language = Language::of_text(locale, &format!("{question}\n{answer}"));
    IndexTerms::of_knowledge(language, &[question, answer])
}

/// Stores a new answer of a site, and returns it.
pub(crate) async fn add(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    written: &AnswerText,
) -> Result<Answer, ApiError> {
    check(written)?;
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
             VALUES ($1, $2, $3, $4, $5, $6, $6)
             RETURNING no, id, locale, question, answer, created_ms, updated_ms",
            args![&id, site_id, &written.locale, &written.question, &written.answer, now_ms],
        )
        .await?;
    put_answer(tx, site_id, row.int(0)?, &terms(written)).await?;
    Ok(read(&row)?)
}

/// Replaces an answer of a site, and returns it.
pub(crate) async fn replace(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    id: &str,
    written: &AnswerText,
) -> Result<Answer, ApiError> {
    check(written)?;
    let row = tx
        .optional(
            "UPDATE answers SET locale = $3, question = $4, answer = $5, updated_ms = $6
             WHERE site_id = $1 AND id = $2
             RETURNING no, id, locale, question, answer, created_ms, updated_ms",
            args![site_id, id, &written.locale, &written.question, &written.answer, now_ms],
        )
        .await?;
    let row = row.ok_or(NO_ANSWER)?;
    put_answer(tx, site_id, row.int(0)?, &terms(written)).await?;
    Ok(read(&row)?)
}

/// Deletes an answer of a site.
pub(crate) async fn delete(tx: &mut Tx, site_id: &str, id: &str) -> Result<(), ApiError> {
    let deleted =
        tx.execute("DELETE FROM answers WHERE site_id = $1 AND id = $2", args![site_id, id]).await?;
    if deleted == 0 { Err(NO_ANSWER) } else { Ok(()) }
}

/// Returns an answer of a site.
pub(crate) async fn find(db: &Db, site_id: &str, id: &str) -> Result<Answer, ApiError> {
    let row = db
        .optional(
            "SELECT no, id, locale, question, answer, created_ms, updated_ms FROM answers
             WHERE site_id = $1 AND id = $2",
            args![site_id, id],
        )
        .await?;
    Ok(read(&row.ok_or(NO_ANSWER)?)?)
}

/// Returns a page of the answers of a site that contain a text in the question or the answer, newest first.
/// `before` is the `next` of the page before.
pub(crate) async fn list(
    db: &Db,
    site_id: &str,
    text: Option<&str>,
    before: Option<i64>,
    limit: u32,
) -> Result<AnswerPage, DbError> {
    let limit = limit.clamp(1, MAX_LISTED);
    let rows = db
        .all(
            "SELECT no, id, locale, question, answer, created_ms, updated_ms FROM answers
             WHERE site_id = $1 AND no < $2
                 AND ($4 = '' OR lower(question) LIKE lower($4) ESCAPE '!' OR lower(answer) LIKE lower($4) ESCAPE '!')
             ORDER BY no DESC LIMIT $3",
            args![
                site_id,
                before.unwrap_or(i64::MAX),
                limit,
                text.map(containing).unwrap_or_default()
            ],
        )
        .await?;
    let is_full = rows.len() == usize::try_from(limit).unwrap_or(usize::MAX);
    let next = rows.last().filter(|_| is_full).map(|last| last.int(0)).transpose()?;
    Ok(AnswerPage { answers: rows.iter().map(read).collect::<Result<_, _>>()?, next })
}

fn read(row: &Row) -> Result<Answer, DbError> {
    Ok(Answer {
        id: row.text(1)?,
        locale: row.text(2)?,
        question: row.text(3)?,
        answer: row.text(4)?,
        created_at: iso(row.int(5)?),
        updated_at: iso(row.int(6)?),
    })
}

#[cfg(test)]
mod answers_tests;
