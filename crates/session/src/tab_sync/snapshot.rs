//! The snapshot of the conversation that is stored and broadcast, and its one codec.

use std::rc::Rc;

use chat_protocol::{ConversationId, Fields, MessageId, Role, Value, VisitorId};

use crate::Notice;
use crate::outbox::is_valid_id;
use crate::stored::{self, VERSION, to_value};
use crate::timeline::{Created, Delivery, Entry, EntryKey, Timeline};

/// Maximum number of characters of messages in a snapshot, the last ones. It is written with each message,
/// and a browser has a few megabytes for all that a site stores.
const MAX_SNAPSHOT_CHARS: usize = 16 * 1024;
/// The size of an entry beside its text.
const ENTRY_OVERHEAD_CHARS: usize = 128;
/// Maximum length of a conversation's id.
const MAX_CONVERSATION_ID_LEN: usize = 512;

const UNDELIVERED: [(Delivery, &str); 3] =
    [(Delivery::Waiting, "waiting"), (Delivery::Sending, "sending"), (Delivery::Failed, "failed")];

/// The state that a snapshot is encoded from.
#[derive(Debug)]
pub(crate) struct LocalState<'a> {
    pub(crate) visitor: &'a VisitorId,
    pub(crate) revision: u64,
    pub(crate) writer: &'a str,
    pub(crate) term: u64,
    pub(crate) conversation: Option<&'a ConversationId>,
    pub(crate) timeline: &'a Timeline,
    pub(crate) notice: Option<Notice>,
    pub(crate) operator_online: Option<bool>,
    pub(crate) reply_due_ms: Option<u64>,
    pub(crate) hold_until_ms: u64,
    pub(crate) deferred: bool,
    pub(crate) awaits_person_until_ms: u64,
}

/// A snapshot of another tab, or of an earlier page.
#[derive(Debug, Default)]
pub(crate) struct Snapshot<'a> {
    pub(crate) revision: u64,
    pub(crate) writer: &'a str,
    pub(crate) term: u64,
    pub(crate) conversation: Option<ConversationId>,
    /// The position after which messages are polled.
    pub(crate) after: Option<MessageId>,
    /// The entry that the last poll ended with.
    pub(crate) polled_up_to: Option<usize>,
    /// The number of entries of a conversation that is gone.
    pub(crate) archived_len: usize,
    /// Messages before the first entry are missing.
    pub(crate) is_truncated: bool,
    /// The sequence of the newest message.
    pub(crate) newest: i64,
    pub(crate) notice: Option<Notice>,
    pub(crate) operator_online: Option<bool>,
    pub(crate) reply_due_ms: Option<u64>,
    pub(crate) hold_until_ms: u64,
    pub(crate) deferred: bool,
    pub(crate) awaits_person_until_ms: u64,
    pub(crate) entries: Vec<Entry>,
}

impl LocalState<'_> {
    /// Returns the snapshot, with as many messages as fit into [`MAX_SNAPSHOT_CHARS`] halved `shrink` times;
    /// all of them without a number.
    pub(crate) fn encode(&self, shrink: Option<u32>) -> Value {
        let entries = self.timeline.entries();
        let mut room = shrink.map_or(usize::MAX, |shrink| MAX_SNAPSHOT_CHARS >> shrink);
        let fitting = entries.iter().rev().take_while(|entry| {
            let size = entry.text.len() + ENTRY_OVERHEAD_CHARS;
            let fits = room >= size;
            room = room.saturating_sub(size);
            fits
        });
        let dropped = entries.len() - fitting.count();
        // The index plus one; zero means none.
        let polled_up_to =
            self.timeline.index_polled_up_to().map_or(0, |index| index + 1).saturating_sub(dropped);
        Value::object([
            ("v", VERSION.into()),
            ("visitorId", self.visitor.into()),
            ("revision", to_value(self.revision)),
            ("writer", self.writer.into()),
            ("term", to_value(self.term)),
            ("conversationId", self.conversation.into()),
            ("after", self.timeline.cursor().into()),
            ("readUpTo", to_value(polled_up_to as u64)),
            ("floor", to_value(self.timeline.archived_len().saturating_sub(dropped) as u64)),
            ("cut", (dropped > 0 || self.timeline.is_truncated()).into()),
            ("newest", self.timeline.newest().into()),
            ("notice", self.notice.map(Notice::as_str).into()),
            ("operatorOnline", self.operator_online.into()),
            ("replyDue", self.reply_due_ms.map_or(Value::Null, to_value)),
            ("holdUntil", to_value(self.hold_until_ms)),
            ("deferred", self.deferred.into()),
            ("awaitsPersonUntil", to_value(self.awaits_person_until_ms)),
            ("entries", Value::List(entries[dropped..].iter().map(entry_to_value).collect())),
        ])
    }
}

