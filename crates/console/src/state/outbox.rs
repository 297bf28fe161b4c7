//! Replies and notes on their way to the service. Each is stored with its idempotency key before it is sent,
//! and repeated with the same key after a lost response, a reload or a restart of the browser.

mod pending;

use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use leptos::task::spawn_local;

pub use pending::{PendingMessage, PendingState};

use super::back_off::BackOff;
use super::{DraftKind, app};
use crate::api::{ApiError, requests};
use crate::browser::{clock, random_id, storage};
use crate::text::composer;

/// The time in which a reply can be taken back.
pub const UNDO_TIMEOUT: Duration = Duration::from_secs(5);
/// The waits after failed attempts.
const BACK_OFF: BackOff = BackOff { first_ms: 1_000.0, max_ms: 30_000.0 };

/// The outbox of the signed-in operator. Copies are the same one.
#[derive(Clone, Copy)]
pub struct Outbox {
    messages: RwSignal<Vec<PendingMessage>>,
    /// The prefix of the keys in storage, with the operator's id.
    prefix: StoredValue<String>,
    timer: StoredValue<Option<TimeoutHandle>>,
}

impl Outbox {
    pub(super) fn new() -> Self {
        let outbox = Self {
            messages: RwSignal::default(),
            prefix: StoredValue::default(),
            timer: StoredValue::default(),
        };
        // Nobody can take a message back on a page that is not there.
        let leave = move || outbox.flush();
        _ = window_event_listener_untyped("pagehide", move |_| leave());
        _ = window_event_listener_untyped("visibilitychange", move |_| {
            if !crate::browser::visibility::is_visible() {
                leave();
            }
        });
        _ = window_event_listener_untyped("online", move |_| outbox.retry_now());
        outbox
    }

    /// Reads what an operator has not sent, and sends it.
    pub(super) fn open(self, operator: &str) {
        let prefix = format!("outbox.{operator}.");
        let stored = storage::keys(&prefix).into_iter().filter_map(|key| storage::read(&key));
        let mut messages: Vec<PendingMessage> = stored.collect();
        messages.iter_mut().for_each(PendingMessage::after_reload);
        messages.sort_by(|one, other| one.created_ms.total_cmp(&other.created_ms));
        self.prefix.set_value(prefix);
        self.messages.set(messages);
        self.run();
    }

    /// Stops sending, after the session has ended. Everything stays stored.
    pub(super) fn close(self) {
        self.prefix.set_value(String::new());
        self.messages.set(Vec::new());
        self.clear_timer();
    }

    /// Sends everything that waits, before the operator signs out. What the service does not take stays
    /// stored.
    pub async fn send_all(self) {
        self.messages.update(|all| {
            for one in all {
                one.end_undo();
                one.end_wait();
            }
        });
        self.clear_timer();
        loop {
            let (due, _) = self.messages.with_untracked(|all| pending::schedule(all, clock::now_ms()));
            if due.is_empty() {
                break;
            }
            for message in self.begin(due) {
                self.send(message).await;
            }
        }
        // The operator stays signed in if signing out fails.
        self.run();
    }

    /// Returns the messages of a conversation that the service does not have yet.
    pub fn of(self, conversation: &str) -> Vec<PendingMessage> {
        self.messages.with(|all| all.iter().filter(|one| one.conversation == conversation).cloned().collect())
    }

    /// Returns the messages that can be taken back, newest last.
    pub fn undoable(self) -> Vec<PendingMessage> {
        self.messages.with(|all| all.iter().filter(|one| one.state == PendingState::Held).cloned().collect())
    }

    /// Adds a text, and returns its key. A reply can be taken back for [`UNDO_TIMEOUT`]; a note is sent at
    /// once.
    pub fn add(self, conversation: &str, kind: DraftKind, text: String, close: bool) -> String {
        let wait_ms = if kind == DraftKind::Reply { UNDO_TIMEOUT.as_secs_f64() * 1_000.0 } else { 0.0 };
        let mut message = PendingMessage::new(random_id(), conversation, kind, text, clock::now_ms());
        message.close = close;
        message.due_ms += wait_ms;
        self.persist(&mut message);
        if !message.is_stored {
            app().notices.problem(composer::NOT_STORED.get());
        }
        let key = message.key.clone();
        self.messages.update(|all| all.push(message));
        self.run();
        key
    }

    /// Takes a message back, and returns its text to the draft. Returns its conversation; `None` if it is too
    /// late.
    pub fn undo(self, key: &str) -> Option<String> {
        let found = self.take(key, |one| matches!(one.state, PendingState::Held | PendingState::Failed(_)));
        let message = found?;
        let drafts = app().drafts;
        let begun = untrack(|| drafts.get(&message.conversation, message.kind));
        let text = if begun.is_empty() { message.text } else { format!("{}\n\n{begun}", message.text) };
        drafts.set(&message.conversation, message.kind, &text);
        Some(message.conversation)
    }

