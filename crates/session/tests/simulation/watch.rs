//! What holds at any moment, whatever happens: who leads, what is counted as unread, what is shown, what is waited for.

use chat_protocol::Role;
use chat_session::Delivery;

use super::engine::Simulation;
use super::invariants::{Invariant, Violation, hold};
use super::stats::Fact;
use super::tab::{Outstanding, Tab, TabId};

/// Two leaders find out about each other by messages and by a timer of a second at most.
const TWO_LEADERS_MS: u64 = 1_000;
/// A follower asks every second, and waits 300 ms for an answer.
const NO_LEADER_MS: u64 = 2_000;
/// A hidden tab that took the lead a moment before makes way when it is asked.
const HIDDEN_LEADER_MS: u64 = 3_000;
/// What one tab shows reaches the others within the latency of their channel.
const UNREAD_MS: u64 = 1_000;
/// A deadline is kept by a timer, which in a hidden tab runs once a second.
const LATE_MS: u64 = 1_500;

/// Since when something has been as it is.
#[derive(Clone, Copy, Default)]
pub struct Since(Option<u64>);

impl Since {
    /// Notes that it has been so since `from_ms`, if not before, or that it is not so.
    fn note(&mut self, holds: bool, from_ms: u64) {
        self.0 = if holds { self.0.or(Some(from_ms)) } else { None };
    }

    fn longer_than(self, most_ms: u64, now_ms: u64) -> bool {
        self.0.is_some_and(|since| now_ms - since > most_ms)
    }
}

/// What lasts too long is a broken invariant.
#[derive(Default)]
pub struct Lasting {
    /// The tab could lead, and no tab does.
    unled: Since,
    /// The tab could lead, and only a hidden tab does.
    unled_by_visible: Since,
    /// The tab counts messages as unread although a window is looked at.
    unseen: Since,
}

/// What has been watched of all tabs together.
#[derive(Default)]
pub struct Watch {
    until_ms: u64,
    /// Two tabs lead.
    rivals: Since,
}

impl Simulation {
    /// Looks at how things have been since the last time: nothing happened until now.
    pub fn watch(&mut self) -> Result<(), Violation> {
        let from_ms = std::mem::replace(&mut self.watch.until_ms, self.now_ms);
        let mut rivals = false;
        for index in 0..self.tabs.len() {
            if self.tabs[index].is_awake() {
                rivals |= self.watch_tab(TabId(index), from_ms)?;
            } else {
                self.tabs[index].lasting = Lasting::default();
            }
        }
        if rivals && self.watch.rivals.0.is_none() {
            self.stats.count(Fact::TwoLeaders);
        }
        self.watch.rivals.note(rivals, from_ms);
        let two = self.watch.rivals.longer_than(TWO_LEADERS_MS, self.now_ms);
        hold(Invariant::OneLeader, !two, || "two tabs lead".to_owned())
    }

    /// Tells whether another tab leads beside this one.
    fn watch_tab(&mut self, id: TabId, from_ms: u64) -> Result<bool, Violation> {
        let (now_ms, tab) = (self.now_ms, &self.tabs[id.0]);
        let late = |waiting: &Outstanding| !waiting.abandoned && waiting.deadline_ms + LATE_MS < now_ms;
        let late = tab.outstanding.iter().any(late);
        hold(Invariant::Deadline, !late, || format!("{id} still waits for an answer"))?;

        let kin = || self.tabs.iter().filter(|other| other.is_awake() && tab.is_kin_of(other));
        let rivals = tab.session.leads() && kin().any(|other| other.id != id && other.session.leads());
        let could_lead = tab.visible && tab.has_to_lead();
        let unled = could_lead && !kin().any(|other| other.session.leads());
        let unled_by_visible = could_lead && !kin().any(Tab::leads_for_all);
        // What was seen is told once and kept: a page that hung may have missed the one, and storage refused the other. And a
        // page that was in the cache meanwhile counts by other numbers than one that had to read all anew.
        let cached = self.tabs.iter().any(|other| other.frozen_times > 0);
        let untold = self.storage_failed && (self.stopped || cached);
        // Two tabs that led told two scenarios of what came in. Which one holds is the next leader's to say.
        let led = kin().any(|other| other.session.leads());
        let unseen =
            led && !untold && tab.session.unread() > 0 && kin().any(|other| other.visible && other.open);

        let lasting = &mut self.tabs[id.0].lasting;
        lasting.unled.note(unled, from_ms);
        lasting.unled_by_visible.note(unled_by_visible, from_ms);
        lasting.unseen.note(unseen, from_ms);
        hold(Invariant::SomeLeader, !lasting.unled.longer_than(NO_LEADER_MS, now_ms), || {
            format!("{id} could lead, and no tab does")
        })?;
        hold(Invariant::SomeLeader, !lasting.unled_by_visible.longer_than(HIDDEN_LEADER_MS, now_ms), || {
            format!("{id} could lead, and only a hidden tab does")
        })?;
        hold(Invariant::UnreadIsSeen, !lasting.unseen.longer_than(UNREAD_MS, now_ms), || {
            format!("{id} still counts as unread what another tab shows")
        })?;
        Ok(rivals)
    }

    /// Nothing is shown twice.
    pub fn shown_once(&self, id: TabId) -> Result<(), Violation> {
        let entries = self.tabs[id.0].session.entries();
        let mut ids: Vec<&str> =
            entries.iter().filter_map(|entry| Some(entry.id.as_ref()?.as_str())).collect();
        ids.sort_unstable();
        let twice = ids.windows(2).find(|pair| pair[0] == pair[1]);
        hold(Invariant::ShownOnce, twice.is_none(), || {
            let texts: Vec<_> = entries.iter().map(|entry| (&*entry.text, entry.id.as_ref())).collect();
            format!("two entries have the id {:?}: {texts:?}", twice.map(|ids| ids[0]))
        })?;
        if self.is_split() {
            return Ok(());
        }
        // Before its answer is there, nobody can tell that what an unknown role says is the visitor's own message.
        let told = entries.iter().filter(|entry| !matches!(entry.author, Role::Other(_)));
        let mut told: Vec<(&str, Delivery)> = told.map(|entry| (&*entry.text, entry.delivery)).collect();
        told.sort_unstable_by_key(|(text, _)| *text);
        for same in told.chunk_by(|one, other| one.0 == other.0).filter(|same| same.len() > 1) {
            let text = same[0].0;
            let said = self.written.iter().filter(|message| message.text == text).count();
            // Of several that say the same, an echo may be any that is not delivered yet. And where storage lost a letter, the
            // page that comes back with it learns only from the answer that its message is the one that others read.
            let counts =
                |delivery: Delivery| (said <= 1 && !self.storage_failed) || delivery == Delivery::Delivered;
            let times = same.iter().filter(|(_, delivery)| counts(*delivery)).count();
            hold(Invariant::ShownOnce, times <= said.max(1), || {
                let shown: Vec<_> = entries.iter().map(|entry| (&*entry.text, entry.id.as_ref())).collect();
                format!("\"{text}\" is shown {times} times, and was said {said} times: {shown:?}")
            })?;
        }
        Ok(())
    }

    /// Where storage refused or a page hung, two pages may have begun a conversation each. A message that was found taken in
    /// one of them is read in it once the tab comes to it.
    pub fn is_split(&self) -> bool {
        (self.storage_failed || self.stopped) && self.service.is_split()
    }
}
