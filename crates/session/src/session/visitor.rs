//! The visitor of a session: erased, replaced, or adopted from another tab.

use chat_protocol::{Endpoint, Value, VisitorId};

use super::Session;
use crate::stored;
use crate::tab_message::TabMessage;

impl Session {
    /// Nothing has happened yet that would be lost.
    pub(super) fn is_fresh(&self) -> bool {
        self.is_new && self.revision == 0 && self.outbox.is_empty()
    }

    /// Forgets everything, here and in the other tabs.
    pub(super) fn reset(&mut self, now_ms: u64) {
        let old = self.visitor_id.clone();
        self.erase_stored();
        let id = stored::new_visitor(&mut self.random);
        self.replace_visitor(id);
        self.broadcast_reset(&old);
        self.erased_visitor = Some(old);
        self.persist_visitor();
        self.poll_now(now_ms);
    }

    /// Whoever comes now is not who was there: nothing that was known of that person goes along with what is sent.
    pub(super) fn replace_visitor(&mut self, id: VisitorId) {
        self.adopt_visitor(id);
        // Not dropped: that happens nowhere else, and its code would weigh more than the few names that stay in memory.
        std::mem::forget(std::mem::take(&mut self.visitor));
        self.contact = Value::Null;
        self.is_new = false;
    }

    /// Tells the tabs that still have this visitor that there is another one.
    pub(super) fn broadcast_reset(&mut self, old: &VisitorId) {
        let new = std::mem::replace(&mut self.visitor_id, old.clone());
        self.broadcast(TabMessage::Reset { visitor: Some(new.clone()) });
        self.visitor_id = new;
    }

    /// Another visitor begins: nothing of the one before stays.
    pub(super) fn adopt_visitor(&mut self, id: VisitorId) {
        // The config is the same for all visitors.
        self.cancel(|endpoint| endpoint != Endpoint::Config);
        self.reset_election();
        self.visitor_id = id;
        self.visitor.visitor_id = None;
        self.revision = 0;
        self.conversation = None;
        self.timeline.clear();
        self.notice = None;
        self.operator_online = None;
        self.poller.end_conversation();
        self.outbox.clear();
        self.tracking.clear();
        self.snapshot_dirty = false;
        self.view_dirty = true;
    }
}
