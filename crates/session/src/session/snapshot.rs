//! Snapshots of a session: encoded from its state, and adopted from other tabs.

use chat_protocol::Value;

use crate::tab_sync::{LocalState, Snapshot};
use crate::timeline::{Delivery, Entry};
use crate::{Notice, Session, SessionEvent};

impl Session {
    /// Returns the snapshot of the conversation, with its room halved `shrink` times, or all of it for
    /// `None`.
    pub(super) fn snapshot(&self, shrink: Option<u32>) -> Value {
        let state = LocalState {
            visitor: self.identity.id(),
            revision: self.tab_sync.revision(),
            writer: self.tab_sync.writer(),
            term: self.election.term(),
            conversation: self.conversation.as_ref(),
            timeline: &self.timeline,
            notice: self.notice,
            operator_online: self.operator_online,
            reply_due_ms: self.poller.reply_due_ms(),
            hold_until_ms: self.poller.hold_until_ms(),
            deferred: self.deferred,
            awaits_person_until_ms: self.awaits_person_until_ms,
        };
        state.encode(shrink)
    }

    /// Adopts a snapshot of another tab, or of an earlier page, if it is newer than the present state. Emits
    /// events for new messages if it is `live`.
    pub(super) fn adopt_snapshot(&mut self, mut value: Value, live: bool) {
        let is_own = self.identity.is_of(&value);
        let snapshot = Snapshot::decode(&mut value);
        let known = self.tab_sync.revision();
        // Of two leaders that wrote the same revision, one may not know that a conversation has begun.
        // Without one, its tab has no work, so that no leader would publish the next revision.
        let brings_conversation =
            snapshot.revision == known && self.conversation.is_none() && snapshot.conversation.is_some();
        // Version 1 stored only the id: nothing in the history is new.
        let id_alone = brings_conversation && known == 0;
        if !is_own || (snapshot.revision <= known && !brings_conversation) {
            if live && is_own && known == 0 && !self.outbox.is_empty() {
                // The leader has published nothing yet, and may not know these: the tab in which they were
                // written may be gone, and storage may not have them.
                self.persist_outbox(&snapshot.local_ids());
            }
            return;
        }
        // The leader that wrote this does not know that a conversation has begun. If it had ended, its
        // messages would be archived.
        let is_unaware =
            snapshot.conversation.is_none() && snapshot.archived_len == 0 && !snapshot.is_truncated;
        if is_unaware && self.conversation.is_some() && self.timeline.entries().iter().any(Entry::is_settled)
        {
            self.tab_sync.supersede(snapshot.revision);
            return self.publish();
        }
        // A poll of this tab does not start at the other tab's cursor.
        self.cancel_polls();
        let is_truncated = snapshot.is_truncated;
        let local_ids = snapshot.local_ids();
        // A stored snapshot may be shorter than the one that its writer broadcast.
        let writer = if live || !is_truncated { snapshot.writer } else { "" };
        self.tab_sync.adopt(snapshot.revision, writer);
        self.election.observe_term(snapshot.term);
        self.conversation = snapshot.conversation;
        // A service that refused a message on an earlier page may take the next one.
        self.notice = snapshot.notice.filter(|notice| live || *notice != Notice::Quota);
        self.poller.apply_remote_reply_wait(snapshot.reply_due_ms);
        self.poller.apply_remote_hold(snapshot.hold_until_ms);
        self.deferred = snapshot.deferred;
        self.awaits_person_until_ms = snapshot.awaits_person_until_ms;
        if live && snapshot.operator_online != self.operator_online {
            self.emit(SessionEvent::Presence(snapshot.operator_online == Some(true)));
        }
        self.operator_online = snapshot.operator_online;
        if id_alone {
            self.poller.backfill();
        }
        let newest = self.timeline.newest();
        // The beginning that this tab lacked is not new.
        let is_beginning = self.timeline.is_truncated() && !is_truncated;
        let new = self.timeline.adopt(
            snapshot.entries,
            snapshot.after,
            snapshot.polled_up_to,
            snapshot.archived_len,
            is_truncated,
        );
        for entry in new {
            let arrived = (entry.local_id.is_some() && !is_beginning) || entry.sequence > newest;
            if live && arrived && entry.delivery == Delivery::Delivered {
                self.emit(SessionEvent::Message(entry));
            }
        }
        if is_truncated && !live {
            // Storage had no room for messages that this page does not know.
            self.timeline.mark_truncated();
        }
        // Messages that were dropped are counted.
        self.timeline.count_from(snapshot.newest);
        self.reconcile_outbox(&local_ids);
        self.restore_missing(&local_ids);
        self.tab_sync.on_adopted();
        self.view_dirty = true;
    }
}
