//! The time that the visitor has waited for a reply, and when to explain it.

/// A wait that is longer is explained in words. Milliseconds.
const LONG_WAIT_MS: u64 = 10_000;
/// After a longer wait, a person is offered. Milliseconds.
const VERY_LONG_WAIT_MS: u64 = 25_000;

/// The length of the wait for a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wait {
    /// No reply is awaited, or not for long.
    #[default]
    Short,
    /// Long enough to be explained.
    Long,
    /// Long enough to offer a person.
    VeryLong,
}

/// The wait for a reply, as this tab sees it.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    since_ms: Option<u64>,
    shown: Wait,
}

impl Waiting {
    /// Updates the wait. Returns whether the visible length has changed.
    pub(crate) fn update(&mut self, now_ms: u64, waits: bool) -> bool {
        self.since_ms = waits.then(|| self.since_ms.unwrap_or(now_ms));
        let shown = match self.since_ms.map_or(0, |since| now_ms.saturating_sub(since)) {
            VERY_LONG_WAIT_MS.. => Wait::VeryLong,
            LONG_WAIT_MS.. => Wait::Long,
            _ => Wait::Short,
        };
        std::mem::replace(&mut self.shown, shown) != shown
    }

    /// Returns the visible length of the wait.
    pub(crate) fn shown(&self) -> Wait {
        self.shown
    }

    /// Returns whether a reply is awaited.
    pub(crate) fn is_waiting(&self) -> bool {
        self.since_ms.is_some()
    }

    /// Returns when the visible length changes next.
    pub(crate) fn due_ms(&self) -> Option<u64> {
        let after = match self.shown {
            Wait::Short => LONG_WAIT_MS,
            Wait::Long => VERY_LONG_WAIT_MS,
            Wait::VeryLong => return None,
        };
        Some(self.since_ms? + after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explains_a_wait_after_ten_seconds_and_offers_a_person_after_twenty_five() {
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
    fn the_next_wait_starts_from_zero() {
        let mut waiting = Waiting::default();
        waiting.update(0, true);
        waiting.update(9_000, false);
        waiting.update(9_500, true);
        assert_eq!(waiting.due_ms(), Some(19_500));
    }
}
