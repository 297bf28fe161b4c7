//! The messages as rows of the log: who begins a group, where a day begins, which message says how it fares.

use std::rc::Rc;

use chat_protocol::Role;
use chat_session::{Created, Delivery, Entry, EntryKey};

/// Messages of one author belong together when they are at most this far apart. Milliseconds.
const GROUP_MS: f64 = 5.0 * 60.0 * 1000.0;

/// One message, and how it stands among its neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Names the message.
    pub key: EntryKey,
    /// Who wrote it.
    pub author: Role,
    /// What it says.
    pub text: Rc<str>,
    /// When, in milliseconds since the Unix epoch; not known for every message.
    pub created_ms: Option<f64>,
    /// How far it has come.
    pub delivery: Delivery,
    /// The day as a number that differs between days, when a new one begins with this row.
    pub new_day: bool,
    /// It begins a group, so it carries the name and the avatar.
    pub first: bool,
    /// It ends a group, so it carries the time.
    pub last: bool,
    /// It is the newest message of the visitor, which alone says how far it has come.
    pub newest: bool,
}

/// Lays the messages out. `read_date` gives the time of what the service wrote as a date, `day_of` the local day.
pub fn lay_out(
    entries: &[Entry],
    read_date: impl Fn(&str) -> Option<f64>,
    day_of: impl Fn(f64) -> i64,
) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::with_capacity(entries.len());
    let mut today: Option<i64> = None;
    for entry in entries {
        let created_ms = entry.created.as_ref().and_then(|created| match created {
            #[expect(clippy::cast_precision_loss, reason = "a time in milliseconds fits 53 bits")]
            Created::Here(ms) => Some(*ms as f64),
            Created::There(text) => read_date(text),
        });
        let day = created_ms.map(&day_of);
        let new_day = day.is_some() && day != today;
        today = day.or(today);
        let joins = !new_day
            && rows.last().is_some_and(|before| {
                before.author == entry.author
                    && created_ms
                        .zip(before.created_ms)
                        .is_none_or(|(now, then)| (now - then).abs() <= GROUP_MS)
            });
        if joins && let Some(before) = rows.last_mut() {
            before.last = false;
        }
        rows.push(Row {
            key: entry.key,
            author: entry.author.clone(),
            text: entry.text.clone(),
            created_ms,
            delivery: entry.delivery,
            new_day,
            first: !joins,
            last: true,
            newest: false,
        });
    }
    if let Some(newest) = rows.iter_mut().rev().find(|row| row.author == Role::Visitor) {
        newest.newest = true;
    }
    rows
}
