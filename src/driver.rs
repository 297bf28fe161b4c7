//! Connects session, transport and browser: passes inputs to the session, applies its effects, and publishes
//! the rows of the view. All decisions are the session's.

mod browser_events;
mod long_history;
mod person;
pub mod rows;
mod send;

use std::cell::{Cell, Ref, RefCell};
use std::rc::{Rc, Weak};

use chat_protocol::{Value, VisitorProfile};
use chat_session::{
    Effect, Entry, EntryKey, Input, Reports, RequestId, Session, SessionEvent, Start, Stored, keys,
};
use gloo_timers::callback::Timeout;
use leptos::prelude::{ArcTrigger, Notify};
use web_sys::AbortController;

use crate::browser::channel::Channel;
use crate::browser::listener::Listener;
use crate::browser::storage::Storage;
use crate::browser::{clock, connectivity, page, visibility};
use crate::client::Source;
use crate::client::json;
use crate::client::transport::Transport;
use long_history::LongHistory;
use rows::Rows;

/// The parts of a driver.
pub struct Setup {
    /// Sends requests to the site's proxy.
    pub transport: Transport,
    /// `data` of the chat config, if it was requested already.
    pub config: Option<Value>,
    /// Values of the page's companion that storage refused, with their keys. If there is a companion, it has
    /// reported the page view.
    pub handover: Option<Stored>,
    /// The visitor's profile, as the site knows it.
    pub visitor: VisitorProfile,
    /// The site's own identifier of the visitor.
    pub customer_id: Option<String>,
    /// The page's proof of the visitor.
    pub visitor_token: Option<Source>,
    /// Locale of the page, BCP 47.
    pub locale: Option<String>,
    /// The visitor events that are reported.
    pub reports: Reports,
    /// Whether the visitor may be remembered. Until then nothing is stored or reported.
    pub consent: bool,
    /// Notified when the view has to be updated.
    pub changed: ArcTrigger,
    /// Called with each event of the conversation.
    pub on_event: Box<dyn Fn(SessionEvent)>,
    /// Called when nothing of a previous visitor may stay in view.
    pub on_forget: Box<dyn Fn()>,
}

/// A handle to the conversation. Clones share it.
#[derive(Clone)]
pub struct Driver(Rc<Inner>);

struct Inner {
    session: RefCell<Session>,
    transport: Transport,
    /// Whether the next request for the config bypasses the caches.
    reloads_config: Cell<bool>,
    storage: RefCell<Storage>,
    /// The storage of this tab.
    tab_storage: RefCell<Storage>,
    /// The prefix of this tab's storage keys. It does not depend on the person who is signed in.
    tab_prefix: String,
    /// The profile that the page has given since it changed the proof: that of the person whom it proves.
    given: RefCell<Option<VisitorProfile>>,
    /// The channel to the other tabs; closed while the page is hidden.
    channel: RefCell<Option<Channel>>,
    in_flight: RefCell<Vec<(RequestId, AbortController)>>,
    /// The rest of a long history.
    long_history: RefCell<Option<LongHistory>>,
    wake: RefCell<Option<Timeout>>,
    listeners: RefCell<Vec<Listener>>,
    hidden: Cell<bool>,
    stopped: Cell<bool>,
    on_event: Box<dyn Fn(SessionEvent)>,
    on_forget: Box<dyn Fn()>,
    rows: RefCell<Rows>,
    changed: ArcTrigger,
}

impl Driver {
    /// Starts or continues the conversation that this browser has stored.
    pub fn start(setup: Setup) -> Self {
        let (storage, tab_storage) = if setup.consent {
            (Storage::open(), Storage::of_tab())
        } else {
            (Storage::none(), Storage::none())
        };
        let is_viewed = setup.handover.is_some();
        let mut stored = read(&storage);
        stored.extend(setup.handover.unwrap_or_default());
        let (session, effects) = Session::start(Start {
            now_ms: clock::now_ms(),
            seed: clock::seed(),
            stored,
            config: setup.config,
            visitor: setup.visitor,
            customer_id: setup.customer_id,
            expects_proof: setup.visitor_token.is_some(),
            locale: setup.locale,
            reports: if setup.consent { setup.reports } else { Reports::Off },
            visible: visibility::is_visible(),
            online: connectivity::is_online(),
        });
        let driver = Self(Rc::new(Inner {
            rows: RefCell::default(),
            changed: setup.changed,
            tab_prefix: session.channel().to_owned(),
            given: RefCell::default(),
            session: RefCell::new(session),
            transport: setup.transport,
            reloads_config: Cell::default(),
            storage: RefCell::new(storage),
            tab_storage: RefCell::new(tab_storage),
            channel: RefCell::default(),
            in_flight: RefCell::default(),
            long_history: RefCell::default(),
            wake: RefCell::default(),
            listeners: RefCell::default(),
            hidden: Cell::default(),
            stopped: Cell::default(),
            on_event: setup.on_event,
            on_forget: setup.on_forget,
        }));
        driver.0.open_channel();
        driver.0.apply(effects);
        driver.listen();
        if !is_viewed {
            driver.0.handle(Input::PageViewed(page::current()));
        }
        driver.0.start_proving(setup.visitor_token);
        driver
    }

