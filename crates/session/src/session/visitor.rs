//! The visitor of a session: erased, replaced, or adopted from another tab.

use chat_protocol::{Endpoint, VisitorId};

use super::Session;
use crate::stored;
use crate::tab_sync::TabMessage;

impl Session {
    /// Nothing has happened yet that would be lost.
    pub(super) fn is_fresh(&self) -> bool {
        self.identity.is_new() && self.tab_sync.revision() == 0 && self.outbox.is_empty()
    }

    /// Forgets everything, here and in the other tabs.
    pub(super) fn reset(&mut self, now_ms: u64) {
        let old = self.identity.id().clone();
        self.erase_stored();
        let id = stored::new_visitor(&mut self.random);
        self.replace_visitor(id);
        self.broadcast_reset(&old);
        self.identity.mark_erased(old);
        self.persist_visitor();
        self.poll_now(now_ms);
    }

    /// Whoever comes now is not who was there: nothing that was known of that person goes along with what is sent.
    pub(super) fn replace_visitor(&mut self, id: VisitorId) {
        self.adopt_visitor(id);
        self.identity.replace();
    }

    /// Tells the tabs that still have this visitor that there is another one.
    pub(super) fn broadcast_reset(&mut self, old: &VisitorId) {
        let new = self.identity.id().clone();
        self.broadcast_as(old, TabMessage::Reset { visitor: Some(new) });
    }

    /// Another visitor begins: nothing of the one before stays.
    pub(super) fn adopt_visitor(&mut self, id: VisitorId) {
        // The config is the same for all visitors.
        self.cancel(|endpoint| endpoint != Endpoint::Config);
        self.reset_election();
        self.identity.adopt(id);
        self.tab_sync.reset();
        self.conversation = None;
        self.timeline.clear();
        self.notice = None;
        self.operator_online = None;
        self.poller.end_conversation();
        self.outbox.clear();
        self.tracking.clear();
        self.view_dirty = true;
    }
}
