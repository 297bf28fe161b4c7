//! Pending messages of the visitor: sent one at a time, each accepted at most once.
//!
//! A message is in one [`DeliveryState`]. Its attempts, the time of the next one and the delivery that the
//! visitor sees follow from the state.

mod leave;
mod message;

use std::rc::Rc;
use std::slice::Iter;

use chat_protocol::back_off::MAX_RETRY_AFTER_MS;
use chat_protocol::{ConversationId, SendMessage, VisitorId, limits};

use crate::back_off::wait_ms;
use crate::random::Random;
use crate::timeline::{Delivery, Entry, EntryKey, Timeline};
use message::DeliveryState;
pub(crate) use message::{MAX_ATTEMPTS, PendingMessage, SendRequest, is_valid_id, new_id};

/// The time after which a message in flight is polled for: the service may have accepted it, and be composing
/// the reply. Milliseconds.
const CONFIRM_DELAY_MS: u64 = 2_000;

/// The reason why a text cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The text has only white space.
    Empty,
    /// The text has more characters than the contract allows (section 8).
    TooLong,
}

/// Checks whether a text can be sent.
pub fn check_message(text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        Err(Refusal::Empty)
    } else if limits::message_length(text) > *limits::MESSAGE_LENGTH.end() {
        Err(Refusal::TooLong)
    } else {
        Ok(())
    }
}

/// The pending messages, in the order in which the visitor wrote or retried them.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    messages: Vec<PendingMessage>,
    /// Messages are sent at once, without a `Retry-After`, until the next attempt fails.
    urgent: bool,
}

/// The outcome of a failed attempt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AfterFailure {
    /// The next attempt is made later.
    BacksOff,
    /// The maximum number of attempts was made.
    Exhausted,
    /// Another tab removed the message in the meantime.
    Gone,
}

/// The effect of a message that another tab, or an earlier page, stored.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RemoteMessage {
    /// The message is in the outbox now, as it was stored.
    Taken,
    /// The visitor has retried a failed message: it is the last one now.
    Requeued,
    /// Ignored: this tab's state of the message is newer.
    Ignored,
}

impl Outbox {
    pub(crate) fn iter(&self) -> Iter<'_, PendingMessage> {
        self.messages.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Returns the number of messages that failed.
    pub(crate) fn failed(&self) -> usize {
        self.messages.iter().filter(|pending| pending.is_failed()).count()
    }

    pub(crate) fn get(&self, entry: EntryKey) -> Option<&PendingMessage> {
        self.messages.iter().find(|pending| pending.entry == entry)
    }

    fn get_mut(&mut self, entry: EntryKey) -> Option<&mut PendingMessage> {
        self.messages.iter_mut().find(|pending| pending.entry == entry)
    }

    /// Returns the delivery of a message as the visitor sees it.
    pub(crate) fn delivery(&self, entry: EntryKey) -> Option<Delivery> {
        self.get(entry).map(|pending| pending.state.delivery())
    }

    pub(crate) fn push(&mut self, pending: PendingMessage) {
        self.messages.push(pending);
    }

    pub(crate) fn clear(&mut self) {
        self.messages.clear();
    }

    pub(crate) fn remove(&mut self, entry: EntryKey) -> Option<PendingMessage> {
        let index = self.messages.iter().position(|pending| pending.entry == entry)?;
        Some(self.messages.remove(index))
    }

    pub(crate) fn remove_id(&mut self, id: &str) {
        if let Some(index) = self.index_of_id(id) {
            self.messages.remove(index);
        }
    }

    fn index_of_id(&self, id: &str) -> Option<usize> {
        self.messages.iter().position(|pending| pending.id == id)
    }

    /// Returns the entry of a message that has no attempt in flight, and may therefore be removed.
    pub(crate) fn idle_entry(&self, id: &str) -> Option<EntryKey> {
        let pending = &self.messages[self.index_of_id(id)?];
        (!pending.is_in_flight()).then_some(pending.entry)
    }

    /// Returns the message to send next.
    pub(crate) fn next(&self) -> Option<&PendingMessage> {
        self.messages.iter().find(|pending| !pending.is_failed())
    }

    /// Returns when the next attempt may be made, during a `Retry-After` until `hold_until_ms`. Returns
    /// `None` while a message is in flight or in doubt: it comes before the others.
    pub(crate) fn next_attempt_ms(&self, hold_until_ms: u64) -> Option<u64> {
        if self.messages.iter().any(PendingMessage::blocks_others) {
            return None;
        }
        let hold_until_ms = if self.urgent { 0 } else { hold_until_ms };
        Some(self.next()?.not_before_ms().max(hold_until_ms))
    }

    /// Returns whether the next message must not be sent automatically: it is too old, or was attempted too
    /// often.
    pub(crate) fn is_next_expired(&self, now_ms: u64) -> bool {
        self.next().is_some_and(|next| next.is_stale(now_ms) || next.is_exhausted())
    }

