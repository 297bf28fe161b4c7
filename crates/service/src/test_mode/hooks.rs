//! What a service in test mode does differently inside: the lease of jobs, and the behaviour of the AI.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chat_protocol::AiStatus;

use super::faults::{Ai, FaultInjector, Faults};
use crate::ai::{Answer, Endpoint, Phrases};

/// The changes of a service in test mode.
#[derive(Debug)]
pub(crate) struct Hooks {
    faults: Mutex<FaultInjector>,
    endpoint: Option<Endpoint>,
    lease: Duration,
}

impl Hooks {
    pub(super) fn new(faults: Faults, endpoint: Option<Endpoint>, lease: Duration) -> Self {
        Self { faults: Mutex::new(FaultInjector::new(faults)), endpoint, lease }
    }

    pub(super) fn faults(&self) -> MutexGuard<'_, FaultInjector> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the AI endpoint, which is not stored.
    pub(crate) fn endpoint(&self) -> Option<Endpoint> {
        self.endpoint.clone()
    }

    /// Returns the lease of a claim.
    pub(crate) fn lease(&self) -> Duration {
        self.faults().active.lease_ms.map_or(self.lease, Duration::from_millis)
    }

    /// Waits as long as a slow AI, and returns the active faults.
    pub(crate) async fn begin_answer(&self) -> Faults {
        let faults = self.faults().active.clone();
        if faults.ai == Ai::Slow {
            tokio::time::sleep(Duration::from_millis(faults.slow_ms)).await;
        }
        faults
    }
}

impl Faults {
    /// Returns the answer that fault injection prescribes for the AI, if any.
    pub(crate) fn answer(&self, message: &str, locale: Option<&str>) -> Option<Answer> {
        let status = match self.ai {
            Ai::Ok | Ai::Slow => return None,
            Ai::ProviderError => AiStatus::ProviderError,
            Ai::QuotaInsufficient => AiStatus::QuotaInsufficient,
            Ai::Blocked => AiStatus::Blocked,
        };
        let fallback = Phrases::of(message, locale).fallback.to_owned();
        let text = (self.ai != Ai::Blocked).then_some(fallback);
        let answer = Answer {
            used_fallback: text.is_some(),
            status,
            text,
            sources: Vec::new(),
            topic: None,
            wants_person: false,
        };
        Some(self.with_fallback_text(answer))
    }

    /// Replaces the text of an answer that the AI did not give.
    pub(crate) fn with_fallback_text(&self, answer: Answer) -> Answer {
        match &self.fallback_text {
            Some(text) if answer.used_fallback => Answer { text: Some(text.clone()), ..answer },
            _ => answer,
        }
    }
}
