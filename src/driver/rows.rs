//! The messages as rows of the log: where a group and a day begin, and which message shows its delivery.

use std::rc::Rc;

use chat_protocol::Role;
use chat_session::{Created, Delivery, Entry, EntryKey};

/// Maximum time between two messages of one group. Milliseconds.
const MAX_GROUP_GAP_MS: f64 = 5.0 * 60.0 * 1000.0;
/// Number of rows before those on the page that are ready, because the visitor may scroll to them.
const MARGIN: usize = 100;

/// One message, and its place among its neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The key of the message.
    pub key: EntryKey,
    /// The author.
    pub author: Role,
    /// The name of the operator who wrote it, if the service tells.
    pub name: Option<Rc<str>>,
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
    /// Whether an operator takes over from the assistant, or from another operator, with this row.
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

/// Rows of the newest messages, at least of those on the page: the cost of a message, in time and in memory,
/// does not grow with the conversation.
#[derive(Debug, Default)]
pub struct Rows {
    /// The number of messages before the first row.
    first: usize,
    list: Vec<Row>,
}

impl Rows {
    /// Returns the number of messages, those without rows included.
    pub fn len(&self) -> usize {
        self.first + self.list.len()
    }

    /// Returns whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all rows.
    pub fn newest(&self) -> &[Row] {
        &self.list
    }

    /// Returns the rows of the messages from one index to before another one, as far as there are any.
    pub fn range(&self, (from, to): (usize, usize)) -> &[Row] {
        let within = |index: usize| index.saturating_sub(self.first).min(self.list.len());
        &self.list[within(from).min(within(to))..within(to)]
    }

    /// Returns the index of the message with this key, if it has a row.
    pub fn index_of(&self, key: u32) -> Option<usize> {
        self.list.iter().rposition(|row| row.key.get() == key).map(|index| self.first + index)
    }

    /// Brings the rows up to date, from the first message that differs. `read_date` parses a date of the
    /// service, `day_of` returns the local day of a time.
    pub fn update(
        &mut self,
        entries: &[Entry],
        read_date: impl Fn(&str) -> Option<f64>,
        day_of: impl Fn(f64) -> i64,
    ) {
        // Messages before the first row may have come in, or be gone.
        let first = self.list.first().and_then(|row| entries.iter().rposition(|entry| entry.key == row.key));
        let first = first.unwrap_or(entries.len().saturating_sub(MARGIN));
        if std::mem::replace(&mut self.first, first) != first {
            // The row may no longer begin a day or a group.
            self.list.clear();
        }
        self.extend(entries, read_date, day_of);
    }

    /// Makes rows of the messages from this index on, and drops most of those before it.
    pub fn cover(
        &mut self,
        entries: &[Entry],
        from: usize,
        read_date: impl Fn(&str) -> Option<f64>,
        day_of: impl Fn(f64) -> i64,
    ) {
        if from < self.first || from > self.first + 2 * MARGIN {
            self.first = from.saturating_sub(MARGIN).min(entries.len());
            self.list.clear();
            self.extend(entries, read_date, day_of);
        }
    }

