//! An AI behind an OpenAI-compatible endpoint, in place of the built-in assistant.

mod disclosure;
mod exchange;
mod prompt;

use std::time::Duration;

use axum::http::HeaderValue;
use chat_protocol::{AiStatus, Fields, Value};
use reqwest::{StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;
use tracing::warn;

use crate::search::Passage;
use crate::store::StoredMessage;
use crate::text::excerpt;
use disclosure::discloses;
use exchange::Exchange;

pub(crate) use prompt::MAX_HISTORY;

/// Maximum questions that the AI is asked at a time; further ones wait.
const MAX_CONCURRENT: usize = 32;
/// Maximum characters of an answer; the rest is left out.
const MAX_ANSWER_LENGTH: usize = 16_000;

/// Where an AI is, and how to ask it.
#[derive(Clone, Debug)]
pub struct AssistantEndpoint {
    /// The base address, such as `https://ai.example/v1`; `/chat/completions` is added. It is the only one that is asked:
    /// redirects are not followed.
    pub base: String,
    /// The key, sent as a bearer token. A model on one's own machine may need none.
    pub key: Option<SecretString>,
    /// The model's name.
    pub model: String,
    /// How long an answer may take, from the question to its last byte.
    pub timeout: Duration,
}

impl AssistantEndpoint {
    /// The time in which an AI answers, or is not waited for.
    pub const TIMEOUT: Duration = Duration::from_secs(30);
}

/// Why an AI endpoint cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AssistantError {
    /// The base is no address.
    #[error("the AI's base address must be one such as https://ai.example/v1")]
    Base,
    /// The key cannot be sent.
    #[error("the AI's key must be one line of ASCII characters")]
    Key,
    /// The HTTP client cannot be made, as when the system has no root certificates.
    #[error("the HTTP client for the AI cannot be made: {0}")]
    Client(#[source] reqwest::Error),
}

#[derive(Debug)]
pub(crate) struct Assistant {
    exchange: Exchange,
    model: String,
    turns: Semaphore,
    timeout: Duration,
}

impl Assistant {
    pub(crate) fn new(endpoint: AssistantEndpoint) -> Result<Self, AssistantError> {
        let AssistantEndpoint { base, key, model, timeout } = endpoint;
        let url = Url::parse(&format!("{}/chat/completions", base.trim_end_matches('/')))
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .ok_or(AssistantError::Base)?;
        let authorization = key.map(|key| HeaderValue::try_from(format!("Bearer {}", key.expose_secret())));
        let authorization = authorization.transpose().map_err(|_| AssistantError::Key)?;
        let exchange = Exchange::new(url, authorization, timeout).map_err(AssistantError::Client)?;
        Ok(Self { exchange, model, turns: Semaphore::new(MAX_CONCURRENT), timeout })
    }

    /// What the AI says to the last message of a conversation, given what the site says about it; or how it failed. An
    /// answer that repeats its instructions or long parts of the site's text is a failure.
    pub(crate) async fn answer(
        &self,
        passages: &[Passage],
        history: &[StoredMessage],
        locale: Option<&str>,
    ) -> Result<(AiStatus, Option<String>), AiStatus> {
        let messages = prompt::messages(passages, history, locale);
        let body = Value::object([("model", self.model.as_str().into()), ("messages", messages)]);
        let turn = tokio::time::timeout(self.timeout, self.turns.acquire()).await;
        let Ok(Ok(_turn)) = turn else {
            warn!("the AI endpoint is busy: {MAX_CONCURRENT} questions are being answered");
            return Err(AiStatus::ProviderError);
        };
        let (status, text) = self.exchange.post(body.to_json()).await.map_err(|error| {
            warn!("the AI endpoint: {error}");
            AiStatus::ProviderError
        })?;
        if !status.is_success() {
            warn!("the AI endpoint answered {status}");
            let used_up = status == StatusCode::PAYMENT_REQUIRED || text.contains("insufficient_quota");
            return Err(if used_up { AiStatus::QuotaInsufficient } else { AiStatus::ProviderError });
        }
        let (status, content) = said(&text).ok_or_else(|| {
            warn!("the AI endpoint's answer has no message");
            AiStatus::ProviderError
        })?;
        if content.as_deref().is_some_and(|content| discloses(content, passages)) {
            warn!(
                "the AI's answer repeats its instructions or long parts of the site's text, and is withheld"
            );
            return Err(AiStatus::ProviderError);
        }
        Ok((status, content.map(|content| excerpt(&content, MAX_ANSWER_LENGTH))))
    }
}

/// How the AI fared and what it said, out of a chat completion.
fn said(answer: &str) -> Option<(AiStatus, Option<String>)> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let choice = Fields::lenient(answer).list("choices").ok()?.into_iter().next()?;
    let mut choice = Fields::lenient(choice);
    if choice.lenient_text("finish_reason").as_deref() == Some("content_filter") {
        return Some((AiStatus::Blocked, None));
    }
    let content = Fields::lenient(choice.take("message")).lenient_text("content")?;
    Some((AiStatus::Ok, Some(content)))
}
