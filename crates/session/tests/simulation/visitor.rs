//! What the visitor does, and what befalls the visitor's browser.

use chat_session::{Delivery, Entry, EntryKey, Input, Notice, Page};

use super::engine::Simulation;
use super::invariants::{Invariant, Violation, hold};
use super::scenario::Scenario;
use super::stats::{Fact, Stats};
use super::storage::Mood;
use super::tab::{Life, Tab, TabId};
use super::trace::Trace;
use super::written::{Round, Written, page_of};

/// Everything settles within this time once all works: the longest `Retry-After`, and attempts and reads after it.
const SETTLES_WITHIN_MS: u64 = 12 * 60_000;
/// What has settled stays so. A tab that has just loaded may look settled until it has heard the others.
const STAYS_MS: u64 = 3_000;
/// Where storage refused, a tab that found nothing there hears of the others at the latest when one of them offers storage
/// again what it did not keep: after ten seconds, and a second later where it is hidden.
const STAYS_AFTER_REFUSALS_MS: u64 = 12_000;

impl Simulation {
    /// The simulation that a seed decides.
    pub fn of_seed(seed: u64, trace: Trace) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        Self::new(Scenario::draw(&mut rng), rng, trace)
    }

    /// Everything, from the first page to the last check.
    pub fn live_through(&mut self) -> Result<(), Violation> {
        self.load(true)?;
        for _ in 0..self.scenario.acts {
            let gap_ms = self.rng.u64(0..=self.scenario.gap_ms * 2);
            self.pass(gap_ms)?;
            self.act()?;
        }
        self.calm_down()?;
        let until_ms = self.now_ms + SETTLES_WITHIN_MS;
        let stays_ms = if self.storage_failed { STAYS_AFTER_REFUSALS_MS } else { STAYS_MS };
        let mut settled_ms = 0;
        while settled_ms < stays_ms {
            settled_ms += 1_000;
            if let Err(violation) = self.is_settled() {
                settled_ms = 0;
                if self.now_ms >= until_ms {
                    return Err(violation);
                }
            }
            self.pass(1_000)?;
        }
        self.pass(self.scenario.idle_minutes * 60_000)?;
        self.is_settled()?;
        self.look_at_everything()
    }

    /// Closes the books.
    pub fn into_tally(mut self) -> Stats {
        self.stats.simulations = 1;
        self.stats.simulated_ms = self.now_ms;
        self.stats.messages = self.written.len() as u64;
        self.stats
    }

    fn act(&mut self) -> Result<(), Violation> {
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
        let dice = if self.scenario.talkative { self.rng.u8(..60) } else { self.rng.u8(..) };
        match dice {
            0..45 => self.talk(),
            45..60 => {
                self.operator_writes();
                Ok(())
            }
            60..85 => self.toggle_window(id),
            85..120 => self.toggle_visible(id),
            120..138 => self.open_another(),
            138..146 => self.feed(id, Input::PageViewed(page("/other"))),
            146..185 if self.scenario.tabs_suffer => self.suffer(id),
            185..200 if self.scenario.network_comes_and_goes => self.set_online(!self.online),
            200..215 => {
                self.upset_storage();
                Ok(())
            }
            215..235 => self.do_the_rare(id),
            _ => self.retry_or_ask_again(),
        }
    }

    /// One of the tabs that run and satisfy the condition; rarely one that hangs.
    fn any(&mut self, condition: impl Fn(&Tab) -> bool) -> Option<TabId> {
        let may_hang = self.rng.u8(..8) == 0;
        let fits = |tab: &&Tab| tab.is_live() && (may_hang || !tab.hangs) && condition(tab);
        let fit: Vec<TabId> = self.tabs.iter().filter(fits).map(|tab| tab.id).collect();
        self.rng.choice(fit)
    }

    fn talk(&mut self) -> Result<(), Violation> {
        match self.any(|tab| tab.visible) {
            Some(id) => self.say(id),
            None => Ok(()),
        }
    }

    /// The visitor writes a message.
    pub fn say(&mut self, id: TabId) -> Result<(), Violation> {
        let tag = self.written.len();
        let text =
            if self.scenario.equal_texts && self.rng.bool() { "ok".to_owned() } else { format!("m{tag}") };
        self.note_written(id, text.clone());
        self.feed(id, Input::Send { text, page_path: page_of(tag) })
    }

    fn note_written(&mut self, id: TabId, text: String) {
        if self.written.iter().any(|before| before.text == text) {
            self.stats.count(Fact::EqualTexts);
        }
        // Tabs that began as different visitors where storage failed find one another by what they tell: what a page that ends at
        // once has written by then is known to storage alone, and read by the next page. And by no page where storage was
        // cleared, and does not say yet whose it is.
        let writer = &self.tabs[id.0];
        let alone =
            self.storage_failed && self.tabs.iter().any(|other| other.is_live() && !other.is_kin_of(writer));
        let frail = self.storage.mood != Mood::Sound
            || alone
            || !self.storage.names(writer.session.visitor_id().as_str());
        self.written.push(Written::new(text, id, frail));
    }

    fn retry_or_ask_again(&mut self) -> Result<(), Violation> {
        let failed = |tab: &Tab| failed_entry(tab).is_some();
        if let Some(id) = self.any(failed) {
            return self.retry(id);
        }
        // Without ids, nobody could tell the message that is asked again from the one before.
        let unanswered = |tab: &Tab| tab.session.notice() == Some(Notice::NoReply) && !tab.hangs;
        if self.scenario.equal_texts
            && let Some(id) = self.any(unanswered)
        {
            return self.ask_again(id);
        }
        self.talk()
    }

    fn retry(&mut self, id: TabId) -> Result<(), Violation> {
        let Some((key, text)) = failed_entry(&self.tabs[id.0]) else { return Ok(()) };
        for message in self.written.iter_mut().filter(|message| message.text == text) {
            message.retried = true;
            message.round = Round::default();
        }
        self.urge(id, key)
    }

    /// The visitor does not want to wait for a message that is tried later.
    fn send_now(&mut self, id: TabId) -> Result<(), Violation> {
        let waits = |entry: &&Entry| matches!(entry.delivery, Delivery::Waiting | Delivery::Sending);
        let entry = self.tabs[id.0].session.entries().iter().rev().find(waits);
        let Some(key) = entry.map(|entry| entry.key) else {
            return Err(Violation::new(Invariant::Settles, format!("{id} defers nothing")));
        };
        self.urge(id, key)
    }

    /// The visitor asks for an attempt at once: the whole line goes out.
    fn urge(&mut self, id: TabId, key: EntryKey) -> Result<(), Violation> {
        for message in &mut self.written {
            message.round.urged += 1;
            message.round.may_hurry = true;
        }
        self.feed(id, Input::Retry(key))
    }

    fn ask_again(&mut self, id: TabId) -> Result<(), Violation> {
        let own = |entry: &&Entry| entry.author == chat_protocol::Role::Visitor;
        let Some(last) = self.tabs[id.0].session.entries().iter().rev().find(own) else { return Ok(()) };
        let (tag, text) = (self.written.len(), last.text.to_string());
        self.note_written(id, text);
        let known = self.tabs[id.0].session.entries().len();
        self.feed(id, Input::AskAgain { page_path: page_of(tag) })?;
        if self.tabs[id.0].session.entries().len() == known {
            // There was nothing to ask again.
            self.written.pop();
        }
        Ok(())
    }

    fn toggle_window(&mut self, id: TabId) -> Result<(), Violation> {
        let open = !self.tabs[id.0].open;
        self.feed(id, Input::Opened(open, page("/")))
    }

    fn toggle_visible(&mut self, id: TabId) -> Result<(), Violation> {
        let visible = !self.tabs[id.0].visible;
        // Mostly one tab covers the others.
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
        if self.tabs.iter().filter(|tab| tab.life != Life::Gone).count() >= self.scenario.most_tabs {
            return Ok(());
        }
        let visible = self.rng.u8(..4) > 0;
        if visible && self.rng.bool() {
            self.hide_all()?;
        }
        self.load(visible).map(drop)
    }

    /// What befalls a page.
    fn suffer(&mut self, id: TabId) -> Result<(), Violation> {
        if let Some(frozen) = self.frozen()
            && self.rng.bool()
        {
            return self.restore(frozen);
        }
        let visible = self.tabs[id.0].visible;
        if self.tabs[id.0].hangs {
            // All that can be done with it is to end it.
            self.crash(id);
            return Ok(());
        }
        match self.rng.u8(..6) {
            0 => self.crash(id),
            1 => {
                let ms = self.rng.u64(100..8_000);
                self.hang(id, ms);
            }
            2 => self.leave(id, Life::Gone)?,
            3 => self.leave(id, Life::Frozen)?,
            // Navigated: the page before may be kept for the way back.
            4 => {
                self.leave(id, Life::Frozen)?;
                self.load_in(50, visible);
            }
            _ => {
                self.leave(id, Life::Gone)?;
                let ms = self.rng.u64(..500);
                self.load_in(ms, visible);
            }
        }
        Ok(())
    }

    fn frozen(&mut self) -> Option<TabId> {
        let frozen: Vec<TabId> =
            self.tabs.iter().filter(|tab| tab.life == Life::Frozen).map(|tab| tab.id).collect();
        self.rng.choice(frozen)
    }

    /// The machine loses its network, or finds it.
    fn set_online(&mut self, online: bool) -> Result<(), Violation> {
        self.online = online;
        for index in 0..self.tabs.len() {
            self.feed(TabId(index), Input::Online(online))?;
        }
        Ok(())
    }

    fn upset_storage(&mut self) {
        if self.scenario.storage_is_cleared && self.rng.u8(..4) == 0 {
            self.trace.note(self.now_ms, "browser", || "clears the storage".to_owned());
            self.scenario.storage_is_cleared = false;
            self.storage.clear();
            self.storage_fails();
            self.stats.count(Fact::StorageCleared);
        } else if self.scenario.storage != Mood::Sound {
            let sound = self.storage.mood != Mood::Sound;
            self.storage.mood = if sound { Mood::Sound } else { self.scenario.storage };
            let mood = self.storage.mood;
            self.trace.note(self.now_ms, "browser", || format!("storage is {mood:?}"));
            if !sound {
                self.storage_fails();
            }
        }
    }

    /// What happens to few visitors, and once.
    fn do_the_rare(&mut self, id: TabId) -> Result<(), Violation> {
        match self.rng.u8(..4) {
            0 if std::mem::take(&mut self.scenario.machine_sleeps) => self.sleep(),
            1 if std::mem::take(&mut self.scenario.resets) => {
                self.stats.count(Fact::Forgotten);
                self.feed(id, Input::Reset)
            }
            2 if self.scenario.switched_off => {
                self.service.on = !self.service.on;
                if !self.service.on {
                    self.stats.count(Fact::SwitchedOff);
                }
                self.feed(id, Input::ReloadConfig)
            }
            3 if self.scenario.purges && self.service.purge() => {
                self.trace.note(self.now_ms, "service", || "purges the conversation".to_owned());
                self.stats.count(Fact::ConversationPurged);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn sleep(&mut self) -> Result<(), Violation> {
        let ms = self.rng.u64(60_000..7_200_000);
        self.stats.count(Fact::MachineSlept);
        for index in 0..self.tabs.len() {
            if self.tabs[index].is_awake() {
                self.hang(TabId(index), ms);
            }
        }
        self.pass(ms)
    }

    fn operator_writes(&mut self) {
        if self.service.operator_writes(self.now_ms) {
            let number = self.service.written();
            self.trace.note(self.now_ms, "operator", || format!("writes #{number}"));
        }
    }

    /// From now on all works. The visitor comes back to a tab, may open its window, and may try once more what failed.
    fn calm_down(&mut self) -> Result<(), Violation> {
        self.trace.note(self.now_ms, "simulation", || "ALL WORKS FROM NOW ON".to_owned());
        self.network.perfect = true;
        self.service.well = true;
        self.storage.mood = Mood::Sound;
        // What hangs recovers by itself, and what is loading loads.
        self.pass(8_000)?;
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

    /// In the end the visitor opens the window in one tab, and nothing is unread in any.
    fn look_at_everything(&mut self) -> Result<(), Violation> {
        let Some(id) = self.any(|tab| tab.visible) else { return Ok(()) };
        self.trace.note(self.now_ms, "simulation", || "THE VISITOR LOOKS AT EVERYTHING".to_owned());
        self.feed(id, Input::Opened(true, page("/")))?;
        self.pass(STAYS_MS)?;
        let looked_at = &self.tabs[id.0];
        let unread = self
            .tabs
            .iter()
            .find(|tab| tab.is_live() && tab.is_kin_of(looked_at) && tab.session.unread() > 0);
        hold(Invariant::UnreadIsSeen, unread.is_none(), || {
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
