//! The visitor's browser: what it does to its pages, and what they have it do.

use std::rc::Rc;

use chat_protocol::{Endpoint, Value};
use chat_session::{Effect, Input, Reports, RequestId, Session, SessionEvent, Start, keys};

use super::engine::{Event, Simulation};
use super::invariants::{Invariant, Violation};
use super::stats::Fact;
use super::tab::{Late, Life, Stirs, Tab, TabId};
use super::watch::Lasting;
use super::written::tag_of_page;

/// A refusal of storage must not lead to ever more refusals.
const MOST_REFUSALS: usize = 8;

impl Simulation {
    /// Loads a page.
    pub fn load(&mut self, visible: bool) -> Result<TabId, Violation> {
        let id = TabId(self.tabs.len());
        self.trace.note(self.now_ms, id, || format!("loads{}", if visible { "" } else { ", hidden" }));
        let (session, effects) = Session::start(Start {
            now_ms: self.now_ms,
            seed: self.rng.u128(..),
            stored: self.storage.snapshot(),
            reports: if self.scenario.reports { Reports::Auto } else { Reports::Off },
            visible,
            online: self.online,
            ..Start::default()
        });
        self.tabs.push(Tab::new(id, session, visible, self.online));
        self.tabs[id.0].stirred_ms = self.now_ms;
        self.carry_out(id, effects, Stirs::Yes)?;
        Ok(id)
    }

    /// A page is loaded some time later.
    pub fn load_in(&mut self, ms: u64, visible: bool) {
        self.schedule(ms, Event::Loads { visible });
    }

    /// Something happens to a page. One that hangs takes it in later; one that is gone or frozen never does.
    pub fn feed(&mut self, id: TabId, input: Input) -> Result<(), Violation> {
        self.feed_stirring(id, input, Stirs::Yes)
    }

    pub fn feed_stirring(&mut self, id: TabId, input: Input, stirs: Stirs) -> Result<(), Violation> {
        let tab = &mut self.tabs[id.0];
        match tab.life {
            Life::Running if tab.hangs => {
                tab.backlog.push_back(Late::Input(Box::new(input), stirs));
                Ok(())
            }
            Life::Running => self.handle(id, input, stirs),
            Life::Frozen | Life::Gone => Ok(()),
        }
    }

    /// A page that hung goes on, with all that happened to it meanwhile.
    pub fn recover(&mut self, id: TabId) -> Result<(), Violation> {
        self.tabs[id.0].hangs = false;
        // What it takes in and tells now is old, and the others go by it for a moment.
        self.tabs.iter_mut().for_each(|tab| tab.lasting = Lasting::default());
        while let Some(late) = self.tabs[id.0].backlog.pop_front() {
            match late {
                Late::Input(input, stirs) => self.feed_stirring(id, *input, stirs)?,
                Late::Answer(flight, answer) => self.returns(&flight, answer)?,
            }
        }
        Ok(())
    }

    /// A page stops for a while without being told.
    pub fn hang(&mut self, id: TabId, ms: u64) {
        self.trace.note(self.now_ms, id, || format!("hangs for {ms} ms"));
        if self.tabs[id.0].session.leads() {
            self.stats.count(Fact::LeaderHung);
        }
        self.tabs[id.0].hangs = true;
        self.stopped = true;
        self.schedule(ms, Event::Recovers(id));
    }

    pub fn crash(&mut self, id: TabId) {
        self.trace.note(self.now_ms, id, || "crashes".to_owned());
        let tab = &mut self.tabs[id.0];
        if tab.outstanding.iter().any(|outstanding| outstanding.endpoint == Endpoint::Send) {
            self.stats.count(Fact::CrashInMidSend);
        }
        if tab.session.leads() {
            self.stats.count(Fact::LeaderCrashed);
        }
        tab.life = Life::Gone;
    }

    /// The page is left: closed for good, or into the back-forward cache. Browsers differ in whether it is hidden first.
    pub fn leave(&mut self, id: TabId, into: Life) -> Result<(), Violation> {
        if self.tabs[id.0].visible && self.rng.bool() {
            self.feed(id, Input::Visible(false))?;
        }
        self.feed(id, Input::PageHidden)?;
        self.trace.note(self.now_ms, id, || format!("is now {into:?}"));
        let left_at = (self.storage.changes(), self.service.written());
        let tab = &mut self.tabs[id.0];
        tab.life = into;
        tab.frozen_times += 1;
        tab.left_at = left_at;
        Ok(())
    }

