//! The consequences of the election: the leader polls, sends and publishes. Other tabs do none of these.

use chat_protocol::{Endpoint, VisitorId};

use super::Session;
use crate::Effect;
use crate::election::{Peer, Reply, Step};
use crate::tab_sync::{Sender, TabMessage};

impl Session {
    /// Returns whether there is work for a leader. A hidden tab leads only until the visitor's messages are
    /// sent.
    fn wants_to_lead(&self, now_ms: u64) -> bool {
        if self.page_hidden || !self.is_on() {
            return false;
        }
        if self.visible {
            // A leader keeps the lead, so that the next message does not wait for an election.
            let busy = self.open
                || self.conversation.is_some()
                || self.tracking.due_ms().is_some()
                || self.look_up_ms.is_some();
            // The pending message behind an undelivered entry may be lost with the page that wrote it.
            let undelivered = || self.timeline.entries().iter().any(|entry| !entry.is_settled());
            busy || self.poller.reply_due_ms().is_some() || self.leads() || undelivered()
        } else {
            self.in_flight.any(Endpoint::Send)
                || (!self.election.yields(now_ms) && self.outbox.next().is_some())
        }
    }

    /// Takes the step of the election that is due.
    pub(super) fn elect(&mut self, now_ms: u64) {
        let wants_to_lead = self.wants_to_lead(now_ms);
        match self.election.advance(now_ms, wants_to_lead) {
            Step::Idle { was_leader, was_standing } => {
                if was_leader && self.tab_sync.is_dirty() {
                    self.publish();
                }
                // Another tab may have waited for this candidate.
                if was_standing {
                    self.broadcast(TabMessage::Vacancy);
                }
                self.stop_leading();
            }
            Step::Won => self.on_won(now_ms),
            step => self.announce(step),
        }
    }

    fn on_won(&mut self, now_ms: u64) {
        self.broadcast(TabMessage::Leader);
        self.poll_now(now_ms);
        if self.timeline.is_truncated() && self.timeline.is_identified() {
            self.resync(now_ms);
        }
        // The tab that had the pending messages may be gone, and storage may not have them.
        self.restore_missing(&[]);
        if self.tab_sync.revision() > 0 {
            // The previous leader may not have published everything.
            self.mark_snapshot_dirty();
        } else {
            // A revision counts as something to lose: with an empty one, this tab could no longer join a
            // conversation that is stored, or that another tab has. Its own changes are marked where they
            // are made. The other tabs tell what it does not know.
            self.broadcast_snapshot();
        }
    }

    fn announce(&mut self, step: Step) {
        if step == Step::Stands {
            self.broadcast(TabMessage::Candidate);
        }
    }

    /// Confirms leadership after a late timer: the tab was suspended, and may have missed messages of other
    /// tabs.
    pub(super) fn reconfirm_leadership(&mut self, now_ms: u64) {
        let step = self.election.reconfirm(now_ms);
        self.announce(step);
    }

    /// Handles a candidate of another tab.
    pub(super) fn on_candidate(&mut self, now_ms: u64, candidate: &Peer<'_>) {
        self.election.yield_to(now_ms, candidate, self.visible);
        let wants_to_lead = self.wants_to_lead(now_ms);
        match self.election.on_candidate(now_ms, candidate, self.visible, wants_to_lead) {
            Some(Reply::Leads) => self.broadcast(TabMessage::Leader),
            Some(Reply::Stands) => self.broadcast(TabMessage::Candidate),
            Some(Reply::Follows) => self.stop_leading(),
            None => {}
        }
    }

    /// Handles another leader.
    pub(super) fn on_leader(&mut self, now_ms: u64, leader: &Peer<'_>) {
        let wants_to_lead = self.wants_to_lead(now_ms);
        if self.election.on_leader(now_ms, leader, wants_to_lead) {
            // Later snapshots must be newer than all of the other tab's.
            self.tab_sync.supersede(leader.revision);
            self.mark_snapshot_dirty();
            self.broadcast(TabMessage::Leader);
        } else {
            self.stop_leading();
        }
    }

    /// Handles a vacancy: the leader resigned, or must yield.
    pub(super) fn on_vacancy(&mut self, now_ms: u64) {
        let step = self.election.on_vacancy(now_ms);
        self.announce(step);
    }

    /// Leaves the election, because the visitor changes.
    pub(super) fn reset_election(&mut self) {
        self.election.reset();
        self.stop_leading();
    }

    /// Stops the work of a leader.
    fn stop_leading(&mut self) {
        self.cancel_polls();
        // A message in flight may arrive: it is not cancelled, and the next leader repeats it with the same
        // key.
        self.in_flight.cancel_where(|endpoint| endpoint == Endpoint::Send);
        self.outbox.interrupt();
    }

    /// Sends a message to the other tabs.
    pub(super) fn broadcast(&mut self, message: TabMessage<'_>) {
        self.broadcast_as(None, message);
    }

    /// Sends a message to the other tabs of this visitor.
    pub(super) fn broadcast_as(&mut self, visitor: Option<&VisitorId>, message: TabMessage<'_>) {
        let sender = Sender {
            visitor: visitor.unwrap_or(self.identity.id()).as_str(),
            tab: self.election.tab(),
            term: self.election.term(),
            visible: self.visible,
            revision: self.tab_sync.revision().max(u64::from(!self.is_fresh())),
            writer: self.tab_sync.writer(),
            seen: self.timeline.seen(),
            is_truncated: self.timeline.is_truncated(),
        };
        let text = message.encode(&sender);
        self.effects.push(Effect::Broadcast(text));
    }
}
