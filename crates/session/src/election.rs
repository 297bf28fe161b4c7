//! Which tab leads: it alone polls, and sends what all of them wrote.
//!
//! The tabs find out among themselves, without a server and without locks, which would keep pages out of the
//! back-forward cache. A tab that wants the lead asks for it, and leads when nobody objects for a while. A tab that can be
//! seen goes before one that cannot; among equals, the smaller name does. While it follows, it asks again every second,
//! so that a leader that crashed is replaced within two.

use chat_protocol::{Endpoint, Value};

use crate::stored::to_value;
use crate::timeline::Entry;
use crate::{Effect, Session};

/// So long somebody may object. Milliseconds. Longer than a message between tabs takes, unless a page is stuck.
const CANDIDACY_MS: u64 = 300;
/// A tab that follows asks again after so long. Milliseconds.
const CHALLENGE_INTERVAL_MS: u64 = 1_000;

/// A hidden tab that made way asks again after so long: the other one may have gone without a word. Milliseconds.
const YIELD_MS: u64 = 5_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It does not want the lead.
    Idle,
    /// It leads at this time unless somebody objects.
    Candidate(u64),
    /// Another tab leads, or is about to. It asks again at this time.
    Following(u64),
    Leading,
}

/// What a tab knows about the lead.
#[derive(Debug)]
pub(crate) struct Election {
    state: State,
    /// The tab's name among the tabs.
    pub(crate) tab: String,
    /// Counts the leaders, also those that are gone: of two that lead, the later one does.
    pub(crate) term: u64,
    /// Its last wake-up came late.
    reconfirmed: bool,
    /// The tab cannot be seen, and leaves the lead to one that can until this time.
    pub(crate) yielded_until_ms: u64,
}

impl Election {
    pub(crate) fn new(tab: String) -> Self {
        Self { state: State::Idle, tab, term: 0, reconfirmed: false, yielded_until_ms: 0 }
    }

    pub(crate) fn is_leader(&self) -> bool {
        self.state == State::Leading
    }

    /// Nobody is known to lead, this tab included.
    pub(crate) fn is_undecided(&self) -> bool {
        matches!(self.state, State::Candidate(_))
    }

    pub(crate) fn due_ms(&self) -> Option<u64> {
        match self.state {
            State::Candidate(until) | State::Following(until) => Some(until),
            State::Idle => Some(self.yielded_until_ms).filter(|until| *until > 0),
            State::Leading => None,
        }
    }
}

/// What another tab says of itself when it asks for the lead, or leads.
pub(crate) struct Candidate<'a> {
    pub(crate) tab: &'a str,
    pub(crate) term: u64,
    pub(crate) revision: u64,
    pub(crate) visible: bool,
}

impl Session {
    /// Whether there is anything to lead for. A tab that cannot be seen leads only until what the visitor wrote is sent.
    fn wants_leadership(&self, now_ms: u64) -> bool {
        if self.page_hidden || !self.is_on() {
            return false;
        }
        if self.visible {
            // Once it leads it stays so: the next message is not to wait for an election.
            let busy = self.open || self.conversation.is_some() || self.events.due_ms().is_some();
            // The pending message behind an undelivered entry may be lost with the page that wrote it.
            let undelivered = || self.timeline.entries().iter().any(|entry| !entry.is_settled());
            busy || self.reply_due_ms.is_some() || self.leads() || undelivered()
        } else {
            let unsent = || self.outbox.iter().any(|pending| !pending.failed);
            self.sending.is_some() || (now_ms >= self.election.yielded_until_ms && unsent())
        }
    }

    /// Asks for the lead, takes it or gives it up, as it is time to.
    pub(crate) fn elect(&mut self, now_ms: u64) {
        if now_ms >= self.election.yielded_until_ms {
            self.election.yielded_until_ms = 0;
        }
        if !self.wants_leadership(now_ms) {
            // One that only asks may have kept another one from it.
            if self.leads() || self.election.is_undecided() {
                if self.leads() && self.snapshot_dirty {
                    self.publish();
                }
                self.broadcast("free", None, Value::Null);
            }
            self.follow(State::Idle);
            return;
        }
        match self.election.state {
            State::Idle => self.stand_for_election(now_ms),
            State::Following(until) if now_ms >= until => self.stand_for_election(now_ms),
            State::Candidate(until) if now_ms >= until => {
                self.election.state = State::Leading;
                self.election.term += 1;
                self.broadcast("lead", None, Value::Null);
                self.poll_now(now_ms);
                // Without ids, what is read once more could not be told from what is here.
                let named = |entry: &Entry| entry.id.is_some() || entry.local_id.is_some();
                if self.timeline.is_truncated && self.timeline.entries().iter().all(named) {
                    self.resync(now_ms);
                }
                // The tab that had them may be gone, and nothing of them was kept.
                self.restore_missing(&[]);
                // What the tab before had not told is told now.
                self.mark_snapshot_dirty();
            }
            _ => {}
        }
    }