    /// Begins an attempt of the next message.
    pub(crate) fn start_next(
        &mut self,
        now_ms: u64,
        visitor: &VisitorId,
        compose: impl FnOnce(&PendingMessage) -> SendMessage,
    ) -> Option<SendRequest> {
        let next = self.messages.iter_mut().find(|pending| !pending.is_failed())?;
        Some(next.start(now_ms, visitor, compose))
    }

    /// Handles a transient failure of an attempt. Returns what follows from it.
    pub(crate) fn back_off(
        &mut self,
        now_ms: u64,
        entry: EntryKey,
        retry_after_ms: Option<u64>,
        random: &mut Random,
    ) -> AfterFailure {
        self.urgent = false;
        match self.get_mut(entry) {
            None => AfterFailure::Gone,
            Some(pending) if pending.is_exhausted() => AfterFailure::Exhausted,
            Some(pending) => {
                pending.back_off(now_ms + wait_ms(pending.attempts(), retry_after_ms, random));
                AfterFailure::BacksOff
            }
        }
    }

    /// Marks a message as in doubt: the service has its key with another body.
    pub(crate) fn doubt(&mut self, entry: EntryKey) {
        self.get_mut(entry).into_iter().for_each(PendingMessage::doubt);
    }

    /// Returns the message that is in doubt.
    pub(crate) fn in_doubt(&self) -> Option<EntryKey> {
        let is_in_doubt = |pending: &&PendingMessage| matches!(pending.state, DeliveryState::InDoubt(_));
        self.messages.iter().find(is_in_doubt).map(|pending| pending.entry)
    }

    /// Marks a message as failed.
    pub(crate) fn fail(&mut self, entry: EntryKey) {
        self.get_mut(entry).into_iter().for_each(PendingMessage::fail);
    }

    /// Replaces the request of a message: the conversation that it names is gone.
    pub(crate) fn start_over(&mut self, entry: EntryKey) {
        self.get_mut(entry).into_iter().for_each(PendingMessage::start_over);
    }

    /// Returns whether the request of a message names a conversation.
    pub(crate) fn names_conversation(&self, entry: EntryKey) -> bool {
        let request = self.get(entry).and_then(|pending| pending.state.request());
        request.is_some_and(SendRequest::names_conversation)
    }

    /// Returns whether the request of a message names this conversation.
    pub(crate) fn names(&self, entry: EntryKey, conversation: &ConversationId) -> bool {
        let request = self.get(entry).and_then(|pending| pending.state.request());
        request.is_some_and(|request| request.names(conversation))
    }

    /// Returns whether the attempt in flight of a message repeats an earlier one, of any tab.
    pub(crate) fn is_repeated(&self, entry: EntryKey) -> bool {
        self.get(entry)
            .is_some_and(|pending| matches!(pending.state, DeliveryState::InFlight { is_first: false, .. }))
    }

    /// Queues a failed message again, after all others, with the same request. Returns whether the message
    /// was failed.
    pub(crate) fn retry(&mut self, now_ms: u64, entry: EntryKey) -> bool {
        let Some(pending) = self.get_mut(entry).filter(|pending| pending.is_failed()) else {
            return false;
        };
        pending.reset_attempts();
        pending.queue();
        pending.written_ms = now_ms;
        self.move_to_end(entry);
        true
    }

    /// Ends every wait for a later attempt, because the visitor asked. There is still at most one message in
    /// flight.
    pub(crate) fn send_now(&mut self) {
        self.urgent = true;
        for pending in self.messages.iter_mut().filter(|pending| !pending.is_in_flight()) {
            pending.reset_attempts();
        }
        self.end_back_off();
    }

    /// Obeys a `Retry-After` again after [`Outbox::send_now`].
    pub(crate) fn end_urgency(&mut self) {
        self.urgent = false;
    }

    /// Ends the back-off of all messages.
    pub(crate) fn end_back_off(&mut self) {
        for pending in &mut self.messages {
            if let DeliveryState::BackingOff { until_ms, .. } = &mut pending.state {
                *until_ms = 0;
            }
        }
    }

    /// Makes messages between two attempts wait for the network.
    pub(crate) fn wait_for_network(&mut self) {
        for pending in &mut self.messages {
            if let DeliveryState::BackingOff { .. } = pending.state {
                pending.queue();
            }
        }
    }

    /// Stops sending, because another tab leads. Attempts in flight may arrive: that tab repeats them with
    /// the same key.
    pub(crate) fn interrupt(&mut self) {
        self.urgent = false;
        for pending in &mut self.messages {
            if pending.blocks_others() {
                pending.back_off(0);
            }
        }
    }

