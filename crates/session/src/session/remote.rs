//! Values that another tab, or an earlier page, stored.

use std::rc::Rc;

use chat_protocol::Value;

use super::Session;
use crate::outbox::PendingMessage;
use crate::stored::{self, Stored, keys};
use crate::tab_sync::RemoteRevision;

impl Session {
    /// Applies the contents of the browser's storage.
    pub(super) fn apply_stored(&mut self, now_ms: u64, mut stored: Stored) {
        let conversation = stored::take(&mut stored, keys::CONVERSATION);
        self.adopt_snapshot(conversation, false);
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
            // Here, null means text that is not JSON, and not a removed value.
            if value != Value::Null {
                self.apply_remote_write(now_ms, &name, value);
            }
        }
        self.restore_missing(&[]);
        // If storage lost the conversation, its sequence starts again.
        self.timeline.limit_seen();
    }

    /// Restores lost pending messages, except those of a snapshot's writer: `remote`.
    pub(super) fn restore_missing(&mut self, remote: &[Rc<str>]) {
        for entry in self.outbox.restore_missing(self.timeline.entries(), remote) {
            self.persist_pending(entry);
        }
    }

    /// Applies a value that another tab, or an earlier page, stored under a name; null if it removed the
    /// name.
    pub(super) fn apply_remote_write(&mut self, now_ms: u64, name: &str, value: Value) {
        match name {
            keys::CONVERSATION => {
                let writer = value.get("writer").and_then(Value::as_text);
                match self.tab_sync.compare(stored::number(&value, "revision"), writer) {
                    // Replaces the outdated value in storage. The other tab is brought up to date when it
                    // stands for election.
                    RemoteRevision::Outdated => self.store_snapshot(),
                    RemoteRevision::Conflict => self.tab_sync.mark_dirty(),
                    RemoteRevision::Current => {}
                }
                self.adopt_snapshot(value, true);
            }
            keys::SEEN => {
                let seen = i64::try_from(stored::number(&value, "serial")).unwrap_or(0);
                if seen < self.timeline.seen() {
                    // Replaces the outdated value in storage.
                    self.persist_seen();
                }
                self.timeline.apply_remote_seen(seen);
                self.view_dirty = true;
            }
            keys::CONTACT => {
                self.view_dirty |= self.identity.apply_remote_contact(value);
            }
            keys::CONFIG => {
                let data = value.get("data").cloned().unwrap_or_default();
                self.view_dirty |= self.config.apply_remote(data);
            }
            _ => {
                if let Some(name) = name.strip_prefix(keys::OUTBOX) {
                    match PendingMessage::from_stored(name, &value) {
                        // While storage was blocked, two tabs may have created a visitor each.
                        _ if !self.identity.is_of(&value) => {}
                        Some(pending) => self.apply_remote_pending(now_ms, pending),
                        None if value == Value::Null => self.on_remote_delivery(now_ms, name),
                        // A newer version may understand it.
                        None => {}
                    }
                } else {
                    self.tracking.apply_remote(now_ms, name, value);
                    self.persist_events();
                }
            }
        }
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