    /// Returns the state of the conversation.
    pub fn session(&self) -> Ref<'_, Session> {
        self.0.session.borrow()
    }

    /// Returns the newest messages as rows of the log.
    pub fn rows(&self) -> Ref<'_, Rows> {
        self.0.rows.borrow()
    }

    /// Makes rows of the messages from this index on.
    pub fn cover_rows(&self, from: usize) {
        self.0.rows.borrow_mut().cover(self.session().entries(), from, read_date, clock::local_day);
    }

    /// Stops the conversation. No timer, listener or response reaches it afterwards.
    pub fn stop(&self) {
        let effects = self.0.session.borrow_mut().handle(clock::now_ms(), Input::PageHidden);
        self.0.stopped.set(true);
        // The effects resign leadership, and store events for the next page.
        self.0.apply(effects);
        self.0.channel.take();
        self.0.long_history.take();
        self.0.wake.take();
        self.0.listeners.take();
    }

    /// Sends a message of the visitor.
    pub fn send(&self, text: String) {
        self.0.handle(Input::Send { text, page_path: page::current().path });
    }

    /// Retries a failed message.
    pub fn retry(&self, key: EntryKey) {
        self.0.handle(Input::Retry(key));
    }

    /// Repeats the question that received no reply.
    pub fn ask_again(&self) {
        self.0.handle(Input::AskAgain { page_path: page::current().path });
    }

    /// Takes over contact details that the visitor left.
    pub fn set_contact(&self, details: VisitorProfile) {
        self.0.handle(Input::Contact(details, page::current()));
    }

    /// Reports an event of the site, with an object of data or null.
    pub fn track(&self, event_type: String, data: Value) {
        self.0.handle(Input::Track(event_type, data, page::current()));
    }

    /// Merges a visitor profile from the site.
    pub fn identify(&self, visitor: VisitorProfile) {
        if let Some(given) = &mut *self.0.given.borrow_mut() {
            given.merge(visitor.clone());
        }
        self.0.handle(Input::Identify(visitor));
    }

    /// Sets the page's proof of the visitor; `None` if nobody is signed in.
    pub fn set_visitor_token(&self, token: Option<Source>) {
        self.0.set_visitor_token(token);
    }

    /// Sets the locale of the page, BCP 47.
    pub fn set_locale(&self, locale: Option<String>) {
        self.0.handle(Input::Locale(locale));
    }

    /// Records the visitor's consent to be remembered, and to these reports.
    pub fn grant_consent(&self, reports: Reports) {
        let storage = Storage::open();
        let stored = read(&storage);
        self.0.storage.replace(storage);
        self.0.tab_storage.replace(Storage::of_tab());
        self.0.handle(Input::Consented(stored, reports));
        self.0.handle(Input::PageViewed(page::current()));
    }

    /// Erases the visitor and the conversation, in all tabs.
    pub fn reset(&self) {
        self.0.handle(Input::Reset);
    }

    /// Returns the draft of this tab.
    pub fn draft(&self) -> String {
        self.0.tab_storage.borrow().get(&self.draft_key()).unwrap_or_default()
    }

    /// Stores the draft while the tab lives.
    pub fn store_draft(&self, text: &str) {
        self.0.tab_storage.borrow().set(&self.draft_key(), Some(text).filter(|text| !text.is_empty()));
    }

    fn draft_key(&self) -> String {
        self.0.draft_key()
    }

    /// Returns a preference of the visitor, which all tabs share.
    pub fn preference(&self, key: &str) -> Option<String> {
        self.0.storage.borrow().get(key)
    }

    /// Stores or removes a preference of the visitor.
    pub fn set_preference(&self, key: &str, chosen: Option<&str>) {
        self.0.storage.borrow().set(key, chosen);
    }

    /// Reports that the window was opened or closed.
    pub fn opened(&self, open: bool) {
        self.0.handle(Input::Opened(open, page::current()));
    }

    /// Reports that the window is open again, as on the previous page.
    pub fn reopened(&self) {
        self.0.handle(Input::Reopened);
    }

    /// Stores for the next page in this tab whether the window is open.
    pub fn store_open(&self, open: bool) {
        self.0.tab_storage.borrow().set(&self.open_key(), open.then_some("1"));
    }

    /// Returns whether the window was open on the previous page in this tab.
    pub fn was_open(&self) -> bool {
        self.0.tab_storage.borrow().get(&self.open_key()).is_some()
    }

    fn open_key(&self) -> String {
        [&self.0.tab_prefix, ":open"].concat()
    }

    /// Requests the config again, past the caches of the browser and the proxy.
    pub fn reload_config(&self) {
        self.0.reloads_config.set(true);
        self.0.handle(Input::ReloadConfig);
    }
}

