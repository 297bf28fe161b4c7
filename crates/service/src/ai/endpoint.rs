//! An AI behind an OpenAI-compatible endpoint, which replaces the built-in assistant.

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
use exchange::AiClient;

pub(crate) use prompt::MAX_HISTORY;

/// Maximum concurrent requests to the AI; further ones wait.
const MAX_CONCURRENT: usize = 32;
/// Maximum characters of an answer; the rest is cut off.
const MAX_ANSWER_LENGTH: usize = 16_000;

/// The address and the credentials of an AI endpoint.
#[derive(Clone, Debug)]
pub struct AssistantEndpoint {
    /// The base address, such as `https://ai.example/v1`; `/chat/completions` is appended. Redirects are not
    /// followed, so no other address receives a request.
    pub base: String,
    /// The key, sent as a bearer token; `None` for a local model that needs no key.
    pub key: Option<SecretString>,
    /// The model's name.
    pub model: String,
    /// The timeout of a request, from the question to the last byte of the answer.
    pub timeout: Duration,
}

impl AssistantEndpoint {
    /// The default timeout.
    pub const TIMEOUT: Duration = Duration::from_secs(30);
}

/// An invalid AI endpoint.
#[derive(Debug, thiserror::Error)]
pub enum AssistantError {
    /// The base is not an HTTP address.
    #[error("invalid base address of the AI: expected one such as https://ai.example/v1")]
    Base,
    /// The key cannot be sent as a header.
    #[error("invalid key of the AI: expected one line of ASCII characters")]
    Key,
    /// The HTTP client cannot be created, for example because the system has no root certificates.
    #[error("cannot create the HTTP client for the AI: {0}")]
    Client(#[source] reqwest::Error),
}

#[derive(Debug)]
pub(crate) struct Assistant {
    client: AiClient,
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
        let client = AiClient::new(url, authorization, timeout).map_err(AssistantError::Client)?;
        Ok(Self { client, model, turns: Semaphore::new(MAX_CONCURRENT), timeout })
    }

    /// Returns the AI's answer to the last message of a conversation, given the passages of the site about
    /// it, or the status of its failure. An answer that repeats the instructions or long parts of the site's
    /// text is a failure.
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
            warn!("the AI endpoint is busy: {MAX_CONCURRENT} requests are in progress");
            return Err(AiStatus::ProviderError);
        };
        let (status, text) = self.client.post(body.to_json()).await.map_err(|error| {
            warn!("the request to the AI endpoint failed: {error}");
            AiStatus::ProviderError
        })?;
        if !status.is_success() {
            warn!("the AI endpoint answered {status}");
            let used_up = status == StatusCode::PAYMENT_REQUIRED || text.contains("insufficient_quota");
            return Err(if used_up { AiStatus::QuotaInsufficient } else { AiStatus::ProviderError });
        }
        let (status, content) = parse_completion(&text).ok_or_else(|| {
            warn!("the response of the AI endpoint contains no message");
            AiStatus::ProviderError
        })?;
        if content.as_deref().is_some_and(|content| discloses(content, passages)) {
            warn!(
                "withheld an answer of the AI that repeats its instructions or long parts of the site's text"
            );
            return Err(AiStatus::ProviderError);
        }
        Ok((status, content.map(|content| excerpt(&content, MAX_ANSWER_LENGTH))))
    }
}

/// Returns the status and the text of a chat completion; `None` when it contains no message.
fn parse_completion(completion: &str) -> Option<(AiStatus, Option<String>)> {
    let completion: Value = serde_json::from_str(completion).ok()?;
    let choice = Fields::lenient(completion).list("choices").ok()?.into_iter().next()?;
    let mut choice = Fields::lenient(choice);
    if choice.lenient_text("finish_reason").as_deref() == Some("content_filter") {
        return Some((AiStatus::Blocked, None));
    }
    let content = Fields::lenient(choice.take("message")).lenient_text("content")?;
    Some((AiStatus::Ok, Some(content)))
}
