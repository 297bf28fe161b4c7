//! The visitor's messages: written, sent one at a time, each at most once.

use std::rc::Rc;

use chat_protocol::{AiStatus, Endpoint, ErrorCode, Role, SendMessage, SendResult, ServiceError, Value};

use crate::back_off::{MAX_RETRY_AFTER_MS, wait_ms};
use crate::error_action::ErrorAction;
use crate::outbox::{self, PendingMessage, check_message};
use crate::stored::keys;
use crate::tab_message::TabMessage;
use crate::timeline::{Delivery, EntryKey};
use crate::{Notice, Session, SessionEvent};

/// A reply that did not come with its answer is looked for this long. Milliseconds.
pub(crate) const REPLY_TIMEOUT_MS: u64 = 30_000;

impl Session {
    pub(super) fn write(&mut self, now_ms: u64, text: String, page_path: String) {
        if check_message(&text).is_err() {
            return;
        }
        let name = outbox::new_id(&mut self.random);
        let entry = self.timeline.write(&name, &text, now_ms, Delivery::Waiting);
        let pending = PendingMessage::new(name, entry, text, page_path, now_ms);
        if self.notice == Some(Notice::NoReply) {
            self.notice = None;
        }
        self.outbox.push(pending);
        self.persist_pending(entry);
        self.pace.touch(now_ms);
        self.mark_snapshot_dirty();
    }

    /// Asks the last message of the visitor once more.
    pub(super) fn ask_again(&mut self, now_ms: u64, page_path: String) {
        let last = self.entries().iter().rev().find(|entry| entry.author == Role::Visitor);
        if let Some(text) = last.map(|entry| String::from(&*entry.text)) {
            self.write(now_ms, text, page_path);
        }
    }

    pub(super) fn retry(&mut self, now_ms: u64, key: EntryKey) {
        let failed = self.outbox.iter().position(|pending| pending.entry == key && pending.failed);
        if let Some(index) = failed {
            self.outbox[index].renew(now_ms);
            self.persist_pending(key);
            self.line_up(index);
            self.notice = None;
        }
        if failed.is_some() || self.deferred {
            self.send_now();
            // The tab that leads sends it.
            self.broadcast(TabMessage::SendNow);
        }
    }

    /// Ends every wait for a later attempt, because a person asked. A message that is on its way stays the only one.
    pub(super) fn send_now(&mut self) {
        self.urgent = true;
        for pending in self.outbox.iter_mut().filter(|pending| Some(pending.entry) != self.sending) {
            pending.attempts = 0;
            pending.not_before_ms = 0;
        }
    }

    /// Moves a failed message to the end of the queue.
    fn line_up(&mut self, index: usize) {
        let pending = self.outbox.remove(index);
        self.timeline.set_delivery(pending.entry, Delivery::Waiting);
        self.timeline.move_to_end(pending.entry);
        self.outbox.push(pending);
        self.mark_snapshot_dirty();
    }

    /// Another tab, or an earlier page, stored this message.
    pub(super) fn apply_remote_pending(&mut self, now_ms: u64, mut pending: PendingMessage) {
        // Its time may be by a clock that was wrong.
        pending.not_before_ms = pending.not_before_ms.min(now_ms + MAX_RETRY_AFTER_MS);
        if pending.is_stale(now_ms) {
            pending.failed = true;
        }
        let shown = self.timeline.of_pending(&pending.id).map(|entry| (entry.key, entry.delivery));
        if let Some((_, Delivery::Delivered)) = shown {
            // It comes late: the service has the message.
            self.persist(&[keys::OUTBOX, &pending.id].concat(), Value::Null);
            return self.remove_if_delivered(&pending.id);
        }
        let delivery = if pending.failed { Delivery::Failed } else { Delivery::Waiting };
        let entry = shown.map_or_else(
            || self.timeline.write(&pending.id, &pending.text, pending.written_ms, delivery),
            |(key, _)| key,
        );
        pending.entry = entry;
        let known = self.outbox.iter().position(|known| known.id == pending.id);
        match known {
            Some(index) if self.outbox[index].failed && !pending.failed => {
                self.outbox[index] = pending;
                return self.line_up(index);
            }
            // The tab that leads knows best how far it has come, unless another one led for a moment and sent it.
            Some(index) if self.leads() && (self.outbox[index].is_attempted() || !pending.is_attempted()) => {
                return;
            }
            Some(index) => self.outbox[index] = pending,
            None => self.outbox.push(pending),
        }
        if delivery == Delivery::Failed {
            self.timeline.set_delivery(entry, delivery);
        }
        self.mark_snapshot_dirty();
    }

