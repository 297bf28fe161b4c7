//! The person that an export or an erasure is about, by the visitor id or the e-mail address.

use chat_protocol::Value;

use super::{stored_profile, truncated_id};
use crate::db::{Db, DbError, Dialect, Row, args};
use crate::error::ApiError;
use crate::lead::LeadNotes;

/// Rows of one read.
const PAGE: i64 = 1000;
/// Maximum bytes of an e-mail address (RFC 5321).
const MAX_EMAIL_BYTES: usize = 254;
/// Maximum visitors, and maximum conversations without a visitor, that one address finds.
const MAX_FOUND: usize = 1000;

/// The identifiers of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Name {
    VisitorId(String),
    Email(String),
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

/// The data of a person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Subject {
    /// The numbers and the ids of visitors: one for each browser.
    pub(super) visitors: Vec<(i64, String)>,
    /// The numbers and the ids of conversations without a visitor.
    pub(super) conversations: Vec<(i64, String)>,
}

impl Subject {
    pub(super) fn is_empty(&self) -> bool {
        self.visitors.is_empty() && self.conversations.is_empty()
    }

    fn add_visitor(&mut self, no: i64, id: String) {
        if !self.visitors.iter().any(|(known, _)| *known == no) {
            self.visitors.push((no, id));
        }
    }

    fn is_full(&self) -> bool {
        self.visitors.len().max(self.conversations.len()) >= MAX_FOUND
    }
}

/// Finds the data of a person at a site. An address is looked for in the profiles of visitors, in those of
/// conversations, and in what the messages of conversations said.
pub(super) async fn find(db: &Db, site_id: &str, name: &Name) -> Result<Subject, DbError> {
    let mut subject = Subject::default();
    match name {
        Name::VisitorId(id) => {
            let sql = "SELECT no, id FROM visitors WHERE site_id = $1 AND id = $2";
            if let Some(row) = db.optional(sql, args![site_id, truncated_id(id)]).await? {
                subject.add_visitor(row.int(0)?, row.text(1)?);
            }
        }
        Name::Email(address) => {
            let visitors = "SELECT no, id, profile FROM visitors
                            WHERE site_id = $1 AND no > $2 AND lower(profile) LIKE $3 ESCAPE '!'
                            ORDER BY no LIMIT $4";
            search(db, site_id, address, visitors, |row| {
                if has_address(&row.text(2)?, address) {
                    subject.add_visitor(row.int(0)?, row.text(1)?);
                }
                Ok(subject.is_full())
            })
            .await?;
            let conversations = "SELECT c.no, c.id, c.profile, c.notes, v.no, v.id
                                 FROM conversations c LEFT JOIN visitors v ON v.no = c.visitor_no
                                 WHERE c.site_id = $1 AND c.no > $2
                                     AND (lower(c.profile) LIKE $3 ESCAPE '!' OR lower(c.notes) LIKE $3 ESCAPE '!')
                                 ORDER BY c.no LIMIT $4";
            search(db, site_id, address, conversations, |row| {
                if has_address(&row.text(2)?, address) || notes_have(&row.text(3)?, address) {
                    match (row.optional_int(4)?, row.optional_text(5)?) {
                        (Some(no), Some(id)) => subject.add_visitor(no, id),
                        _ => subject.conversations.push((row.int(0)?, row.text(1)?)),
                    }
                }
                Ok(subject.is_full())
            })
            .await?;
        }
    }
    Ok(subject)
}

/// Calls `found` with each row that may contain an address, until it returns true.
async fn search(
    db: &Db,
    site_id: &str,
    address: &str,
    sql: &'static str,
    mut found: impl FnMut(&Row) -> Result<bool, DbError>,
) -> Result<(), DbError> {
    let pattern = pattern(db.dialect(), address);
    let mut after = 0;
    loop {
        let rows = db.all(sql, args![site_id, after, &pattern, PAGE]).await?;
        for row in &rows {
            if found(row)? {
                return Ok(());
            }
        }
        match rows.last() {
            Some(last) => after = last.int(0)?,
            None => return Ok(()),
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

fn is_same(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.to_lowercase()
}
