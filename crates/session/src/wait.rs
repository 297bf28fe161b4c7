//! How long the visitor has waited for an answer, and what may be said about it.

use chat_protocol::Role;

use crate::Session;
use crate::timeline::Delivery;

/// A wait that is longer is explained in words. Milliseconds.
const LONG_WAIT_MS: u64 = 10_000;
/// After a longer wait, a person is offered. Milliseconds.
const VERY_LONG_WAIT_MS: u64 = 25_000;
/// A message that is still being sent after this time is looked for in the conversation: the service may have it, and be
/// composing the answer. Milliseconds.
const CONFIRM_MS: u64 = 2_000;

/// How long an answer has been awaited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// No answer is awaited, or not for long.
    #[default]
    Short,
    /// Long enough to be explained.
    Long,
    /// Long enough to offer a person.
    VeryLong,
}

/// The wait for an answer, as this tab sees it.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    since_ms: Option<u64>,
    shown: Wait,
}

impl Waiting {
    /// Updates the wait. Returns whether it is shown otherwise than before.
    pub(crate) fn update(&mut self, now_ms: u64, waits: bool) -> bool {
        self.since_ms = waits.then(|| self.since_ms.unwrap_or(now_ms));
        let shown = match self.since_ms.map_or(0, |since| now_ms.saturating_sub(since)) {
            VERY_LONG_WAIT_MS.. => Wait::VeryLong,
            LONG_WAIT_MS.. => Wait::Long,
            _ => Wait::Short,
        };
        std::mem::replace(&mut self.shown, shown) != shown
    }

    /// Returns when the wait becomes longer in words.
    pub(crate) fn due_ms(&self) -> Option<u64> {
        let after = match self.shown {
            Wait::Short => LONG_WAIT_MS,
            Wait::Long => VERY_LONG_WAIT_MS,
            Wait::VeryLong => return None,
        };
        Some(self.since_ms? + after)
    }
}

impl Session {
    /// Returns how long the visitor has waited for an answer.
    pub fn wait(&self) -> Wait {
        self.waiting.shown
    }

    /// Returns whether the assistant is composing an answer: the service has the visitor's message, and its reply is due.
    /// A message that is still being sent may not have arrived.
    pub fn is_writing(&self) -> bool {
        let attempted = |delivery| matches!(delivery, Delivery::Sending | Delivery::Delivered);
        let newest = self
            .entries()
            .iter()
            .rev()
            .find(|entry| entry.author == Role::Visitor && attempted(entry.delivery));
        self.waiting.since_ms.is_some() && newest.is_some_and(|entry| entry.delivery == Delivery::Delivered)
    }

    /// Returns whether a person was the last to answer: the assistant is not expected to.
    pub fn person_took_over(&self) -> bool {
        let last = self.entries().iter().rev().find(|entry| entry.author != Role::Visitor);
        last.is_some_and(|entry| entry.author == Role::Operator)
    }

    /// Returns whether the last answer was a fallback text, because the assistant could not answer (4.5).
    pub fn fell_back(&self) -> bool {
        self.fell_back
    }

    /// Updates the wait after each input.
    pub(crate) fn update_wait(&mut self, now_ms: u64) {
        let awaited = self.awaits_reply() && (!self.deferred || self.reply_due_ms.is_some());
        let waits = self.online && self.notice.is_none() && awaited && !self.person_took_over();
        self.view_dirty |= self.waiting.update(now_ms, waits);
    }

    /// Returns when to look whether the service has the message that is being sent.
    pub(crate) fn confirm_ms(&self) -> Option<u64> {
        self.sending_since_ms.filter(|_| self.sending.is_some()).map(|since| since + CONFIRM_MS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_explained_after_ten_seconds_and_a_person_offered_after_twenty_five() {
        let mut waiting = Waiting::default();
        assert!(!waiting.update(1_000, true));
        assert_eq!((waiting.shown, waiting.due_ms()), (Wait::Short, Some(11_000)));
        assert!(!waiting.update(10_999, true));
        assert!(waiting.update(11_000, true));
        assert_eq!((waiting.shown, waiting.due_ms()), (Wait::Long, Some(26_000)));
        assert!(waiting.update(26_000, true));
        assert_eq!((waiting.shown, waiting.due_ms()), (Wait::VeryLong, None));
        assert!(waiting.update(26_001, false));
        assert_eq!((waiting.shown, waiting.due_ms()), (Wait::Short, None));
    }

    #[test]
    fn the_next_wait_begins_anew() {
        let mut waiting = Waiting::default();
        waiting.update(0, true);
        waiting.update(9_000, false);
        waiting.update(9_500, true);
        assert_eq!(waiting.due_ms(), Some(19_500));
    }
}