    /// The tab was stopped for a while, and does not know what happened in the others. It hears them out before it leads;
    /// once, because a browser may slow the timers of a hidden tab down for good.
    pub(crate) fn reconfirm_leadership(&mut self, now_ms: u64) {
        self.election.reconfirmed = !self.election.reconfirmed;
        if self.leads() || (self.election.is_undecided() && self.election.reconfirmed) {
            self.stand_for_election(now_ms);
        }
    }

    fn stand_for_election(&mut self, now_ms: u64) {
        self.election.state = State::Candidate(now_ms + CANDIDACY_MS);
        self.broadcast("ask", None, Value::Null);
    }

    /// Another tab asks for the lead.
    pub(crate) fn on_candidate(&mut self, now_ms: u64, candidate: &Candidate<'_>) {
        match self.election.state {
            State::Leading => {
                if !self.visible && candidate.visible {
                    self.election.yielded_until_ms = now_ms + YIELD_MS;
                }
                // What is on its way is waited for; the tab that asked will ask again.
                if self.wants_leadership(now_ms) {
                    self.broadcast("lead", None, Value::Null);
                }
            }
            State::Candidate(_) => {
                // A tab that can be seen comes first.
                if (!candidate.visible, candidate.tab) < (!self.visible, self.election.tab.as_str()) {
                    self.follow(State::Following(now_ms + CHALLENGE_INTERVAL_MS));
                } else {
                    self.broadcast("ask", None, Value::Null);
                }
            }
            State::Idle | State::Following(_) => {}
        }
    }

    /// Another tab leads.
    pub(crate) fn on_leader(&mut self, now_ms: u64, candidate: &Candidate<'_>) {
        let later = (candidate.term, self.election.tab.as_str()) > (self.election.term, candidate.tab);
        if self.leads() && !later {
            // What is told from now on is newer than anything that the other one told.
            self.revision = self.revision.max(candidate.revision);
            self.mark_snapshot_dirty();
            self.broadcast("lead", None, Value::Null);
            return;
        }
        self.election.term = self.election.term.max(candidate.term);
        self.follow(if self.wants_leadership(now_ms) {
            State::Following(now_ms + CHALLENGE_INTERVAL_MS)
        } else {
            State::Idle
        });
    }

    /// The tab that led does not any more, or is to make way.
    pub(crate) fn on_leader_gone(&mut self, now_ms: u64) {
        if matches!(self.election.state, State::Following(_)) {
            self.stand_for_election(now_ms);
        }
    }

    /// Another visitor begins, whose tabs have not agreed on a leader.
    pub(crate) fn reset_election(&mut self) {
        self.follow(State::Idle);
    }

    /// Does not lead, or does not any more.
    fn follow(&mut self, state: State) {
        self.cancel_polls();
        // A message that is on its way may arrive: it is not called back, and the tab that leads repeats it.
        self.in_flight.cancel_where(|endpoint| endpoint == Endpoint::Send);
        self.sending = None;
        self.urgent = false;
        self.in_doubt = None;
        self.election.state = state;
    }

    /// Tells the other tabs something.
    pub(crate) fn broadcast(&mut self, what: &str, name: Option<&str>, value: Value) {
        let message = Value::object([
            ("visitor", (&self.visitor_id).into()),
            ("tab", self.election.tab.as_str().into()),
            ("term", to_value(self.election.term)),
            ("visible", self.visible.into()),
            ("revision", to_value(self.revision.max(u64::from(!self.is_fresh())))),
            ("writer", self.writer.as_str().into()),
            ("seen", self.seen.into()),
            ("lacks", self.timeline.is_truncated.into()),
            ("does", what.into()),
            ("name", name.into()),
            ("value", value),
        ]);
        self.effects.push(Effect::Broadcast(message.to_json()));
    }
}
