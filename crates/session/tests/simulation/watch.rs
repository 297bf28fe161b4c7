//! Checks after every event: leaders, unread messages, duplicates and deadlines.

use chat_protocol::Role;
use chat_session::Delivery;

use super::engine::Simulation;
use super::invariants::{Invariant, Violation, check};
use super::stats::Fact;
use super::tab::{Outstanding, Tab, TabId};

/// Maximum time with two leaders: they learn of each other by messages, and by a timer of a second.
/// Milliseconds.
const MAX_TWO_LEADERS_MS: u64 = 1_000;
/// Maximum time without a leader: a follower challenges every second, and waits 300 ms for objections.
/// Milliseconds.
const MAX_NO_LEADER_MS: u64 = 2_000;
/// Maximum time with only a hidden leader: it yields when it is challenged. Milliseconds.
const MAX_HIDDEN_LEADER_MS: u64 = 3_000;
/// Maximum time until all tabs know that a message was seen. Milliseconds.
const MAX_UNREAD_MS: u64 = 1_000;
/// Maximum delay of a deadline: timers of hidden tabs run once a second. Milliseconds.
const MAX_DEADLINE_DELAY_MS: u64 = 1_500;

/// The time since which a condition holds, if it does.
#[derive(Clone, Copy, Default)]
pub struct ActiveSince(Option<u64>);

impl ActiveSince {
    /// Records whether the condition holds, since `from_ms` if it did not hold before.
    fn note(&mut self, holds: bool, from_ms: u64) {
        self.0 = if holds { self.0.or(Some(from_ms)) } else { None };
    }

    fn exceeds(self, max_ms: u64, now_ms: u64) -> bool {
        self.0.is_some_and(|since| now_ms - since > max_ms)
    }
}

/// Conditions of a tab that must not last.
#[derive(Default)]
pub struct Ongoing {
    /// The tab could lead, and no tab does.
    no_leader: ActiveSince,
    /// The tab could lead, and only a hidden tab does.
    no_visible_leader: ActiveSince,
    /// The tab has unread messages although a window is open in a visible tab.
    unread_while_open: ActiveSince,
}

/// Conditions of all tabs together.
#[derive(Default)]
pub struct Watch {
    until_ms: u64,
    /// Two tabs lead.
    two_leaders: ActiveSince,
}

impl Simulation {
    /// Checks the time since the last event, in which nothing changed.
    pub fn watch(&mut self) -> Result<(), Violation> {
        let from_ms = std::mem::replace(&mut self.watch.until_ms, self.now_ms);
        let mut two_leaders = false;
        for index in 0..self.tabs.len() {
            if self.tabs[index].is_awake() {
                two_leaders |= self.watch_tab(TabId(index), from_ms)?;
            } else {
                self.tabs[index].ongoing = Ongoing::default();
            }
        }
        if two_leaders && self.watch.two_leaders.0.is_none() {
            self.stats.count(Fact::TwoLeaders);
        }
        self.watch.two_leaders.note(two_leaders, from_ms);
        let two = self.watch.two_leaders.exceeds(MAX_TWO_LEADERS_MS, self.now_ms);
        check(Invariant::OneLeader, !two, || "two tabs lead".to_owned())
    }

