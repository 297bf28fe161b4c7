//! The person whom the site proves: signed in, signed out, or replaced by another one.
//!
//! Each person has keys in storage and a channel of their own, so that a tab which still has the proof of
//! somebody shares nothing with a tab that has none.

use chat_protocol::{ConversationId, Endpoint, SendMessage, ServiceError, Value};

use super::Session;
use crate::Effect;
use crate::back_off::wait_ms;
use crate::error_action::ErrorAction;
use crate::outbox::PendingMessage;
use crate::stored::{self, Stored, VERSION, keys};
use crate::tab_sync::TabMessage;

impl Session {
    /// Returns whether the visitor is one whom the site has proved.
    pub fn is_verified(&self) -> bool {
        self.suffix != self.customer_suffix
    }

    /// Handles that the site has proved a person, or that nobody is signed in. `stored` are the contents of
    /// storage.
    #[inline(never)]
    pub(super) fn on_person(&mut self, now_ms: u64, person: Option<&str>, stored: Stored) {
        let suffix = stored::suffix_of_person(&self.customer_suffix, person);
        let mut others = stored::of_persons(&stored);
        others.retain(|(key, _)| person.is_none() || !key.ends_with(&suffix));
        let (was_verified, is_another) = (self.is_verified(), suffix != self.suffix);
        let forgets = !others.is_empty() || (was_verified && is_another);
        if is_another {
            if was_verified && !std::mem::take(&mut self.is_told) {
                self.broadcast(TabMessage::SignedOut);
            }
            let known = stored::of_customer(stored.clone(), &suffix);
            let has_conversation =
                known.iter().any(|(name, _)| name == keys::CONVERSATION || name.starts_with(keys::OUTBOX));
            if self.leads() {
                self.broadcast(TabMessage::Vacancy);
            }
            if was_verified || has_conversation {
                self.switch_to(now_ms, suffix, known, stored);
            } else {
                self.take_along(suffix, stored);
            }
        }
        self.forget_persons(now_ms, others);
        if forgets {
            self.effects.push(Effect::Forget);
        }
        if is_another {
            self.persist_visitor();
            self.broadcast(TabMessage::Hello);
            self.poll_now(now_ms);
            self.look_up(now_ms);
            self.view_dirty = true;
        }
    }

    /// Handles that the person has signed out in another tab.
    pub(super) fn on_signed_out(&mut self) {
        if self.is_verified() {
            self.is_told = true;
            self.effects.push(Effect::ProveAgain);
        }
    }

    /// Takes the state from before somebody signed in along: it is theirs now, and nobody else's.
    fn take_along(&mut self, suffix: String, stored: Stored) {
        let old = self.identity.id().clone();
        let new = stored::new_visitor(&mut self.random);
        self.broadcast_as(Some(&old), TabMessage::Reset { visitor: Some(new.clone()) });
        self.move_stored(&suffix, stored, |_| true);
        let value = Value::object([("v", VERSION.into()), ("visitorId", (&new).into())]);
        self.effects.push(Effect::Store(self.key(keys::VISITOR), Some(value.to_json())));
        self.cancel_polls();
        self.reset_election();
        self.use_suffix(suffix);
    }

    /// Drops the present state, and continues with what is stored of another visitor.
    fn switch_to(&mut self, now_ms: u64, suffix: String, mut known: Stored, stored: Stored) {
        let was_verified = self.is_verified();
        self.leave_messages(now_ms);
        let id = stored::visitor(&stored::take(&mut known, keys::VISITOR));
        let id = id.unwrap_or_else(|| stored::new_visitor(&mut self.random));
        self.adopt_visitor(id);
        if was_verified {
            self.identity.replace();
        } else {
            self.identity.forget_contact();
            // Events from before somebody signed in are theirs.
            let is_event = |name: &str| name.starts_with(keys::EVENT) || name.starts_with(keys::BATCH);
            let own = stored::of_customer(stored.clone(), &self.suffix);
            known.extend(own.into_iter().filter(|(name, _)| is_event(name)));
            self.move_stored(&suffix, stored, is_event);
        }
        self.use_suffix(suffix);
        self.apply_stored(now_ms, known);
    }

    /// Moves stored values of the present visitor under another suffix.
    fn move_stored(&mut self, suffix: &str, stored: Stored, which: impl Fn(&str) -> bool) {
        for (name, value) in stored::of_customer(stored, &self.suffix) {
            // All visitors share the config and whether the site tracks.
            let is_shared = name == keys::CONFIG || name == keys::TRACKING;
            if value != Value::Null && !is_shared && which(&name) {
                self.effects.push(Effect::Store(self.key(&name), None));
                let key = [keys::PREFIX, &name, suffix].concat();
                self.effects.push(Effect::Store(key, Some(value.to_json())));
            }
        }
    }

