//! The visitor of a session: erased, replaced, or adopted from another tab.

use chat_protocol::{Endpoint, Value, VisitorId, VisitorProfile};

use super::Session;
use crate::Page;
use crate::stored::{self, keys};
use crate::tab_sync::TabMessage;

impl Session {
    /// Stores and reports contact details that the visitor entered.
    #[inline(never)]
    pub(super) fn set_contact(&mut self, now_ms: u64, given: VisitorProfile, page: Page) {
        self.identity.add_contact(&given);
        self.persist(keys::CONTACT, self.identity.contact().clone());
        self.identity.merge(given);
        let form = Value::object([("formType", "contact".into())]);
        self.report(now_ms, "lead_submitted".to_owned(), form, page);
    }

    /// Returns whether the visitor is new and has no state that could be lost.
    pub(super) fn is_fresh(&self) -> bool {
        self.identity.is_new() && self.tab_sync.revision() == 0 && self.outbox.is_empty()
    }

    /// Erases the visitor, here and in the other tabs.
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

    /// Replaces the visitor by another person: the profile is dropped as well.
    pub(super) fn replace_visitor(&mut self, id: VisitorId) {
        self.adopt_visitor(id);
        self.identity.replace();
    }

    /// Broadcasts the new visitor to the tabs that still have the old one.
    pub(super) fn broadcast_reset(&mut self, old: &VisitorId) {
        let new = self.identity.id().clone();
        self.broadcast_as(Some(old), TabMessage::Reset { visitor: Some(new) });
    }

    /// Adopts another visitor, and drops the state of the present one.
    pub(super) fn adopt_visitor(&mut self, id: VisitorId) {
        // The config is the same for all visitors.
        self.cancel(|endpoint| endpoint != Endpoint::Config);
        self.reset_election();
        self.identity.adopt(id);
        self.tab_sync.reset();
        self.conversation = None;
        self.timeline.clear();
        self.notice = None;
        self.awaits_person_until_ms = 0;
        self.typing = None;
        self.look_up_ms = None;
        self.operator_online = None;
        self.poller.end_conversation();
        self.outbox.clear();
        self.tracking.clear();
        self.view_dirty = true;
    }
}