    /// Takes the newest message back. Returns its conversation.
    pub fn undo_last(self) -> Option<String> {
        let last = untrack(|| self.undoable()).pop()?;
        self.undo(&last.key)
    }

    /// Removes a message that the service has refused.
    pub fn discard(self, key: &str) {
        self.take(key, |one| matches!(one.state, PendingState::Failed(_)));
    }

    /// Sends a message that has failed once more.
    pub fn retry(self, key: &str) {
        self.change(key, |one| {
            one.state = PendingState::Held;
            one.due_ms = 0.0;
        });
        self.run();
    }

    fn take(self, key: &str, may: impl Fn(&PendingMessage) -> bool) -> Option<PendingMessage> {
        let mut taken = None;
        self.messages.update(|all| {
            let place = all.iter().position(|one| one.key == key && may(one));
            taken = place.map(|place| all.remove(place));
        });
        if taken.is_some() {
            storage::remove(&self.storage_key(key));
        }
        taken
    }

    fn change(self, key: &str, change: impl FnOnce(&mut PendingMessage)) {
        self.messages.update(|all| {
            if let Some(one) = all.iter_mut().find(|one| one.key == key) {
                change(one);
                self.persist(one);
            }
        });
    }

    fn storage_key(self, key: &str) -> String {
        self.prefix.with_value(|prefix| format!("{prefix}{key}"))
    }

    fn persist(self, message: &mut PendingMessage) {
        if self.prefix.with_value(|prefix| !prefix.is_empty()) {
            message.is_stored = storage::write(&self.storage_key(&message.key), message);
        }
    }

    /// Returns whether another tab has taken a message back, or has sent it.
    fn is_gone(self, message: &PendingMessage) -> bool {
        message.is_stored && storage::read::<PendingMessage>(&self.storage_key(&message.key)).is_none()
    }

    /// Sends everything that waits for being taken back.
    fn flush(self) {
        self.messages.update(|all| all.iter_mut().for_each(PendingMessage::end_undo));
        self.run();
    }

    /// Repeats at once what waits for the network.
    pub fn retry_now(self) {
        self.messages.update(|all| all.iter_mut().for_each(PendingMessage::end_wait));
        self.run();
    }

    /// Sends what is due, one message of a conversation at a time, and sets the timer for the rest.
    fn run(self) {
        let now_ms = clock::now_ms();
        let (due, next_ms) = self.messages.with_untracked(|all| pending::schedule(all, now_ms));
        for message in self.begin(due) {
            spawn_local(async move {
                self.send(message).await;
                self.run();
            });
        }
        self.clear_timer();
        if let Some(next_ms) = next_ms {
            let wait = Duration::from_secs_f64((next_ms - now_ms).clamp(0.0, BACK_OFF.max_ms) / 1_000.0);
            self.timer.set_value(set_timeout_with_handle(move || self.run(), wait).ok());
        }
    }

    /// Marks messages as being sent, and returns them without those that are gone.
    fn begin(self, due: Vec<PendingMessage>) -> Vec<PendingMessage> {
        let (gone, due): (Vec<_>, Vec<_>) = due.into_iter().partition(|message| self.is_gone(message));
        self.messages.update(|all| all.retain(|one| gone.iter().all(|other| other.key != one.key)));
        for message in &due {
            self.change(&message.key, |one| one.state = PendingState::Sending);
        }
        due
    }

    fn clear_timer(self) {
        if let Some(timer) = self.timer.try_update_value(Option::take).flatten() {
            timer.clear();
        }
    }

    async fn send(self, message: PendingMessage) {
        let PendingMessage { key, conversation: id, text, close, .. } = &message;
        let thread = app().conversations.thread(id);
        let sent = match message.kind {
            DraftKind::Reply => requests::send_reply(id, key, text, *close).await.map(|sent| {
                thread.update(|thread| thread.insert(vec![sent], Vec::new()));
            }),
            DraftKind::Note => requests::add_note(id, key, text).await.map(|note| {
                thread.update(|thread| thread.insert(Vec::new(), vec![note]));
            }),
        };
        match sent {
            Ok(()) => _ = self.take(key, |_| true),
            Err(error) => self.on_error(key, &error),
        }
    }

    fn on_error(self, key: &str, error: &ApiError) {
        // After signing in again, it is sent from storage.
        if error.status == 401 {
            return;
        }
        let asked_ms = error.retry_after_s.map(|seconds| f64::from(seconds) * 1_000.0);
        let is_transient = error.is_transient();
        let message = error.message.clone();
        self.change(key, |one| {
            if is_transient {
                one.back_off(clock::now_ms(), asked_ms, js_sys::Math::random());
            } else {
                one.state = PendingState::Failed(message);
            }
        });
    }
}