impl<'a> Snapshot<'a> {
    /// Reads a snapshot. Fields that are missing, or make no sense, are empty, zero or false.
    pub(crate) fn decode(value: &'a mut Value) -> Self {
        let list = stored::take_member(value, "entries");
        let value = &*value;
        let text = |field| value.get(field).and_then(Value::as_text);
        let number = |field| stored::number(value, field);
        let index = |field| usize::try_from(number(field)).unwrap_or(0);
        let is = |field| value.get(field) == Some(&Value::Bool(true));
        let is_valid = |id: &&str| (1..=MAX_CONVERSATION_ID_LEN).contains(&id.len());
        let mut snapshot = Self {
            revision: number("revision"),
            writer: text("writer").unwrap_or_default(),
            term: number("term"),
            conversation: text("conversationId").filter(is_valid).map(Into::into),
            after: text("after").map(Into::into),
            polled_up_to: index("readUpTo").checked_sub(1),
            archived_len: index("floor"),
            is_truncated: is("cut"),
            newest: i64::try_from(number("newest")).unwrap_or(0),
            notice: text("notice").and_then(Notice::of),
            operator_online: value.get("operatorOnline").map(|_| is("operatorOnline")),
            reply_due_ms: Some(number("replyDue")).filter(|due| *due > 0),
            hold_until_ms: number("holdUntil"),
            deferred: is("deferred"),
            awaits_person_until_ms: number("awaitsPersonUntil"),
            entries: Vec::new(),
        };
        let entries = &mut snapshot.entries;
        for value in if let Value::List(list) = list { list } else { Vec::new() } {
            // A message has one position. With two, it could fail in one and wait in the other.
            let is_listed = |entry: &Entry| {
                entry.local_id.is_some() && entries.iter().any(|known| known.local_id == entry.local_id)
            };
            if let Some(entry) = entry_from_value(value)
                && !is_listed(&entry)
            {
                entries.push(entry);
            }
        }
        snapshot.archived_len = snapshot.archived_len.min(snapshot.entries.len());
        snapshot
    }

    /// Returns the ids of the messages that were written in this browser.
    pub(crate) fn local_ids(&self) -> Vec<Rc<str>> {
        let mut ids = Vec::new();
        for entry in &self.entries {
            ids.extend(entry.local_id.clone());
        }
        ids
    }
}

fn entry_to_value(entry: &Entry) -> Value {
    let delivery = UNDELIVERED.iter().find(|(delivery, _)| *delivery == entry.delivery);
    Value::object([
        ("letter", entry.local_id.as_deref().into()),
        ("serial", entry.sequence.into()),
        ("id", entry.id.as_ref().into()),
        ("role", entry.author.as_str().into()),
        ("name", entry.name.as_deref().into()),
        ("text", (*entry.text).into()),
        (
            "at",
            match &entry.created {
                Some(Created::Local(ms)) => to_value(*ms),
                Some(Created::Remote(text)) => (**text).into(),
                None => Value::Null,
            },
        ),
        ("delivery", delivery.map(|(_, name)| *name).into()),
    ])
}

