//! What the others say: read at a pace that the service suggests, and again when something went wrong.

use chat_protocol::{ConversationId, Endpoint, History, Presence, Role, ServiceError};

use crate::error_action::ErrorAction;
use crate::timeline::{Delivery, Entry, EntryKey, Sync};
use crate::{Notice, Session, SessionEvent};

impl Session {
    /// No conversation, no polling; nor for a tab that nobody sees, that does not lead, or without a network.
    fn can_poll(&self) -> bool {
        self.leads() && self.is_on() && self.online && self.visible && self.conversation.is_some()
    }

    pub(super) fn poll(&mut self, now_ms: u64) {
        if !self.can_poll() {
            // A tab that cannot be seen waits for the answer to a message only.
            self.cancel_polls();
            return;
        }
        let [presence, messages] = self.next_polls_ms();
        let mut query = Vec::new();
        if let Some(id) = &self.conversation {
            query.push(("conversationId", id.as_str().to_owned()));
        }
        if presence.is_some_and(|due| now_ms >= due) {
            self.ask(now_ms, Endpoint::Presence, query.clone());
        }
        if messages.is_some_and(|due| now_ms >= due) {
            self.poller.on_poll_started();
            self.outbox.mark_polled();
            if let Some(id) = self.timeline.cursor() {
                query.push(("after", id.as_str().to_owned()));
            }
            self.ask(now_ms, Endpoint::Messages, query);
        }
    }

    /// What is being read is not wanted any more.
    pub(super) fn cancel_polls(&mut self) {
        self.cancel(|endpoint| matches!(endpoint, Endpoint::Messages | Endpoint::Presence));
    }

    /// When presence and messages are to be read next.
    pub(super) fn next_polls_ms(&self) -> [Option<u64>; 2] {
        let is_awaited = self.awaits_reply() || self.outbox.in_doubt().is_some();
        let idle = |endpoint| self.can_poll() && !self.in_flight.any(endpoint);
        [
            Some(self.poller.presence_due_ms()).filter(|_| idle(Endpoint::Presence)),
            self.poller
                .messages_due_ms(self.outbox.confirm_ms(), is_awaited)
                .filter(|_| idle(Endpoint::Messages)),
        ]
    }

    /// Reads from the beginning once more.
    pub(super) fn resync(&mut self, now_ms: u64) {
        // What is on its way was not asked for from the beginning.
        self.cancel_polls();
        self.timeline.rewind();
        self.poller.resync();
        self.poll_now(now_ms);
    }

    /// A conversation begins with the answer to a message: nothing in it is not known.
    pub(super) fn begin(&mut self, conversation: ConversationId) {
        if self.conversation.is_some() {
            self.timeline.close();
        }
        self.cancel_polls();
        self.conversation = Some(conversation);
        self.poller.begin_conversation();
    }

    /// The service does not know the conversation any more. What was said stays on the screen.
    pub(super) fn forget_conversation(&mut self) {
        self.cancel_polls();
        self.conversation = None;
        self.poller.end_conversation();
        self.timeline.close();
        self.mark_snapshot_dirty();
    }

    pub(super) fn on_messages(&mut self, now_ms: u64, history: History) {
        let before = self.timeline.cursor().cloned();
        let is_empty = history.messages.is_empty();
        let attempted = self.attempted();
        let new = self.timeline.merge(history.messages, history.next_after, &attempted, self.poller.sync());
        if !new.is_empty() {
            self.poller.touch(now_ms);
            self.on_arrived(now_ms, &new);
        }
        let moved = self.timeline.cursor() != before.as_ref();
        if self.timeline.take_rearranged() || moved {
            self.mark_snapshot_dirty();
        }
        self.poller.on_history(!new.is_empty(), moved && !is_empty);
        for entry in attempted {
            if self.is_found(entry) {
                self.on_found_delivered(now_ms, entry);
            } else if self.is_unanswered(entry) && self.poller.reply_due_ms().is_none() {
                // Another tab is to know that a reply is due, should this one go before the answer is there.
                self.poller.expect_reply(now_ms);
            }
        }
        if self.poller.end_sync() {
            self.timeline.mark_complete();
            // A service that does not list what the visitor says has it all the same: it said so.
            if let Some(entry) = self.outbox.in_doubt() {
                self.timeline.deliver_in_doubt(entry);
                self.on_found_delivered(now_ms, entry);
            }
        }
        let is_awaited = self.awaits_reply();
        self.poller.plan_messages(now_ms, is_awaited, self.open, &mut self.random);
    }

