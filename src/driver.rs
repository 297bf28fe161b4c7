//! Where session, client and browser meet: feeds inputs in, carries effects out, publishes what the view shows.
//! It decides nothing.

pub mod rows;

use std::cell::{Cell, Ref, RefCell};
use std::rc::{Rc, Weak};

use chat_protocol::{Endpoint, Value, VisitorProfile};
use chat_session::{
    Effect, EntryKey, Input, Reports, Request, RequestId, Session, SessionEvent, Start, Stored, keys,
};
use gloo_timers::callback::Timeout;
use leptos::prelude::{ArcTrigger, Notify};
use leptos::task::spawn_local;
use web_sys::{AbortController, EventTarget};

use crate::browser::channel::Channel;
use crate::browser::listener::Listener;
use crate::browser::storage::Storage;
use crate::browser::{self, clock, connectivity, page, visibility};
use crate::client::json;
use crate::client::transport::Transport;
use rows::{Row, lay_out};

/// What a driver is made from.
pub struct Setup {
    /// Sends requests to the site's proxy.
    pub transport: Transport,
    /// `data` of the chat config, when somebody has asked for it already.
    pub config: Option<Value>,
    /// What the site says about the visitor.
    pub visitor: VisitorProfile,
    /// The site's own name for the visitor.
    pub customer_id: Option<String>,
    /// Locale of the page, BCP 47.
    pub locale: Option<String>,
    /// What the service is told about what the visitor does on the page.
    pub reports: Reports,
    /// The visitor may be remembered. Until then nothing is kept and nothing reported.
    pub consent: bool,
    /// Notified when there is something else to show.
    pub changed: ArcTrigger,
    /// Told what a page may want to know.
    pub on_event: Box<dyn Fn(SessionEvent)>,
}

/// A handle to the conversation; clones share it.
#[derive(Clone)]
pub struct Driver(Rc<Inner>);

struct Inner {
    session: RefCell<Session>,
    transport: Transport,
    /// Whether the next request for the config bypasses the caches.
    reloads_config: Cell<bool>,
    storage: RefCell<Storage>,
    /// What this tab has for itself.
    of_tab: RefCell<Storage>,
    /// Closed while the page is left.
    channel: RefCell<Option<Channel>>,
    flights: RefCell<Vec<(RequestId, AbortController)>>,
    wake: RefCell<Option<Timeout>>,
    listeners: RefCell<Vec<Listener>>,
    left: Cell<bool>,
    stopped: Cell<bool>,
    on_event: Box<dyn Fn(SessionEvent)>,
    rows: RefCell<Vec<Row>>,
    changed: ArcTrigger,
}

impl Driver {
    /// Begins or goes on with the conversation that this browser keeps.
    pub fn start(setup: Setup) -> Self {
        let (storage, of_tab) = if setup.consent {
            (Storage::open(), Storage::of_tab())
        } else {
            (Storage::none(), Storage::none())
        };
        let (session, effects) = Session::start(Start {
            now_ms: clock::now_ms(),
            seed: clock::seed(),
            stored: read(&storage),
            config: setup.config,
            visitor: setup.visitor,
            customer_id: setup.customer_id,
            locale: setup.locale,
            reports: if setup.consent { setup.reports } else { Reports::Off },
            visible: visibility::is_visible(),
            online: connectivity::is_online(),
        });
        let driver = Self(Rc::new(Inner {
            rows: RefCell::default(),
            changed: setup.changed,
            session: RefCell::new(session),
            transport: setup.transport,
            reloads_config: Cell::default(),
            storage: RefCell::new(storage),
            of_tab: RefCell::new(of_tab),
            channel: RefCell::default(),
            flights: RefCell::default(),
            wake: RefCell::default(),
            listeners: RefCell::default(),
            left: Cell::default(),
            stopped: Cell::default(),
            on_event: setup.on_event,
        }));
        driver.0.open_channel();
        driver.0.carry_out(effects);
        driver.listen();
        driver.0.feed(Input::PageViewed(page::current()));
        driver
    }

