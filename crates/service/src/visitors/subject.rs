//! The person that an export or an erasure is about, by the visitor id, the e-mail address or a conversation.

use std::collections::BTreeMap;

use chat_protocol::Value;
use sqlx::{AssertSqlSafe, SqlSafeStr};

use super::identity::is_verified;
use super::{stored_profile, truncated_id};
use crate::db::{Arg, Db, DbError, Dialect, Row, args};
use crate::error::ApiError;
use crate::knowledge::search_index::{SearchTable, message_query};
use crate::lead::{LeadNotes, emails_in};

/// Rows of one read.
const PAGE: i64 = 1000;
/// Maximum bytes of an e-mail address (RFC 5321).
const MAX_EMAIL_BYTES: usize = 254;
/// Maximum visitors, and maximum conversations without a visitor, that one address finds.
const MAX_FOUND: usize = 100_000;

/// The identifiers of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    VisitorId(String),
    Email(String),
    /// One conversation, whose visitor is only claimed.
    Conversation(String),
}

impl Name {
    /// Checks an e-mail address.
    pub(super) fn email(address: &str) -> Result<Self, ApiError> {
        let address = address.trim();
        if !address.contains('@') || address.len() > MAX_EMAIL_BYTES {
            let problem = "invalid email: expected an address such as ada@example.com";
            return Err(ApiError::InvalidRequest(problem.to_owned()));
        }
        Ok(Self::Email(address.to_owned()))
    }
}

/// The data of a person, by numbers and ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Subject {
    /// Visitors: for an address, only verified ones.
    pub(super) visitors: BTreeMap<i64, String>,
    /// Conversations of no such visitor.
    pub(super) conversations: BTreeMap<i64, String>,
}

impl Subject {
    pub(super) fn is_empty(&self) -> bool {
        self.visitors.is_empty() && self.conversations.is_empty()
    }

    /// Adds the conversation, unless its visitor was found, from the columns of a row that begin at `first`.
    /// Nothing else of the visitor is added: whoever writes an address can claim anybody's id.
    fn add(&mut self, row: &Row, first: usize) -> Result<(), DbError> {
        if row.optional_int(first + 2)?.is_none_or(|visitor| !self.visitors.contains_key(&visitor)) {
            self.conversations.insert(row.int(first)?, row.text(first + 1)?);
        }
        Ok(())
    }

    /// Returns whether no more is looked for.
    pub(super) fn is_full(&self) -> bool {
        self.visitors.len().max(self.conversations.len()) >= MAX_FOUND
    }
}

/// Finds the data of a person at a site. An address is looked for in the profiles of verified visitors, in
/// those of conversations, and in what visitors said in messages.
pub(super) async fn find(db: &Db, site_id: &str, name: &Name) -> Result<Subject, DbError> {
    let mut subject = Subject::default();
    let address = match name {
        Name::VisitorId(id) => {
            let sql = "SELECT no, id FROM visitors WHERE site_id = $1 AND id = $2";
            if let Some(row) = db.optional(sql, args![site_id, truncated_id(id)]).await? {
                subject.visitors.insert(row.int(0)?, row.text(1)?);
            }
            return Ok(subject);
        }
        Name::Conversation(id) => {
            let sql = "SELECT no, id FROM conversations WHERE site_id = $1 AND id = $2";
            if let Some(row) = db.optional(sql, args![site_id, id]).await? {
                subject.conversations.insert(row.int(0)?, row.text(1)?);
            }
            return Ok(subject);
        }
        Name::Email(address) => address,
    };
    let pattern = pattern(db.dialect(), address);
    let visitors = "SELECT no, id, profile FROM visitors
                    WHERE site_id = $1 AND no > $2 AND lower(profile) LIKE $3 ESCAPE '!'
                    ORDER BY no LIMIT $4";
    search(db, site_id, &pattern, visitors.to_owned(), |row| {
        let id = row.text(1)?;
        if is_verified(&id) && has_address(&row.text(2)?, address) {
            subject.visitors.insert(row.int(0)?, id);
        }
        Ok(subject.is_full())
    })
    .await?;
    let conversations = "SELECT c.no, c.no, c.id, c.visitor_no, c.profile, c.notes FROM conversations c
                         WHERE c.site_id = $1 AND c.no > $2
                             AND (lower(c.profile) LIKE $3 ESCAPE '!' OR lower(c.notes) LIKE $3 ESCAPE '!')
                         ORDER BY c.no LIMIT $4";
    search(db, site_id, &pattern, conversations.to_owned(), |row| {
        if has_address(&row.text(4)?, address) || notes_have(&row.text(5)?, address) {
            subject.add(row, 1)?;
        }
        Ok(subject.is_full())
    })
    .await?;
    // The notes hold the last address that was said; the messages hold all.
    if let Some(words) = message_query(db.dialect(), &[site_id], address) {
        let matching = SearchTable::Messages.matching(db.dialect(), 3);
        let messages = format!(
            "SELECT m.no, c.no, c.id, c.visitor_no, m.content FROM messages m
             JOIN conversations c ON c.no = m.conversation_no
             WHERE c.site_id = $1 AND m.no > $2 AND m.role = 'visitor' AND m.no IN ({matching})
             ORDER BY m.no LIMIT $4"
        );
        search(db, site_id, &words, messages, |row| {
            if says(&row.text(4)?, address) {
                subject.add(row, 1)?;
            }
            Ok(subject.is_full())
        })
        .await?;
    }
    Ok(subject)
}

/// Calls `found` with each row that may contain an address, until it returns true. The first column is the
/// number by which the rows are read page by page.
async fn search(
    db: &Db,
    site_id: &str,
    pattern: &str,
    sql: String,
    mut found: impl FnMut(&Row) -> Result<bool, DbError>,
) -> Result<(), DbError> {
    let sql = AssertSqlSafe(sql).into_sql_str();
    let mut after = 0;
    loop {
        let values: Vec<Arg> = args![site_id, after, pattern, PAGE];
        let rows = db.all(sql.clone(), values).await?;
        for row in &rows {
            if found(row)? {
                return Ok(());
            }
        }
        match rows.last() {
            Some(last) if i64::try_from(rows.len()) == Ok(PAGE) => after = last.int(0)?,
            _ => return Ok(()),
        }
    }
}

/// Returns the pattern of JSON that contains an address.
fn pattern(dialect: Dialect, address: &str) -> String {
    // SQLite's lower() changes ASCII only.
    let lower = match dialect {
        Dialect::Sqlite => address.to_ascii_lowercase(),
        Dialect::Postgres => address.to_lowercase(),
    };
    let json = Value::Text(lower).to_json();
    let mut pattern = "%".to_owned();
    for character in json.trim_matches('"').chars() {
        if ['%', '_', '!'].contains(&character) {
            pattern.push('!');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}

fn has_address(profile: &str, address: &str) -> bool {
    stored_profile(profile).email.is_some_and(|email| is_same(&email, address))
}

fn notes_have(notes: &str, address: &str) -> bool {
    let notes: LeadNotes = serde_json::from_str(notes).unwrap_or_default();
    notes.email.is_some_and(|email| is_same(&email, address))
}

fn says(message: &str, address: &str) -> bool {
    emails_in(message).any(|email| is_same(&email, address))
}

fn is_same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.to_lowercase()
}
