//! Visitor messages: written, sent one at a time, each accepted at most once.

use std::rc::Rc;

use chat_protocol::{AiStatus, Endpoint, ErrorCode, Role, SendMessage, SendResult, ServiceError, Value};

use crate::error_action::ErrorAction;
use crate::in_flight::InFlight;
use crate::outbox::{self, AfterFailure, PendingMessage, RemoteMessage, check_message};
use crate::stored::keys;
use crate::tab_sync::TabMessage;
use crate::timeline::{Delivery, EntryKey, Timeline};
use crate::{Notice, Session, SessionEvent};

/// Maximum time for which a visitor is told to wait for a person, who may have answered in another way.
/// Milliseconds.
const MAX_WAIT_FOR_PERSON_MS: u64 = 24 * 60 * 60 * 1000;

impl Session {
    pub(super) fn write(&mut self, now_ms: u64, text: String, page_path: String) {
        if check_message(&text).is_err() {
            return;
        }
        let id = outbox::new_id(&mut self.random);
        let entry = self.timeline.write(&id, &text, now_ms, Delivery::Waiting);
        self.notice = self.notice.filter(|notice| *notice == Notice::Blocked);
        self.outbox.push(PendingMessage::new(id, entry, text, page_path, now_ms));
        self.persist_pending(entry);
        self.poller.record_activity(now_ms);
        self.mark_snapshot_dirty();
    }

    /// Sends the visitor's last message again, as a new one.
    #[inline(never)]
    pub(super) fn ask_again(&mut self, now_ms: u64, page_path: String) {
        let last = self.entries().iter().rev().find(|entry| entry.author == Role::Visitor);
        if let Some(text) = last.map(|entry| String::from(&*entry.text)) {
            self.write(now_ms, text, page_path);
        }
    }

    pub(super) fn retry(&mut self, now_ms: u64, entry: EntryKey) {
        let was_failed = self.outbox.retry(now_ms, entry);
        if was_failed {
            self.persist_pending(entry);
            self.move_to_end(entry);
            self.notice = None;
        }
        if was_failed || self.deferred {
            self.outbox.send_now();
            // The leader sends it.
            self.broadcast(TabMessage::SendNow);
        }
    }

    /// Shows a message as the last one: it is the last one of the outbox.
    fn move_to_end(&mut self, entry: EntryKey) {
        self.show_delivery(entry);
        self.timeline.move_to_end(entry);
        self.mark_snapshot_dirty();
    }

    /// Shows the delivery of a message.
    fn show_delivery(&mut self, entry: EntryKey) {
        if let Some(delivery) = self.outbox.delivery(entry)
            && self.timeline.set_delivery(entry, delivery)
        {
            self.tab_sync.mark_dirty();
        }
    }

    /// Applies a message that another tab, or an earlier page, stored.
    pub(super) fn apply_remote_pending(&mut self, now_ms: u64, mut pending: PendingMessage) {
        if pending.is_stale(now_ms) {
            pending.fail();
        }
        let shown = self.timeline.of_pending(pending.id()).map(|entry| (entry.key, entry.delivery));
        if let Some((_, Delivery::Delivered)) = shown {
            // A late write: the service has the message.
            self.persist(&[keys::OUTBOX, pending.id()].concat(), Value::Null);
            return self.remove_if_delivered(pending.id());
        }
        let is_failed = pending.is_failed();
        let entry = shown.map_or_else(
            || {
                let delivery = if is_failed { Delivery::Failed } else { Delivery::Waiting };
                self.timeline.write(pending.id(), pending.text(), pending.written_ms(), delivery)
            },
            |(key, _)| key,
        );
        let leads = self.leads();
        match self.outbox.apply_remote(now_ms, entry, pending, leads) {
            RemoteMessage::Ignored => {}
            RemoteMessage::Requeued => self.move_to_end(entry),
            RemoteMessage::Taken => {
                if is_failed {
                    self.show_delivery(entry);
                }
                self.mark_snapshot_dirty();
            }
        }
    }

    /// Marks a message as delivered, because another tab removed it from storage. For an attempt in flight,
    /// the response decides.
    #[inline(never)]
    pub(super) fn on_remote_delivery(&mut self, now_ms: u64, id: &str) {
        if let Some(entry) = self.outbox.idle_entry(id) {
            self.outbox.remove(entry);
            self.timeline.deliver_in_doubt(entry, None);
            if self.leads() && !self.timeline.is_answered(entry) {
                self.await_reply(now_ms);
            }
            self.mark_snapshot_dirty();
        }
    }

    /// Removes a delivered message that storage no longer has. Storage may also have lost a pending one.
    pub(super) fn remove_if_delivered(&mut self, id: &str) {
        if self.timeline.of_pending(id).is_none_or(|entry| entry.delivery == Delivery::Delivered) {
            self.outbox.remove_id(id);
        }
    }

