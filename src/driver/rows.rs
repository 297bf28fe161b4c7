//! The messages as rows of the log: where a group and a day begin, and which message shows its delivery.

use std::rc::Rc;

use chat_protocol::Role;
use chat_session::{Created, Delivery, Entry, EntryKey};

/// Maximum time between two messages of one group. Milliseconds.
const MAX_GROUP_GAP_MS: f64 = 5.0 * 60.0 * 1000.0;

/// One message, and its place among its neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The key of the message.
    pub key: EntryKey,
    /// The author.
    pub author: Role,
    /// The text.
    pub text: Rc<str>,
    /// The time of the message, as the session has it.
    pub created: Option<Created>,
    /// The time in milliseconds since the Unix epoch, if it is known.
    pub created_ms: Option<f64>,
    /// The local day of the last message up to this one whose time is known, as a number.
    pub day: Option<i64>,
    /// The state of the delivery.
    pub delivery: Delivery,
    /// Whether a day begins with this row.
    pub new_day: bool,
    /// Whether the row begins a group and shows the name and the avatar.
    pub first: bool,
    /// Whether an operator takes over from the assistant with this row.
    pub joins: bool,
    /// Whether the row ends a group and shows the time.
    pub last: bool,
    /// Whether this is the newest message of the visitor, which alone shows that it was delivered.
    pub newest: bool,
}

impl Row {
    /// Returns whether the row is up to date with this entry. Texts are shared, so that comparing pointers
    /// suffices.
    fn shows(&self, entry: &Entry) -> bool {
        let created = match (&self.created, &entry.created) {
            (Some(Created::Remote(shown)), Some(Created::Remote(known))) => Rc::ptr_eq(shown, known),
            (shown, known) => shown == known,
        };
        created && self.delivery == entry.delivery && Rc::ptr_eq(&self.text, &entry.text)
    }
}

