//! Leader election: the leading tab alone polls, and sends what all tabs wrote.
//!
//! The tabs elect among themselves, without a server and without locks, which would keep pages out of the
//! back-forward cache. A tab that wants to lead stands for election, and leads if no other tab objects in
//! time. A visible tab comes before a hidden one; among equals, the smaller name does. A follower challenges
//! its leader every second, so that a leader that crashed is replaced within two.

/// The time for objections to a candidate. Milliseconds. Longer than a message between tabs takes, unless a
/// page hangs.
const CANDIDACY_MS: u64 = 300;
/// The interval at which a follower challenges its leader. Milliseconds.
const CHALLENGE_INTERVAL_MS: u64 = 1_000;
/// The time after which a hidden tab that yielded stands again: the other tab may have closed without a
/// message. Milliseconds.
const YIELD_MS: u64 = 5_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Does not want to lead.
    Idle,
    /// Leads from this time on, unless another tab objects.
    Candidate(u64),
    /// Another tab leads, or is about to. Challenges it at this time.
    Follower(u64),
    Leader,
}

/// The state of the election, as one tab sees it.
#[derive(Debug)]
pub(crate) struct Election {
    role: Role,
    /// The tab's name among the tabs.
    tab: String,
    /// The number of leaders so far, those that are gone included: of two leaders, the later one leads.
    term: u64,
    /// The last timer was late, and leadership was confirmed again because of it.
    reconfirmed: bool,
    /// The tab is hidden, and yields to a visible one until this time.
    yielded_until_ms: u64,
}

/// The state of another tab that stands for election or leads.
#[derive(Debug)]
pub(crate) struct Peer<'a> {
    pub(crate) tab: &'a str,
    pub(crate) term: u64,
    pub(crate) revision: u64,
    pub(crate) visible: bool,
}

/// A step of the election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The tab does not want to lead. `was_standing` if it led or stood until now: the others may be waiting
    /// for it.
    Idle { was_leader: bool, was_standing: bool },
    /// The tab stands for election from now on.
    Stands,
    /// The tab leads from now on.
    Won,
    /// Nothing is due.
    Waits,
}

/// The reply to a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// This tab leads.
    Leads,
    /// This tab stands as well, and comes first.
    Stands,
    /// The candidate comes first. This tab follows it.
    Follows,
}

impl Election {
    pub(crate) fn new(tab: String) -> Self {
        Self { role: Role::Idle, tab, term: 0, reconfirmed: false, yielded_until_ms: 0 }
    }

    /// The tab's name among the tabs.
    pub(crate) fn tab(&self) -> &str {
        &self.tab
    }

    /// The number of leaders so far.
    pub(crate) fn term(&self) -> u64 {
        self.term
    }

    /// Applies a term that another tab has reached.
    pub(crate) fn observe_term(&mut self, term: u64) {
        self.term = self.term.max(term);
    }

    pub(crate) fn is_leader(&self) -> bool {
        self.role == Role::Leader
    }

    /// Returns whether no leader is known, and this tab stands for election.
    pub(crate) fn is_candidate(&self) -> bool {
        matches!(self.role, Role::Candidate(_))
    }

    /// Returns whether the tab yields to a visible one.
    pub(crate) fn yields(&self, now_ms: u64) -> bool {
        now_ms < self.yielded_until_ms
    }

    /// Ends yielding, because the tab became visible.
    pub(crate) fn stop_yielding(&mut self) {
        self.yielded_until_ms = 0;
    }

    /// Returns when the next step is due.
    pub(crate) fn due_ms(&self) -> Option<u64> {
        match self.role {
            Role::Candidate(until) | Role::Follower(until) => Some(until),
            Role::Idle => Some(self.yielded_until_ms).filter(|until| *until > 0),
            Role::Leader => None,
        }
    }

