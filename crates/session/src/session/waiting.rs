//! The wait for a reply, as the visitor sees it.

use chat_protocol::Role;

use super::Session;
use crate::Wait;
use crate::timeline::Delivery;

/// The time for which an operator counts as writing after a poll. Milliseconds.
const TYPING_TIMEOUT_MS: u64 = 12_000;

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

    /// Returns the name of the operator who is writing to the visitor.
    pub fn person_writing(&self) -> Option<&str> {
        self.typing.as_ref().map(|(name, _)| &**name)
    }

    /// Returns the name of the operator who wrote last, if the service tells.
    pub fn person_name(&self) -> Option<&str> {
        let last = self.entries().iter().rev().find(|entry| entry.author == Role::Operator);
        last.and_then(|entry| entry.name.as_deref())
    }

    /// Takes what a poll told about operators who are writing.
    pub(super) fn set_typing(&mut self, now_ms: u64, name: Option<String>) {
        self.view_dirty |= name.as_deref() != self.person_writing();
        self.typing = name.map(|name| (name.into(), now_ms + TYPING_TIMEOUT_MS));
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
        // Without a newer poll, nobody is known to be writing.
        if self.typing.as_ref().is_some_and(|(_, until_ms)| now_ms >= *until_ms || !self.online) {
            self.set_typing(now_ms, None);
        }
        if self.awaits_person() && now_ms >= self.awaits_person_until_ms {
            self.awaits_person_until_ms = 0;
            self.view_dirty = true;
        }
        let awaited = self.awaits_reply() && (!self.deferred || self.poller.reply_due_ms().is_some());
        // A person may take longer than a reply of the assistant, and is not writing yet.
        let is_for_person = self.person_took_over() || self.awaits_person();
        let waits = self.online && self.notice.is_none() && awaited && !is_for_person;
        self.view_dirty |= self.waiting.update(now_ms, waits);
    }
}
