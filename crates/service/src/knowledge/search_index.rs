//! The full-text index in the database: what is written into it, and how it is asked.
//!
//! The service splits texts into terms itself, so that neither database's language support matters. The site
//! is a term too: a search touches the entries of its own site only.

use std::fmt::Write;

use super::index_terms::{IndexTerms, encoded, stems};
use super::words::{Word, characters, words};
use crate::db::{DbError, Dialect, Tx, args};
use crate::fingerprint::fingerprint;

/// Maximum words of a search for messages.
const MAX_QUERY_WORDS: usize = 16;
/// Minimum letters of the beginning of a word by which messages are found.
const MIN_PREFIX: usize = 3;

/// A table with a full-text index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchTable {
    Messages,
    Content,
    Answers,
}

impl SearchTable {
    fn name(self) -> &'static str {
        match self {
            Self::Messages => "message_terms",
            Self::Content => "content_terms",
            Self::Answers => "answer_terms",
        }
    }

    /// Returns a subquery for the numbers of the rows that match the expression in argument `$argument`.
    pub(crate) fn matching(self, dialect: Dialect, argument: usize) -> String {
        let name = self.name();
        match dialect {
            Dialect::Sqlite => format!("SELECT rowid AS no FROM {name} WHERE {name} MATCH ${argument}"),
            Dialect::Postgres => {
                format!("SELECT no FROM {name} WHERE terms @@ CAST(${argument} AS TSQUERY)")
            }
        }
    }

    /// Writes the terms of a row, instead of those that it had.
    async fn put(self, tx: &mut Tx, site_id: &str, no: i64, terms: &IndexTerms) -> Result<(), DbError> {
        let (delete, insert) = match (self, tx.dialect()) {
            (Self::Messages, Dialect::Sqlite) => (
                "DELETE FROM message_terms WHERE rowid = $1",
                "INSERT INTO message_terms (rowid, terms) VALUES ($1, $2)",
            ),
            (Self::Content, Dialect::Sqlite) => (
                "DELETE FROM content_terms WHERE rowid = $1",
                "INSERT INTO content_terms (rowid, title, terms) VALUES ($1, '', $2)",
            ),
            (Self::Answers, Dialect::Sqlite) => (
                "DELETE FROM answer_terms WHERE rowid = $1",
                "INSERT INTO answer_terms (rowid, question, terms) VALUES ($1, '', $2)",
            ),
            (Self::Messages, Dialect::Postgres) => (
                "DELETE FROM message_terms WHERE no = $1",
                "INSERT INTO message_terms (no, terms) VALUES ($1, CAST($2 AS TSVECTOR))",
            ),
            (Self::Content, Dialect::Postgres) => (
                "DELETE FROM content_terms WHERE no = $1",
                "INSERT INTO content_terms (no, terms) VALUES ($1, CAST($2 AS TSVECTOR))",
            ),
            (Self::Answers, Dialect::Postgres) => (
                "DELETE FROM answer_terms WHERE no = $1",
                "INSERT INTO answer_terms (no, terms) VALUES ($1, CAST($2 AS TSVECTOR))",
            ),
        };
        tx.execute(delete, args![no]).await?;
        // Both databases read a list of terms between spaces.
        tx.execute(insert, args![no, format!("{}{}", site_term(site_id), terms.0)]).await?;
        Ok(())
    }
}

/// Writes the text of a message into the index, so that [`message_query`] finds it. Deleted messages leave
/// the index by themselves.
pub(crate) async fn put_message(tx: &mut Tx, site_id: &str, no: i64, text: &str) -> Result<(), DbError> {
    SearchTable::Messages.put(tx, site_id, no, &IndexTerms::of_message(text)).await
}

/// Writes the terms of a page of content into the index.
pub(crate) async fn put_content(
    tx: &mut Tx,
    site_id: &str,
    no: i64,
    terms: &IndexTerms,
) -> Result<(), DbError> {
    SearchTable::Content.put(tx, site_id, no, terms).await
}

/// Writes the terms of a question and its answer into the index.
pub(crate) async fn put_answer(
    tx: &mut Tx,
    site_id: &str,
    no: i64,
    terms: &IndexTerms,
) -> Result<(), DbError> {
    SearchTable::Answers.put(tx, site_id, no, terms).await
}