    /// Takes the step that is due.
    pub(crate) fn advance(&mut self, now_ms: u64, wants_to_lead: bool) -> Step {
        if !self.yields(now_ms) {
            self.yielded_until_ms = 0;
        }
        if !wants_to_lead {
            let (was_leader, is_candidate) = (self.is_leader(), self.is_candidate());
            self.role = Role::Idle;
            return Step::Idle { was_leader, was_standing: was_leader || is_candidate };
        }
        match self.role {
            Role::Idle => self.stand(now_ms),
            Role::Follower(until) if now_ms >= until => self.stand(now_ms),
            Role::Candidate(until) if now_ms >= until => {
                self.role = Role::Leader;
                self.term += 1;
                Step::Won
            }
            _ => Step::Waits,
        }
    }

    fn stand(&mut self, now_ms: u64) -> Step {
        self.role = Role::Candidate(now_ms + CANDIDACY_MS);
        Step::Stands
    }

    /// Stands again after a timer that was late: the tab was stopped, and another one may lead. Once in a row
    /// for a candidate, because a browser may slow the timers of a hidden tab for good.
    pub(crate) fn reconfirm(&mut self, now_ms: u64) -> Step {
        self.reconfirmed = !self.reconfirmed;
        if self.is_leader() || (self.is_candidate() && self.reconfirmed) {
            self.stand(now_ms)
        } else {
            Step::Waits
        }
    }

    /// Yields to a visible candidate if this tab is a hidden leader.
    pub(crate) fn yield_to(&mut self, now_ms: u64, candidate: &Peer<'_>, visible: bool) {
        if self.is_leader() && !visible && candidate.visible {
            self.yielded_until_ms = now_ms + YIELD_MS;
        }
    }

    /// Replies to a candidate. A leader that no longer wants to lead does not reply.
    pub(crate) fn on_candidate(
        &mut self,
        now_ms: u64,
        candidate: &Peer<'_>,
        visible: bool,
        wants_to_lead: bool,
    ) -> Option<Reply> {
        match self.role {
            // This tab awaits its requests in flight. The candidate will stand again.
            Role::Leader => wants_to_lead.then_some(Reply::Leads),
            Role::Candidate(_) if (!candidate.visible, candidate.tab) < (!visible, self.tab.as_str()) => {
                self.role = Role::Follower(now_ms + CHALLENGE_INTERVAL_MS);
                Some(Reply::Follows)
            }
            Role::Candidate(_) => Some(Reply::Stands),
            Role::Idle | Role::Follower(_) => None,
        }
    }

    /// Handles another leader. Returns whether this tab stays the leader.
    pub(crate) fn on_leader(&mut self, now_ms: u64, leader: &Peer<'_>, wants_to_lead: bool) -> bool {
        let is_later = (leader.term, self.tab.as_str()) > (self.term, leader.tab);
        if self.is_leader() && !is_later {
            return true;
        }
        self.observe_term(leader.term);
        self.role = if wants_to_lead { Role::Follower(now_ms + CHALLENGE_INTERVAL_MS) } else { Role::Idle };
        false
    }

    /// Handles a vacancy: the leader resigned, or must yield.
    pub(crate) fn on_vacancy(&mut self, now_ms: u64) -> Step {
        if matches!(self.role, Role::Follower(_)) { self.stand(now_ms) } else { Step::Waits }
    }

    /// Leaves the election: another visitor begins, whose tabs count their leaders from the start. With a
    /// later term than theirs, this tab would depose their leader.
    pub(crate) fn reset(&mut self) {
        self.role = Role::Idle;
        self.term = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(tab: &str, term: u64, visible: bool) -> Peer<'_> {
        Peer { tab, term, revision: 0, visible }
    }

    fn leader(tab: &str) -> Election {
        let mut election = Election::new(tab.to_owned());
        assert_eq!(election.advance(0, true), Step::Stands);
        assert_eq!(election.advance(CANDIDACY_MS, true), Step::Won);
        election
    }

    #[test]
    fn a_candidate_leads_when_nobody_objects_in_time() {
        let mut election = Election::new("a".to_owned());
        assert_eq!(election.advance(1_000, true), Step::Stands);
        assert_eq!(election.due_ms(), Some(1_300));
        assert_eq!(election.advance(1_299, true), Step::Waits);
        assert_eq!(election.advance(1_300, true), Step::Won);
        assert_eq!((election.is_leader(), election.term(), election.due_ms()), (true, 1, None));
    }

