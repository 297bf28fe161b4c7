//! The session: one face for its owners, and the dispatch of inputs to them.

mod decide;
mod deferral;
mod events;
mod leadership;
mod persistence;
mod person;
mod polling;
mod remote;
mod responses;
mod sending;
mod snapshot;
mod start;
mod tabs;
mod visitor;
mod waiting;

use std::rc::Rc;

use chat_protocol::{ChatConfig, ConversationId, Endpoint, VisitorId, VisitorProfile};

use crate::config_loader::ConfigLoader;
use crate::election::Election;
use crate::identity::Identity;
use crate::in_flight::InFlightRequests;
use crate::leftovers::Leftovers;
use crate::outbox::Outbox;
use crate::poller::Poller;
use crate::random::Random;
use crate::tab_sync::{TabMessage, TabSync};
use crate::timeline::{Entry, Timeline};
use crate::tracking::Tracking;
use crate::wait::Waiting;
use crate::{Effect, Input, Notice, SessionEvent};

/// Maximum delay of a timer before the tab counts as suspended, and another one may lead. Milliseconds.
const LATE_TIMER_MS: u64 = 1_000;

/// One visitor's conversation with one site, in one tab.
///
/// # The order of calls
///
/// 1. [`Session::start`] takes what the page knows and what the browser has stored. It returns the session
///    and its first effects.
/// 2. Each event of the visitor, the page, the network or another tab is one [`Session::handle`], with the
///    time.
/// 3. The caller carries out the returned effects in their order, and before the next call: a message is
///    stored before it is sent, because its [`Effect::Store`] precedes its [`Effect::Request`].
/// 4. The outcome of each request is fed once: [`Input::Answered`] for a response with any status,
///    [`Input::Failed`] without a response. [`Input::Newest`] may precede it. After [`Effect::Cancel`], no
///    outcome is needed.
/// 5. There is one timer. [`Effect::WakeAt`] replaces it, and [`Input::TimerFired`] reports that it fired. It
///    may fire late, never early.
/// 6. After [`Effect::Show`], the view reads [`Session::entries`] and the other getters.
///
/// `now_ms` never decreases between two calls. Nothing is called at the end: whatever must survive is stored.
#[derive(Debug)]
pub struct Session {
    random: Random,
    /// The suffix of this customer's keys in storage.
    customer_suffix: String,
    /// The suffix of this visitor's keys: that of the customer, and a verified visitor's own.
    suffix: String,
    channel: String,
    identity: Identity,
    locale: Option<String>,

    // Shared by all tabs: the leader changes it, the others adopt it.
    tab_sync: TabSync,
    conversation: Option<ConversationId>,
    timeline: Timeline,
    notice: Option<Notice>,
    operator_online: Option<bool>,
    /// The next attempt of the visitor's messages is far away.
    deferred: bool,
    /// The visitor has asked for a person, and none has written since: the end of this wait, or zero.
    awaits_person_until_ms: u64,

    outbox: Outbox,
    tracking: Tracking,
    config: ConfigLoader,
    /// Messages of previous visitors.
    leftovers: Leftovers,

    // Known to this tab only.
    election: Election,
    waiting: Waiting,
    /// The operator who is writing, and the time until which that holds.
    typing: Option<(Rc<str>, u64)>,
    poller: Poller,
    /// When to ask for the conversation that a verified visitor may have on another device.
    look_up_ms: Option<u64>,
    /// Another tab has told that the verified visitor signed out.
    is_told: bool,
    open: bool,
    visible: bool,
    online: bool,
    /// The page was left and may come back.
    page_hidden: bool,
    in_flight: InFlightRequests,
    wake_ms: Option<u64>,
    view_dirty: bool,
    effects: Vec<Effect>,
}

impl Session {
    /// Handles an input at `now_ms`. Returns the effects to carry out, in order.
    pub fn handle(&mut self, now_ms: u64, input: Input) -> Vec<Effect> {
        if self.wake_ms.is_some_and(|at| now_ms > at + LATE_TIMER_MS) {
            self.reconfirm_leadership(now_ms);
        }
        self.poller.limit_waits(now_ms);
        self.tracking.limit_waits(now_ms);
        match input {
            Input::Send { text, page_path } => self.write(now_ms, text, page_path),
            Input::Retry(key) => self.retry(now_ms, key),
            Input::AskAgain { page_path } => self.ask_again(now_ms, page_path),
            Input::Answered(id, answer) => {
                // All tabs obey a `Retry-After`, also in the response to a request that was cancelled.
                self.hold(now_ms, answer.retry_after_ms);
                if let Some(request) = self.in_flight.complete(id) {
                    self.on_response(now_ms, &request, answer);
                } else if self.leads() {
                    // This tab lost the lead while a message was in flight. Polling shows whether it arrived.
                    self.poll_now(now_ms);
                } else {
                    self.broadcast(TabMessage::Response { hold_until_ms: self.poller.hold_until_ms() });
                }
            }
            Input::Newest(id, body) => self.show_newest(id, body),
            Input::Failed(id) => {
                if let Some(request) = self.in_flight.complete(id) {
                    self.on_no_response(
                        now_ms,
                        &request,
                        "NETWORK",
                        "no connection to the proxy, or none for this origin",
                    );
                }
            }
            Input::TimerFired => self.wake_ms = None,
            Input::Visible(visible) => self.on_visibility(now_ms, visible),
            Input::Online(online) => {
                if online && !self.online {
                    self.poll_now(now_ms);
                    self.outbox.end_back_off();
                }
                self.online = online;
                self.view_dirty = true;
            }
            Input::Opened(open, page) => {
                if self.set_open(now_ms, open) {
                    let event_type = if open { "chat_opened" } else { "chat_closed" };
                    self.report_automatically(now_ms, event_type, page);
                }
            }
            Input::Reopened => _ = self.set_open(now_ms, true),
            Input::PageViewed(page) => self.report_automatically(now_ms, "page_view", page),
            Input::Track(event_type, data, page) => self.report(now_ms, event_type, data, page),
            Input::Contact(given, page) => self.set_contact(now_ms, given, page),
            Input::Identify(given) => self.identity.merge(given),
            Input::Person(person, stored) => self.on_person(now_ms, person.as_deref(), stored),
            Input::Locale(locale) => {
                self.locale = locale;
                self.config.request(now_ms);
            }
            Input::Consented(stored, reports) => self.on_consent(now_ms, stored, reports),
            Input::TabMessage(message) => self.on_tab_message(now_ms, message),
            Input::PersistFailed => self.tab_sync.on_persist_failed(now_ms),
            Input::PageHidden => {
                self.send_parting_events(now_ms);
                self.page_hidden = true;
            }
            Input::PageRestored(stored) => self.on_page_restored(now_ms, stored),
            Input::ReloadConfig => self.config.request(now_ms),
            Input::Reset => self.reset(now_ms),
        }
        self.decide(now_ms)
    }