    /// The state of the conversation.
    pub fn session(&self) -> Ref<'_, Session> {
        self.0.session.borrow()
    }

    /// The messages as rows of the log.
    pub fn rows(&self) -> Ref<'_, Vec<Row>> {
        self.0.rows.borrow()
    }

    /// Stops: no timer, no listener and no answer calls the conversation again.
    pub fn stop(&self) {
        let effects = self.0.session.borrow_mut().handle(clock::now_ms(), Input::PageHidden);
        self.0.stopped.set(true);
        // The other tabs are told that this one does not lead any more. What it had to report is kept for the next page.
        self.0.carry_out(effects);
        self.0.channel.take();
        self.0.wake.take();
        self.0.listeners.take();
    }

    /// The visitor sends a message.
    pub fn send(&self, text: String) {
        self.0.feed(Input::Send { text, page_path: page::current().path });
    }

    /// The visitor tries a failed message again.
    pub fn retry(&self, key: EntryKey) {
        self.0.feed(Input::Retry(key));
    }

    /// The visitor asks once more what got no reply.
    pub fn ask_again(&self) {
        self.0.feed(Input::AskAgain { page_path: page::current().path });
    }

    /// The visitor left contact details.
    pub fn contact(&self, given: VisitorProfile) {
        self.0.feed(Input::Contact(given, page::current()));
    }

    /// The site tracks something, with an object of its own data, or null.
    pub fn track(&self, event_type: String, data: Value) {
        self.0.feed(Input::Track(event_type, data, page::current()));
    }

    /// The site knows more about the visitor.
    pub fn identify(&self, visitor: VisitorProfile) {
        self.0.feed(Input::Identify(visitor));
    }

    /// The page has another locale, BCP 47.
    pub fn set_locale(&self, locale: Option<String>) {
        self.0.feed(Input::Locale(locale));
    }

    /// The visitor agreed to be remembered, and to what is reported.
    pub fn grant_consent(&self, reports: Reports) {
        let storage = Storage::open();
        let stored = read(&storage);
        self.0.storage.replace(storage);
        self.0.of_tab.replace(Storage::of_tab());
        self.0.feed(Input::Consented(stored, reports));
        self.0.feed(Input::PageViewed(page::current()));
    }

    /// Forgets the visitor and the conversation, in all tabs.
    pub fn reset(&self) {
        self.0.feed(Input::Reset);
    }

    /// What the visitor had typed in this tab, and not sent.
    pub fn draft(&self) -> String {
        self.0.of_tab.borrow().get(&self.draft_key()).unwrap_or_default()
    }

    /// Keeps what the visitor has typed while the tab lives.
    pub fn store_draft(&self, text: &str) {
        self.0.of_tab.borrow().set(&self.draft_key(), Some(text).filter(|text| !text.is_empty()));
    }

    fn draft_key(&self) -> String {
        [self.session().channel(), ":draft"].concat()
    }

    /// Returns what the visitor chose, in whatever tab.
    pub fn preference(&self, key: &str) -> Option<String> {
        self.0.storage.borrow().get(key)
    }

    /// Stores a choice of the visitor's for all tabs, or forgets it.
    pub fn set_preference(&self, key: &str, chosen: Option<&str>) {
        self.0.storage.borrow().set(key, chosen);
    }

    /// The visitor opened the window, or closed it.
    pub fn opened(&self, open: bool) {
        self.0.feed(Input::Opened(open, page::current()));
    }

    /// The window is open again, as it was on the page before.
    pub fn reopened(&self) {
        self.0.feed(Input::Reopened);
    }

    /// Stores for the next page in this tab whether the window is open.
    pub fn store_open(&self, open: bool) {
        self.0.of_tab.borrow().set(&self.open_key(), open.then_some("1"));
    }

    /// Returns whether the window was open on the page before in this tab.
    pub fn was_open(&self) -> bool {
        self.0.of_tab.borrow().get(&self.open_key()).is_some()
    }

    fn open_key(&self) -> String {
        [self.session().channel(), ":open"].concat()
    }

    /// Requests the config again, past the caches of the browser and the proxy.
    pub fn reload_config(&self) {
        self.0.reloads_config.set(true);
        self.0.feed(Input::ReloadConfig);
    }

    /// Feeds in what the browser tells of the page, until the driver is stopped.
    fn listen(&self) {
        type Told<'a> = (&'a EventTarget, &'static str, fn(&Rc<Inner>));
        let (window, document) = (browser::window(), browser::document());
        let told: [Told; 7] = [
            (&document, "visibilitychange", |inner| inner.feed(Input::Visible(visibility::is_visible()))),
            (&window, "online", |inner| inner.feed(Input::Online(true))),
            (&window, "offline", |inner| inner.feed(Input::Online(false))),
            // The last moment at which a request can be made.
            (&window, "pagehide", |inner| inner.leave(true)),
            (&document, "freeze", |inner| inner.leave(true)),
            // The page comes out of the back-forward cache, or thaws.
            (&window, "pageshow", |inner| inner.leave(false)),
            (&document, "resume", |inner| inner.leave(false)),
        ];
        for (target, kind, tell) in told {
            let inner = Rc::downgrade(&self.0);
            let listener = Listener::new(target, kind, move |_| {
                if let Some(inner) = inner.upgrade() {
                    tell(&inner);
                }
            });
            self.0.listeners.borrow_mut().push(listener);
        }
    }
}

