//! The conversation as the tab that leads keeps and tells it, and as the others take it over.

use chat_protocol::{Fields, MessageId, Role, Value};

use crate::outbox::is_valid_id;
use crate::stored::{self, VERSION, to_value};
use crate::timeline::{Created, Delivery, Entry, EntryKey};
use crate::{Notice, Session, SessionEvent};

/// So many characters of messages are kept and told, the last ones. They are written at each message, and a browser has a
/// few megabytes for all that a site keeps.
const MAX_SNAPSHOT_CHARS: usize = 16 * 1024;
/// What an entry takes beside its text.
const ENTRY_OVERHEAD_CHARS: usize = 128;

const UNDELIVERED: [(Delivery, &str); 3] =
    [(Delivery::Waiting, "waiting"), (Delivery::Sending, "sending"), (Delivery::Failed, "failed")];

fn entry_to_value(entry: &Entry) -> Value {
    let delivery = UNDELIVERED.iter().find(|(delivery, _)| *delivery == entry.delivery);
    Value::object([
        ("letter", entry.local_id.as_deref().into()),
        ("serial", entry.sequence.into()),
        ("id", entry.id.as_ref().into()),
        ("role", entry.author.as_str().into()),
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
    // Without a name that its key can carry, a message could never be sent.
    if !local_id.as_deref().map_or(delivery.is_none(), is_valid_id) {
        return None;
    }
    Some(Entry {
        key: EntryKey::default(),
        author: Role::from(fields.text("role").ok()?.as_str()),
        text: fields.text("text").ok()?.into(),
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

impl Session {
    /// What all tabs show, as much of it as goes into [`MAX_SNAPSHOT_CHARS`] halved so often; all of it without a number.
    pub(super) fn shared(&self, snapshot_shrink: Option<u32>) -> Value {
        let entries = self.timeline.entries();
        let mut room =
            snapshot_shrink.map_or(usize::MAX, |snapshot_shrink| MAX_SNAPSHOT_CHARS >> snapshot_shrink);
        let fitting = entries.iter().rev().take_while(|entry| {
            let size = entry.text.len() + ENTRY_OVERHEAD_CHARS;
            let fits = room >= size;
            room = room.saturating_sub(size);
            fits
        });
        let dropped = entries.len() - fitting.count();
        // One more than the index; none is zero.
        let read_up_to =
            self.timeline.index_read_up_to().map_or(0, |index| index + 1).saturating_sub(dropped);
        Value::object([
            ("v", VERSION.into()),
            ("visitorId", (&self.visitor_id).into()),
            ("revision", to_value(self.revision)),
            ("writer", self.writer.as_str().into()),
            ("term", to_value(self.election.term())),
            ("conversationId", self.conversation.as_ref().into()),
            ("after", self.timeline.cursor().into()),
            ("readUpTo", to_value(read_up_to as u64)),
            ("floor", to_value(self.timeline.archived_len().saturating_sub(dropped) as u64)),
            ("cut", (dropped > 0 || self.timeline.is_truncated()).into()),
            ("newest", self.timeline.newest().into()),
            ("notice", self.notice.map(Notice::as_str).into()),
            ("operatorOnline", self.operator_online.into()),
            ("replyDue", self.poller.reply_due_ms().map_or(Value::Null, to_value)),
            ("holdUntil", to_value(self.poller.hold_until_ms())),
            ("deferred", self.deferred.into()),
            ("entries", Value::List(entries[dropped..].iter().map(entry_to_value).collect())),
        ])
    }

    /// Takes over what the tab that leads has told, or an earlier page has kept, if it is newer than what is known.
    /// `live` tells the page what came in.
    pub(super) fn adopt(&mut self, shared: Value, live: bool) {
        let text = |field| shared.get(field).and_then(Value::as_text);
        let number = |field| stored::number(&shared, field);
        let is = |field| shared.get(field) == Some(&Value::Bool(true));
        let revision = number("revision");
        let conversation = text("conversationId").filter(|id| (1..=512).contains(&id.len()));
        // Version 1 kept the id alone: all that is read then was said before.
        let id_alone = revision == 0 && self.revision == 0 && conversation.is_some() && !live;
        if !self.is_of_visitor(&shared) || (revision <= self.revision && !id_alone) {
            return;
        }
        // Should it lead as well: what it reads does not go on from where the other one has come to.
        self.cancel_polls();
        self.revision = revision.max(1);
        self.election.observe_term(number("term"));
        self.conversation = conversation.map(Into::into);
        self.notice = text("notice").and_then(Notice::of);
        self.poller.apply_remote_reply_wait(Some(number("replyDue")).filter(|due| *due > 0));
        self.poller.apply_remote_hold(number("holdUntil"));
        self.deferred = is("deferred");
        let operator_online = shared.get("operatorOnline").map(|_| is("operatorOnline"));
        if live && operator_online != self.operator_online {
            self.emit(SessionEvent::Presence(operator_online == Some(true)));
        }
        self.operator_online = operator_online;
        let cut = is("cut");
        // Storage may have had less room for it than there is between tabs: then it is not what its writer told them.
        text("writer").filter(|_| live || !cut).unwrap_or_default().clone_into(&mut self.writer);
        let index = |field| usize::try_from(number(field)).unwrap_or(0);
        let (archived_len, read_up_to) = (index("floor"), index("readUpTo").checked_sub(1));
        let newest_told = i64::try_from(number("newest")).unwrap_or(0);
        let after = text("after").map(MessageId::from);
        let mut entries: Vec<Entry> = Vec::new();
        for value in Fields::lenient(shared).list("entries").unwrap_or_default() {
            // A message has one place: with two, it would be given up in one and waited for in the other.
            let listed = |entry: &Entry| {
                entry.local_id.is_some() && entries.iter().any(|known| known.local_id == entry.local_id)
            };
            entries.extend(entry_from_value(value).filter(|entry| !listed(entry)));
        }
        let mut told = Vec::new();
        for entry in &entries {
            told.extend(entry.local_id.clone());
        }
        if id_alone {
            self.poller.backfill();
        }
        let newest = self.timeline.newest();
        // What this tab had not heard of the beginning was said before.
        let beginning = self.timeline.is_truncated() && !cut;
        let archived_len = archived_len.min(entries.len());
        for entry in self.timeline.adopt(entries, after, read_up_to, archived_len, cut) {
            let arrived = (entry.local_id.is_some() && !beginning) || entry.sequence > newest;
            if live && arrived && entry.delivery == Delivery::Delivered {
                self.emit(SessionEvent::Message(entry));
            }
        }
        // What storage had no room for may hold more than this page knows of that time.
        if cut && !live {
            self.timeline.mark_truncated();
        }
        // Messages that were cut away are counted.
        self.timeline.count_from(newest_told);
        self.reconcile_outbox(&told);
        self.restore_missing(&told);
        // Even a tab that leads as well has nothing to add: two of them would answer each other for ever.
        self.snapshot_dirty = false;
        self.view_dirty = true;
    }
}