    /// Returns the messages, in order.
    pub fn entries(&self) -> &[Entry] {
        self.timeline.entries()
    }

    /// Returns the chat's config, if it is known.
    pub fn config(&self) -> Option<&ChatConfig> {
        self.config.config()
    }

    /// Returns whether a reply is awaited.
    pub fn awaits_reply(&self) -> bool {
        self.poller.reply_due_ms().is_some() || self.outbox.awaits_response()
    }

    /// Returns whether an operator is online. Returns `None` before the service has said so.
    pub fn operator_online(&self) -> Option<bool> {
        self.operator_online
    }

    /// Returns the number of messages that were not sent.
    pub fn failed(&self) -> usize {
        self.outbox.failed()
    }

    /// Returns whether the browser is online.
    pub fn online(&self) -> bool {
        self.online
    }

    /// Returns whether the visitor has got a reply.
    pub fn has_answers(&self) -> bool {
        self.timeline.newest() > 0
    }

    /// Returns the reason why the visitor may not get an answer, if there is one.
    pub fn notice(&self) -> Option<Notice> {
        self.notice
    }

    /// Returns the number of unread messages. It is the same in all tabs.
    pub fn unread(&self) -> u32 {
        self.timeline.unread()
    }

    /// Returns the visitor's id, stable over time (2.8).
    pub fn visitor_id(&self) -> &VisitorId {
        self.identity.id()
    }

    /// Returns the profile of the visitor, contact details included (2.8).
    pub fn profile(&self) -> &VisitorProfile {
        self.identity.profile()
    }

    /// Returns the conversation's id, once the service has started one.
    pub fn conversation_id(&self) -> Option<&ConversationId> {
        self.conversation.as_ref()
    }

    /// Returns whether this tab is the leader, which alone sends and polls.
    pub fn leads(&self) -> bool {
        self.election.is_leader()
    }

    /// Returns the name of the channel between the tabs of one browser.
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// Returns whether the chat is switched on, as far as is known. A chat that is switched off sends no
    /// requests.
    pub fn is_on(&self) -> bool {
        self.config.is_on()
    }

    /// Marks the shared state as changed, so that the leader publishes a snapshot.
    pub(crate) fn mark_snapshot_dirty(&mut self) {
        self.tab_sync.mark_dirty();
        self.view_dirty = true;
    }

    pub(crate) fn emit(&mut self, event: SessionEvent) {
        self.effects.push(Effect::Emit(event));
    }

    /// Polls at once: the service may have something new.
    fn poll_now(&mut self, now_ms: u64) {
        self.poller.poll_now(now_ms, self.in_flight.any(Endpoint::Messages));
    }

    fn on_visibility(&mut self, now_ms: u64, visible: bool) {
        if visible && !self.visible {
            self.poll_now(now_ms);
            self.election.stop_yielding();
            self.visible = true;
            // A hidden leader yields to this tab.
            self.on_vacancy(now_ms);
        }
        if !visible && self.visible {
            self.send_parting_events(now_ms);
        }
        self.visible = visible;
        self.view_dirty = true;
    }

    /// Opens or closes the window. Returns whether this is a change.
    fn set_open(&mut self, now_ms: u64, open: bool) -> bool {
        if open == self.open {
            return false;
        }
        self.open = open;
        if open {
            self.poll_now(now_ms);
        }
        self.emit(SessionEvent::Opened(open));
        self.view_dirty = true;
        true
    }

    /// Marks messages as seen in an open window of a visible tab, and counts the unread ones.
    fn update_seen(&mut self) {
        if self.open && self.visible && !self.page_hidden && self.timeline.mark_seen() {
            self.persist_seen();
        }
        if let Some(unread) = self.timeline.update_unread() {
            self.view_dirty = true;
            self.emit(SessionEvent::Unread(unread));
        }
    }
}