    /// Checks a tab. Returns whether it is one of two leaders.
    fn watch_tab(&mut self, id: TabId, from_ms: u64) -> Result<bool, Violation> {
        let (now_ms, tab) = (self.now_ms, &self.tabs[id.0]);
        let late = |waiting: &Outstanding| {
            !waiting.abandoned && waiting.deadline_ms + MAX_DEADLINE_DELAY_MS < now_ms
        };
        let late = tab.outstanding.iter().any(late);
        check(Invariant::Deadline, !late, || format!("{id} still waits for a response after the deadline"))?;

        let tabs_of_visitor =
            || self.tabs.iter().filter(|other| other.is_awake() && tab.shares_visitor(other));
        let two_leaders =
            tab.session.leads() && tabs_of_visitor().any(|other| other.id != id && other.session.leads());
        let could_lead = tab.visible && tab.has_to_lead();
        let no_leader = could_lead && !tabs_of_visitor().any(|other| other.session.leads());
        let no_visible_leader = could_lead && !tabs_of_visitor().any(Tab::leads_for_all);
        // A seen position is broadcast once and stored. A page that hung may miss the broadcast, and storage
        // may refuse the write. A page from the cache may also use other sequence numbers than one that has
        // polled everything again.
        let cached = self.tabs.iter().any(|other| other.frozen_times > 0);
        let may_not_know = self.storage_failed && (self.has_hung || cached);
        // After two leaders, there are two versions of the snapshot, until the next leader publishes one.
        let led = tabs_of_visitor().any(|other| other.session.leads());
        let unread_while_open = led
            && !may_not_know
            && tab.session.unread() > 0
            && tabs_of_visitor().any(|other| other.visible && other.open);

        let ongoing = &mut self.tabs[id.0].ongoing;
        ongoing.no_leader.note(no_leader, from_ms);
        ongoing.no_visible_leader.note(no_visible_leader, from_ms);
        ongoing.unread_while_open.note(unread_while_open, from_ms);
        check(Invariant::SomeLeader, !ongoing.no_leader.exceeds(MAX_NO_LEADER_MS, now_ms), || {
            format!("{id} could lead, and no tab does")
        })?;
        check(
            Invariant::SomeLeader,
            !ongoing.no_visible_leader.exceeds(MAX_HIDDEN_LEADER_MS, now_ms),
            || format!("{id} could lead, and only a hidden tab does"),
        )?;
        check(Invariant::SeenEverywhere, !ongoing.unread_while_open.exceeds(MAX_UNREAD_MS, now_ms), || {
            format!("{id} has unread messages that another tab shows")
        })?;
        Ok(two_leaders)
    }

    /// Checks that nothing is shown twice.
    pub fn check_shown_once(&self, id: TabId) -> Result<(), Violation> {
        let entries = self.tabs[id.0].session.entries();
        let mut ids: Vec<&str> =
            entries.iter().filter_map(|entry| Some(entry.id.as_ref()?.as_str())).collect();
        ids.sort_unstable();
        let twice = ids.windows(2).find(|pair| pair[0] == pair[1]);
        check(Invariant::ShownOnce, twice.is_none(), || {
            let texts: Vec<_> = entries.iter().map(|entry| (&*entry.text, entry.id.as_ref())).collect();
            format!("two entries have the id {:?}: {texts:?}", twice.map(|ids| ids[0]))
        })?;
        if self.is_split() {
            return Ok(());
        }
        // Before the response, no tab can know that a message of an unknown role is the visitor's own.
        let shown = entries.iter().filter(|entry| !matches!(entry.author, Role::Other(_)));
        let mut shown: Vec<(&str, Delivery)> = shown.map(|entry| (&*entry.text, entry.delivery)).collect();
        shown.sort_unstable_by_key(|(text, _)| *text);
        for same in shown.chunk_by(|one, other| one.0 == other.0).filter(|same| same.len() > 1) {
            let text = same[0].0;
            let written: Vec<_> = self.messages.iter().filter(|message| message.text == text).collect();
            let in_first_history = written.iter().any(|message| message.in_first_history);
            let written = written.len();
            // An echo may match any pending message with the same text. If storage lost a pending message, a
            // page that is restored with it learns only from the response that its message is the one that
            // others have polled. If a leader hung and sent the message as it returned, the next leader may
            // poll the echo before it hears of that. In the first history of an earlier conversation, an echo
            // may be an older message with the same text: only the response shows whether the message has
            // arrived.
            let is_certain = written <= 1 && !self.storage_failed && !self.has_hung && !in_first_history;
            let counts = |delivery: Delivery| is_certain || delivery == Delivery::Delivered;
            let times = same.iter().filter(|(_, delivery)| counts(*delivery)).count();
            check(Invariant::ShownOnce, times <= written.max(1), || {
                let shown: Vec<_> = entries.iter().map(|entry| (&*entry.text, entry.id.as_ref())).collect();
                format!("\"{text}\" is shown {times} times, and was written {written} times: {shown:?}")
            })?;
        }
        Ok(())
    }

    /// Returns whether there are two conversations. If storage failed or a page hung, two pages may each
    /// start one. A message accepted in one of them may be shown again until the tab switches to it.
    pub fn is_split(&self) -> bool {
        (self.storage_failed || self.has_hung) && self.service.is_split()
    }
}