    /// Adapts the outbox to the snapshot of another tab, which knows the pending messages `remote`.
    #[inline(never)]
    pub(super) fn reconcile_outbox(&mut self, remote: &[Rc<str>]) {
        self.outbox.reconcile(&self.timeline);
        // The other tab does not know these.
        self.persist_outbox(remote);
    }

    /// Returns when the next attempt may be made.
    pub(super) fn next_attempt_ms(&self) -> Option<u64> {
        if self.in_flight.any(Endpoint::Send) {
            return None;
        }
        self.outbox.next_attempt_ms(self.poller.hold_until_ms())
    }

    pub(super) fn send_due(&mut self, now_ms: u64) {
        while self.next_attempt_ms().is_some_and(|due| now_ms >= due) {
            let Some(next) = self.outbox.next() else { return };
            let (entry, is_attempted) = (next.entry(), next.is_attempted());
            if self.outbox.is_next_expired(now_ms) {
                self.fail_message(entry);
                continue;
            }
            if !is_attempted {
                // The tabs may show waiting messages in another order than they are sent in.
                self.timeline.move_behind_settled(entry);
            }
            let visitor = self.identity.sent_profile();
            let (conversation_id, locale) = (self.conversation.clone(), self.locale.clone());
            let request = self.outbox.start_next(now_ms, self.identity.id(), |pending| SendMessage {
                conversation_id,
                message: pending.text().to_owned(),
                locale,
                source_page: Some(pending.page_path().to_owned()).filter(|path| !path.is_empty()),
                visitor,
            });
            let Some(request) = request else { return };
            self.persist_pending(entry);
            self.show_delivery(entry);
            self.mark_snapshot_dirty();
            let body = Some((request.body, request.key));
            self.request(now_ms, Endpoint::Send, Vec::new(), body, Some(entry), false);
        }
    }

    #[inline(never)]
    pub(super) fn on_sent(&mut self, now_ms: u64, request: &InFlight, result: SendResult) {
        let Some(entry) = request.message else { return self.leftovers.settle() };
        let needs_person = result.needs_person();
        // Whether its conversation is gone, and another one has begun since the attempt.
        let mut is_of_earlier = false;
        if self.conversation.as_ref() != Some(&result.conversation_id) {
            if self.conversation.is_some() && self.is_delivered(entry) {
                // The present conversation has the message, and its reply.
                return self.remove_delivered(entry);
            }
            is_of_earlier = self.conversation.is_some() && self.outbox.names(entry, &result.conversation_id);
            if !is_of_earlier {
                self.begin(result.conversation_id);
            }
        }
        let is_repeated = self.outbox.is_repeated(entry);
        // Ids are unique only within one conversation.
        let id = result.user_message_id.filter(|_| !is_of_earlier);
        let is_mistaken = if is_repeated && !is_of_earlier {
            // Another tab may have made the first attempt, and its echo may have been polled before this tab
            // knew.
            self.timeline.deliver_in_doubt(entry, id)
        } else {
            self.timeline.deliver(entry, id)
        };
        if is_mistaken {
            self.resync(now_ms);
        }
        // The echo may have been matched with another message, which must be sent again or has failed.
        self.restore_missing(&[]);
        for pending in self.outbox.iter().filter(|pending| pending.is_failed()) {
            self.timeline.set_delivery(pending.entry(), Delivery::Failed);
        }
        self.emit_delivered(entry);
        // A fallback text is a reply.
        let reply = result.message.filter(|message| !message.content.trim().is_empty());
        let replied = reply.is_some();
        self.notice = if result.blocked || result.ai_status == AiStatus::Blocked {
            Some(Notice::Blocked)
        } else if !needs_person || self.person_took_over() {
            None
        } else if replied {
            Some(Notice::Unanswered)
        } else {
            // No reply is being written. A late one is shown, and removes the notice.
            Some(Notice::NoReply)
        };
        // Messages before the reply may be missing, and the service may report nothing to poll.
        if self.poller.end_reply_wait() || is_repeated {
            self.poll_now(now_ms);
        }
        let add = if is_of_earlier { Timeline::reply_of_earlier } else { Timeline::reply };
        if let Some(new) = reply.and_then(|message| add(&mut self.timeline, entry, message)) {
            self.on_arrived(now_ms, &[new]);
        }
        // An earlier conversation is not polled.
        if !replied && !is_of_earlier && self.notice.is_none_or(|notice| notice == Notice::NoReply) {
            self.await_reply(now_ms);
        }
        self.poller.record_activity(now_ms);
        if result.lead.needs_handoff && !self.person_took_over() {
            self.awaits_person_until_ms = now_ms + MAX_WAIT_FOR_PERSON_MS;
        }
        self.emit(SessionEvent::Lead(result.lead));
        self.remove_delivered(entry);
    }