impl Inner {
    fn feed(self: &Rc<Self>, input: Input) {
        if self.stopped.get() {
            return;
        }
        let effects = self.session.borrow_mut().handle(clock::now_ms(), input);
        self.carry_out(effects);
    }

    fn carry_out(self: &Rc<Self>, effects: Vec<Effect>) {
        // Told last: whoever listens may feed the session again, and what that stores must not be overtaken.
        let mut told = Vec::new();
        let mut kept = true;
        for effect in effects {
            match effect {
                Effect::Request(request) if !self.stopped.get() => self.send(request),
                Effect::Request(_) => {}
                Effect::Cancel(id) => {
                    self.flights
                        .borrow()
                        .iter()
                        .filter(|flight| flight.0 == id)
                        .for_each(|flight| flight.1.abort());
                }
                Effect::WakeAt(at_ms) => self.wake_at(at_ms),
                Effect::Store(key, text) => kept &= self.storage.borrow().set(&key, text.as_deref()),
                Effect::Broadcast(text) => {
                    self.channel
                        .borrow()
                        .iter()
                        .for_each(|channel| channel.post(&self.storage.borrow(), &text));
                }
                Effect::Show => self.show(),
                Effect::Emit(event) => told.push(event),
            }
        }
        for event in told {
            (self.on_event)(event);
        }
        if !kept {
            self.feed(Input::PersistFailed);
        }
    }

    fn send(self: &Rc<Self>, request: Request) {
        // Only a browser without `fetch` does not have it.
        let Ok(abort) = AbortController::new() else { return };
        let (transport, inner, signal) = (self.transport.clone(), Rc::downgrade(self), abort.signal());
        let reload = request.endpoint == Endpoint::Config && self.reloads_config.take();
        self.flights.borrow_mut().push((request.id, abort));
        spawn_local(async move {
            let answer = transport.exchange(&request, &signal, reload).await;
            if let Some(inner) = inner.upgrade() {
                inner.flights.borrow_mut().retain(|flight| flight.0 != request.id);
                inner.feed(
                    answer.map_or(Input::Failed(request.id), |answer| Input::Answered(request.id, answer)),
                );
            }
        });
    }

    fn open_channel(self: &Rc<Self>) {
        let inner = Rc::downgrade(self);
        let channel = Channel::open(self.session.borrow().channel(), move |text| {
            if let Some(inner) = inner.upgrade() {
                inner.feed(Input::TabMessage(json::parse(&text)));
            }
        });
        self.channel.replace(Some(channel));
    }

    /// The page is left, or goes on. A channel that stays open may keep it out of the back-forward cache.
    fn leave(self: &Rc<Self>, left: bool) {
        if left == self.left.replace(left) {
            return;
        }
        if left {
            self.feed(Input::PageHidden);
            self.channel.take();
        } else {
            self.open_channel();
            let stored = read(&self.storage.borrow());
            self.feed(Input::PageRestored(stored));
        }
    }

    fn wake_at(self: &Rc<Self>, at_ms: u64) {
        let delay =
            u32::try_from(at_ms.saturating_sub(clock::now_ms())).unwrap_or(u32::MAX).min(i32::MAX as u32);
        let inner: Weak<Self> = Rc::downgrade(self);
        let timer = Timeout::new(delay, move || {
            if let Some(inner) = inner.upgrade() {
                inner.feed(Input::TimerFired);
            }
        });
        // The one before is cancelled by being dropped.
        self.wake.replace(Some(timer));
    }

    fn show(&self) {
        lay_out(&mut self.rows.borrow_mut(), self.session.borrow().entries(), read_date, clock::local_day);
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

fn read_date(text: &str) -> Option<f64> {
    let ms = js_sys::Date::parse(text);
    (!ms.is_nan()).then_some(ms)
}