    /// The messages that may have arrived without an answer; first the one that is on its way.
    fn attempted(&self) -> Vec<EntryKey> {
        let mut attempted = Vec::new();
        attempted.extend(self.in_flight.message());
        attempted.extend(self.outbox.attempted(self.poller.sync() == Sync::Backfill));
        attempted
    }

    /// Whether reading has settled what became of this message. An echo may be that of another one that says the same:
    /// then only sending both again tells.
    fn is_found(&self, entry: EntryKey) -> bool {
        let Some(shown) = self.timeline.entry(entry) else { return false };
        shown.is_settled()
            && self.in_flight.message() != Some(entry)
            && self.outbox.attempted_with(&shown.text) == 1
    }

    /// Whether the service has the message, and nobody has said anything to it.
    fn is_unanswered(&self, entry: EntryKey) -> bool {
        let shown = self.timeline.entry(entry).map(|shown| shown.delivery);
        shown == Some(Delivery::Delivered) && !self.timeline.is_answered(entry)
    }

    /// Messages of the others came in.
    pub(super) fn on_arrived(&mut self, now_ms: u64, new: &[Entry]) {
        self.mark_snapshot_dirty();
        for entry in new.iter().filter(|entry| entry.author != Role::Visitor && entry.sequence > 0) {
            self.poller.touch(now_ms);
            self.poller.end_reply_wait();
            if self.notice == Some(Notice::NoReply) {
                self.notice = None;
            }
            if entry.author == Role::Operator {
                // Presence may still say that nobody is there.
                self.poller.poll_presence_now(now_ms);
            }
            self.emit(SessionEvent::Message(entry.clone()));
        }
    }

    /// A reply that was looked for long enough is given up.
    pub(super) fn end_wait_for_reply(&mut self, now_ms: u64) {
        if self.poller.reply_due_ms().is_some_and(|until| now_ms >= until) {
            self.poller.end_reply_wait();
            if self.in_flight.any(Endpoint::Send) {
                // It may still come with the answer.
                self.poller.expect_reply(now_ms);
                return;
            }
            // A person who is there takes the time that a person takes.
            if self.operator_online != Some(true) && !self.person_took_over() {
                self.notice = Some(Notice::NoReply);
            }
            self.mark_snapshot_dirty();
        }
    }

    pub(super) fn on_presence(&mut self, now_ms: u64, presence: Presence) {
        if self.operator_online != Some(presence.operator_online) {
            self.operator_online = Some(presence.operator_online);
            self.emit(SessionEvent::Presence(presence.operator_online));
            self.mark_snapshot_dirty();
        }
        let is_awaited = self.awaits_reply();
        self.poller.on_presence(now_ms, presence, is_awaited, self.open, &mut self.random);
    }

    pub(super) fn on_poll_error(
        &mut self,
        now_ms: u64,
        endpoint: Endpoint,
        error: &ServiceError,
        retry_after_ms: Option<u64>,
    ) {
        self.emit_error(endpoint, error);
        if ErrorAction::of(error) == ErrorAction::ConversationGone {
            if endpoint == Endpoint::Messages && self.timeline.cursor().is_some() {
                // It may be the message to read after that is gone.
                self.resync(now_ms);
                return;
            }
            self.forget_conversation();
            if let Some(entry) = self.outbox.in_doubt() {
                self.give_up(entry);
            }
            return;
        }
        self.poller.on_error(now_ms, retry_after_ms, &mut self.random);
    }
}
