//! Writes to storage, and their broadcasts to the other tabs.

use chat_protocol::{Value, VisitorProfile};

use super::Session;
use crate::Effect;
use crate::outbox::PendingMessage;
use crate::stored::{VERSION, keys};
use crate::tab_message::TabMessage;
use crate::timeline::EntryKey;

impl Session {
    /// Returns the storage key of a name.
    fn key(&self, name: &str) -> String {
        [keys::PREFIX, name, &self.suffix].concat()
    }

    /// Stores a value under a name, and broadcasts it; null removes it.
    pub(super) fn persist(&mut self, name: &str, value: Value) {
        let text = (value != Value::Null).then(|| value.to_json());
        let key = self.key(name);
        self.effects.push(Effect::Store(key, text));
        self.broadcast(TabMessage::Stored { name, value });
    }

    pub(super) fn persist_visitor(&mut self) {
        let value = Value::object([("v", VERSION.into()), ("visitorId", (&self.visitor_id).into())]);
        self.effects.push(Effect::Store(self.key(keys::VISITOR), Some(value.to_json())));
    }

    /// Stores contact details that the visitor left, with those from before that are not among them. What the site says
    /// of the visitor is the site's to store.
    pub(super) fn persist_contact(&mut self, given: &VisitorProfile) {
        let before = std::mem::take(&mut self.contact);
        let detail = |name: &'static str, given: &Option<String>| {
            (name, given.as_deref().or_else(|| before.get(name)?.as_text()).into())
        };
        self.contact = Value::object([
            ("v", VERSION.into()),
            ("visitorId", (&self.visitor_id).into()),
            detail("name", &given.name),
            detail("email", &given.email),
            detail("phone", &given.phone),
        ]);
        self.persist(keys::CONTACT, self.contact.clone());
    }

    pub(super) fn persist_seen(&mut self) {
        let seen = Value::object([("v", VERSION.into()), ("serial", self.timeline.seen().into())]);
        self.persist(keys::SEEN, seen);
    }

    pub(super) fn persist_config(&mut self, data: Value) {
        let value = Value::object([("v", VERSION.into()), ("data", data)]);
        // One for all customers.
        let key = [keys::PREFIX, keys::CONFIG].concat();
        self.effects.push(Effect::Store(key, Some(value.to_json())));
        self.broadcast(TabMessage::Stored { name: keys::CONFIG, value });
    }

    pub(super) fn persist_pending(&mut self, entry: EntryKey) {
        if let Some(pending) = self.outbox.get(entry) {
            let name = [keys::OUTBOX, pending.id()].concat();
            let value = pending.to_stored(&self.visitor_id);
            self.persist(&name, value);
        }
    }

    /// Stores the pending messages for which `which` is true.
    pub(super) fn persist_outbox(&mut self, which: impl Fn(&PendingMessage) -> bool) {
        let mut messages = Vec::new();
        for pending in self.outbox.iter().filter(|pending| which(pending)) {
            messages.push(([keys::OUTBOX, pending.id()].concat(), pending.to_stored(&self.visitor_id)));
        }
        for (name, value) in messages {
            self.persist(&name, value);
        }
    }

    /// The conversation as it is now, to be kept and told.
    pub(super) fn publish(&mut self) {
        self.revision += 1;
        self.writer.replace_range(.., self.election.tab());
        self.snapshot_dirty = false;
        self.persist_visitor();
        self.persist_conversation();
        self.snapshot_shrink = self.snapshot_shrink.saturating_sub(1);
    }

    fn persist_conversation(&mut self) {
        // The other tabs have room for it, whatever storage has.
        let wanted = std::mem::take(&mut self.full_snapshot_requested);
        let told = self.shared((!wanted).then_some(0));
        let kept = if self.snapshot_shrink == 0 && !wanted {
            told.to_json()
        } else {
            self.shared(Some(self.snapshot_shrink)).to_json()
        };
        self.store_conversation(kept);
        self.broadcast(TabMessage::Stored { name: keys::CONVERSATION, value: told });
    }

    pub(super) fn store_conversation(&mut self, kept: String) {
        let key = self.key(keys::CONVERSATION);
        self.effects.push(Effect::Store(key, Some(kept)));
    }

    /// Everything that this tab knows, for a browser that did not keep it or a tab that has not heard it.
    pub(super) fn retry_persist(&mut self) {
        self.persist_visitor();
        self.persist_outbox(|_| true);
        self.persist_conversation();
        self.persist_seen();
        if self.contact != Value::Null {
            self.persist(keys::CONTACT, self.contact.clone());
        }
    }

    /// Forgets all that is kept of this visitor.
    pub(super) fn erase_stored(&mut self) {
        let mut names = self.tracking.clear();
        for pending in self.outbox.iter() {
            names.push([keys::OUTBOX, pending.id()].concat());
        }
        for name in [keys::CONVERSATION, keys::SEEN, keys::CONTACT] {
            names.push(name.to_owned());
        }
        for name in names {
            let key = self.key(&name);
            self.effects.push(Effect::Store(key, None));
        }
    }
}
