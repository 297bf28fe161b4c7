//! Polls for presence and messages, and their responses.

use chat_protocol::{ConversationId, Endpoint, History, Presence, Role, ServiceError};

use crate::error_action::ErrorAction;
use crate::timeline::{Delivery, Entry, EntryKey, Sync};
use crate::{Notice, Session, SessionEvent};

impl Session {
    /// Returns whether the tab may poll: only the leader does, while it is visible and online, in a
    /// conversation.
    fn can_poll(&self) -> bool {
        self.leads() && self.is_on() && self.online && self.visible && self.conversation.is_some()
    }

    pub(super) fn poll(&mut self, now_ms: u64) {
        if self.next_look_up_ms().is_some_and(|due| now_ms >= due) {
            self.request(now_ms, Endpoint::Messages, Vec::new(), None, None, false);
        }
        if !self.can_poll() {
            // A hidden tab awaits only the response to a message.
            if !self.can_look_up() {
                self.cancel_polls();
            }
            return;
        }
        let [presence, messages] = self.next_polls_ms();
        if presence.is_some_and(|due| now_ms >= due) {
            let query = self.conversation_query();
            self.request(now_ms, Endpoint::Presence, query, None, None, false);
        }
        if messages.is_some_and(|due| now_ms >= due) {
            self.poller.on_poll_started(self.timeline.cursor());
            self.outbox.mark_polled();
            let mut query = self.conversation_query();
            if let Some(id) = self.timeline.cursor() {
                query.push(("after", id.as_str().to_owned()));
            }
            self.request(now_ms, Endpoint::Messages, query, None, None, false);
        }
    }

    fn conversation_query(&self) -> Vec<(&'static str, String)> {
        let id = self.conversation.as_ref().map_or("", ConversationId::as_str);
        vec![("conversationId", id.to_owned())]
    }

    /// Cancels polls in flight.
    pub(super) fn cancel_polls(&mut self) {
        self.cancel(|endpoint| matches!(endpoint, Endpoint::Messages | Endpoint::Presence));
    }

    /// Returns the times of the next polls for presence and messages.
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

    /// Polls the history from the beginning once more.
    pub(super) fn resync(&mut self, now_ms: u64) {
        // Polls in flight do not start at the beginning.
        self.cancel_polls();
        self.timeline.rewind();
        self.poller.resync();
        self.poll_now(now_ms);
    }

    /// Starts a conversation with the response to a message. There is no history to poll.
    pub(super) fn begin(&mut self, conversation: ConversationId) {
        if self.conversation.is_some() {
            self.timeline.close();
        }
        self.cancel_polls();
        self.conversation = Some(conversation);
        self.awaits_person_until_ms = 0;
        self.typing = None;
        self.look_up_ms = None;
        self.poller.begin_conversation();
    }

    /// Ends a conversation that the service no longer knows. Its messages stay visible.
    pub(super) fn forget_conversation(&mut self) {
        self.cancel_polls();
        self.conversation = None;
        self.awaits_person_until_ms = 0;
        self.typing = None;
        self.poller.end_conversation();
        self.timeline.close();
        self.mark_snapshot_dirty();
    }

    /// Merges polled messages. `is_part` is whether the driver has more of the response.
    #[inline(never)]
    pub(super) fn on_messages(&mut self, now_ms: u64, history: History, is_part: bool) {
        if self.conversation.is_none() {
            return self.on_looked_up(now_ms, history.conversation_id);
        }
        let is_empty = history.messages.is_empty();
        if history.operator_typing.is_some() {
            // Their message is near.
            self.poller.record_activity(now_ms);
        }
        self.set_typing(now_ms, history.operator_typing);
        let attempted = self.attempted();
        let new = self.timeline.merge(history.messages, history.next_after, &attempted, self.poller.sync());
        if !new.is_empty() {
            self.poller.record_activity(now_ms);
            self.on_arrived(now_ms, &new);
        }
        if is_part {
            // The order of known messages is certain only after the last part.
            self.poller.on_part();
        } else {
            let moved = self.poller.has_moved(self.timeline.cursor());
            if self.timeline.take_rearranged() || moved {
                self.mark_snapshot_dirty();
            }
            self.poller.on_history(!new.is_empty(), moved && !is_empty);
        }
        for entry in attempted {
            if self.is_found(entry) {
                self.on_found_delivered(now_ms, entry);
            } else if self.is_unanswered(entry) && self.poller.reply_due_ms().is_none() {
                // The wait for the reply is shared, in case this tab ends before the response.
                self.poller.expect_reply(now_ms);
            }
        }
        if self.poller.end_sync() {
            self.timeline.mark_complete();
            // The service may not list visitor messages. The conflict proves that it has this one.
            if let Some(entry) = self.outbox.in_doubt() {
                self.timeline.deliver_in_doubt(entry, None);
                self.on_found_delivered(now_ms, entry);
            }
        }
        let is_awaited = self.awaits_reply();
        self.poller.plan_messages(now_ms, is_awaited, self.open, &mut self.random);
    }

