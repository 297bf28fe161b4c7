//! The visitor's browser: feeds inputs to its pages, and carries out their effects.

use std::rc::Rc;

use chat_protocol::{Endpoint, Value};
use chat_session::{Effect, Input, Reports, RequestId, Session, SessionEvent, Start, keys};

use super::engine::{Event, Simulation};
use super::invariants::{Invariant, Violation};
use super::messages::tag_of_page;
use super::stats::Fact;
use super::tab::{Life, PollTrigger, Queued, Tab, TabId};
use super::watch::Ongoing;

/// Maximum number of refused writes in a row that a session may answer with further writes.
const MAX_REFUSALS: usize = 8;

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
        self.tabs[id.0].triggered_ms = self.now_ms;
        self.carry_out(id, effects, PollTrigger::Yes)?;
        Ok(id)
    }

    /// Schedules the load of a page.
    pub fn load_in(&mut self, ms: u64, visible: bool) {
        self.schedule(ms, Event::PageLoads { visible });
    }

    /// Feeds an input to a page. A page that hangs handles it later; a closed or frozen one never does.
    pub fn feed(&mut self, id: TabId, input: Input) -> Result<(), Violation> {
        self.feed_with(id, input, PollTrigger::Yes)
    }

    pub fn feed_with(&mut self, id: TabId, input: Input, trigger: PollTrigger) -> Result<(), Violation> {
        let tab = &mut self.tabs[id.0];
        match tab.life {
            Life::Running if tab.hangs => {
                tab.backlog.push_back(Queued::Input(Box::new(input), trigger));
                Ok(())
            }
            Life::Running => self.handle(id, input, trigger),
            Life::Frozen | Life::Gone => Ok(()),
        }
    }

    /// Resumes a page that hung, and handles its queued inputs.
    pub fn recover(&mut self, id: TabId) -> Result<(), Violation> {
        self.tabs[id.0].hangs = false;
        // Its queued messages and its broadcasts are old, and mislead the other tabs for a moment.
        self.tabs.iter_mut().for_each(|tab| tab.ongoing = Ongoing::default());
        while let Some(late) = self.tabs[id.0].backlog.pop_front() {
            match late {
                Queued::Input(input, trigger) => self.feed_with(id, *input, trigger)?,
                Queued::Response(flight, answer) => self.on_response(&flight, answer)?,
                Queued::Part(flight, history) => self.on_idle(&flight, history)?,
            }
        }
        Ok(())
    }

    /// Lets a page hang for a while, without notice.
    pub fn hang(&mut self, id: TabId, ms: u64) {
        self.trace.note(self.now_ms, id, || format!("hangs for {ms} ms"));
        if self.tabs[id.0].session.leads() {
            self.stats.count(Fact::LeaderHung);
        }
        self.tabs[id.0].hangs = true;
        self.has_hung = true;
        // The page may have been about to lead: the others wait for it before they stand again.
        self.tabs.iter_mut().for_each(|tab| tab.ongoing = Ongoing::default());
        self.schedule(ms, Event::HangEnds(id));
    }

    pub fn crash(&mut self, id: TabId) {
        self.trace.note(self.now_ms, id, || "crashes".to_owned());
        let tab = &mut self.tabs[id.0];
        if tab.outstanding.iter().any(|outstanding| outstanding.endpoint == Endpoint::Send) {
            self.stats.count(Fact::CrashedWhileSending);
        }
        if tab.session.leads() {
            self.stats.count(Fact::LeaderCrashed);
        }
        tab.life = Life::Gone;
    }

    /// Leaves a page: closes it, or puts it into the back-forward cache. Browsers differ in whether they hide
    /// it first.
    pub fn leave(&mut self, id: TabId, into: Life) -> Result<(), Violation> {
        if self.tabs[id.0].visible && self.rng.bool() {
            self.feed(id, Input::Visible(false))?;
        }
        self.feed(id, Input::PageHidden)?;
        self.trace.note(self.now_ms, id, || format!("becomes {into:?}"));
        let left_at = (self.storage.changes(), self.service.message_count());
        let tab = &mut self.tabs[id.0];
        tab.life = into;
        tab.frozen_times += 1;
        tab.left_at = left_at;
        Ok(())
    }

    /// Restores a page from the back-forward cache.
    pub fn restore(&mut self, id: TabId) -> Result<(), Violation> {
        let tab = &mut self.tabs[id.0];
        tab.life = Life::Running;
        if tab.left_at.0 != self.storage.changes() || tab.left_at.1 != self.service.message_count() {
            self.stats.count(Fact::RestoredToChanges);
        }
        self.feed(id, Input::PageRestored(self.storage.snapshot()))?;
        if self.tabs[id.0].reported_online != self.online {
            self.feed(id, Input::Online(self.online))?;
        }
        if !self.tabs[id.0].visible {
            self.feed(id, Input::Visible(true))?;
        }
        // Requests in flight were aborted when the page was frozen. Some browsers report this to the page,
        // some do not.
        let broken: Vec<_> = self.tabs[id.0].outstanding.iter().map(|outstanding| outstanding.id).collect();
        for request in broken {
            if self.rng.bool() && self.tabs[id.0].take_outstanding(request).is_some() {
                self.feed_with(id, Input::Failed(request), PollTrigger::No)?;
            }
        }
        self.set_timer(id);
        Ok(())
    }

    /// Sets the browser's timer to the time that the page last asked for.
    fn set_timer(&mut self, id: TabId) {
        if let Some(due_ms) = self.tabs[id.0].wake_ms {
            self.schedule(due_ms.saturating_sub(self.now_ms), Event::TimerFires { tab: id, due_ms });
        }
    }

    pub fn wake(&mut self, id: TabId, due_ms: u64) -> Result<(), Violation> {
        let tab = &mut self.tabs[id.0];
        if tab.wake_ms != Some(due_ms) || tab.life != Life::Running {
            return Ok(());
        }
        // Timers of hidden pages run once a second.
        if !tab.visible && !self.now_ms.is_multiple_of(1_000) {
            self.schedule(1_000 - self.now_ms % 1_000, Event::TimerFires { tab: id, due_ms });
            return Ok(());
        }
        tab.wake_ms = None;
        self.feed_with(id, Input::TimerFired, PollTrigger::No)
    }

    fn handle(&mut self, id: TabId, input: Input, trigger: PollTrigger) -> Result<(), Violation> {
        self.trace.note(self.now_ms, id, || input_summary(&input));
        let tab = &mut self.tabs[id.0];
        let (mut shown, mut sent) = (false, None);
        match &input {
            Input::Send { page_path, .. } | Input::AskAgain { page_path } => sent = tag_of_page(page_path),
            Input::Visible(visible) => {
                shown = *visible && !tab.visible;
                tab.visible = *visible;
            }
            Input::Opened(open, _) => tab.open = *open,
            Input::Online(online) => tab.reported_online = *online,
            Input::PageHidden => tab.leaving = true,
            Input::PageRestored(_) => tab.leaving = false,
            _ => {}
        }
        let known = tab.known();
        let conversation = tab.session.conversation_id().cloned();
        let effects = tab.session.handle(self.now_ms, input);
        if let Some(tag) = sent {
            self.messages[tag].visitor = Some(tab.session.visitor_id().clone());
        }
        // Hints apply to one conversation only.
        tab.hinted &= tab.session.conversation_id() == conversation.as_ref();
        let has_changed = tab.known() != known || (tab.session.leads() && !tab.led);
        let trigger = if has_changed { PollTrigger::Yes } else { trigger };
        if trigger == PollTrigger::Yes {
            self.trigger_poll(id);
        }
        if shown {
            self.set_timer(id);
        }
        self.carry_out(id, effects, trigger)
    }

    fn carry_out(&mut self, id: TabId, effects: Vec<Effect>, trigger: PollTrigger) -> Result<(), Violation> {
        let mut batch = effects;
        let mut shows = false;
        for _ in 0..MAX_REFUSALS {
            let mut refused = false;
            for effect in batch {
                match effect {
                    Effect::Request(request) => self.send_request(id, request)?,
                    Effect::Cancel(request) => self.cancel(id, request),
                    Effect::WakeAt(at_ms) => {
                        self.tabs[id.0].wake_ms = Some(at_ms);
                        self.set_timer(id);
                    }
                    Effect::Store(key, text) => refused |= !self.store(id, key, text),
                    Effect::Broadcast(text) => self.broadcast(id, &text, trigger)?,
                    Effect::Show => shows = true,
                    // No site of the simulation proves its visitors.
                    Effect::Rejoin | Effect::Forget | Effect::ProveAgain => {}
                    Effect::Emit(event) => {
                        self.trace.note(self.now_ms, id, || format!("emits {event:?}"));
                        // If another tab knew of the delivery first, `known` did not change.
                        if matches!(event, SessionEvent::Message(_)) {
                            self.trigger_poll(id);
                        }
                    }
                }
            }
            if shows {
                self.check_shown_once(id)?;
            }
            let tab = &mut self.tabs[id.0];
            if tab.session.leads() != tab.led {
                tab.led = !tab.led;
                let led = tab.led;
                self.trace
                    .note(self.now_ms, id, || (if led { "LEADS" } else { "no longer leads" }).to_owned());
                if led {
                    tab.term += 1;
                    self.stats.count(Fact::BecameLeader);
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
        Err(Violation::new(Invariant::NoRefusalLoop, format!("{id} repeats refused writes without end")))
    }

    fn cancel(&mut self, id: TabId, request: RequestId) {
        let tab = &mut self.tabs[id.0];
        let Some(finished) = tab.take_outstanding(request) else { return };
        self.trace.note(self.now_ms, id, || format!("cancels {:?}", finished.endpoint));
        match tab.poll_state(finished.endpoint) {
            Some(poll_state) => poll_state.failed = true,
            // The page polls at once for a message whose request it cancels.
            None => tab.triggered_ms = self.now_ms,
        }
    }

    fn store(&mut self, id: TabId, key: String, text: Option<String>) -> bool {
        let stored = self.storage.allows(text.as_deref());
        self.trace.note(self.now_ms, id, || {
            let verb = if stored { "stores" } else { "is REFUSED to store" };
            format!("{verb} {key} = {}", text.as_deref().unwrap_or_default())
        });
        if let (None, true, Some((_, local_id))) =
            (&text, self.scenario.equal_texts, key.split_once(keys::OUTBOX))
        {
            self.ledger.forget_request(local_id);
        }
        if stored {
            self.storage.store(key, text);
        } else {
            self.stats.count(Fact::StorageRefused);
            self.storage_fails();
        }
        stored
    }

    /// Notes that storage failed: messages that are pending now may be lost with their page.
    pub fn storage_fails(&mut self) {
        self.storage_failed = true;
        self.messages.iter_mut().for_each(|message| message.volatile = true);
    }

    fn broadcast(&mut self, from: TabId, text: &str, trigger: PollTrigger) -> Result<(), Violation> {
        let channel = self.tabs[from.0].session.channel();
        let is_receiver = |tab: &&Tab| tab.id != from && tab.is_live() && tab.session.channel() == channel;
        let receivers: Vec<(TabId, u32)> =
            self.tabs.iter().filter(is_receiver).map(|tab| (tab.id, tab.frozen_times)).collect();
        self.trace.note(self.now_ms, from, || format!("broadcasts {}", summary(text)));
        if receivers.is_empty() {
            return Ok(());
        }
        let message: Value = serde_json::from_str(text).map_err(|error| {
            Violation::new(Invariant::WellFormed, format!("a broadcast of {from}: {error}: {text}"))
        })?;
        let message = Rc::new(message);
        for (tab, frozen_times) in receivers {
            let before_ms = self.last_delivery_ms.get(&(from.0, tab.0)).copied().unwrap_or(0);
            let at_ms = before_ms.max(self.now_ms + self.network.draw_tab_delay_ms());
            self.last_delivery_ms.insert((from.0, tab.0), at_ms);
            let message = Rc::clone(&message);
            self.schedule(at_ms - self.now_ms, Event::TabMessage { tab, frozen_times, message, trigger });
        }
        Ok(())
    }
}

/// Returns an input as it is traced. Inputs that the trace already contains are short.
fn input_summary(input: &Input) -> String {
    match input {
        Input::Answered(..) | Input::Failed(..) => "handles it".to_owned(),
        Input::PageRestored(stored) => format!("is restored with {} stored pairs", stored.len()),
        Input::Opened(open, _) => format!("window {}", if *open { "opened" } else { "closed" }),
        Input::PageViewed(_) => "views another page".to_owned(),
        Input::Track(event_type, ..) => format!("the site tracks {event_type}"),
        Input::Identify(_) => "the site identifies the visitor".to_owned(),
        Input::Locale(locale) => format!("the locale is {locale:?}"),
        Input::Consented(..) => "gives consent".to_owned(),
        Input::TabMessage(value) => format!("receives {}", summary(&value.to_string())),
        other => format!("{other:?}"),
    }
}

/// Returns a message between tabs, its kind first.
fn summary(text: &str) -> String {
    let message: Value = serde_json::from_str(text).unwrap_or_default();
    let field = |name| message.get(name).map_or_else(String::new, ToString::to_string);
    format!("{} {} {text}", field("does"), field("name"))
}