/// Brings rows up to date, from the first entry that differs: the cost of a message does not grow with the
/// conversation. `read_date` parses a date of the service, `day_of` returns the local day of a time.
pub fn update_rows(
    rows: &mut Vec<Row>,
    entries: &[Entry],
    read_date: impl Fn(&str) -> Option<f64>,
    day_of: impl Fn(f64) -> i64,
) {
    if let Some(newest) = rows.iter_mut().rev().find(|row| row.newest) {
        newest.newest = false;
    }
    let same = rows.iter().zip(entries).take_while(|(row, entry)| row.shows(entry)).count();
    // The last row that stays may no longer end its group.
    let same = same.saturating_sub(1);
    rows.truncate(same);
    let mut today = rows.last().and_then(|row| row.day);
    let mut answers = rows.iter().rev().find(|row| row.author != Role::Visitor).map(|row| row.author.clone());
    for entry in &entries[same..] {
        let created_ms = entry.created.as_ref().and_then(|created| match created {
            #[expect(clippy::cast_precision_loss, reason = "a time in milliseconds fits 53 bits")]
            Created::Local(ms) => Some(*ms as f64),
            Created::Remote(text) => read_date(text),
        });
        let day = created_ms.map(&day_of);
        let new_day = day.is_some() && day != today;
        today = day.or(today);
        let continues = !new_day
            && rows.last().is_some_and(|previous| {
                previous.author == entry.author
                    && created_ms
                        .zip(previous.created_ms)
                        .is_none_or(|(now, then)| (now - then).abs() <= MAX_GROUP_GAP_MS)
            });
        if continues && let Some(previous) = rows.last_mut() {
            previous.last = false;
        }
        let joins = entry.author == Role::Operator && answers.as_ref() != Some(&Role::Operator);
        if entry.author != Role::Visitor {
            answers = Some(entry.author.clone());
        }
        rows.push(Row {
            key: entry.key,
            author: entry.author.clone(),
            text: entry.text.clone(),
            created: entry.created.clone(),
            created_ms,
            day: today,
            delivery: entry.delivery,
            new_day,
            first: !continues,
            joins,
            last: true,
            newest: false,
        });
    }
    if let Some(newest) = rows.iter_mut().rev().find(|row| row.author == Role::Visitor) {
        newest.newest = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat_session::{Answer, Input, Session, Start};

    const MINUTE_MS: u64 = 60_000;

    /// Returns the rows of a conversation with messages of these roles, at these minutes.
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
        // No other tab objects to its leadership.
        let effects = session.handle(300, Input::TimerFired);
        let read = effects.into_iter().find_map(|effect| match effect {
            chat_session::Effect::Request(request)
                if request.endpoint == chat_protocol::Endpoint::Messages =>
            {
                Some(request.id)
            }
            _ => None,
        });
        let answer =
            Answer { status: 200, body: serde_json::from_str(&body).expect("JSON"), ..Answer::default() };
        session.handle(301, Input::Answered(read.expect("a read"), answer));
        let mut rows = Vec::new();
        add(&mut rows, session.entries());
        rows
    }

    fn add(rows: &mut Vec<Row>, entries: &[Entry]) {
        let day_ms = 24.0 * 60.0 * 60_000.0;
        #[expect(clippy::cast_possible_truncation, reason = "a small number of days")]
        update_rows(rows, entries, |text| text.parse().ok(), |ms| (ms / day_ms).floor() as i64);
    }

    #[test]
    fn updating_rows_equals_building_them_from_scratch() {
        let mut session = Session::start(Start { online: true, visible: true, ..Start::default() }).0;
        let mut rows = Vec::new();
        for (now_ms, text) in
            [(0, "one"), (MINUTE_MS, "two"), (9 * MINUTE_MS, "three"), (1500 * MINUTE_MS, "four")]
        {
            session.handle(now_ms, Input::Send { text: text.to_owned(), page_path: String::new() });
            add(&mut rows, session.entries());
            let mut anew = Vec::new();
            add(&mut anew, session.entries());
            assert_eq!(rows, anew, "after {text}");
        }
        assert_eq!(rows.iter().filter(|row| row.newest).count(), 1);
        let first = session.entries()[0].key;
        session.handle(1501 * MINUTE_MS, Input::Retry(first));
        add(&mut rows, &session.entries()[1..]);
        assert_eq!(rows.len(), 3, "a message that is gone is not shown");
    }

    fn shape(messages: &[(&str, u64)]) -> Vec<(bool, bool)> {
        rows(messages).iter().map(|row| (row.first, row.last)).collect()
    }

    #[test]
    fn messages_of_one_author_within_five_minutes_form_a_group() {
        let messages =
            [("assistant", 0), ("assistant", 5), ("assistant", 11), ("operator", 11), ("operator", 12)];
        assert_eq!(
            shape(&messages),
            [(true, false), (false, true), (true, true), (true, false), (false, true)]
        );
    }

    #[test]
    fn a_new_day_begins_a_new_group() {
        let midnight = 24 * 60;
        let rows = rows(&[("operator", midnight - 1), ("operator", midnight), ("operator", midnight + 1)]);
        let days: Vec<bool> = rows.iter().map(|row| row.new_day).collect();
        assert_eq!(days, [true, true, false]);
        assert_eq!((rows[0].last, rows[1].first), (true, true));
    }

    #[test]
    fn an_operator_joins_after_a_reply_of_the_assistant() {
        let order = ["visitor", "assistant", "operator", "visitor", "operator", "assistant", "operator"];
        let rows = rows(&order.map(|author| (author, 0)));
        let joins: Vec<bool> = rows.iter().map(|row| row.joins).collect();
        assert_eq!(joins, [false, false, true, false, false, false, true]);
    }

    #[test]
    fn only_the_visitors_newest_message_is_the_newest() {
        let rows = rows(&[("visitor", 0), ("visitor", 1), ("assistant", 2)]);
        let newest: Vec<bool> = rows.iter().map(|row| row.newest).collect();
        assert_eq!(newest, [false, true, false]);
    }
}
