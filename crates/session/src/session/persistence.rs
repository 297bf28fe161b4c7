//! Writes to storage, and their broadcasts to the other tabs.

use std::rc::Rc;

use chat_protocol::Value;

use super::Session;
use crate::Effect;
use crate::stored::{VERSION, keys};
use crate::tab_sync::TabMessage;
use crate::timeline::EntryKey;

impl Session {
    /// Returns the storage key of a name.
    pub(super) fn key(&self, name: &str) -> String {
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
        let value = Value::object([("v", VERSION.into()), ("visitorId", self.identity.id().into())]);
        self.effects.push(Effect::Store(self.key(keys::VISITOR), Some(value.to_json())));
    }

    pub(super) fn persist_seen(&mut self) {
        let seen = Value::object([("v", VERSION.into()), ("serial", self.timeline.seen().into())]);
        self.persist(keys::SEEN, seen);
    }

    pub(super) fn persist_config(&mut self, data: Value) {
        let value = Value::object([("v", VERSION.into()), ("data", data)]);
        // All customers share the config.
        let key = [keys::PREFIX, keys::CONFIG].concat();
        self.effects.push(Effect::Store(key, Some(value.to_json())));
        self.broadcast(TabMessage::Stored { name: keys::CONFIG, value });
    }

    pub(super) fn persist_pending(&mut self, entry: EntryKey) {
        if let Some(pending) = self.outbox.get(entry) {
            let name = [keys::OUTBOX, pending.id()].concat();
            let value = pending.to_stored(self.identity.id());
            self.persist(&name, value);
        }
    }

    /// Stores the pending messages, except those with the ids `known`.
    pub(super) fn persist_outbox(&mut self, known: &[Rc<str>]) {
        let mut index = 0;
        while let Some(pending) = self.outbox.iter().nth(index) {
            let (entry, is_known) = (pending.entry(), known.iter().any(|id| **id == *pending.id()));
            if !is_known {
                self.persist_pending(entry);
            }
            index += 1;
        }
    }

    /// Stores and broadcasts the next revision of the conversation.
    pub(super) fn publish(&mut self) {
        self.tab_sync.begin_revision(self.election.tab());
        self.persist_visitor();
        self.persist_conversation();
        self.tab_sync.on_published();
    }

    fn persist_conversation(&mut self) {
        let shrink = self.tab_sync.take_broadcast_shrink();
        let value = self.snapshot(shrink);
        if shrink == Some(self.tab_sync.stored_shrink()) {
            let key = self.key(keys::CONVERSATION);
            self.effects.push(Effect::Store(key, Some(value.to_json())));
        } else {
            self.store_snapshot();
        }
        self.broadcast(TabMessage::Stored { name: keys::CONVERSATION, value });
    }

    /// Broadcasts the snapshot without storing it.
    pub(super) fn broadcast_snapshot(&mut self) {
        let value = self.snapshot(Some(0));
        self.broadcast(TabMessage::Stored { name: keys::CONVERSATION, value });
    }

    /// Stores the snapshot without a broadcast.
    pub(super) fn store_snapshot(&mut self) {
        let key = self.key(keys::CONVERSATION);
        let stored = self.snapshot(Some(self.tab_sync.stored_shrink())).to_json();
        self.effects.push(Effect::Store(key, Some(stored)));
    }

    /// Stores and broadcasts the whole state of this tab, because the browser refused a write or another tab
    /// lacks it.
    pub(super) fn retry_persist(&mut self) {
        self.persist_visitor();
        self.persist_outbox(&[]);
        self.persist_conversation();
        self.persist_seen();
        if *self.identity.contact() != Value::Null {
            self.persist(keys::CONTACT, self.identity.contact().clone());
        }
    }

    /// Removes everything that is stored about this visitor.
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
