//! The trouble switches as they stand: what counts down is lower after each request.

use std::time::Duration;

use axum::http::StatusCode;
use chat_protocol::ErrorCode;

use crate::call::Call;
use crate::error::ApiError;
use crate::trouble::{Amount, Trouble};

/// What happens to a request before it is looked at.
#[derive(Debug, PartialEq)]
pub(crate) enum Strike {
    /// Nothing.
    Missed,
    /// The connection breaks.
    Dropped,
    /// It fails.
    Failed(ApiError),
}

#[derive(Debug)]
pub(crate) struct Switches {
    pub(crate) now: Trouble,
    random: fastrand::Rng,
}

impl Switches {
    pub(crate) fn new(trouble: Trouble) -> Self {
        let random = fastrand::Rng::with_seed(trouble.seed);
        Self { now: trouble, random }
    }

    pub(crate) fn delay(&self, call: Call) -> Duration {
        Duration::from_millis(if self.now.only.covers(call) { self.now.delay_ms } else { 0 })
    }

    pub(crate) fn strike(&mut self, call: Call) -> Strike {
        if !self.now.only.covers(call) {
            return Strike::Missed;
        }
        if take(&mut self.now.drop_requests, &mut self.random) {
            return Strike::Dropped;
        }
        let Some(status) = self.now.status.and_then(|status| StatusCode::from_u16(status).ok()) else {
            return Strike::Missed;
        };
        if self.now.times == Some(0) || self.now.rate.is_some_and(|rate| self.random.f64() >= rate) {
            return Strike::Missed;
        }
        self.now.times = self.now.times.map(|left| left - 1);
        let code = self.now.code.clone().map_or_else(|| code_of(status), ErrorCode::from);
        Strike::Failed(ApiError::Switched { status, code, retry_after_s: self.now.retry_after })
    }

    pub(crate) fn loses_answer(&mut self, call: Call) -> bool {
        self.now.only.covers(call) && take(&mut self.now.lose_answers, &mut self.random)
    }
}

/// Whether this request is one of so many.
fn take(Amount(amount): &mut Amount, random: &mut fastrand::Rng) -> bool {
    if *amount >= 1.0 {
        *amount -= 1.0;
        return true;
    }
    *amount > 0.0 && random.f64() < *amount
}

fn code_of(status: StatusCode) -> ErrorCode {
    match status {
        StatusCode::BAD_REQUEST => ErrorCode::InvalidRequest,
        StatusCode::UNAUTHORIZED => ErrorCode::InvalidToken,
        StatusCode::PAYMENT_REQUIRED => ErrorCode::InsufficientQuota,
        StatusCode::NOT_FOUND => ErrorCode::NotFound,
        StatusCode::CONFLICT => ErrorCode::ResourceConflict,
        StatusCode::TOO_MANY_REQUESTS => ErrorCode::RateLimited,
        _ => ErrorCode::Other("INTERNAL_ERROR".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trouble::Target;
    use chat_protocol::Endpoint;

    fn struck(trouble: Trouble, requests: usize) -> Vec<bool> {
        let mut switches = Switches::new(trouble);
        (0..requests).map(|_| switches.strike(Call::Chat(Endpoint::Send)) != Strike::Missed).collect()
    }

    #[test]
    fn the_same_seed_gives_the_same_failures() {
        let trouble = Trouble { status: Some(500), rate: Some(0.3), seed: 7, ..Trouble::default() };
        let first = struck(trouble.clone(), 1000);
        assert_eq!(first, struck(trouble, 1000));
        let failures = first.iter().filter(|failed| **failed).count();
        assert!((200..400).contains(&failures), "{failures} of 1000");
    }

    #[test]
    fn times_counts_failures_down_to_none() {
        let trouble = Trouble { status: Some(503), times: Some(2), ..Trouble::default() };
        assert_eq!(struck(trouble, 4), [true, true, false, false]);
    }

    #[test]
    fn a_switch_for_one_endpoint_leaves_the_others_alone() {
        let trouble = Trouble {
            only: Target::Events,
            status: Some(500),
            drop_requests: Amount(1.0),
            ..Trouble::default()
        };
        assert_eq!(struck(trouble, 3), [false, false, false]);
    }
}
