//! The network between a tab and the service, and whatever stands in it.

use chat_protocol::{ErrorCode, Value, failure};
use chat_session::{Answer, Request};
use fastrand::Rng;

use super::scenario::Scenario;
use super::tab::TabId;
use super::written::Tag;

/// A request on its way.
pub struct Flight {
    pub tab: TabId,
    /// How often the page had been frozen: what was under way by then does not come back.
    pub frozen_times: u32,
    pub request: Request,
    /// The message that it carries.
    pub tag: Option<Tag>,
    pub fate: Fate,
}

/// What will become of a request, drawn when it sets out.
#[derive(Debug)]
pub struct Fate {
    pub up_ms: u64,
    pub down_ms: u64,
    pub end: End,
    /// A copy arrives so much later.
    pub again_ms: Option<u64>,
    /// It arrives even if nobody waits for it any more.
    pub outlives_page: bool,
}

#[derive(Debug)]
pub enum End {
    /// The service's answer comes back.
    Answered,
    /// It never arrives.
    RequestLost(Loss),
    /// It arrives, but the answer does not come back.
    AnswerLost(Loss),
    /// Something on the way answers, and lets nothing through.
    Refused(Answer),
    /// The service takes it, and something on the way answers in its place.
    Replaced(Answer),
}

/// How the browser notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    Error,
    Silence,
}

pub struct Network {
    rng: Rng,
    /// Nothing goes wrong any more.
    pub perfect: bool,
}

impl Network {
    pub fn new(rng: Rng) -> Self {
        Self { rng, perfect: false }
    }

    pub fn fate(&mut self, scenario: &Scenario) -> Fate {
        let (up_ms, down_ms) = (self.travel(scenario), self.travel(scenario));
        let end = if self.perfect { End::Answered } else { self.end(scenario) };
        let doubled = !self.perfect && self.hits(scenario.doubled);
        Fate {
            up_ms,
            down_ms,
            end,
            again_ms: doubled.then(|| self.rng.u64(1..3_000)),
            outlives_page: self.rng.bool(),
        }
    }

    /// Between two tabs of a browser.
    pub fn between_tabs_ms(&mut self) -> u64 {
        self.rng.u64(0..=60)
    }

    fn travel(&mut self, scenario: &Scenario) -> u64 {
        if !self.perfect && self.hits(scenario.slow) {
            return self.rng.u64(1_000..20_000);
        }
        self.rng.u64(scenario.latency_ms / 2..=scenario.latency_ms)
    }

    fn hits(&mut self, of_a_thousand: u32) -> bool {
        self.rng.u32(..1_000) < of_a_thousand
    }

    fn end(&mut self, scenario: &Scenario) -> End {
        let loss = if self.rng.u32(..scenario.silence) == 0 { Loss::Silence } else { Loss::Error };
        if self.hits(scenario.requests_lost) {
            End::RequestLost(loss)
        } else if self.hits(scenario.answers_lost) {
            End::AnswerLost(loss)
        } else if self.hits(scenario.refused) {
            let answer = self.refusal();
            // A gateway that gave up waiting says nothing about what the service did.
            if matches!(answer.status, 408 | 500..=599) && self.rng.bool() {
                End::Replaced(answer)
            } else {
                End::Refused(answer)
            }
        } else {
            End::Answered
        }
    }

    /// An answer that is not the service's. Some of them are final; most are worth another try.
    fn refusal(&mut self) -> Answer {
        let status = match self.rng.u8(..20) {
            0 => [400, 401, 402, 403, 404][self.rng.usize(..5)],
            // A page for logging in to the hotel's network.
            1 => 200,
            2..=6 => 429,
            _ => [408, 409, 425, 500, 501, 502, 503, 504][self.rng.usize(..8)],
        };
        let told = match status {
            429 => self.rng.u8(..4) > 0,
            503 => self.rng.bool(),
            _ => false,
        };
        let retry_after_ms = told.then(|| match self.rng.u8(..10) {
            0 => self.rng.u64(60_000..=900_000),
            1 => 0,
            _ => self.rng.u64(1..=20) * 1_000,
        });
        Answer { status, retry_after_ms, body: self.words(status) }
    }

    /// With the envelope or without. Something between never says `NOT_FOUND` or `IDEMPOTENCY_CONFLICT`: these are the
    /// service's words, and are believed.
    fn words(&mut self, status: u16) -> Value {
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