    /// The page comes back from the back-forward cache.
    pub fn restore(&mut self, id: TabId) -> Result<(), Violation> {
        let tab = &mut self.tabs[id.0];
        tab.life = Life::Running;
        if tab.left_at.0 != self.storage.changes() || tab.left_at.1 != self.service.written() {
            self.stats.count(Fact::RestoredToNews);
        }
        self.feed(id, Input::PageRestored(self.storage.snapshot()))?;
        if self.tabs[id.0].told_online != self.online {
            self.feed(id, Input::Online(self.online))?;
        }
        if !self.tabs[id.0].visible {
            self.feed(id, Input::Visible(true))?;
        }
        // What was under way when the page was frozen has broken off; browsers tell the page, or forget to.
        let broken: Vec<_> = self.tabs[id.0].outstanding.iter().map(|outstanding| outstanding.id).collect();
        for request in broken {
            if self.rng.bool() && self.tabs[id.0].land(request).is_some() {
                self.feed_stirring(id, Input::Failed(request), Stirs::No)?;
            }
        }
        self.set_timer(id);
        Ok(())
    }

    /// The browser's timer, for what the page asked for last.
    fn set_timer(&mut self, id: TabId) {
        if let Some(due_ms) = self.tabs[id.0].wake_ms {
            self.schedule(due_ms.saturating_sub(self.now_ms), Event::Wake { tab: id, due_ms });
        }
    }

    pub fn wake(&mut self, id: TabId, due_ms: u64) -> Result<(), Violation> {
        let tab = &mut self.tabs[id.0];
        if tab.wake_ms != Some(due_ms) || tab.life != Life::Running {
            return Ok(());
        }
        // Timers of hidden pages run once a second.
        if !tab.visible && !self.now_ms.is_multiple_of(1_000) {
            self.schedule(1_000 - self.now_ms % 1_000, Event::Wake { tab: id, due_ms });
            return Ok(());
        }
        tab.wake_ms = None;
        self.feed_stirring(id, Input::TimerFired, Stirs::No)
    }

    fn handle(&mut self, id: TabId, input: Input, stirs: Stirs) -> Result<(), Violation> {
        self.trace.note(self.now_ms, id, || told(&input));
        let tab = &mut self.tabs[id.0];
        let (mut shown, mut said) = (false, None);
        match &input {
            Input::Send { page_path, .. } | Input::AskAgain { page_path } => said = tag_of_page(page_path),
            Input::Visible(visible) => {
                shown = *visible && !tab.visible;
                tab.visible = *visible;
            }
            Input::Opened(open, _) => tab.open = *open,
            Input::Online(online) => tab.told_online = *online,
            Input::PageHidden => tab.leaving = true,
            Input::PageRestored(_) => tab.leaving = false,
            _ => {}
        }
        let known = tab.known();
        let conversation = tab.session.conversation_id().cloned();
        let effects = tab.session.handle(self.now_ms, input);
        if let Some(tag) = said {
            self.written[tag].visitor = Some(tab.session.visitor_id().clone());
        }
        // What the service suggests for one conversation says nothing about another.
        tab.hinted &= tab.session.conversation_id() == conversation.as_ref();
        let is_news = tab.known() != known || (tab.session.leads() && !tab.led);
        let stirs = if is_news { Stirs::Yes } else { stirs };
        if stirs == Stirs::Yes {
            self.stir(id);
        }
        if shown {
            self.set_timer(id);
        }
        self.carry_out(id, effects, stirs)
    }

    fn carry_out(&mut self, id: TabId, effects: Vec<Effect>, stirs: Stirs) -> Result<(), Violation> {
        let mut batch = effects;
        let mut shows = false;
        for _ in 0..MOST_REFUSALS {
            let mut refused = false;
            for effect in batch {
                match effect {
                    Effect::Request(request) => self.sets_out(id, request)?,
                    Effect::Cancel(request) => self.give_up(id, request),
                    Effect::WakeAt(at_ms) => {
                        self.tabs[id.0].wake_ms = Some(at_ms);
                        self.set_timer(id);
                    }
                    Effect::Store(key, text) => refused |= !self.store(id, key, text),
                    Effect::Broadcast(text) => self.broadcast(id, &text, stirs)?,
                    Effect::Show => shows = true,
                    Effect::Emit(event) => {
                        self.trace.note(self.now_ms, id, || format!("tells {event:?}"));
                        // Where another tab knew before this one that a message has arrived, `known` did not change.
                        if matches!(event, SessionEvent::Message(_)) {
                            self.stir(id);
                        }
                    }
                }
            }
            if shows {
                self.shown_once(id)?;
            }
            let tab = &mut self.tabs[id.0];
            if tab.session.leads() != tab.led {
                tab.led = !tab.led;
                let led = tab.led;
                self.trace.note(self.now_ms, id, || (if led { "LEADS" } else { "leads no more" }).to_owned());
                if led {
                    tab.term += 1;
                    self.stats.count(Fact::LeadTaken);
                } else {
                    let sent = tab.outstanding.iter_mut().filter(|sent| sent.endpoint == Endpoint::Send);
                    sent.for_each(|sent| sent.abandoned = true);
                }
            }
            if !refused {
                return Ok(());
            }
            batch = tab.session.handle(self.now_ms, Input::PersistFailed);
        }
        Err(Violation::new(Invariant::RefusalsEnd, format!("{id} stores again and again what is refused")))
    }