    /// Another tab removed the pending message: it knows that the message was delivered. The answer to one that is on its
    /// way from here will say so, too.
    pub(super) fn delivered_elsewhere(&mut self, now_ms: u64, name: &str) {
        let pending = self.outbox.iter().find(|pending| pending.id == name);
        if let Some(entry) = pending.map(|pending| pending.entry).filter(|entry| self.sending != Some(*entry))
        {
            self.outbox.retain(|pending| pending.entry != entry);
            self.timeline.deliver_in_doubt(entry);
            if self.leads() && !self.timeline.is_answered(entry) {
                self.await_reply(now_ms);
            }
            self.mark_snapshot_dirty();
        }
    }

    /// Storage has the pending message no more: it was delivered, unless storage lost it.
    pub(super) fn remove_if_delivered(&mut self, name: &str) {
        let delivered =
            self.timeline.of_pending(name).is_none_or(|entry| entry.delivery == Delivery::Delivered);
        if delivered {
            self.outbox.retain(|pending| pending.id != name);
        }
    }

    /// After the messages of another tab were taken over, of which it knows the pending messages `told`.
    pub(super) fn reconcile_outbox(&mut self, told: &[Rc<str>]) {
        let timeline = &self.timeline;
        self.outbox.retain_mut(|pending| match timeline.of_pending(&pending.id) {
            Some(entry) => {
                pending.entry = entry.key;
                pending.failed = entry.delivery == Delivery::Failed;
                entry.delivery != Delivery::Delivered
            }
            None => false,
        });
        // The other tab has not heard of these.
        for index in 0..self.outbox.len() {
            if told.iter().all(|name| **name != *self.outbox[index].id) {
                self.persist_pending(self.outbox[index].entry);
            }
        }
    }

    /// The message to send next.
    pub(super) fn next_pending(&self) -> Option<&PendingMessage> {
        self.outbox.iter().find(|pending| !pending.failed)
    }

    /// When the next message may be tried.
    pub(super) fn next_attempt_ms(&self) -> Option<u64> {
        if self.sending.is_some() || self.in_doubt.is_some() {
            return None;
        }
        let pending = self.next_pending()?;
        Some(pending.not_before_ms.max(if self.urgent { 0 } else { self.hold_until_ms }))
    }

    pub(super) fn send_due(&mut self, now_ms: u64) {
        while self.next_attempt_ms().is_some_and(|due| now_ms >= due) {
            let Some(index) = self.outbox.iter().position(|pending| !pending.failed) else {
                return;
            };
            let entry = self.outbox[index].entry;
            if self.outbox[index].is_stale(now_ms) || self.outbox[index].is_exhausted() {
                self.give_up(entry);
                continue;
            }
            if !self.outbox[index].is_attempted() {
                // The tabs may have put what waited in another order than it is sent in.
                self.timeline.move_behind_settled(entry);
            }
            let mut profile = self.visitor.clone();
            profile.visitor_id = Some(self.visitor_id.clone());
            let (conversation_id, locale) = (self.conversation.clone(), self.locale.clone());
            let pending = &mut self.outbox[index];
            let frozen = pending
                .freeze(&self.visitor_id, |pending| SendMessage {
                    conversation_id,
                    message: pending.text.clone(),
                    locale,
                    source_page: Some(pending.page_path.clone()).filter(|path| !path.is_empty()),
                    visitor: profile,
                })
                .clone();
            pending.attempts += 1;
            self.persist_pending(entry);
            self.sending = Some(entry);
            self.sending_since_ms = Some(now_ms);
            self.timeline.set_delivery(entry, Delivery::Sending);
            self.mark_snapshot_dirty();
            self.send(now_ms, Endpoint::Send, frozen.body, frozen.key);
        }
    }

