//! The result of an attempt of a webhook or a push: the schedule of retries, and the pauses of receivers.

use std::time::Duration;

use axum::http::StatusCode;

use super::http::Outcome;
use crate::clock::millis;

/// The waiting times after each failed attempt, in seconds. After the last one, a delivery has failed.
const SCHEDULE_S: [i64; 7] = [5, 30, 2 * 60, 10 * 60, 60 * 60, 6 * 60 * 60, 24 * 60 * 60];
/// The largest deviation from the schedule, in thousandths, so that deliveries that failed together spread.
const MAX_JITTER: i64 = 200;
/// Maximum time for which a receiver can pause its webhook by `Retry-After`.
const MAX_PAUSE: Duration = Duration::from_hours(1);

/// Returns a random deviation from the schedule, in thousandths.
pub(super) fn jitter() -> i64 {
    fastrand::i64(-MAX_JITTER..=MAX_JITTER)
}

/// The next state of a delivery after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Delivered,
    Retry { at_ms: i64 },
    Failed,
}

impl Next {
    /// Decides by the outcome of an attempt, numbered from 1, and a [`jitter`].
    pub(super) fn after(attempt: i64, outcome: &Outcome, now_ms: i64, jitter: i64) -> Self {
        if outcome.is_delivered() {
            return Self::Delivered;
        }
        if outcome.status == Some(StatusCode::GONE) {
            return Self::Failed;
        }
        let delay = usize::try_from(attempt - 1).ok().and_then(|index| SCHEDULE_S.get(index));
        let Some(delay_s) = delay else { return Self::Failed };
        let scheduled_ms = now_ms.saturating_add(delay_s * (1000 + jitter));
        Self::Retry { at_ms: scheduled_ms.max(paused_until_ms(outcome, now_ms)) }
    }
}

/// Returns until when the receiver wants no requests; 0 unless it said so.
pub(super) fn paused_until_ms(outcome: &Outcome, now_ms: i64) -> i64 {
    match (outcome.status, outcome.retry_after) {
        (Some(StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE), Some(wait)) => {
            now_ms.saturating_add(millis(wait.min(MAX_PAUSE)))
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(status: u16, retry_after_s: Option<u64>) -> Outcome {
        Outcome {
            status: Some(StatusCode::from_u16(status).expect("a status")),
            error: None,
            retry_after: retry_after_s.map(Duration::from_secs),
            duration_ms: 1,
        }
    }

    #[test]
    fn retries_by_the_schedule_and_then_fails() {
        let failed = Outcome::not_sent("refused");
        for (attempt, delay_s) in (1..).zip(SCHEDULE_S) {
            let at = |jitter| Next::after(attempt, &failed, 1000, jitter);
            assert_eq!(at(0), Next::Retry { at_ms: 1000 + delay_s * 1000 });
            assert_eq!(at(-MAX_JITTER), Next::Retry { at_ms: 1000 + delay_s * 800 });
            assert_eq!(at(MAX_JITTER), Next::Retry { at_ms: 1000 + delay_s * 1200 });
        }
        assert_eq!(Next::after(8, &failed, 1000, 0), Next::Failed);
        assert_eq!(Next::after(i64::MAX, &failed, 1000, 0), Next::Failed);
    }

    #[test]
    fn any_2xx_is_success_and_410_is_final() {
        for status in [200, 201, 202, 204, 299] {
            assert_eq!(Next::after(1, &answered(status, None), 0, 0), Next::Delivered);
        }
        for status in [301, 308, 400, 401, 404, 422, 500] {
            assert_eq!(Next::after(1, &answered(status, None), 0, 0), Next::Retry { at_ms: 5000 });
        }
        assert_eq!(Next::after(1, &answered(410, None), 0, 0), Next::Failed);
    }

    #[test]
    fn obeys_retry_after_within_bounds() {
        for status in [429, 503] {
            let retry = |seconds| Next::after(1, &answered(status, Some(seconds)), 0, 0);
            assert_eq!(retry(90), Next::Retry { at_ms: 90_000 });
            assert_eq!(retry(0), Next::Retry { at_ms: 5000 }, "not before the schedule");
            assert_eq!(retry(u64::MAX), Next::Retry { at_ms: 3_600_000 });
        }
        assert_eq!(paused_until_ms(&answered(500, Some(90)), 0), 0);
        assert_eq!(paused_until_ms(&answered(429, None), 0), 0);
    }
}
