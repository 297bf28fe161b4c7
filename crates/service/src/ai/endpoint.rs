//! An AI behind an OpenAI-compatible endpoint.

use std::time::Duration;

use axum::http::HeaderValue;
use chat_protocol::{AiStatus, Fields, Value};
use reqwest::{StatusCode, Url};
use secrecy::{ExposeSecret, SecretString};

use super::address::{self, EndpointError};
use super::disclosure::discloses;
use super::exchange::AiClient;
use super::{Failure, Question, prompt};
use crate::fingerprint::{Fingerprint, fingerprint};
use crate::text::excerpt;

/// Maximum characters of an answer; the rest is cut off.
const MAX_ANSWER_LENGTH: usize = 16_000;

/// The address and the credentials of an AI endpoint.
#[derive(Clone, Debug)]
pub struct Endpoint {
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

impl Endpoint {
    pub(super) fn is_https(&self) -> bool {
        self.base.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"))
    }

    /// Returns the address that requests are sent to.
    pub(super) fn url(&self, allows_private: bool) -> Result<Url, EndpointError> {
        let url = Url::parse(&format!("{}/chat/completions", self.base.trim_end_matches('/')));
        let url = url.map_err(|_| EndpointError::Base)?;
        address::check(&url, allows_private)?;
        Ok(url)
    }

    pub(super) fn authorization(&self) -> Result<Option<HeaderValue>, EndpointError> {
        let bearer = |key: &SecretString| HeaderValue::try_from(format!("Bearer {}", key.expose_secret()));
        self.key.as_ref().map(bearer).transpose().map_err(|_| EndpointError::Key)
    }

    /// Returns what tells the endpoints of sites apart: the site, the address, the model and the key.
    pub(super) fn identity(&self, site_id: &str) -> Fingerprint {
        let key = self.key.as_ref().map(ExposeSecret::expose_secret).unwrap_or_default();
        let parts = [site_id, &self.base, &self.model, key].map(|part| [part.as_bytes(), b"\0"]);
        fingerprint(&parts.concat())
    }

    /// Returns the AI's answer to the last message of a conversation. An answer that repeats the instructions
    /// or long parts of the site's text is a failure.
    pub(super) async fn complete(
        &self,
        client: &AiClient,
        allows_private: bool,
        question: &Question<'_>,
    ) -> Result<(AiStatus, Option<String>), Failure> {
        let url = self.url(allows_private).map_err(|error| Failure::refused(error.to_string()))?;
        let authorization = self.authorization().map_err(|error| Failure::refused(error.to_string()))?;
        let messages =
            prompt::messages(question.passages, question.visited, question.history, question.locale);
        let body = Value::object([("model", self.model.as_str().into()), ("messages", messages)]);
        let sent = client.post(url, authorization, self.timeout, body.to_json()).await;
        let (status, text) = sent.map_err(|error| Failure::down(error.to_string()))?;
        if !status.is_success() {
            return Err(refusal(status, &text));
        }
        let (status, content) =
            parse_completion(&text).ok_or_else(|| Failure::down("the response contains no message"))?;
        // Only what the visitor would see is checked, however long the response is.
        let content = content.map(|content| excerpt(&content, MAX_ANSWER_LENGTH));
        if content.as_deref().is_some_and(|content| discloses(content, question.passages)) {
            let reason = "withheld an answer that repeats the instructions or long parts of the site's text";
            return Err(Failure::refused(reason));
        }
        Ok((status, content))
    }
}

fn refusal(status: StatusCode, text: &str) -> Failure {
    let reason = format!("the status is {status}");
    if status == StatusCode::PAYMENT_REQUIRED || text.contains("insufficient_quota") {
        return Failure { status: AiStatus::QuotaInsufficient, reason, is_down: false };
    }
    let is_about_the_request = status.is_client_error()
        && !matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
    if is_about_the_request { Failure::refused(reason) } else { Failure::down(reason) }
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
    let content = content.trim();
    (!content.is_empty()).then(|| (AiStatus::Ok, Some(content.to_owned())))
}
