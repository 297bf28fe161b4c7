//! The test questions of a site, as operators write them.

use chat_protocol::admin::settings::{Expectation, TestQuestionText};
use chat_protocol::{FieldError, is_language_tag};

use super::judge::contains_words;
use super::schedule;
use crate::db::{Db, DbError, Row, Tx, args};
use crate::error::ApiError;
use crate::secrets::new_id;

/// Maximum test questions of a site.
pub(super) const MAX_QUESTIONS: usize = 200;
/// Maximum characters of a question, and of what is expected.
const MAX_LENGTH: usize = 500;

const NO_QUESTION: ApiError = ApiError::NotFound("This test question");
const SELECT: &str = "SELECT id, version, question, locale, expects, expected FROM test_questions";

/// A stored test question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) id: String,
    /// The number of the question's present text.
    pub(super) version: i64,
    pub(super) written: TestQuestionText,
}

/// Returns a test question as it is stored.
pub(super) fn checked(written: &TestQuestionText) -> Result<TestQuestionText, ApiError> {
    let question = checked_text("question", &written.question)?;
    if !written.locale.is_empty() && !is_language_tag(&written.locale) {
        return Err(FieldError::new("locale", "must be a language tag such as de-AT, or empty").into());
    }
    let is_empty = written.expected.trim().is_empty();
    let expected = match written.expects {
        Expectation::NoAnswer if is_empty => String::new(),
        Expectation::NoAnswer => {
            return Err(FieldError::new("expected", "must be empty where no answer is expected").into());
        }
        Expectation::Page => {
            let page = checked_text("expected", &written.expected)?;
            if page.lines().count() > 1 {
                return Err(FieldError::new("expected", "must be one path, address or id").into());
            }
            page
        }
        Expectation::Words => {
            let words = checked_text("expected", &written.expected)?;
            if !contains_words(&[&words], &words) {
                return Err(FieldError::new("expected", "must have words or numbers").into());
            }
            words
        }
    };
    Ok(TestQuestionText { question, locale: written.locale.clone(), expects: written.expects, expected })
}

fn checked_text(field: &'static str, text: &str) -> Result<String, FieldError> {
    let text = text.trim();
    let length = text.chars().count();
    if length == 0 || length > MAX_LENGTH || text.contains('\0') {
        return Err(FieldError::new(field, format!("must have 1 to {MAX_LENGTH} characters")));
    }
    Ok(text.to_owned())
}

/// Returns the test questions of a site, oldest first.
pub(super) async fn list(db: &Db, site_id: &str) -> Result<Vec<Stored>, DbError> {
    let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE site_id = $1 ORDER BY no"));
    db.all(sql, args![site_id]).await?.iter().map(read).collect()
}

/// Adds a test question, and returns it.
pub(super) async fn add(tx: &mut Tx, site_id: &str, written: &TestQuestionText) -> Result<Stored, ApiError> {
    let written = checked(written)?;
    lock(tx, site_id).await?;
    let count = tx.one("SELECT count(*) FROM test_questions WHERE site_id = $1", args![site_id]).await?;
    if usize::try_from(count.int(0)?).is_ok_and(|count| count >= MAX_QUESTIONS) {
        return Err(ApiError::Conflict(format!(
            "This site has {MAX_QUESTIONS} test questions, which is the maximum: delete some first."
        )));
    }
    Ok(insert(tx, site_id, written).await?)
}

/// Replaces all test questions of a site. Those that stay as they are keep their results.
pub(super) async fn replace_all(
    tx: &mut Tx,
    site_id: &str,
    wanted: &[TestQuestionText],
) -> Result<(), ApiError> {
    if wanted.len() > MAX_QUESTIONS {
        let problem = format!("must be at most {MAX_QUESTIONS}");
        return Err(FieldError::new("questions", problem).into());
    }
    let wanted = wanted.iter().map(checked).collect::<Result<Vec<_>, _>>()?;
    lock(tx, site_id).await?;
    let sql = sqlx::AssertSqlSafe(format!("{SELECT} WHERE site_id = $1 ORDER BY no"));
    let stored = tx.all(sql, args![site_id]).await?;
    let mut known = stored.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    tx.execute("DELETE FROM test_questions WHERE site_id = $1", args![site_id]).await?;
    for written in wanted {
        match known.iter().position(|stored| stored.written == written) {
            Some(index) => put(tx, site_id, &known.swap_remove(index)).await?,
            None => drop(insert(tx, site_id, written).await?),
        }
    }
    Ok(())
}

/// Changes a test question of a site, and returns it.
pub(super) async fn replace(
    tx: &mut Tx,
    site_id: &str,
    id: &str,
    written: &TestQuestionText,
) -> Result<Stored, ApiError> {
    let written = checked(written)?;
    let sql = "UPDATE test_questions
               SET question = $3, locale = $4, expects = $5, expected = $6, version = version + 1
               WHERE site_id = $1 AND id = $2 RETURNING version";
    let TestQuestionText { question, locale, expects, expected } = &written;
    let row = tx.optional(sql, args![site_id, id, question, locale, expects.as_str(), expected]).await?;
    let version = row.ok_or(NO_QUESTION)?.int(0)?;
    Ok(Stored { id: id.to_owned(), version, written })
}

/// Deletes a test question of a site.
pub(super) async fn delete(tx: &mut Tx, site_id: &str, id: &str) -> Result<(), ApiError> {
    let sql = "DELETE FROM test_questions WHERE site_id = $1 AND id = $2";
    if tx.execute(sql, args![site_id, id]).await? == 0 { Err(NO_QUESTION) } else { Ok(()) }
}

/// Lets operators of one site add questions one after the other, so that the limit holds.
async fn lock(tx: &mut Tx, site_id: &str) -> Result<(), DbError> {
    tx.execute("UPDATE sites SET name = name WHERE id = $1", args![site_id]).await?;
    schedule::begin(tx, site_id).await
}

async fn insert(tx: &mut Tx, site_id: &str, written: TestQuestionText) -> Result<Stored, DbError> {
    let stored = Stored { id: new_id("test"), version: 1, written };
    put(tx, site_id, &stored).await?;
    Ok(stored)
}

async fn put(tx: &mut Tx, site_id: &str, stored: &Stored) -> Result<(), DbError> {
    let Stored { id, version, written } = stored;
    let TestQuestionText { question, locale, expects, expected } = written;
    let sql = "INSERT INTO test_questions (id, site_id, question, locale, expects, expected, version)
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let values = args![id, site_id, question, locale, expects.as_str(), expected, *version];
    tx.execute(sql, values).await.map(drop)
}

fn read(row: &Row) -> Result<Stored, DbError> {
    Ok(Stored {
        id: row.text(0)?,
        version: row.int(1)?,
        written: TestQuestionText {
            question: row.text(2)?,
            locale: row.text(3)?,
            expects: Expectation::parse(&row.text(4)?).unwrap_or_default(),
            expected: row.text(5)?,
        },
    })
}