    /// Returns whether a response to an attempt is awaited, now or after the next one.
    pub(crate) fn awaits_response(&self) -> bool {
        self.messages.iter().any(|pending| pending.is_attempted() && !pending.is_failed())
    }

    /// Returns when to poll for the message in flight.
    pub(crate) fn confirm_ms(&self) -> Option<u64> {
        self.messages.iter().find_map(|pending| match pending.state {
            DeliveryState::InFlight { unconfirmed_since_ms, .. } => {
                unconfirmed_since_ms.map(|since_ms| since_ms + CONFIRM_DELAY_MS)
            }
            _ => None,
        })
    }

    /// Records that a poll for the message in flight was made.
    pub(crate) fn mark_polled(&mut self) {
        for pending in &mut self.messages {
            if let DeliveryState::InFlight { unconfirmed_since_ms, .. } = &mut pending.state {
                *unconfirmed_since_ms = None;
            }
        }
    }

    /// Adds the attempted messages that may match an echo, except the one in flight. `backfill` excludes all
    /// but the one in doubt: in the first history, an older message may have the same text.
    pub(crate) fn extend_attempted(&self, attempted: &mut Vec<EntryKey>, backfill: bool) {
        for pending in &self.messages {
            let counts = !backfill || matches!(pending.state, DeliveryState::InDoubt(_));
            if pending.may_have_arrived() && counts && !pending.is_in_flight() {
                attempted.push(pending.entry);
            }
        }
    }

    /// Returns the number of attempted messages with this text: a poll cannot tell their echoes apart.
    pub(crate) fn attempted_with(&self, text: &str) -> usize {
        self.messages.iter().filter(|pending| pending.may_have_arrived() && pending.text == text).count()
    }

    /// Applies a message that another tab, or an earlier page, stored for this entry. A tab that sends knows
    /// the state of its messages best, unless another tab led for a moment and sent them.
    pub(crate) fn apply_remote(
        &mut self,
        now_ms: u64,
        entry: EntryKey,
        mut remote: PendingMessage,
        sends: bool,
    ) -> RemoteMessage {
        remote.entry = entry;
        if let DeliveryState::BackingOff { until_ms, .. } = &mut remote.state {
            // The clock may have been wrong when this was stored.
            *until_ms = (*until_ms).min(now_ms + MAX_RETRY_AFTER_MS);
        }
        let index = self.index_of_id(&remote.id);
        let known = index.map(|index| &self.messages[index]);
        let is_requeued = known.is_some_and(PendingMessage::is_failed) && !remote.is_failed();
        if is_requeued {
            remote.queue();
        } else if sends && known.is_some_and(|known| known.is_attempted() || !remote.is_attempted()) {
            return RemoteMessage::Ignored;
        }
        let Some(index) = index else {
            self.messages.push(remote);
            return RemoteMessage::Taken;
        };
        self.messages[index] = remote;
        if is_requeued {
            self.move_to_end(entry);
            return RemoteMessage::Requeued;
        }
        RemoteMessage::Taken
    }

    /// Applies the entries and failures of another tab's snapshot, which the timeline shows. Messages that
    /// were delivered, or that no tab shows, are removed.
    pub(crate) fn reconcile(&mut self, timeline: &Timeline) {
        self.messages.retain_mut(|pending| {
            let Some(entry) = timeline.of_pending(&pending.id) else { return false };
            pending.entry = entry.key;
            match entry.delivery {
                Delivery::Delivered => return false,
                // The response to an attempt in flight takes precedence over another tab's state.
                Delivery::Failed if !pending.is_in_flight() => pending.apply_remote_failure(),
                Delivery::Waiting | Delivery::Sending if pending.is_failed() => {
                    pending.queue();
                }
                _ => {}
            }
            true
        });
    }

    /// Adds a message for each undelivered entry that has none, in the entry's place: its pending message was
    /// lost. The key is the same. Messages of another tab's snapshot, by the ids `remote`, are that tab's to
    /// send. Returns the entries.
    pub(crate) fn restore_missing(&mut self, entries: &[Entry], remote: &[Rc<str>]) -> Vec<EntryKey> {
        let (mut restored, mut place) = (Vec::new(), 0);
        for entry in entries {
            if let Some(index) = self.messages.iter().position(|pending| pending.entry == entry.key) {
                place = index + 1;
            } else if !entry.is_settled()
                && entry.local_id.as_ref().is_none_or(|id| !remote.contains(id))
                && let Some(pending) = PendingMessage::of_entry(entry)
            {
                restored.push(entry.key);
                self.messages.insert(place, pending);
                place += 1;
            }
        }
        restored
    }

    fn move_to_end(&mut self, entry: EntryKey) {
        if let Some(pending) = self.remove(entry) {
            self.messages.push(pending);
        }
    }
}

#[cfg(test)]
mod outbox_tests;
