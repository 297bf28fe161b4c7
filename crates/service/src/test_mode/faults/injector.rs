//! Decides for each request whether a fault hits it, and counts down the limited ones.

use std::time::Duration;

use axum::http::StatusCode;
use chat_protocol::ErrorCode;

use super::{Amount, Faults};
use crate::connector_api::call::Call;

/// A fault of a request before it is handled.
#[derive(Debug, PartialEq)]
pub(crate) enum Fault {
    /// The connection breaks.
    DropConnection,
    /// The request is answered with an error.
    Fail { status: StatusCode, code: ErrorCode, retry_after_s: Option<u64> },
}

/// The active faults, with their remaining counts and the random numbers behind their shares.
#[derive(Debug)]
pub(crate) struct FaultInjector {
    pub(crate) active: Faults,
    random: fastrand::Rng,
}

impl FaultInjector {
    pub(crate) fn new(faults: Faults) -> Self {
        let random = fastrand::Rng::with_seed(faults.seed);
        Self { active: faults, random }
    }

    /// Returns how long to wait before a call is handled.
    pub(crate) fn delay(&self, call: Call) -> Duration {
        Duration::from_millis(if self.active.only.covers(call) { self.active.delay_ms } else { 0 })
    }

    /// Returns the fault that hits this call, if one does.
    pub(crate) fn next_fault(&mut self, call: Call) -> Option<Fault> {
        if !self.active.only.covers(call) {
            return None;
        }
        if take(&mut self.active.drop_requests, &mut self.random) {
            return Some(Fault::DropConnection);
        }
        let status = self.active.status.and_then(|status| StatusCode::from_u16(status).ok())?;
        if self.active.times == Some(0) || self.active.rate.is_some_and(|rate| self.random.f64() >= rate) {
            return None;
        }
        self.active.times = self.active.times.map(|left| left - 1);
        let code = self.active.code.clone().map_or_else(|| default_code(status), ErrorCode::from);
        Some(Fault::Fail { status, code, retry_after_s: self.active.retry_after })
    }

    /// Returns whether the response to this call is lost after the call was carried out.
    pub(crate) fn loses_response(&mut self, call: Call) -> bool {
        self.active.only.covers(call) && take(&mut self.active.lose_answers, &mut self.random)
    }
}

/// Returns whether this request is hit, and counts it if the amount is a count.
fn take(Amount(amount): &mut Amount, random: &mut fastrand::Rng) -> bool {
    if *amount >= 1.0 {
        *amount -= 1.0;
        return true;
    }
    *amount > 0.0 && random.f64() < *amount
}

fn default_code(status: StatusCode) -> ErrorCode {
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
    use chat_protocol::Endpoint;

    use super::*;
    use crate::test_mode::faults::Target;

    fn hits(faults: Faults, requests: usize) -> Vec<bool> {
        let mut injector = FaultInjector::new(faults);
        (0..requests).map(|_| injector.next_fault(Call::Chat(Endpoint::Send)).is_some()).collect()
    }

    #[test]
    fn the_same_seed_injects_the_same_failures() {
        let faults = Faults { status: Some(500), rate: Some(0.3), seed: 7, ..Faults::default() };
        let first = hits(faults.clone(), 1000);
        assert_eq!(first, hits(faults, 1000));
        let failures = first.iter().filter(|failed| **failed).count();
        assert!((200..400).contains(&failures), "{failures} of 1000");
    }

    #[test]
    fn times_limits_the_number_of_failures() {
        let faults = Faults { status: Some(503), times: Some(2), ..Faults::default() };
        assert_eq!(hits(faults, 4), [true, true, false, false]);
    }

    #[test]
    fn a_fault_for_one_endpoint_does_not_affect_the_others() {
        let faults = Faults {
            only: Target::Events,
            status: Some(500),
            drop_requests: Amount(1.0),
            ..Faults::default()
        };
        assert_eq!(hits(faults, 3), [false, false, false]);
    }
}
