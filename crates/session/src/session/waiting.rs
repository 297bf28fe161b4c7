//! The wait for a reply, as the visitor sees it.

use chat_protocol::Role;

use super::Session;
use crate::Wait;
use crate::timeline::Delivery;

impl Session {
    /// Returns how long the visitor has waited for a reply.
    pub fn wait(&self) -> Wait {
        self.waiting.shown()
    }

    /// Returns whether the assistant is composing a reply: the service has the visitor's message, and its
    /// reply is awaited. A message that is still being sent may not have arrived.
    pub fn is_writing(&self) -> bool {
        let attempted = |delivery| matches!(delivery, Delivery::Sending | Delivery::Delivered);
        let newest = self
            .entries()
            .iter()
            .rev()
            .find(|entry| entry.author == Role::Visitor && attempted(entry.delivery));
        self.waiting.is_waiting() && newest.is_some_and(|entry| entry.delivery == Delivery::Delivered)
    }

    /// Returns whether an operator wrote last: then no reply of the assistant is expected.
    pub fn person_took_over(&self) -> bool {
        let last = self.entries().iter().rev().find(|entry| entry.author != Role::Visitor);
        last.is_some_and(|entry| entry.author == Role::Operator)
    }

    /// Returns whether the visitor has asked for a person, and none has written since.
    pub fn awaits_person(&self) -> bool {
        self.awaits_person_until_ms > 0
    }

    /// Updates the wait after each input.
    pub(super) fn update_wait(&mut self, now_ms: u64) {
        if self.awaits_person() && now_ms >= self.awaits_person_until_ms {
            self.awaits_person_until_ms = 0;
            self.view_dirty = true;
        }
        let awaited = self.awaits_reply() && (!self.deferred || self.poller.reply_due_ms().is_some());
        let waits = self.online && self.notice.is_none() && awaited && !self.person_took_over();
        self.view_dirty |= self.waiting.update(now_ms, waits);
    }
}
