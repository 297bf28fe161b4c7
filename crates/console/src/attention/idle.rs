//! Whether somebody uses the console.

/// The time without a touch of keyboard or pointer after which an operator is away.
const IDLE_AFTER_MS: f64 = 5.0 * 60.0 * 1000.0;

/// Tells when an operator goes away and comes back.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    touched_ms: f64,
    is_idle: bool,
}

impl Idle {
    /// Begins with an operator who is there.
    pub fn new(now_ms: f64) -> Self {
        Self { touched_ms: now_ms, is_idle: false }
    }

    /// Records a touch. Returns true if the operator has come back by it.
    pub fn touch(&mut self, now_ms: f64) -> bool {
        self.touched_ms = now_ms;
        std::mem::take(&mut self.is_idle)
    }

    /// Returns true if the operator has just gone away: also after a sleep of the machine, when timers did
    /// not run.
    pub fn check(&mut self, now_ms: f64) -> bool {
        if self.is_idle || now_ms - self.touched_ms < IDLE_AFTER_MS {
            return false;
        }
        self.is_idle = true;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operator_is_away_after_five_minutes_and_back_at_the_first_touch() {
        let mut idle = Idle::new(0.0);
        assert!(!idle.check(IDLE_AFTER_MS - 1.0));
        assert!(idle.check(IDLE_AFTER_MS));
        assert!(!idle.check(IDLE_AFTER_MS + 1.0), "told once");
        assert!(idle.touch(IDLE_AFTER_MS + 2.0));
        assert!(!idle.touch(IDLE_AFTER_MS + 3.0), "told once");
    }

    #[test]
    fn each_touch_starts_the_time_again() {
        let mut idle = Idle::new(0.0);
        assert!(!idle.touch(200_000.0));
        assert!(!idle.check(IDLE_AFTER_MS));
        assert!(idle.check(200_000.0 + IDLE_AFTER_MS));
    }
}