    fn extend(
        &mut self,
        entries: &[Entry],
        read_date: impl Fn(&str) -> Option<f64>,
        day_of: impl Fn(f64) -> i64,
    ) {
        let (earlier, entries) = entries.split_at(self.first.min(entries.len()));
        let rows = &mut self.list;
        if let Some(newest) = rows.iter_mut().rev().find(|row| row.newest) {
            newest.newest = false;
        }
        let same = rows.iter().zip(entries).take_while(|(row, entry)| row.shows(entry)).count();
        // The last row that stays may no longer end its group.
        let same = same.saturating_sub(1);
        rows.truncate(same);
        let time_of = |entry: &Entry| created_ms(entry, &read_date);
        let mut previous = rows.last().map(|row| (row.author.clone(), row.name.clone(), row.created_ms));
        let mut today = rows.last().and_then(|row| row.day);
        let mut answers = rows
            .iter()
            .rev()
            .find(|row| row.author != Role::Visitor)
            .map(|row| (row.author.clone(), row.name.clone()));
        previous = previous.or_else(|| {
            earlier.last().map(|entry| (entry.author.clone(), entry.name.clone(), time_of(entry)))
        });
        today = today.or_else(|| earlier.iter().rev().find_map(time_of).map(&day_of));
        answers = answers.or_else(|| {
            let answer = earlier.iter().rev().find(|entry| entry.author != Role::Visitor);
            answer.map(|entry| (entry.author.clone(), entry.name.clone()))
        });
        for entry in &entries[same..] {
            let created_ms = time_of(entry);
            let day = created_ms.map(&day_of);
            let new_day = day.is_some() && day != today;
            today = day.or(today);
            let continues = !new_day
                && previous.as_ref().is_some_and(|(author, name, then)| {
                    *author == entry.author
                        && may_be_same(name.as_ref(), entry.name.as_ref())
                        && created_ms
                            .zip(*then)
                            .is_none_or(|(now, then)| (now - then).abs() <= MAX_GROUP_GAP_MS)
                });
            if continues && let Some(previous) = rows.last_mut() {
                previous.last = false;
            }
            let author = (entry.author.clone(), entry.name.clone());
            let joins = entry.author == Role::Operator
                && answers.as_ref().is_none_or(|(author, name)| {
                    *author != Role::Operator || !may_be_same(name.as_ref(), entry.name.as_ref())
                });
            if entry.author != Role::Visitor {
                answers = Some(author);
            }
            previous = Some((entry.author.clone(), entry.name.clone(), created_ms));
            rows.push(Row {
                key: entry.key,
                author: entry.author.clone(),
                name: entry.name.clone(),
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
}

/// Returns whether two names may be those of one person. Messages of an earlier version have none.
fn may_be_same(one: Option<&Rc<str>>, other: Option<&Rc<str>>) -> bool {
    one.zip(other).is_none_or(|(one, other)| one == other)
}

/// Returns the time of a message in milliseconds since the Unix epoch, if it is known.
pub fn created_ms(entry: &Entry, read_date: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    entry.created.as_ref().and_then(|created| match created {
        #[expect(clippy::cast_precision_loss, reason = "a time in milliseconds fits 53 bits")]
        Created::Local(ms) => Some(*ms as f64),
        Created::Remote(text) => read_date(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat_session::{Answer, Input, Session, Start};

    const MINUTE_MS: u64 = 60_000;

    /// Returns the rows of a conversation with messages of these roles, at these minutes.
    fn rows(messages: &[(&str, u64)]) -> Vec<Row> {
        let mut rows = Rows::default();
        add(&mut rows, &entries(messages));
        rows.list
    }

    /// Returns such a conversation.
    fn entries(messages: &[(&str, u64)]) -> Vec<Entry> {
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
        session.entries().to_vec()
    }

    #[expect(clippy::cast_possible_truncation, reason = "a small number of days")]
    fn day_of(ms: f64) -> i64 {
        (ms / (24.0 * 60.0 * 60_000.0)).floor() as i64
    }

    fn add(rows: &mut Rows, entries: &[Entry]) {
        rows.update(entries, |text| text.parse().ok(), day_of);
    }

    fn cover(rows: &mut Rows, entries: &[Entry], from: usize) {
        rows.cover(entries, from, |text| text.parse().ok(), day_of);
    }

    #[test]
    fn another_operator_begins_a_group_and_joins() {
        let mut entries =
            entries(&[("assistant", 0), ("operator", 1), ("operator", 1), ("visitor", 2), ("operator", 2)]);
        for (entry, name) in entries.iter_mut().zip([None, Some("Mara"), Some("Tom"), None, Some("Tom")]) {
            entry.name = name.map(Into::into);
        }
        let mut rows = Rows::default();
        add(&mut rows, &entries);
        assert!(rows.list.iter().all(|row| row.first));
        assert_eq!(
            rows.list.iter().map(|row| row.joins).collect::<Vec<_>>(),
            [false, true, true, false, false]
        );
    }

    #[test]
    fn updating_rows_equals_building_them_from_scratch() {
        let mut session = Session::start(Start { online: true, visible: true, ..Start::default() }).0;
        let mut rows = Rows::default();
        for (now_ms, text) in
            [(0, "one"), (MINUTE_MS, "two"), (9 * MINUTE_MS, "three"), (1500 * MINUTE_MS, "four")]
        {
            session.handle(now_ms, Input::Send { text: text.to_owned(), page_path: String::new() });
            add(&mut rows, session.entries());
            let mut anew = Rows::default();
            add(&mut anew, session.entries());
            assert_eq!(rows.list, anew.list, "after {text}");
        }
        assert_eq!(rows.list.iter().filter(|row| row.newest).count(), 1);
        let first = session.entries()[0].key;
        session.handle(1501 * MINUTE_MS, Input::Retry(first));
        add(&mut rows, &session.entries()[1..]);
        assert_eq!(rows.len(), 3, "a message that is gone is not shown");
    }

    /// Returns a conversation longer than the rows made of it at first, with days, groups and people.
    fn long_conversation() -> Vec<Entry> {
        let authors = ["visitor", "assistant", "assistant", "operator", "operator"];
        let messages: Vec<(&str, u64)> =
            (0..500).map(|index| (authors[index % 5], index as u64 * 97 + index as u64 % 7)).collect();
        let entries = entries(&messages);
        assert!(entries.len() > 2 * MARGIN);
        entries
    }

    #[test]
    fn rows_of_the_newest_messages_equal_the_last_rows_of_all() {
        let entries = long_conversation();
        let mut all = Rows::default();
        add(&mut all, &entries);
        cover(&mut all, &entries, 0);
        assert_eq!((all.first, all.list.len()), (0, entries.len()));
        let mut newest = Rows::default();
        add(&mut newest, &entries);
        assert_eq!((newest.len(), newest.list.len()), (entries.len(), MARGIN));
        for from in [entries.len() - MARGIN, 250, 103, 0, 400] {
            cover(&mut newest, &entries, from);
            assert!(newest.first <= from && newest.first + 2 * MARGIN >= from, "from {from}");
            assert_eq!(newest.list, all.list[newest.first..], "from {from}");
            assert_eq!(newest.range((from, from + 40)), &all.list[from..entries.len().min(from + 40)]);
        }
    }

    #[test]
    fn rows_stay_those_of_their_messages_if_earlier_ones_come_in() {
        let entries = long_conversation();
        let mut rows = Rows::default();
        add(&mut rows, &entries[300..]);
        let first = rows.list[0].key;
        add(&mut rows, &entries);
        assert_eq!((rows.list[0].key, rows.first), (first, entries.len() - MARGIN));
        assert_eq!(rows.index_of(first.get()), Some(rows.first));
        let mut anew = Rows::default();
        add(&mut anew, &entries);
        assert_eq!(rows.list, anew.list);
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
