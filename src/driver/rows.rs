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

#[cfg(test)]
mod tests {
    use super::*;
    use chat_session::{Answer, Input, Session, Start};

    const MINUTE_MS: u64 = 60_000;

    /// The rows of a conversation whose messages were written by these, at these minutes.
    fn rows(messages: &[(&str, u64)]) -> Vec<Row> {
        let list: Vec<String> = messages
            .iter()
            .enumerate()
            .map(|(index, (role, minute))| {
                format!(
                    r#"{{"id":"{index}","role":"{role}","content":"x","createdAt":"{}"}}"#,
                    minute * MINUTE_MS
                )
            })
            .collect();
        let body = format!(r#"{{"ok":true,"data":{{"messages":[{}]}}}}"#, list.join(","));
        let stored = vec![(
            "chat-widget:conversation".to_owned(),
            serde_json::from_str(r#"{"conversationId":"c1"}"#).expect("JSON"),
        )];
        let start = Start { stored, visible: true, online: true, ..Start::default() };
        let (mut session, _) = Session::start(start);
        // Nobody objects to its lead.
        let effects = session.handle(300, Input::Woke);
        let read = effects.into_iter().find_map(|effect| match effect {
            chat_session::Effect::Request(request)
                if request.endpoint == chat_protocol::Endpoint::Messages =>
            {
                Some(request.id)
            }
            _ => None,
        });
        let answer =
            Answer { status: 200, retry_after_ms: None, body: serde_json::from_str(&body).expect("JSON") };
        session.handle(301, Input::Answered(read.expect("a read"), answer));
        let day_ms = 24.0 * 60.0 * 60_000.0;
        #[expect(clippy::cast_possible_truncation, reason = "a small number of days")]
        lay_out(session.entries(), |text| text.parse().ok(), |ms| (ms / day_ms).floor() as i64)
    }

    fn shape(messages: &[(&str, u64)]) -> Vec<(bool, bool)> {
        rows(messages).iter().map(|row| (row.first, row.last)).collect()
    }

    #[test]
    fn messages_of_one_author_within_five_minutes_are_a_group() {
        let messages =
            [("assistant", 0), ("assistant", 5), ("assistant", 11), ("operator", 11), ("operator", 12)];
        assert_eq!(
            shape(&messages),
            [(true, false), (false, true), (true, true), (true, false), (false, true)]
        );
    }

    #[test]
    fn a_day_begins_with_its_first_message_and_parts_a_group() {
        let midnight = 24 * 60;
        let rows = rows(&[("operator", midnight - 1), ("operator", midnight), ("operator", midnight + 1)]);
        let days: Vec<bool> = rows.iter().map(|row| row.new_day).collect();
        assert_eq!(days, [true, true, false]);
        assert_eq!((rows[0].last, rows[1].first), (true, true));
    }

    #[test]
    fn only_the_visitors_newest_message_is_the_newest() {
        let rows = rows(&[("visitor", 0), ("visitor", 1), ("assistant", 2)]);
        let newest: Vec<bool> = rows.iter().map(|row| row.newest).collect();
        assert_eq!(newest, [false, true, false]);
    }
}