fn entry_from_value(value: Value) -> Option<Entry> {
    let mut fields = Fields::of(value).ok()?;
    let delivery = fields.lenient_text("delivery");
    let delivery = UNDELIVERED.iter().find(|(_, name)| delivery.as_deref() == Some(name));
    let local_id = fields.lenient_text("letter");
    // An undelivered message needs an id that its key can carry: without one, it could never be sent.
    if !local_id.as_deref().map_or(delivery.is_none(), is_valid_id) {
        return None;
    }
    Some(Entry {
        key: EntryKey::default(),
        author: Role::from(fields.text("role").ok()?.as_str()),
        text: fields.text("text").ok()?.into(),
        name: fields.lenient_text("name").map(Into::into),
        created: match fields.take("at") {
            Value::Integer(ms) => Some(Created::Local(u64::try_from(ms).unwrap_or(0))),
            Value::Text(text) => Some(Created::Remote(text.into())),
            _ => None,
        },
        delivery: delivery.map_or(Delivery::Delivered, |(delivery, _)| *delivery),
        id: fields.lenient_text("id").map(Into::into),
        local_id: local_id.map(Into::into),
        sequence: fields.lenient_integer("serial").unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state<'a>(visitor: &'a VisitorId, timeline: &'a Timeline) -> LocalState<'a> {
        LocalState {
            visitor,
            revision: 3,
            writer: "a",
            term: 2,
            conversation: None,
            timeline,
            notice: Some(Notice::Quota),
            operator_online: Some(true),
            reply_due_ms: Some(1_700_000_000_000),
            hold_until_ms: 7,
            deferred: true,
            awaits_person_until_ms: 9,
        }
    }

    fn json(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn a_snapshot_is_decoded_as_it_was_encoded() {
        let (visitor, mut timeline) = (VisitorId::from("v1"), Timeline::default());
        timeline.write("m1", "one", 5, Delivery::Failed);
        timeline.write("m2", "two", 6, Delivery::Sending);
        let text = state(&visitor, &timeline).encode(Some(0)).to_json();
        let mut value = json(&text);
        let snapshot = Snapshot::decode(&mut value);
        assert_eq!((snapshot.revision, snapshot.writer, snapshot.term), (3, "a", 2));
        assert_eq!((snapshot.notice, snapshot.operator_online), (Some(Notice::Quota), Some(true)));
        assert_eq!((snapshot.reply_due_ms, snapshot.hold_until_ms), (Some(1_700_000_000_000), 7));
        assert!(snapshot.deferred && !snapshot.is_truncated);
        assert_eq!(snapshot.awaits_person_until_ms, 9);
        let [first, second] = &*snapshot.entries else { panic!("two entries") };
        assert_eq!(
            (&*first.text, first.delivery, &first.created),
            ("one", Delivery::Failed, &Some(Created::Local(5)))
        );
        assert_eq!((&*second.text, second.delivery), ("two", Delivery::Sending));
        assert_eq!(snapshot.local_ids(), ["m1".into(), "m2".into()]);
    }

    #[test]
    fn encodes_the_last_messages_that_fit() {
        let (visitor, mut timeline) = (VisitorId::from("v1"), Timeline::default());
        for (id, length) in [("m1", 900), ("m2", MAX_SNAPSHOT_CHARS / 4 - 128), ("m3", 1)] {
            timeline.write(id, &"t".repeat(length), 0, Delivery::Waiting);
        }
        let encoded = |shrink| state(&visitor, &timeline).encode(shrink);
        for (shrink, ids, is_truncated) in [
            (None, vec!["m1", "m2", "m3"], false),
            (Some(0), vec!["m1", "m2", "m3"], false),
            (Some(2), vec!["m3"], true),
            (Some(16), vec![], true),
        ] {
            let mut value = encoded(shrink);
            let snapshot = Snapshot::decode(&mut value);
            let expected: Vec<Rc<str>> = ids.into_iter().map(Into::into).collect();
            assert_eq!((snapshot.local_ids(), snapshot.is_truncated), (expected, is_truncated), "{shrink:?}");
        }
    }

    #[test]
    fn a_message_listed_twice_keeps_its_first_position() {
        let entry = r#"{"letter":"m1","role":"visitor","text":"a","delivery":"failed"}"#;
        let mut value = json(&format!(r#"{{"entries":[{entry},{entry}],"floor":9}}"#));
        let snapshot = Snapshot::decode(&mut value);
        assert_eq!((snapshot.entries.len(), snapshot.archived_len), (1, 1));
    }

    #[test]
    fn unusable_snapshots_and_entries_are_empty() {
        for text in ["null", "7", "[]", "{}", r#"{"entries":7,"revision":-1,"conversationId":""}"#] {
            let mut value = json(text);
            let snapshot = Snapshot::decode(&mut value);
            assert_eq!((snapshot.revision, snapshot.entries.len()), (0, 0), "{text}");
            assert!(snapshot.conversation.is_none() && snapshot.reply_due_ms.is_none());
        }
        for entry in [
            "7",
            r#"{"text":"no role"}"#,
            r#"{"role":"visitor"}"#,
            r#"{"role":"visitor","text":"no id","delivery":"waiting"}"#,
            r#"{"letter":"not a key\n","role":"visitor","text":"a"}"#,
        ] {
            assert!(
                Snapshot::decode(&mut json(&format!(r#"{{"entries":[{entry}]}}"#))).entries.is_empty(),
                "{entry}"
            );
        }
    }
}