    /// Polls for a reply that did not come with the response.
    fn await_reply(&mut self, now_ms: u64) {
        self.poller.expect_reply(now_ms);
        self.poll_now(now_ms);
    }

    #[inline(never)]
    pub(super) fn on_send_error(
        &mut self,
        now_ms: u64,
        request: &InFlight,
        error: &ServiceError,
        retry_after_ms: Option<u64>,
    ) {
        self.emit_error(Endpoint::Send, error);
        let action = ErrorAction::of(error);
        let Some(entry) = request.message else {
            return self.on_leftover_error(now_ms, action, retry_after_ms);
        };
        if self.is_delivered(entry) {
            // An earlier attempt arrived: its echo was polled while this one was in flight.
            if action == ErrorAction::ConversationGone {
                self.forget_conversation_of(entry);
            }
            self.on_found_delivered(now_ms, entry);
            return;
        }
        match action {
            ErrorAction::Retry => self.back_off(now_ms, entry, retry_after_ms),
            // The service has the message, whatever became of its response: it must not be sent again.
            ErrorAction::InDoubt if self.conversation.is_some() => {
                self.outbox.doubt(entry);
                self.resync(now_ms);
            }
            // The conversation is gone: the message becomes another request, which starts one.
            ErrorAction::ConversationGone if self.outbox.names_conversation(entry) => {
                self.forget_conversation_of(entry);
                self.outbox.start_over(entry);
                self.persist_pending(entry);
                self.show_delivery(entry);
            }
            ErrorAction::InDoubt | ErrorAction::ConversationGone | ErrorAction::Fail => {
                if error.status == 402 || error.code == ErrorCode::InsufficientQuota {
                    self.notice = Some(Notice::Quota);
                }
                self.fail_message(entry);
            }
        }
        self.mark_snapshot_dirty();
    }

    /// Ends the conversation that the request of a message names, unless another one has begun since.
    fn forget_conversation_of(&mut self, entry: EntryKey) {
        if self.conversation.as_ref().is_none_or(|present| self.outbox.names(entry, present)) {
            self.forget_conversation();
        }
    }

    fn is_delivered(&self, entry: EntryKey) -> bool {
        self.timeline.entry(entry).is_some_and(|shown| shown.delivery == Delivery::Delivered)
    }

    /// Makes another attempt later, or marks the message as failed after the last one.
    fn back_off(&mut self, now_ms: u64, entry: EntryKey, retry_after_ms: Option<u64>) {
        match self.outbox.back_off(now_ms, entry, retry_after_ms, &mut self.random) {
            AfterFailure::BacksOff => self.persist_pending(entry),
            AfterFailure::Exhausted => self.fail_message(entry),
            AfterFailure::Gone => return,
        }
        // The service may have the message, even if it is marked as failed.
        if retry_after_ms.is_none() {
            self.poller.poll_until_idle(self.in_flight.any(Endpoint::Messages));
            self.poller.poll_soon(now_ms, &mut self.random);
        }
    }

    /// Shows messages that are not in flight as waiting while the browser is offline.
    pub(super) fn wait_for_network(&mut self) {
        if !self.online {
            self.outbox.wait_for_network();
            for pending in self.outbox.iter().filter(|pending| !pending.is_failed()) {
                if self.in_flight.message() != Some(pending.entry())
                    && self.timeline.set_delivery(pending.entry(), Delivery::Waiting)
                {
                    self.tab_sync.mark_dirty();
                }
            }
        }
    }

    /// Handles a message that a poll has found delivered.
    pub(super) fn on_found_delivered(&mut self, now_ms: u64, entry: EntryKey) {
        self.timeline.deliver(entry, None);
        self.emit_delivered(entry);
        if !self.timeline.is_answered(entry) {
            self.await_reply(now_ms);
        }
        self.remove_delivered(entry);
    }

    /// Marks a message as failed.
    pub(super) fn fail_message(&mut self, entry: EntryKey) {
        self.outbox.fail(entry);
        self.persist_pending(entry);
        self.timeline.set_delivery(entry, Delivery::Failed);
        self.mark_snapshot_dirty();
    }

    fn emit_delivered(&mut self, entry: EntryKey) {
        if let Some(delivered) = self.timeline.entry(entry).cloned() {
            self.emit(SessionEvent::Message(delivered));
        }
    }

    /// Removes a delivered message from the outbox.
    fn remove_delivered(&mut self, entry: EntryKey) {
        self.mark_snapshot_dirty();
        if let Some(pending) = self.outbox.remove(entry) {
            // The snapshot is written first: a page that ends between the two writes must not lose the
            // message.
            self.publish();
            self.persist(&[keys::OUTBOX, pending.id()].concat(), Value::Null);
        }
    }
}