    /// Returns the messages that may have arrived without a response, the one in flight first.
    fn attempted(&self) -> Vec<EntryKey> {
        let mut attempted = Vec::new();
        attempted.extend(self.in_flight.message());
        self.outbox.extend_attempted(&mut attempted, self.poller.sync() == Sync::Backfill);
        attempted
    }

    /// Returns whether a poll has delivered this message. If several attempted messages have the same text,
    /// an echo may be that of another one: only sending them again shows which.
    fn is_found(&self, entry: EntryKey) -> bool {
        let Some(shown) = self.timeline.entry(entry) else { return false };
        shown.is_settled()
            && self.in_flight.message() != Some(entry)
            && self.outbox.attempted_with(&shown.text) == 1
    }

    /// Returns whether a message is delivered and has no reply yet.
    fn is_unanswered(&self, entry: EntryKey) -> bool {
        let shown = self.timeline.entry(entry).map(|shown| shown.delivery);
        shown == Some(Delivery::Delivered) && !self.timeline.is_answered(entry)
    }

    /// Handles new messages of others.
    pub(super) fn on_arrived(&mut self, now_ms: u64, new: &[Entry]) {
        self.mark_snapshot_dirty();
        for entry in new.iter().filter(|entry| entry.author != Role::Visitor && entry.sequence > 0) {
            self.poller.record_activity(now_ms);
            self.poller.end_reply_wait();
            let is_person = entry.author == Role::Operator;
            let ends = |notice: &Notice| match notice {
                Notice::NoReply => true,
                Notice::Quota | Notice::Unanswered => is_person,
                Notice::Blocked => false,
            };
            self.notice.take_if(|notice| ends(notice));
            if is_person {
                self.awaits_person_until_ms = 0;
                // Presence may still report that no operator is online.
                self.poller.poll_presence_now(now_ms);
            }
            self.emit(SessionEvent::Message(entry.clone()));
        }
    }

    /// Ends the wait for a reply after its maximum time.
    pub(super) fn end_wait_for_reply(&mut self, now_ms: u64) {
        if self.poller.reply_due_ms().is_some_and(|until| now_ms >= until) {
            self.poller.end_reply_wait();
            if self.in_flight.any(Endpoint::Send) {
                // The reply may still come with the response.
                self.poller.expect_reply(now_ms);
                return;
            }
            // An operator may take longer.
            if self.operator_online != Some(true) && !self.person_took_over() && !self.awaits_person() {
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

    #[inline(never)]
    pub(super) fn on_poll_error(
        &mut self,
        now_ms: u64,
        endpoint: Endpoint,
        error: &ServiceError,
        retry_after_ms: Option<u64>,
    ) {
        self.emit_error(endpoint, error);
        if self.conversation.is_none() {
            return self.on_look_up_error(now_ms, error, retry_after_ms);
        }
        if ErrorAction::of(error) == ErrorAction::ConversationGone {
            if endpoint == Endpoint::Messages && self.timeline.cursor().is_some() {
                // The cursor may be unknown instead of the conversation.
                self.resync(now_ms);
                return;
            }
            self.forget_conversation();
            if let Some(entry) = self.outbox.in_doubt() {
                self.fail_message(entry);
            }
            return;
        }
        self.poller.on_error(now_ms, retry_after_ms, &mut self.random);
    }
}