    pub(super) fn on_sent(&mut self, now_ms: u64, result: SendResult) {
        let Some(entry) = self.sending.take() else { return };
        if self.conversation.as_ref() != Some(&result.conversation_id) {
            let shown = self.timeline.entry(entry).map(|shown| shown.delivery);
            if self.conversation.is_some() && shown == Some(Delivery::Delivered) {
                // It comes from a conversation that another tab has found gone since.
                self.remove_delivered(entry);
                return;
            }
            self.begin(result.conversation_id);
        }
        if self.timeline.deliver(entry, result.user_message_id) {
            self.resync(now_ms);
        }
        // The echo may have been taken for another message, which is to be sent after all, or was given up before.
        self.restore_missing(&[]);
        for pending in self.outbox.iter().filter(|pending| pending.failed) {
            self.timeline.set_delivery(pending.entry, Delivery::Failed);
        }
        self.emit_delivered(entry);
        // A fallback text is an answer.
        let reply = result.message.filter(|message| !message.content.trim().is_empty());
        let replied = reply.is_some();
        self.fell_back = replied && result.ai_status == AiStatus::ProviderError;
        self.notice = match result.ai_status {
            AiStatus::QuotaInsufficient => Some(Notice::Quota),
            _ if result.blocked || result.ai_status == AiStatus::Blocked => Some(Notice::Blocked),
            // Nobody is writing an answer; one that comes all the same is read, and takes the notice back.
            AiStatus::ProviderError if !replied && !self.person_took_over() => Some(Notice::NoReply),
            _ => None,
        };
        // What was said before the reply, and not read, is read although the service may see nothing to poll for.
        let repeated = self.outbox.iter().any(|pending| pending.entry == entry && pending.attempts > 1);
        if self.reply_due_ms.take().is_some() || repeated {
            self.poll_now(now_ms);
        }
        if let Some(new) = reply.and_then(|message| self.timeline.reply(entry, message)) {
            self.on_arrived(now_ms, &[new]);
        }
        if !replied && self.notice.is_none_or(|notice| notice == Notice::NoReply) {
            self.await_reply(now_ms);
        }
        self.pace.touch(now_ms);
        self.emit(SessionEvent::Lead(result.lead));
        self.remove_delivered(entry);
    }

    /// The reply did not come with the answer, so it is read.
    fn await_reply(&mut self, now_ms: u64) {
        self.expect_reply(now_ms);
        self.poll_now(now_ms);
    }

    pub(super) fn expect_reply(&mut self, now_ms: u64) {
        self.reply_due_ms = Some(now_ms + REPLY_TIMEOUT_MS);
    }

    pub(super) fn on_send_error(&mut self, now_ms: u64, error: &ServiceError, retry_after_ms: Option<u64>) {
        self.emit_error(Endpoint::Send, error);
        let action = ErrorAction::of(error);
        let is_delivered = |entry: &EntryKey| {
            self.timeline.entry(*entry).is_some_and(|shown| shown.delivery == Delivery::Delivered)
        };
        if let Some(entry) = self.sending.take_if(|entry| is_delivered(entry)) {
            // An earlier attempt arrived: its echo was read while this one was on its way.
            if action == ErrorAction::ConversationGone {
                self.forget_conversation();
            }
            self.on_found_delivered(now_ms, entry);
            return;
        }
        match action {
            ErrorAction::Retry => self.back_off(now_ms, retry_after_ms),
            // It was taken, whatever became of the answer: to send it again would be the one mistake left.
            ErrorAction::InDoubt if self.conversation.is_some() => {
                self.in_doubt = self.sending.take();
                self.resync(now_ms);
            }
            ErrorAction::ConversationGone if self.sends_into_conversation() => {
                self.start_new_conversation(now_ms);
            }
            ErrorAction::InDoubt | ErrorAction::ConversationGone | ErrorAction::Fail => {
                if error.status == 402 || error.code == ErrorCode::InsufficientQuota {
                    self.notice = Some(Notice::Quota);
                }
                if let Some(entry) = self.sending.take() {
                    self.give_up(entry);
                }
            }
        }
        self.mark_snapshot_dirty();
    }

