//! The AI of a test mode: the site's, behind faults that tests inject.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chat_protocol::AiStatus;
use futures_util::future::BoxFuture;

use super::faults::{Ai, FaultInjector, Faults};
use crate::Service;
use crate::ai::reply::respond;
use crate::ai::{Answer, Endpoint, Outcome, Phrases, Question, Responder};
use crate::error::ApiError;
use crate::sites::Site;

/// Answers as the active faults prescribe, and otherwise by the endpoint of the test mode or the built-in
/// assistant.
#[derive(Clone, Debug)]
pub(super) struct FaultyResponder {
    pub(super) faults: Arc<Mutex<FaultInjector>>,
    /// The AI endpoint, which is not stored.
    pub(super) endpoint: Option<Endpoint>,
}

impl FaultyResponder {
    pub(super) fn faults(&self) -> MutexGuard<'_, FaultInjector> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Responder for FaultyResponder {
    fn respond<'a>(
        &'a self,
        service: &'a Service,
        site: &'a Site,
        question: &'a Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ApiError>> {
        Box::pin(async move {
            let faults = self.faults().active.clone();
            if faults.ai == Ai::Slow {
                tokio::time::sleep(Duration::from_millis(faults.slow_ms)).await;
            }
            if let Some(answer) = faults.answer(question.message(), question.locale) {
                return Ok(answer);
            }
            let endpoint = self.endpoint.clone().map(Ok);
            Ok(faults.with_fallback_text(respond(service, site, question, endpoint).await?))
        })
    }
}

impl Faults {
    /// Returns the answer that fault injection prescribes for the AI, if any.
    fn answer(&self, message: &str, locale: Option<&str>) -> Option<Answer> {
        let status = match self.ai {
            Ai::Ok | Ai::Slow => return None,
            Ai::ProviderError => AiStatus::ProviderError,
            Ai::QuotaInsufficient => AiStatus::QuotaInsufficient,
            Ai::Blocked => AiStatus::Blocked,
        };
        let fallback = Phrases::of(message, locale).fallback.to_owned();
        let text = (self.ai != Ai::Blocked).then_some(fallback);
        Some(self.with_fallback_text(Answer {
            used_fallback: text.is_some(),
            outcome: Some(if text.is_some() { Outcome::Failed } else { Outcome::Refused }),
            status,
            text,
            ..Answer::silent()
        }))
    }

    /// Replaces the text of an answer that the AI did not give.
    fn with_fallback_text(&self, answer: Answer) -> Answer {
        match &self.fallback_text {
            Some(text) if answer.used_fallback => Answer { text: Some(text.clone()), ..answer },
            _ => answer,
        }
    }
}