/// Returns the expression that finds the messages of sites that contain all words of a search; the last may
/// be the beginning of a word. It is the argument of [`SearchTable::matching`]. `None` when the search
/// contains no word, or without a site.
pub(crate) fn message_query<S: AsRef<str>>(dialect: Dialect, sites: &[S], search: &str) -> Option<String> {
    let mut found: Vec<Word> = words(search).take(MAX_QUERY_WORDS).collect();
    let mut expression = Expression::of_sites(dialect, sites)?;
    let last = found.pop()?;
    for word in &found {
        expression.and_word(word);
    }
    match &last {
        Word::Spaced(word) if word.chars().count() >= MIN_PREFIX => {
            expression.and_any(&stems(word), Some(&encoded(word)));
        }
        other => expression.and_word(other),
    }
    Some(expression.0)
}

/// An expression of either database's full-text search.
#[derive(Debug)]
pub(super) struct Expression(String, Dialect);

impl Expression {
    pub(super) fn of_site(dialect: Dialect, site_id: &str) -> Self {
        let site = site_term(site_id);
        let text = match dialect {
            Dialect::Sqlite => format!("\"{site}\""),
            Dialect::Postgres => format!("'{site}'"),
        };
        Self(text, dialect)
    }

    /// Begins with the texts of any of these sites; `None` without one.
    fn of_sites<S: AsRef<str>>(dialect: Dialect, sites: &[S]) -> Option<Self> {
        let mut expressions = sites.iter().map(|site| Self::of_site(dialect, site.as_ref()).0);
        let mut text = expressions.next()?;
        if sites.len() > 1 {
            let or = match dialect {
                Dialect::Sqlite => " OR ",
                Dialect::Postgres => " | ",
            };
            text.insert(0, '(');
            for expression in expressions {
                text.push_str(or);
                text.push_str(&expression);
            }
            text.push(')');
        }
        Some(Self(text, dialect))
    }

    pub(super) fn into_text(self) -> String {
        self.0
    }

    /// Also requires one of these terms, or a term that begins with `prefix`.
    pub(super) fn and_any(&mut self, terms: &[String], prefix: Option<&str>) {
        let (and, or, quote, any) = match self.1 {
            Dialect::Sqlite => (" AND ", " OR ", '"', "*"),
            Dialect::Postgres => (" & ", " | ", '\'', ":*"),
        };
        self.0.push_str(and);
        self.0.push('(');
        for (index, term) in terms.iter().enumerate() {
            let _ = write!(self.0, "{}{quote}{term}{quote}", if index > 0 { or } else { "" });
        }
        if let Some(prefix) = prefix {
            let _ = write!(self.0, "{}{quote}{prefix}{quote}{any}", if terms.is_empty() { "" } else { or });
        }
        self.0.push(')');
    }

    fn and_word(&mut self, word: &Word) {
        match word {
            Word::Spaced(word) => self.and_any(&stems(word), None),
            Word::Unspaced(run) => {
                let (pairs, _) = characters(run);
                let singles = run.iter().map(|character| encoded(&character.to_string()));
                let terms: Vec<String> = match run.len() {
                    1 => singles.collect(),
                    _ => pairs.iter().map(|pair| encoded(pair)).collect(),
                };
                for term in terms {
                    self.and_any(&[term], None);
                }
            }
        }
    }
}

/// Returns the term that all texts of a site have.
fn site_term(site_id: &str) -> String {
    let hash = fingerprint(&[b"site ", site_id.as_bytes()]);
    hash[..8].iter().fold("5".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_contain_only_quoted_terms_and_operators() {
        let sqlite = message_query(Dialect::Sqlite, &["site_1"], "Mugs AND \"NEAR(x\"").expect("words");
        let site = site_term("site_1");
        assert!(sqlite.starts_with(&format!("\"{site}\" AND (\"mug\" OR \"mugs\")")), "{sqlite}");
        let postgres = message_query(Dialect::Postgres, &["site_1"], "it's & !'").expect("words");
        assert!(!postgres.contains('!') && postgres.contains("('it')"), "{postgres}");
        assert_eq!(message_query(Dialect::Sqlite, &["site_1"], " ?! "), None);
        let both = message_query(Dialect::Sqlite, &["site_1", "site_2"], "mug").expect("words");
        assert!(both.starts_with(&format!("(\"{site}\" OR \"{}\") AND (", site_term("site_2"))), "{both}");
    }
}

#[cfg(test)]
mod database_tests;