impl Inner {
    fn draft_key(&self) -> String {
        [&self.tab_prefix, ":draft"].concat()
    }

    fn handle(self: &Rc<Self>, input: Input) {
        if self.stopped.get() {
            return;
        }
        let effects = self.session.borrow_mut().handle(clock::now_ms(), input);
        self.apply(effects);
    }

    fn apply(self: &Rc<Self>, effects: Vec<Effect>) {
        // The rest of a conversation that was erased, or is another visitor's, must not stay in memory.
        let is_gone = |rest: &mut LongHistory| !rest.is_of(self.session.borrow().conversation_id());
        self.long_history.borrow_mut().take_if(is_gone);
        // Emitted last: a listener may call the session again, whose writes must come after these.
        let mut events = Vec::new();
        let (mut is_stored, mut is_told) = (true, false);
        for effect in effects {
            match effect {
                Effect::Request(request) if !self.stopped.get() => self.send(request),
                Effect::Rejoin if !self.hidden.get() => self.open_channel(),
                Effect::Request(_) | Effect::Rejoin => {}
                Effect::Cancel(id) => {
                    self.in_flight
                        .borrow()
                        .iter()
                        .filter(|request| request.0 == id)
                        .for_each(|request| request.1.abort());
                }
                Effect::WakeAt(at_ms) => self.wake_at(at_ms),
                Effect::Store(key, text) => is_stored &= self.storage.borrow().set(&key, text.as_deref()),
                Effect::Broadcast(text) => {
                    self.channel
                        .borrow()
                        .iter()
                        .for_each(|channel| channel.post(&self.storage.borrow(), &text));
                }
                Effect::Show => self.show(),
                Effect::Forget => {
                    self.tab_storage.borrow().set(&self.draft_key(), None);
                    (self.on_forget)();
                }
                Effect::ProveAgain => is_told = true,
                Effect::Emit(event) => events.push(event),
            }
        }
        for event in events {
            (self.on_event)(event);
        }
        if !is_stored {
            self.handle(Input::PersistFailed);
        }
        if is_told {
            self.prove_again();
        }
    }

    fn open_channel(self: &Rc<Self>) {
        let inner = Rc::downgrade(self);
        let channel = Channel::open(self.session.borrow().channel(), move |text| {
            if let Some(inner) = inner.upgrade() {
                inner.handle(Input::TabMessage(json::parse(&text)));
            }
        });
        self.channel.replace(Some(channel));
    }

    fn wake_at(self: &Rc<Self>, at_ms: u64) {
        let delay =
            u32::try_from(at_ms.saturating_sub(clock::now_ms())).unwrap_or(u32::MAX).min(i32::MAX as u32);
        let inner: Weak<Self> = Rc::downgrade(self);
        let timer = Timeout::new(delay, move || {
            if let Some(inner) = inner.upgrade() {
                inner.handle(Input::TimerFired);
            }
        });
        // Dropping the previous timer cancels it.
        self.wake.replace(Some(timer));
    }

    fn show(&self) {
        self.rows.borrow_mut().update(self.session.borrow().entries(), read_date, clock::local_day);
        self.changed.notify();
    }
}

fn read(storage: &Storage) -> Stored {
    let mut stored = Vec::new();
    for (key, text) in storage.all(keys::PREFIX) {
        stored.push((key, json::parse(&text)));
    }
    stored
}

/// Returns the time of a message in milliseconds since the Unix epoch, if it is known.
pub fn created_ms(entry: &Entry) -> Option<f64> {
    rows::created_ms(entry, read_date)
}

fn read_date(text: &str) -> Option<f64> {
    let ms = js_sys::Date::parse(text);
    (!ms.is_nan()).then_some(ms)
}