    fn give_up(&mut self, id: TabId, request: RequestId) {
        let tab = &mut self.tabs[id.0];
        let Some(landed) = tab.land(request) else { return };
        self.trace.note(self.now_ms, id, || format!("gives up on {:?}", landed.endpoint));
        match tab.reading(landed.endpoint) {
            Some(reading) => reading.failed = true,
            // What became of a message is read at once.
            None => tab.stirred_ms = self.now_ms,
        }
    }

    fn store(&mut self, id: TabId, key: String, text: Option<String>) -> bool {
        let kept = self.storage.allows(text.as_deref());
        self.trace.note(self.now_ms, id, || {
            let did = if kept { "stores" } else { "is REFUSED to store" };
            format!("{did} {key} = {}", text.as_deref().unwrap_or_default())
        });
        if let (None, true, Some((_, letter))) =
            (&text, self.scenario.equal_texts, key.split_once(keys::OUTBOX))
        {
            self.ledger.mistake(letter);
        }
        if kept {
            self.storage.store(key, text);
        } else {
            self.stats.count(Fact::StorageRefused);
            self.storage_fails();
        }
        kept
    }

    /// Storage cannot be relied on for what is not delivered by now.
    pub fn storage_fails(&mut self) {
        self.storage_failed = true;
        self.written.iter_mut().for_each(|written| written.frail = true);
    }

    fn broadcast(&mut self, from: TabId, text: &str, stirs: Stirs) -> Result<(), Violation> {
        let channel = self.tabs[from.0].session.channel();
        let hears = |tab: &&Tab| tab.id != from && tab.is_live() && tab.session.channel() == channel;
        let listeners: Vec<(TabId, u32)> =
            self.tabs.iter().filter(hears).map(|tab| (tab.id, tab.frozen_times)).collect();
        self.trace.note(self.now_ms, from, || format!("posts {}", gist(text)));
        if listeners.is_empty() {
            return Ok(());
        }
        let told: Value = serde_json::from_str(text).map_err(|error| {
            Violation::new(Invariant::WellFormed, format!("a post of {from}: {error}: {text}"))
        })?;
        let told = Rc::new(told);
        for (tab, frozen_times) in listeners {
            let before_ms = self.heard_ms.get(&(from.0, tab.0)).copied().unwrap_or(0);
            let at_ms = before_ms.max(self.now_ms + self.network.between_tabs_ms());
            self.heard_ms.insert((from.0, tab.0), at_ms);
            let told = Rc::clone(&told);
            self.schedule(at_ms - self.now_ms, Event::Hears { tab, frozen_times, told, stirs });
        }
        Ok(())
    }
}

/// An input in a trace; those that say nothing by themselves, or were noted before, are short.
fn told(input: &Input) -> String {
    match input {
        Input::Answered(..) | Input::Failed(..) => "takes it in".to_owned(),
        Input::PageRestored(stored) => format!("is restored, {} pairs kept", stored.len()),
        Input::Opened(open, _) => format!("window {}", if *open { "opened" } else { "closed" }),
        Input::PageViewed(_) => "views another page".to_owned(),
        Input::Track(event_type, ..) => format!("the site tracks {event_type}"),
        Input::Identify(_) => "the site says who it is".to_owned(),
        Input::Locale(locale) => format!("the locale is {locale:?}"),
        Input::Consented(..) => "agrees to be remembered".to_owned(),
        Input::TabMessage(value) => format!("hears {}", gist(&value.to_string())),
        other => format!("{other:?}"),
    }
}

/// What one tab tells another: what it is about first.
fn gist(text: &str) -> String {
    let told: Value = serde_json::from_str(text).unwrap_or_default();
    let field = |name| told.get(name).map_or_else(String::new, ToString::to_string);
    format!("{} {} {text}", field("does"), field("name"))
}