    #[test]
    fn prefers_visible_candidates_and_then_the_smaller_name() {
        for (own, visible, other, other_visible, reply) in [
            ("a", true, "b", true, Reply::Stands),
            ("b", true, "a", true, Reply::Follows),
            ("b", true, "a", false, Reply::Stands),
            ("a", false, "b", true, Reply::Follows),
        ] {
            let mut election = Election::new(own.to_owned());
            election.advance(0, true);
            let replied = election.on_candidate(10, &peer(other, 0, other_visible), visible, true);
            assert_eq!(replied, Some(reply), "{own} and {other}");
        }
    }

    #[test]
    fn a_follower_challenges_its_leader_every_second() {
        let mut election = Election::new("b".to_owned());
        election.advance(0, true);
        assert!(!election.on_leader(100, &peer("a", 4, true), true));
        assert_eq!((election.term(), election.due_ms()), (4, Some(1_100)));
        assert_eq!(election.advance(1_099, true), Step::Waits);
        assert_eq!(election.advance(1_100, true), Step::Stands);
    }

    #[test]
    fn the_leader_of_the_later_term_stays_and_then_the_smaller_name() {
        assert!(leader("b").on_leader(500, &peer("a", 0, true), true), "an earlier term");
        assert!(!leader("b").on_leader(500, &peer("c", 2, true), true), "a later term");
        assert!(!leader("b").on_leader(500, &peer("a", 1, true), true), "a smaller name");
        assert!(leader("b").on_leader(500, &peer("c", 1, true), true), "a larger name");
    }

    #[test]
    fn a_hidden_leader_yields_to_a_visible_candidate_for_five_seconds() {
        let mut election = leader("a");
        election.yield_to(1_000, &peer("b", 0, false), false);
        assert!(!election.yields(1_000), "the candidate is hidden as well");
        election.yield_to(1_000, &peer("b", 0, true), false);
        assert!(election.yields(5_999) && !election.yields(6_000));
        let step = election.advance(1_000, false);
        assert_eq!(step, Step::Idle { was_leader: true, was_standing: true });
        assert_eq!(election.due_ms(), Some(6_000));
        election.stop_yielding();
        assert_eq!(election.due_ms(), None);
    }

    #[test]
    fn a_leader_that_no_longer_wants_to_lead_does_not_object() {
        let mut election = leader("a");
        assert_eq!(election.on_candidate(500, &peer("b", 0, true), true, false), None);
        assert_eq!(election.on_candidate(500, &peer("b", 0, true), true, true), Some(Reply::Leads));
    }

    #[test]
    fn a_suspended_tab_stands_again_and_a_candidate_only_once_in_a_row() {
        let mut election = leader("a");
        assert_eq!(election.reconfirm(10_000), Step::Stands);
        assert!(election.is_candidate());
        assert_eq!(election.reconfirm(20_000), Step::Waits, "throttled timers do not postpone it for ever");
        assert_eq!(election.reconfirm(30_000), Step::Stands);
        let mut idle = Election::new("b".to_owned());
        assert_eq!(idle.reconfirm(10_000), Step::Waits);
    }

    #[test]
    fn only_a_follower_stands_for_a_vacancy() {
        let mut election = Election::new("b".to_owned());
        assert_eq!(election.on_vacancy(0), Step::Waits);
        election.on_leader(0, &peer("a", 1, true), true);
        assert_eq!(election.on_vacancy(50), Step::Stands);
        assert_eq!(election.due_ms(), Some(350));
        assert_eq!(leader("a").on_vacancy(0), Step::Waits);
    }

    #[test]
    fn a_leader_whose_visitor_is_erased_leaves_the_election() {
        let mut election = leader("a");
        election.reset();
        assert_eq!((election.is_leader(), election.term()), (false, 0));
        assert_eq!(election.advance(1_000, true), Step::Stands);
    }
}
