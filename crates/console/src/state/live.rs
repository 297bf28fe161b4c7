//! The stream of changes: connecting, connecting again, and what was missed meanwhile.

use std::cell::Cell;
use std::time::Duration;

use chat_protocol::admin::{ConversationEvent, Hello, TeamMember, Typing};
use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::back_off::BackOff;
use super::{DirectoryStoreFields, app};
use crate::api::{BASE, requests};
use crate::browser::event_source::EventSource;
use crate::browser::{clock, visibility};

/// The waits before another attempt.
const BACK_OFF: BackOff = BackOff { first_ms: 500.0, max_ms: 15_000.0 };
/// The interval at which a sleep of the machine is noticed.
const PULSE: Duration = Duration::from_secs(5);
/// The time between two pulses that was a sleep, in milliseconds.
const SLEEP_MS: f64 = 25_000.0;
/// The same in a hidden tab, in which browsers run timers once a minute.
const HIDDEN_SLEEP_MS: f64 = 90_000.0;

/// The wait after the first connection before the list is loaded again, which may have been loaded just
/// before.
const FIRST_RESYNC: Duration = Duration::from_secs(1);

/// The state of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Connection {
    /// The first attempt.
    #[default]
    Connecting,
    /// Changes arrive.
    Online,
    /// The connection is lost, and is tried again.
    Lost,
}

/// The stream. Copies are the same one.
#[derive(Clone, Copy)]
pub struct Live {
    connection: RwSignal<Connection>,
    console_id: RwSignal<Option<String>>,
    site_change: RwSignal<Option<String>>,
    source: StoredValue<Option<EventSource>, LocalStorage>,
    timer: StoredValue<Option<TimeoutHandle>>,
    attempts: StoredValue<u32>,
    is_started: StoredValue<bool>,
    was_online: StoredValue<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Removed {
    conversation_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SiteChanged {
    site_id: String,
}

impl Live {
    pub(super) fn new() -> Self {
        Self {
            connection: RwSignal::default(),
            console_id: RwSignal::new(None),
            site_change: RwSignal::new(None),
            source: StoredValue::new_local(None),
            timer: StoredValue::default(),
            attempts: StoredValue::new(0),
            is_started: StoredValue::new(false),
            was_online: StoredValue::new(false),
        }
    }

    /// Returns the state of the connection.
    pub fn connection(self) -> Signal<Connection> {
        self.connection.into()
    }

    /// Returns the id of this console, for `PUT /stream/{console}`.
    pub fn console_id(self) -> Signal<Option<String>> {
        self.console_id.into()
    }

    /// Returns the id of the site whose content, reviews or jobs have changed last. It is set by each change.
    pub fn site_change(self) -> Signal<Option<String>> {
        self.site_change.into()
    }

    pub(super) fn start(self) {
        if !self.is_started.get_value() {
            self.is_started.set_value(true);
            self.watch();
        }
        self.connection.set(Connection::Connecting);
        self.open();
    }

    pub(super) fn stop(self) {
        self.source.set_value(None);
        self.console_id.set(None);
        self.was_online.set_value(false);
        self.clear_timer();
    }

    /// Connects again after a sleep, and as soon as there is a network.
    fn watch(self) {
        // A stored value would end with the effect that has called this.
        let last_ms = Cell::new(clock::now_ms());
        let wake = move || {
            if self.source.with_value(Option::is_some) || self.timer.with_value(Option::is_some) {
                self.attempts.set_value(0);
                self.open();
            }
        };
        let was_hidden = Cell::new(false);
        set_interval(
            move || {
                let (now_ms, is_hidden) = (clock::now_ms(), !visibility::is_visible());
                let may_be_late = was_hidden.replace(is_hidden) || is_hidden;
                if was_asleep(now_ms - last_ms.replace(now_ms), may_be_late) {
                    wake();
                }
            },
            PULSE,
        );
        _ = window_event_listener_untyped("online", move |_| wake());
        // Whatever the old stream still had on its way would say that the connection is back.
        _ = window_event_listener_untyped("offline", move |_| {
            self.connection.set(Connection::Lost);
            wake();
        });
        // A page that the browser has put aside has no connection any more.
        _ = window_event_listener_untyped("pageshow", move |_| {
            if self.source.with_value(|source| source.as_ref().is_some_and(EventSource::is_closed)) {
                wake();
            }
        });
    }

    /// Opens a new stream, after which everything on the screen is loaded again: only a stream that the
    /// browser itself connects again gets what it has missed.
    fn open(self) {
        let app = app();
        self.clear_timer();
        self.source.set_value(None);
        let Some(mut source) = EventSource::open(&format!("{BASE}stream")) else { return self.retry() };
        let is_first = Cell::new(true);
        on(&mut source, "hello", move |hello: Hello| {
            self.attempts.set_value(0);
            self.connection.set(Connection::Online);
            self.console_id.set(Some(hello.console_id));
            app.directory.team().set(hello.team);
            app.outbox.retry_now();
            if is_first.replace(false) {
                app.reload_directory();
                // The list of the first page is on the screen, or about to be.
                let wait = if self.was_online.get_value() { Duration::ZERO } else { FIRST_RESYNC };
                self.was_online.set_value(true);
                set_timeout(move || app.conversations.resync(), wait);
            }
        });
        on(&mut source, "conversation", move |event: ConversationEvent| {
            app.conversations.apply(&event);
        });
        on(&mut source, "removed", move |removed: Removed| {
            app.conversations.remove(&removed.conversation_id);
        });
        on(&mut source, "typing", move |typing: Typing| app.conversations.apply_typing(typing));
        on(&mut source, "team", move |team: Vec<TeamMember>| app.directory.team().set(team));
        on(&mut source, "site", move |site: SiteChanged| self.site_change.set(Some(site.site_id)));
        source.on("settings", move |_| app.reload_directory());
        source.on("reset", move |_| {
            app.reload_directory();
            app.conversations.resync();
        });
        source.on_error(move |is_closed| {
            self.connection.set(Connection::Lost);
            if is_closed {
                self.retry();
            }
        });
        self.source.set_value(Some(source));
    }

    /// Tries again after a wait, unless the session has ended.
    fn retry(self) {
        let attempts = self.attempts.get_value();
        self.attempts.set_value(attempts.saturating_add(1));
        let wait = Duration::from_secs_f64(BACK_OFF.wait_ms(attempts, js_sys::Math::random()) / 1_000.0);
        let again = move || {
            spawn_local(async move {
                match requests::session().await {
                    Err(error) if error.status == 401 => {}
                    _ => self.open(),
                }
            });
        };
        self.timer.set_value(set_timeout_with_handle(again, wait).ok());
    }

    fn clear_timer(self) {
        if let Some(timer) = self.timer.try_update_value(Option::take).flatten() {
            timer.clear();
        }
    }
}

/// Calls a function with the data of each event of a name. An event that this console cannot read is skipped.
fn on<T: DeserializeOwned>(source: &mut EventSource, name: &'static str, callback: impl Fn(T) + 'static) {
    source.on(name, move |data| {
        if let Ok(event) = serde_json::from_str(&data) {
            callback(event);
        }
    });
}

/// Returns whether the machine slept between two pulses. In a hidden tab, pulses `may_be_late` without it.
fn was_asleep(elapsed_ms: f64, may_be_late: bool) -> bool {
    elapsed_ms > if may_be_late { HIDDEN_SLEEP_MS } else { SLEEP_MS }
}