    /// Whether the message on its way belongs to a conversation, be it known here or already forgotten.
    fn sends_into_conversation(&self) -> bool {
        let pending = self.outbox.iter().find(|pending| Some(pending.entry) == self.sending);
        pending
            .and_then(|pending| pending.frozen.as_ref())
            .is_some_and(crate::outbox::Frozen::names_conversation)
    }

    /// The conversation is gone. The message was refused with it, so it is another request now: it starts a new one.
    fn start_new_conversation(&mut self, now_ms: u64) {
        self.forget_conversation();
        let Some(entry) = self.sending.take() else { return };
        let Some(pending) = self.outbox.iter_mut().find(|pending| pending.entry == entry) else {
            return;
        };
        pending.start_over(now_ms);
        self.persist_pending(entry);
        self.timeline.set_delivery(entry, Delivery::Waiting);
    }

    /// Another attempt after a while, or none when there were enough or none is needed.
    fn back_off(&mut self, now_ms: u64, retry_after_ms: Option<u64>) {
        self.urgent = false;
        let Some(entry) = self.sending.take() else { return };
        let Some(pending) = self.outbox.iter_mut().find(|pending| pending.entry == entry) else {
            return;
        };
        if pending.is_exhausted() {
            self.give_up(entry);
        } else {
            pending.not_before_ms = now_ms + wait_ms(pending.attempts, retry_after_ms, &mut self.random);
            self.persist_pending(entry);
        }
        // The service may have it all the same, also when it is given up.
        if retry_after_ms.is_none() {
            self.poll_until_idle();
            self.pace.read_soon(now_ms, &mut self.random);
        }
    }

    /// Without a network, what is not on its way waits: be it between two attempts, or of a page that was left in the
    /// middle of one.
    pub(super) fn wait_for_network(&mut self) {
        if self.online {
            return;
        }
        for pending in
            self.outbox.iter().filter(|pending| !pending.failed && self.sending != Some(pending.entry))
        {
            self.snapshot_dirty |= self.timeline.set_delivery(pending.entry, Delivery::Waiting);
        }
    }

    /// Reading showed that the service has the message.
    pub(super) fn on_found_delivered(&mut self, now_ms: u64, entry: EntryKey) {
        self.timeline.deliver(entry, None);
        self.emit_delivered(entry);
        if !self.timeline.is_answered(entry) {
            self.await_reply(now_ms);
        }
        self.remove_delivered(entry);
    }

    pub(super) fn give_up(&mut self, entry: EntryKey) {
        if let Some(pending) = self.outbox.iter_mut().find(|pending| pending.entry == entry) {
            pending.failed = true;
            self.persist_pending(entry);
        }
        self.timeline.set_delivery(entry, Delivery::Failed);
        self.mark_snapshot_dirty();
    }

    fn emit_delivered(&mut self, entry: EntryKey) {
        if let Some(delivered) = self.timeline.entry(entry).cloned() {
            self.emit(SessionEvent::Message(delivered));
        }
    }

    /// The message is delivered.
    fn remove_delivered(&mut self, entry: EntryKey) {
        self.mark_snapshot_dirty();
        if let Some(index) = self.outbox.iter().position(|pending| pending.entry == entry) {
            let pending = self.outbox.remove(index);
            // What all tabs show comes first: a page that ends in between must not lose the message.
            self.publish();
            self.persist(&[keys::OUTBOX, &pending.id].concat(), Value::Null);
        }
    }
}