    fn use_suffix(&mut self, suffix: String) {
        self.channel = [keys::PREFIX, &suffix].concat();
        self.suffix = suffix;
        self.effects.push(Effect::Rejoin);
    }

    /// Removes values of persons who are not signed in. Their messages are still sent.
    pub(super) fn forget_persons(&mut self, now_ms: u64, stored: Stored) {
        for (key, value) in stored {
            let name = key.strip_prefix(keys::PREFIX).and_then(|name| name.strip_prefix(keys::OUTBOX));
            if let Some(name) = name
                && let Some(id) = name.bytes().position(|byte| byte == b'@').and_then(|end| name.get(..end))
                && let Some(pending) = PendingMessage::from_stored(id, &value)
                && !pending.is_failed()
                && !pending.is_stale(now_ms)
                && let Some(request) = pending.into_request()
            {
                self.leftovers.push(request);
            }
            self.effects.push(Effect::Store(key, None));
        }
    }

    /// Leaves the messages of the present visitor to be sent as they are.
    fn leave_messages(&mut self, now_ms: u64) {
        let (visitor, conversation) = (self.identity.sent_profile(), self.conversation.clone());
        let locale = self.locale.clone();
        let requests = self.outbox.requests(now_ms, self.identity.id(), |pending| SendMessage {
            conversation_id: conversation.clone(),
            message: pending.text().to_owned(),
            locale: locale.clone(),
            source_page: Some(pending.page_path().to_owned()).filter(|path| !path.is_empty()),
            visitor: visitor.clone(),
        });
        for request in requests {
            self.leftovers.push(request);
        }
    }

    /// Returns when the next message of a previous visitor is sent.
    pub(super) fn next_leftover_ms(&self) -> Option<u64> {
        let due_ms = self.leftovers.due_ms().filter(|_| !self.in_flight.any(Endpoint::Send))?;
        Some(due_ms.max(self.poller.hold_until_ms()))
    }

    /// Sends a message of a previous visitor. It needs no leader: no other tab knows of it.
    pub(super) fn send_leftover(&mut self, now_ms: u64) {
        if self.next_leftover_ms().is_some_and(|due| now_ms >= due) {
            let body = self.leftovers.first();
            self.request(now_ms, Endpoint::Send, Vec::new(), body, None, false);
        }
    }

    pub(super) fn on_leftover_error(
        &mut self,
        now_ms: u64,
        action: ErrorAction,
        retry_after_ms: Option<u64>,
    ) {
        match action {
            ErrorAction::Retry => self.leftovers.back_off(now_ms, retry_after_ms, &mut self.random),
            _ => self.leftovers.settle(),
        }
    }

    /// Asks for the conversation that a verified visitor may have on another device.
    pub(super) fn look_up(&mut self, now_ms: u64) {
        self.look_up_ms = (self.is_verified() && self.conversation.is_none()).then_some(now_ms);
    }

    pub(super) fn can_look_up(&self) -> bool {
        self.look_up_ms.is_some()
            && self.conversation.is_none()
            && self.leads()
            && self.is_on()
            && self.online
            && self.visible
    }

    /// Returns when to ask for the conversation.
    pub(super) fn next_look_up_ms(&self) -> Option<u64> {
        let due_ms =
            self.look_up_ms.filter(|_| self.can_look_up() && !self.in_flight.any(Endpoint::Messages))?;
        Some(due_ms.max(self.poller.hold_until_ms()))
    }

    /// Continues the conversation of another device. Nothing in its history is new.
    pub(super) fn on_looked_up(&mut self, now_ms: u64, found: Option<ConversationId>) {
        self.look_up_ms = None;
        if let Some(id) = found.filter(|id| !id.as_str().is_empty()) {
            self.conversation = Some(id);
            self.timeline.rewind();
            self.poller.backfill();
            self.poll_now(now_ms);
            self.mark_snapshot_dirty();
        }
    }

    pub(super) fn on_look_up_error(
        &mut self,
        now_ms: u64,
        error: &ServiceError,
        retry_after_ms: Option<u64>,
    ) {
        // Without a proof, or with a service that knows none, there is nothing to continue.
        let is_transient = ErrorAction::of(error) == ErrorAction::Retry;
        let wait_ms = wait_ms(LOOK_UP_BACK_OFF, retry_after_ms, &mut self.random);
        self.look_up_ms = is_transient.then_some(now_ms + MIN_LOOK_UP_INTERVAL_MS + wait_ms);
    }
}

/// Minimum time before a failed look-up is repeated, and the number of failures by which it backs off.
const MIN_LOOK_UP_INTERVAL_MS: u64 = 5_000;
const LOOK_UP_BACK_OFF: u64 = 5;
