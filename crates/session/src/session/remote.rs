//! What another tab, or an earlier page, stored.

use std::rc::Rc;

use chat_protocol::{ChatConfig, Fields, Value};

use super::Session;
use crate::outbox::PendingMessage;
use crate::stored::{self, Stored, keys};

impl Session {
    /// Takes in all that this browser kept.
    pub(super) fn take_over(&mut self, now_ms: u64, mut stored: Stored) {
        let conversation = stored::take(&mut stored, keys::CONVERSATION);
        self.adopt(conversation, false);
        for name in [keys::SEEN, keys::TRACKING, keys::CONTACT] {
            let value = stored::take(&mut stored, name);
            self.apply_remote_write(now_ms, name, value);
        }
        // In the order in which they were written.
        let written = |value: &Value| stored::number(value, "written");
        let mut rest: Stored = Vec::with_capacity(stored.len());
        for (name, value) in stored {
            rest.insert(rest.partition_point(|(_, other)| written(other) <= written(&value)), (name, value));
        }
        for (name, value) in rest {
            // Null stands for text that is not JSON here, not for a value that another tab removed.
            if value != Value::Null {
                self.apply_remote_write(now_ms, &name, value);
            }
        }
        self.restore_missing(&[]);
        // Where storage lost the conversation, it counts anew.
        self.timeline.limit_seen();
    }

    /// Restores pending messages that were lost, except those that the tab that wrote a snapshot has: `told`.
    pub(super) fn restore_missing(&mut self, told: &[Rc<str>]) {
        for entry in self.outbox.restore_missing(self.timeline.entries(), told) {
            self.persist_pending(entry);
        }
    }

    /// Another tab, or an earlier page, kept this value under this name; null when it is kept no more.
    pub(super) fn apply_remote_write(&mut self, now_ms: u64, name: &str, value: Value) {
        match name {
            keys::CONVERSATION => {
                let (revision, writer) = (stored::number(&value, "revision"), value.get("writer"));
                if revision < self.revision {
                    // A tab that was stopped told what it knew, and it is not to stay in storage. It hears better when it asks.
                    self.store_conversation(self.shared(Some(self.snapshot_shrink)).to_json());
                } else if revision == self.revision && writer.and_then(Value::as_text) != Some(&self.writer) {
                    // Two tabs led, and counted to the same number. The one that still does counts on.
                    self.snapshot_dirty = true;
                }
                self.adopt(value, true);
            }
            keys::SEEN => {
                let seen = i64::try_from(stored::number(&value, "serial")).unwrap_or(0);
                if seen < self.timeline.seen() {
                    // A late write: storage must not keep it.
                    self.persist_seen();
                }
                self.timeline.apply_remote_seen(seen);
                self.view_dirty = true;
            }
            keys::CONTACT => {
                if value != Value::Null && self.is_of_visitor(&value) {
                    self.contact = value.clone();
                    let mut fields = Fields::lenient(value);
                    // What the site says of the visitor comes first.
                    let known = &mut self.visitor;
                    for (name, place) in
                        [("name", &mut known.name), ("email", &mut known.email), ("phone", &mut known.phone)]
                    {
                        *place = place.take().or_else(|| fields.lenient_text(name));
                    }
                    self.view_dirty = true;
                }
            }
            keys::CONFIG => {
                let data = value.get("data").cloned().unwrap_or_default();
                if let Ok(config) = ChatConfig::try_from(data) {
                    self.config = Some(config);
                    self.view_dirty = true;
                }
            }
            _ => {
                if let Some(name) = name.strip_prefix(keys::OUTBOX) {
                    match PendingMessage::from_stored(name, &value) {
                        // While storage was blocked, two visitors may have begun.
                        _ if !self.is_of_visitor(&value) => {}
                        Some(pending) => self.apply_remote_pending(now_ms, pending),
                        None if value == Value::Null => self.delivered_elsewhere(now_ms, name),
                        // A newer version may know what to do with it.
                        None => {}
                    }
                } else {
                    let writes = self.tracking.apply_remote(now_ms, name, value);
                    self.persist_all(writes);
                }
            }
        }
    }

    /// Whether this was kept for the visitor that this tab knows.
    pub(super) fn is_of_visitor(&self, value: &Value) -> bool {
        let visitor = value.get("visitorId").and_then(Value::as_text);
        visitor.is_none_or(|id| id == self.visitor_id.as_str())
    }

    /// Obeys a `Retry-After`, in all tabs.
    pub(super) fn hold(&mut self, now_ms: u64, retry_after_ms: Option<u64>) {
        if let Some(wait_ms) = retry_after_ms {
            self.poller.hold(now_ms, wait_ms);
            self.outbox.end_urgency();
            self.mark_snapshot_dirty();
        }
    }
}
