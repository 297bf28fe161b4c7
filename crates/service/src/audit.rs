//! The audit log: what was done, by whom, and from where.
//!
//! Entries are only ever added, and removed after two years. They hold ids and names of settings, but no
//! secrets and no words of visitors.

use std::borrow::Cow;

use chat_protocol::admin::settings::{AuditEntry, AuditPage};
use serde::Serialize;

use crate::clock::iso;
use crate::csv::push_line;
use crate::db::{Db, DbError, Row, Tx, args, beginning_with, containing};
use crate::error::ApiError;

/// An entry of the audit log.
#[derive(Clone, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) tenant_id: &'a str,
    /// The operator's id, `command` for the command line, or `service`.
    pub(crate) actor_id: &'a str,
    /// The operator's name and e-mail address, or who else did it.
    pub(crate) actor: &'a str,
    /// The kind of change, such as `site.update`.
    pub(crate) action: &'a str,
    /// The id of what was changed.
    pub(crate) target: &'a str,
    /// An object with details, as JSON.
    pub(crate) detail: Cow<'a, str>,
    /// The client's address; empty for the command and the service.
    pub(crate) address: &'a str,
    pub(crate) at_ms: i64,
}

impl Entry<'_> {
    /// No details.
    pub(crate) const NONE: Cow<'static, str> = Cow::Borrowed("{}");

    /// Returns the entry with details.
    pub(crate) fn with(self, detail: &impl Serialize) -> Self {
        Self { detail: serde_json::to_string(detail).map_or(Self::NONE, Cow::Owned), ..self }
    }
}

/// The author of a change: an operator, the command line, or somebody unknown.
#[derive(Clone, Debug)]
pub(crate) struct Author {
    id: String,
    name: String,
    address: String,
}

impl Author {
    /// An operator, or who else has an id, at a client's address.
    pub(crate) fn new(id: &str, name: String, address: &str) -> Self {
        Self { id: id.to_owned(), name, address: address.to_owned() }
    }

    /// The command line.
    pub(crate) fn command() -> Self {
        Self::new("command", "command".to_owned(), "")
    }

    /// Somebody who is not signed in, at a client's address.
    pub(crate) fn stranger(address: &str) -> Self {
        Self::new("", "unknown".to_owned(), address)
    }

    /// Returns the entry of a change, without details.
    pub(crate) fn entry<'a>(
        &'a self,
        tenant_id: &'a str,
        action: &'a str,
        target: &'a str,
        at_ms: i64,
    ) -> Entry<'a> {
        let Self { id, name, address } = self;
        Entry { tenant_id, actor_id: id, actor: name, action, target, detail: Entry::NONE, address, at_ms }
    }
}

/// Adds an entry, in the transaction of the change.
pub(crate) async fn record(tx: &mut Tx, entry: &Entry<'_>) -> Result<(), DbError> {
    let sql = "INSERT INTO audit (tenant_id, at_ms, actor_id, actor, action, target, detail, address)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    let values = args![
        entry.tenant_id,
        entry.at_ms,
        entry.actor_id,
        entry.actor,
        entry.action,
        entry.target,
        &*entry.detail,
        entry.address,
    ];
    tx.execute(sql, values).await?;
    Ok(())
}

/// Maximum entries of a page.
const MAX_PAGE: i64 = 200;
const DEFAULT_PAGE: i64 = 50;

/// Maximum entries of an export.
const MAX_EXPORTED: i64 = 10_000;

/// The entries to return. The default is all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    /// The beginning of the action's name.
    pub(crate) action: String,
    /// A part of the actor's name or address, or of the target.
    pub(crate) text: String,
    /// The earliest time.
    pub(crate) from_ms: Option<i64>,
    /// The time before which they were made.
    pub(crate) to_ms: Option<i64>,
}

impl Filter {
    async fn rows(
        &self,
        db: &Db,
        tenant_id: &str,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<Row>, DbError> {
        let sql = "SELECT no, at_ms, actor_id, actor, action, target, detail, address FROM audit
                   WHERE tenant_id = $1 AND no < $2 AND ($4 = '' OR action LIKE $4 ESCAPE '!')
                       AND ($5 = '' OR lower(actor) LIKE lower($5) ESCAPE '!'
                           OR lower(target) LIKE lower($5) ESCAPE '!')
                       AND at_ms >= $6 AND at_ms < $7
                   ORDER BY no DESC LIMIT $3";
        let values = args![
            tenant_id,
            before.unwrap_or(i64::MAX),
            limit,
            beginning_with(&self.action),
            containing(&self.text),
            self.from_ms.unwrap_or(0),
            self.to_ms.unwrap_or(i64::MAX),
        ];
        db.all(sql, values).await
    }
}

/// Returns a page of a tenant's entries, the newest first. `before` is the `next` of the page before.
pub(crate) async fn list(
    db: &Db,
    tenant_id: &str,
    filter: &Filter,
    before: Option<i64>,
    limit: Option<i64>,
) -> Result<AuditPage, DbError> {
    let limit = limit.unwrap_or(DEFAULT_PAGE).clamp(1, MAX_PAGE);
    let mut rows = filter.rows(db, tenant_id, before, limit + 1).await?;
    let shown = usize::try_from(limit).unwrap_or(usize::MAX);
    let has_more = rows.len() > shown;
    rows.truncate(shown);
    let next = rows.last().filter(|_| has_more).map(|row| row.int(0)).transpose()?;
    Ok(AuditPage { entries: rows.iter().map(read).collect::<Result<_, _>>()?, next })
}

/// Returns a tenant's entries as CSV, the newest first, at most [`MAX_EXPORTED`].
pub(crate) async fn export(db: &Db, tenant_id: &str, filter: &Filter) -> Result<String, ApiError> {
    let mut csv = String::new();
    push_line(&mut csv, ["time", "actor", "action", "target", "details", "address"]);
    for row in filter.rows(db, tenant_id, None, MAX_EXPORTED).await? {
        let (at, actor, action) = (iso(row.int(1)?), row.text(3)?, row.text(4)?);
        let (target, detail, address) = (row.text(5)?, row.text(6)?, row.text(7)?);
        push_line(&mut csv, [&*at, &*actor, &*action, &*target, &*detail, &*address]);
    }
    Ok(csv)
}

fn read(row: &Row) -> Result<AuditEntry, DbError> {
    Ok(AuditEntry {
        no: row.int(0)?,
        at: iso(row.int(1)?),
        actor_id: row.text(2)?,
        actor: row.text(3)?,
        action: row.text(4)?,
        target: row.text(5)?,
        detail: serde_json::from_str(&row.text(6)?).unwrap_or_default(),
        address: row.text(7)?,
    })
}
