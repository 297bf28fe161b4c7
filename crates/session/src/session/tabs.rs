//! Messages of the other tabs.

use chat_protocol::Value;

use super::Session;
use crate::election::Peer;
use crate::stored::keys;
use crate::tab_sync::{Sender, TabMessage, Update};

impl Session {
    /// Handles a message of another tab.
    pub(super) fn on_tab_message(&mut self, now_ms: u64, mut message: Value) {
        if self.page_hidden {
            return;
        }
        let (sender, message) = TabMessage::decode(&mut message);
        // Whatever visitor its tabs agreed on: the channel is that of the person.
        if message == TabMessage::SignedOut {
            return self.on_signed_out();
        }
        if sender.visitor != self.identity.id().as_str() {
            return self.resolve_visitor_conflict(&sender, &message);
        }
        // Every message carries the position that its sender has seen.
        self.view_dirty |= self.timeline.apply_remote_seen(sender.seen);
        let Sender { tab, term, revision, visible, .. } = sender;
        let peer = Peer { tab, term, revision, visible };
        match message {
            TabMessage::Candidate => {
                self.on_candidate(now_ms, &peer);
                self.bring_up_to_date(now_ms, &sender, false);
            }
            // The tab is new: no earlier broadcast reached it.
            TabMessage::Hello => self.bring_up_to_date(now_ms, &sender, true),
            TabMessage::Leader => self.on_leader(now_ms, &peer),
            TabMessage::Vacancy => self.on_vacancy(now_ms),
            TabMessage::SendNow if self.deferred => self.outbox.send_now(),
            TabMessage::Response { hold_until_ms } => {
                self.poller.apply_remote_hold(hold_until_ms);
                self.outbox.end_urgency();
                self.poll_now(now_ms);
            }
            TabMessage::Stored { name, value } => {
                if name == keys::CONVERSATION && self.leads() && term > self.election.term() {
                    self.on_leader(now_ms, &peer);
                }
                self.apply_remote_write(now_ms, name, value);
            }
            TabMessage::Reset { visitor: Some(visitor) } => {
                self.identity.mark_erased(self.identity.id().clone());
                self.replace_visitor(visitor);
            }
            TabMessage::Reset { visitor: None }
            | TabMessage::SendNow
            | TabMessage::Here
            | TabMessage::SignedOut
            | TabMessage::Unknown => {}
        }
    }

    /// Broadcasts what another tab lacks. No earlier broadcast reached a tab that `is_new`.
    fn bring_up_to_date(&mut self, now_ms: u64, other: &Sender<'_>, is_new: bool) {
        let (leads, seen) = (self.leads(), self.timeline.seen());
        let (update, is_dirty) = self.tab_sync.bring_up_to_date(now_ms, other, is_new, leads, seen);
        if is_dirty {
            self.mark_snapshot_dirty();
        } else if leads && self.tab_sync.revision() == 0 && other.revision > 0 {
            // The other tab tells what this one does not know.
            self.broadcast_snapshot();
        }
        match update {
            Update::Nothing => {}
            Update::Seen => self.persist_seen(),
            Update::All => self.retry_persist(),
        }
    }

    /// Handles a message of a tab with another visitor: both started before storage held one, or storage is
    /// blocked. The tab with nothing to lose adopts the other's visitor.
    #[inline(never)]
    fn resolve_visitor_conflict(&mut self, other: &Sender<'_>, message: &TabMessage<'_>) {
        let visitor = other.visitor;
        if let Some(old) = self.identity.erased(visitor).cloned() {
            // The other tab has missed the reset, and may have stored erased values. Every tab replies,
            // because there may be no leader yet.
            if !matches!(message, TabMessage::Reset { .. }) {
                self.broadcast_reset(&old);
                self.erase_stored();
                self.retry_persist();
            }
        } else if self.is_fresh()
            && (other.revision == 0, visitor) < (!self.identity.is_merged(), self.identity.id().as_str())
        {
            self.adopt_visitor(visitor.into());
            self.identity.set_merged(other.revision > 0);
            self.persist_visitor();
            // Tabs with more state reply.
            self.broadcast(TabMessage::Hello);
        } else if *message == TabMessage::Candidate {
            self.broadcast(TabMessage::Here);
        }
    }
}
