//! The network between a tab and the service, with its proxies and gateways.

use chat_protocol::{ErrorCode, Value, failure};
use chat_session::{Answer, Request};
use fastrand::Rng;

use super::messages::Tag;
use super::scenario::Scenario;
use super::tab::TabId;

/// A request in flight.
pub struct InFlight {
    pub tab: TabId,
    /// The number of times that the page had been frozen: responses to earlier requests are dropped.
    pub frozen_times: u32,
    pub request: Request,
    /// The message in the request, if it sends one.
    pub tag: Option<Tag>,
    pub fate: Fate,
}

/// The outcome of a request, drawn when it is sent.
#[derive(Debug)]
pub struct Fate {
    pub request_ms: u64,
    pub response_ms: u64,
    pub outcome: Outcome,
    /// The delay of a second copy, if there is one.
    pub copy_after_ms: Option<u64>,
    /// The request arrives even if the page is gone.
    pub outlives_page: bool,
}

#[derive(Debug)]
pub enum Outcome {
    /// The service's response arrives.
    Answered,
    /// The request never arrives.
    RequestLost(Loss),
    /// The request arrives, but its response does not.
    ResponseLost(Loss),
    /// A gateway responds, and does not forward the request.
    Refused(Answer),
    /// The service handles the request, and a gateway replaces its response.
    Replaced(Answer),
}

/// How the browser learns of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    Error,
    Silence,
}

pub struct Network {
    rng: Rng,
    /// No further faults.
    pub perfect: bool,
}

impl Network {
    pub fn new(rng: Rng) -> Self {
        Self { rng, perfect: false }
    }

    pub fn fate(&mut self, scenario: &Scenario) -> Fate {
        let (request_ms, response_ms) = (self.draw_delay_ms(scenario), self.draw_delay_ms(scenario));
        let outcome = if self.perfect { Outcome::Answered } else { self.draw_outcome(scenario) };
        let duplicated = !self.perfect && self.happens(scenario.duplicated);
        Fate {
            request_ms,
            response_ms,
            outcome,
            copy_after_ms: duplicated.then(|| self.rng.u64(1..3_000)),
            outlives_page: self.rng.bool(),
        }
    }

    /// Returns the fate of a request that never reaches the network: the driver has the response.
    pub fn none() -> Fate {
        Fate {
            request_ms: 0,
            response_ms: 0,
            outcome: Outcome::Answered,
            copy_after_ms: None,
            outlives_page: false,
        }
    }

    /// Draws the delay of a message between two tabs.
    pub fn draw_tab_delay_ms(&mut self) -> u64 {
        self.rng.u64(0..=60)
    }

    fn draw_delay_ms(&mut self, scenario: &Scenario) -> u64 {
        if !self.perfect && self.happens(scenario.slow) {
            return self.rng.u64(1_000..20_000);
        }
        self.rng.u64(scenario.latency_ms / 2..=scenario.latency_ms)
    }

    fn happens(&mut self, of_a_thousand: u32) -> bool {
        self.rng.u32(..1_000) < of_a_thousand
    }

    fn draw_outcome(&mut self, scenario: &Scenario) -> Outcome {
        let loss = if self.rng.u32(..scenario.silent_losses) == 0 { Loss::Silence } else { Loss::Error };
        if self.happens(scenario.requests_lost) {
            Outcome::RequestLost(loss)
        } else if self.happens(scenario.responses_lost) {
            Outcome::ResponseLost(loss)
        } else if self.happens(scenario.refused) {
            let answer = self.draw_refusal();
            // After a gateway timeout, the service may have handled the request.
            if matches!(answer.status, 408 | 500..=599) && self.rng.bool() {
                Outcome::Replaced(answer)
            } else {
                Outcome::Refused(answer)
            }
        } else {
            Outcome::Answered
        }
    }

    /// Draws a response of a gateway. Most are transient errors, some are final.
    fn draw_refusal(&mut self) -> Answer {
        let status = match self.rng.u8(..20) {
            0 => [400, 401, 402, 403, 404][self.rng.usize(..5)],
            // The log-in page of a public network.
            1 => 200,
            2..=6 => 429,
            _ => [408, 409, 425, 500, 501, 502, 503, 504][self.rng.usize(..8)],
        };
        let has_retry_after = match status {
            429 => self.rng.u8(..4) > 0,
            503 => self.rng.bool(),
            _ => false,
        };
        let retry_after_ms = has_retry_after.then(|| match self.rng.u8(..10) {
            0 => self.rng.u64(60_000..=900_000),
            1 => 0,
            _ => self.rng.u64(1..=20) * 1_000,
        });
        Answer { status, retry_after_ms, body: self.draw_body(status), has_more: false }
    }

    /// Draws a body with or without the envelope. A gateway never uses `NOT_FOUND` or `IDEMPOTENCY_CONFLICT`:
    /// clients take these for the service's own.
    fn draw_body(&mut self, status: u16) -> Value {
        let code = match status {
            400 => "INVALID_REQUEST",
            401 => "INVALID_TOKEN",
            402 => "INSUFFICIENT_QUOTA",
            409 => "RESOURCE_CONFLICT",
            429 => "RATE_LIMITED",
            _ => "UPSTREAM",
        };
        match self.rng.u8(..3) {
            0 => Value::Null,
            1 => "<html>".into(),
            _ if status == 200 => Value::Object(vec![("ok".into(), "yes".into())]),
            _ => failure(&ErrorCode::from(code.to_owned()), "no", "r"),
        }
    }
}
