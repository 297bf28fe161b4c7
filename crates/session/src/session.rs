//! The session itself: what it knows, and what it decides to do next.

mod decide;
mod deferral;
mod events;
mod leadership;
mod persistence;
mod polling;
mod remote;
mod responses;
mod sending;
mod snapshot;
mod start;
mod tabs;
mod visitor;
mod waiting;

use chat_protocol::{ChatConfig, ConversationId, Endpoint, Value, VisitorId, VisitorProfile};

use crate::config_loader::ConfigLoader;
use crate::election::Election;
use crate::identity::Identity;
use crate::in_flight::InFlightRequests;
use crate::outbox::Outbox;
use crate::poller::Poller;
use crate::random::Random;
use crate::tab_sync::{TabMessage, TabSync};
use crate::timeline::{Entry, Timeline};
use crate::tracking::Tracking;
use crate::wait::Waiting;
use crate::{Effect, Input, Notice, SessionEvent};

/// A timer that is later than this means that the tab was stopped: another one may lead by now. Milliseconds.
const LATE_TIMER_MS: u64 = 1_000;

/// One visitor's conversation with one site, in one tab.
#[derive(Debug)]
pub struct Session {
    random: Random,
    /// What the keys of this customer's conversation end with.
    suffix: String,
    channel: String,
    identity: Identity,
    locale: Option<String>,

    // What all tabs share. The tab that leads changes it, the others take it over.
    tab_sync: TabSync,
    conversation: Option<ConversationId>,
    timeline: Timeline,
    notice: Option<Notice>,
    operator_online: Option<bool>,
    /// The visitor's messages are not tried again soon.
    deferred: bool,

    outbox: Outbox,
    tracking: Tracking,
    config: ConfigLoader,

    // What only this tab knows.
    election: Election,
    waiting: Waiting,
    /// The last answer was a fallback text.
    fell_back: bool,
    poller: Poller,
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
    /// Takes in what happened at `now_ms`, and gives what is to be done about it, in order.
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
                // An answer that says how long to keep quiet is obeyed by all tabs, whatever else it says, and also where nobody
                // waits for it any more.
                self.hold(now_ms, answer.retry_after_ms);
                if let Some(request) = self.in_flight.complete(id) {
                    self.on_response(now_ms, &request, answer);
                } else if self.leads() {
                    // A message was on its way when this tab lost the lead. What came of it is read by the tab that leads now.
                    self.poll_now(now_ms);
                } else {
                    self.broadcast(TabMessage::Response { hold_until_ms: self.poller.hold_until_ms() });
                }
            }
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
            Input::Contact(given, page) => {
                self.persist_contact(&given);
                self.identity.merge(given);
                let form = Value::object([("formType", "contact".into())]);
                self.report(now_ms, "lead_submitted".to_owned(), form, page);
            }
            Input::Identify(given) => self.identity.merge(given),
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

    /// The messages, in order.
    pub fn entries(&self) -> &[Entry] {
        self.timeline.entries()
    }

    /// The chat's config, once it is known.
    pub fn config(&self) -> Option<&ChatConfig> {
        self.config.config()
    }

    /// Whether a reply is on its way.
    pub fn awaits_reply(&self) -> bool {
        self.poller.reply_due_ms().is_some() || self.outbox.awaits_response()
    }

    /// Whether a person is there; unknown until the service has said so.
    pub fn operator_online(&self) -> Option<bool> {
        self.operator_online
    }

    /// Whether the browser has a network.
    pub fn online(&self) -> bool {
        self.online
    }

    /// Somebody has answered the visitor.
    pub fn has_answers(&self) -> bool {
        self.timeline.newest() > 0
    }

    /// What keeps the conversation from going on as usual.
    pub fn notice(&self) -> Option<Notice> {
        self.notice
    }

    /// How many messages came in while nobody looked, in whatever tab.
    pub fn unread(&self) -> u32 {
        self.timeline.unread()
    }

    /// The visitor's id, stable over time (2.8).
    pub fn visitor_id(&self) -> &VisitorId {
        self.identity.id()
    }

    /// Returns what is known about the visitor, contact details included (2.8).
    pub fn profile(&self) -> &VisitorProfile {
        self.identity.profile()
    }

    /// The conversation, once the service has begun one.
    pub fn conversation_id(&self) -> Option<&ConversationId> {
        self.conversation.as_ref()
    }

    /// Whether this tab leads: it alone sends and polls.
    pub fn leads(&self) -> bool {
        self.election.is_leader()
    }

    /// The channel on which the tabs of one browser tell each other what happens.
    pub fn channel(&self) -> &str {
        &self.channel
    }

    /// The site wants the chat, as far as is known. A chat that is switched off asks for nothing more.
    pub fn is_on(&self) -> bool {
        self.config.is_on()
    }

    /// Something that all tabs show has changed.
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
            // A hidden tab that leads makes way.
            self.on_vacancy(now_ms);
        }
        if !visible && self.visible {
            self.send_parting_events(now_ms);
        }
        self.visible = visible;
        self.view_dirty = true;
    }

    /// Returns whether the window was the other way before.
    fn set_open(&mut self, now_ms: u64, open: bool) -> bool {
        if open == self.open {
            return false;
        }
        self.open = open;
        if open {
            self.poll_now(now_ms);
            if self.notice == Some(Notice::Quota) {
                self.notice = None;
                self.mark_snapshot_dirty();
            }
        }
        self.emit(SessionEvent::Opened(open));
        self.view_dirty = true;
        true
    }

    /// Marks messages as seen if the visitor looks, and counts the unread ones.
    fn look(&mut self) {
        if self.open && self.visible && !self.page_hidden && self.timeline.mark_seen() {
            self.persist_seen();
        }
        if let Some(unread) = self.timeline.update_unread() {
            self.view_dirty = true;
            self.emit(SessionEvent::Unread(unread));
        }
    }
}
