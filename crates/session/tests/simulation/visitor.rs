//! The visitor: writes, retries, opens windows and tabs.

use chat_session::{Delivery, Entry, EntryKey, Input, Notice, Page, keys};

use super::engine::Simulation;
use super::invariants::{Invariant, Violation, check};
use super::messages::{Round, VisitorMessage, page_of};
use super::scenario::Scenario;
use super::stats::{Fact, Stats};
use super::storage::StorageMode;
use super::tab::{Life, Tab, TabId};
use super::trace::Trace;

/// The visitor of a conversation that began before the first page.
const EARLIER_VISITOR: &str = "v-of-another-client";
/// Maximum time to settle after the last fault: the longest `Retry-After`, with attempts and polls after it.
/// Milliseconds.
const SETTLE_TIMEOUT_MS: u64 = 12 * 60_000;
/// Time for which the simulation must stay settled. A new tab may look settled until it receives messages.
/// Milliseconds.
const STABLE_MS: u64 = 3_000;
/// The same after storage refused writes: a tab that found nothing in storage receives the state at the
/// latest when another one stores it again, after ten seconds, and a second later if that tab is hidden.
/// Milliseconds.
const STABLE_AFTER_REFUSALS_MS: u64 = 12_000;

impl Simulation {
    /// Returns the simulation of a seed.
    pub fn of_seed(seed: u64, trace: Trace) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        Self::new(Scenario::draw(&mut rng), rng, trace)
    }

    /// Runs the simulation, from the first page to the last check.
    pub fn run(&mut self) -> Result<(), Violation> {
        if self.scenario.earlier_messages > 0 {
            self.continue_conversation();
        }
        self.load(true)?;
        for _ in 0..self.scenario.steps {
            let step_interval_ms = self.rng.u64(0..=self.scenario.step_interval_ms * 2);
            self.advance(step_interval_ms)?;
            self.step()?;
        }
        self.restore_everything()?;
        let until_ms = self.now_ms + SETTLE_TIMEOUT_MS;
        let stable_ms = if self.storage_failed { STABLE_AFTER_REFUSALS_MS } else { STABLE_MS };
        let mut settled_ms = 0;
        while settled_ms < stable_ms {
            settled_ms += 1_000;
            if let Err(violation) = self.check_settled() {
                settled_ms = 0;
                if self.now_ms >= until_ms {
                    return Err(violation);
                }
            }
            self.advance(1_000)?;
        }
        self.advance(self.scenario.idle_minutes * 60_000)?;
        if self.check_settled().is_err() {
            // The last poll may have changed something just now: the other tabs learn of it within a second.
            self.advance(1_000)?;
        }
        self.check_settled()?;
        self.check_everything_seen()
    }

    /// Lets the first page find a conversation of which only the id is stored.
    pub fn continue_conversation(&mut self) {
        self.stats.count(Fact::ConversationContinued);
        self.merges_first_history = true;
        for tag in 0..self.scenario.earlier_messages {
            let mut message = VisitorMessage::new(format!("m{tag}"), TabId(0), false);
            message.visitor = Some(EARLIER_VISITOR.into());
            self.messages.push(message);
        }
        let conversation =
            self.service.start_conversation(self.messages.iter().map(|message| &*message.text));
        let visitor = format!(r#""visitorId":"{EARLIER_VISITOR}""#);
        for (name, ids) in [
            (keys::VISITOR, visitor.clone()),
            (keys::CONVERSATION, format!(r#"{visitor},"conversationId":"{conversation}""#)),
        ] {
            self.storage.store([keys::PREFIX, name].concat(), Some(format!("{{{ids}}}")));
        }
    }

    /// Returns the statistics of the run.
    pub fn into_stats(mut self) -> Stats {
        self.stats.simulations = 1;
        self.stats.simulated_ms = self.now_ms;
        self.stats.messages = self.messages.len() as u64;
        self.stats
    }

    fn step(&mut self) -> Result<(), Violation> {
        let Some(id) = self.any(|_| true) else {
            self.load(true)?;
            return Ok(());
        };
        let deferred = |tab: &Tab| tab.is_awake() && tab.visible && tab.session.is_deferred();
        if self.tabs.iter().any(deferred)
            && self.rng.bool()
            && let Some(id) = self.any(deferred)
        {
            return self.send_now(id);
        }
        let dice = if self.scenario.mostly_messages { self.rng.u8(..60) } else { self.rng.u8(..) };
        match dice {
            0..45 => self.send_from_visible_tab(),
            45..60 => {
                self.operator_writes();
                Ok(())
            }
            60..85 => self.toggle_window(id),
            85..120 => self.toggle_visible(id),
            120..138 => self.open_another(),
            138..146 => self.feed(id, Input::PageViewed(page("/other"))),
            146..185 if self.scenario.tabs_fail => self.disturb_page(id),
            185..200 if self.scenario.network_comes_and_goes => self.set_online(!self.online),
            200..215 => {
                self.disturb_storage();
                Ok(())
            }
            215..235 => self.cause_rare_event(id),
            _ => self.retry_or_ask_again(),
        }
    }

    /// Draws a running tab that satisfies the condition, rarely one that hangs.
    fn any(&mut self, condition: impl Fn(&Tab) -> bool) -> Option<TabId> {
        let may_hang = self.rng.u8(..8) == 0;
        let fits = |tab: &&Tab| tab.is_live() && (may_hang || !tab.hangs) && condition(tab);
        let fit: Vec<TabId> = self.tabs.iter().filter(fits).map(|tab| tab.id).collect();
        self.rng.choice(fit)
    }

    fn send_from_visible_tab(&mut self) -> Result<(), Violation> {
        match self.any(|tab| tab.visible) {
            Some(id) => self.send(id),
            None => Ok(()),
        }
    }

    /// Sends a message.
    pub fn send(&mut self, id: TabId) -> Result<(), Violation> {
        let tag = self.messages.len();
        let text =
            if self.scenario.equal_texts && self.rng.bool() { "ok".to_owned() } else { format!("m{tag}") };
        self.record_message(id, text.clone());
        self.feed(id, Input::Send { text, page_path: page_of(tag) })
    }

    fn record_message(&mut self, id: TabId, text: String) {
        if self.messages.iter().any(|before| before.text == text) {
            self.stats.count(Fact::EqualTexts);
        }
        // If storage failed, tabs may start as different visitors and find each other by broadcasts. A
        // message of a page that ends before that is in storage only, where the next page finds it, unless
        // storage has another visitor or none.
        let writer = &self.tabs[id.0];
        let has_strangers = self.storage_failed
            && self.tabs.iter().any(|other| other.is_live() && !other.shares_visitor(writer));
        let volatile = self.storage.mode != StorageMode::Reliable
            || has_strangers
            || !self.storage.names(writer.session.visitor_id().as_str());
        let mut message = VisitorMessage::new(text, id, volatile);
        message.in_first_history = self.merges_first_history;
        self.messages.push(message);
    }

    fn retry_or_ask_again(&mut self) -> Result<(), Violation> {
        let failed = |tab: &Tab| failed_entry(tab).is_some();
        if let Some(id) = self.any(failed) {
            return self.retry(id);
        }
        // Without ids, a repeated message could not be distinguished from the first one.
        let unanswered = |tab: &Tab| tab.session.notice() == Some(Notice::NoReply) && !tab.hangs;
        if self.scenario.equal_texts
            && let Some(id) = self.any(unanswered)
        {
            return self.ask_again(id);
        }
        self.send_from_visible_tab()
    }

    fn retry(&mut self, id: TabId) -> Result<(), Violation> {
        let Some((key, text)) = failed_entry(&self.tabs[id.0]) else { return Ok(()) };
        for message in self.messages.iter_mut().filter(|message| message.text == text) {
            message.retried = true;
            message.round = Round::default();
        }
        self.retry_entry(id, key)
    }

    /// Sends deferred messages at once.
    fn send_now(&mut self, id: TabId) -> Result<(), Violation> {
        let is_pending = |entry: &&Entry| matches!(entry.delivery, Delivery::Waiting | Delivery::Sending);
        let entry = self.tabs[id.0].session.entries().iter().rev().find(is_pending);
        let Some(key) = entry.map(|entry| entry.key) else {
            return Err(Violation::new(
                Invariant::Settles,
                format!("{id} is deferred without a pending message"),
            ));
        };
        self.retry_entry(id, key)
    }

    /// Retries an entry: all pending messages are sent at once.
    fn retry_entry(&mut self, id: TabId, key: EntryKey) -> Result<(), Violation> {
        for message in &mut self.messages {
            message.round.retries += 1;
            message.round.may_skip_wait = true;
        }
        self.feed(id, Input::Retry(key))
    }

    fn ask_again(&mut self, id: TabId) -> Result<(), Violation> {
        let own = |entry: &&Entry| entry.author == chat_protocol::Role::Visitor;
        let Some(last) = self.tabs[id.0].session.entries().iter().rev().find(own) else { return Ok(()) };
        let (tag, text) = (self.messages.len(), last.text.to_string());
        self.record_message(id, text);
        let known = self.tabs[id.0].session.entries().len();
        self.feed(id, Input::AskAgain { page_path: page_of(tag) })?;
        if self.tabs[id.0].session.entries().len() == known {
            // There was nothing to send again.
            self.messages.pop();
        }
        Ok(())
    }

    fn toggle_window(&mut self, id: TabId) -> Result<(), Violation> {
        let open = !self.tabs[id.0].open;
        self.feed(id, Input::Opened(open, page("/")))
    }

    fn toggle_visible(&mut self, id: TabId) -> Result<(), Violation> {
        let visible = !self.tabs[id.0].visible;
        // Usually one tab covers the others.
        if visible && self.rng.u8(..4) > 0 {
            self.hide_all()?;
        }
        self.feed(id, Input::Visible(visible))
    }

    fn hide_all(&mut self) -> Result<(), Violation> {
        for index in 0..self.tabs.len() {
            if self.tabs[index].is_live() && self.tabs[index].visible {
                self.feed(TabId(index), Input::Visible(false))?;
            }
        }
        Ok(())
    }

    fn open_another(&mut self) -> Result<(), Violation> {
        if self.tabs.iter().filter(|tab| tab.life != Life::Gone).count() >= self.scenario.max_tabs {
            return Ok(());
        }
        let visible = self.rng.u8(..4) > 0;
        if visible && self.rng.bool() {
            self.hide_all()?;
        }
        self.load(visible).map(drop)
    }

    fn operator_writes(&mut self) {
        if self.service.operator_writes(self.now_ms) {
            let number = self.service.message_count();
            self.trace.note(self.now_ms, "operator", || format!("writes #{number}"));
        }
    }

    /// Ends all faults. The visitor returns to a tab, and may open its window and retry failed messages.
    fn restore_everything(&mut self) -> Result<(), Violation> {
        self.trace.note(self.now_ms, "simulation", || "ALL FAULTS END".to_owned());
        self.network.perfect = true;
        self.service.ai_reliable = true;
        self.storage.mode = StorageMode::Reliable;
        // Hanging pages resume, and pages that load finish loading.
        self.advance(8_000)?;
        if !self.online {
            self.set_online(true)?;
        }
        while self.rng.bool()
            && let Some(frozen) = self.frozen()
        {
            self.restore(frozen)?;
        }
        if !self.service.on {
            self.service.on = true;
        }
        if self.scenario.switched_off {
            for index in 0..self.tabs.len() {
                self.feed(TabId(index), Input::ReloadConfig)?;
            }
        }
        let id = match self.any(|tab| tab.visible && !tab.hangs) {
            Some(id) => {
                self.feed(id, Input::Visible(false))?;
                id
            }
            None => self.load(false)?,
        };
        self.feed(id, Input::Visible(true))?;
        if self.rng.bool() {
            self.feed(id, Input::Opened(true, page("/")))?;
        }
        if self.rng.bool() {
            self.retry(id)?;
        }
        Ok(())
    }

    /// Opens the window in one tab, and checks that no tab has unread messages.
    fn check_everything_seen(&mut self) -> Result<(), Violation> {
        let Some(id) = self.any(|tab| tab.visible) else { return Ok(()) };
        self.trace.note(self.now_ms, "simulation", || "THE VISITOR OPENS THE WINDOW".to_owned());
        self.feed(id, Input::Opened(true, page("/")))?;
        self.advance(STABLE_MS)?;
        let opened = &self.tabs[id.0];
        let unread = self
            .tabs
            .iter()
            .find(|tab| tab.is_live() && tab.shares_visitor(opened) && tab.session.unread() > 0);
        check(Invariant::SeenEverywhere, unread.is_none(), || {
            format!("{:?} has unread messages", unread.map(|tab| tab.id))
        })
    }
}

fn failed_entry(tab: &Tab) -> Option<(EntryKey, String)> {
    let failed = tab.session.entries().iter().find(|entry| entry.delivery == Delivery::Failed)?;
    Some((failed.key, failed.text.to_string()))
}

fn page(path: &str) -> Page {
    Page { path: path.to_owned(), url: format!("https://example.com{path}"), ..Page::default() }
}
