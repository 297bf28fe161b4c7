//! An AI behind an endpoint: what it is sent, until it answers or nothing more can be tried.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use chat_protocol::admin::settings::AiOptions;
use reqwest::StatusCode;
use secrecy::{ExposeSecret, SecretString};
use tokio::time::Instant;

use super::address::{EndpointError, Format, KeyHeader, Target};
use super::body::body;
use super::completion::{self, Completion};
use super::disclosure::discloses;
use super::exchange::{AiClient, Reply};
use super::failure::{Failure, Fault};
use super::links::KnownLinks;
use super::prompt::{Prompt, Shape, fitting_passages};
use super::{Question, Quirks};
use crate::fingerprint::{Fingerprint, fingerprint};
use crate::knowledge::Passage;
use crate::text::excerpt;

/// Maximum characters of an answer; the rest is cut off.
const MAX_ANSWER_LENGTH: usize = 16_000;
/// Maximum requests to a model for one question, besides those that were told to come back later.
const MAX_REQUESTS: u32 = 3;
/// The wait before another request where an endpoint has no time and names none.
const BUSY_WAIT: Duration = Duration::from_secs(1);
/// The minimum time that is left for an answer after a wait.
const MIN_ANSWER_TIME: Duration = Duration::from_millis(500);
/// Tokens of a prompt for an endpoint that finds a longer one too long.
const SHORT_CONTEXT_TOKENS: u32 = 2048;

/// The address and the credentials of an AI endpoint.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The base address, such as `https://ai.example/v1`. Redirects are not followed, so no other address
    /// receives a request.
    pub base: String,
    /// The key; `None` for a local model that needs no key.
    pub key: Option<SecretString>,
    /// The model's name.
    pub model: String,
    /// The timeout of an answer, from the question to the last byte, with all requests that it takes.
    pub timeout: Duration,
    /// The options of the provider and its models.
    pub options: AiOptions,
}

impl Endpoint {
    /// Returns where and how the endpoint is asked.
    pub(super) fn target(&self, allows_private: bool) -> Result<Target, EndpointError> {
        Target::new(&self.base, &self.options.provider, allows_private)
    }

    /// Returns the headers that carry the key.
    pub(super) fn headers(&self, target: &Target) -> Result<HeaderMap, EndpointError> {
        let mut headers = HeaderMap::new();
        if target.format == Format::Messages {
            let version = HeaderName::from_static("anthropic-version");
            headers.insert(version, HeaderValue::from_static("2023-06-01"));
        }
        if let Some(key) = &self.key {
            let key = key.expose_secret();
            let (name, value) = match target.key_header {
                KeyHeader::Bearer => (header::AUTHORIZATION, format!("Bearer {key}")),
                KeyHeader::ApiKey => (HeaderName::from_static("api-key"), key.to_owned()),
                KeyHeader::XApiKey => (HeaderName::from_static("x-api-key"), key.to_owned()),
            };
            let mut value = HeaderValue::try_from(value).map_err(|_| EndpointError::Key)?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// Returns what tells the endpoints of sites, or the models of an endpoint, apart.
    pub(super) fn identity(&self, site_or_model: &str) -> Fingerprint {
        let key = self.key.as_ref().map(ExposeSecret::expose_secret).unwrap_or_default();
        let AiOptions { provider, second_model, .. } = &self.options;
        let second = second_model.as_deref().unwrap_or_default();
        let parts = [site_or_model, &self.base, &self.model, key, provider, second];
        fingerprint(&parts.map(|part| [part.as_bytes(), b"\0"]).concat())
    }

    /// Returns the passages of a question without earlier messages, cut off as the endpoint would get them.
    pub(super) fn passages(&self, question: &Question<'_>) -> Vec<Passage> {
        // Nothing is sent, so that the network of the endpoint does not matter.
        let of_provider = self.target(true).ok().map(|target| target.provider.context_tokens);
        let context_tokens = self.options.context_tokens.or(of_provider).unwrap_or(SHORT_CONTEXT_TOKENS);
        fitting_passages(question, context_tokens)
    }

    /// Returns the AI's answer to the last message of a conversation: that of the second model if the first
    /// one gives none. An answer that repeats the instructions or long parts of hidden text is a failure.
    pub(super) async fn complete(
        &self,
        client: &AiClient,
        target: &Target,
        quirks: &Quirks,
        question: &Question<'_>,
    ) -> Result<Completion, Failure> {
        let headers =
            self.headers(target).map_err(|error| Failure::new(Fault::Settings, error.to_string()))?;
        let second = self.options.second_model.as_deref();
        let began = Instant::now();
        // A silent first model leaves time for the second one.
        let share = if second.is_some() { self.timeout * 3 / 5 } else { self.timeout };
        let end = began + share;
        let mut exchange = Exchange { endpoint: self, client, target, headers, quirks, question, end };
        let first = exchange.ask(&self.model).await;
        let completed = match (first, second) {
            (Err(failure), Some(second)) => {
                exchange.end = began + self.timeout;
                exchange.ask(second).await.map_err(|other| failure.and(other))
            }
            (first, _) => first,
        };
        let checked = |text: String| {
            // Only what the visitor would see is checked, however long the response is.
            let text = KnownLinks::of(question).checked(&excerpt(&text, MAX_ANSWER_LENGTH));
            if discloses(&text, question.passages) {
                let reason = "withheld an answer that repeats the instructions or long parts of hidden text";
                return Err(Failure::new(Fault::Question, reason));
            }
            Ok(text)
        };
        match completed? {
            Completion::Answer(text) => Ok(Completion::Answer(checked(text)?)),
            Completion::Refusal(text) => Ok(Completion::Refusal(text.map(checked).transpose()?)),
        }
    }
}

/// The requests to an endpoint for one question.
struct Exchange<'a> {
    endpoint: &'a Endpoint,
    client: &'a AiClient,
    target: &'a Target,
    headers: HeaderMap,
    quirks: &'a Quirks,
    question: &'a Question<'a>,
    /// When the answer must be complete.
    end: Instant,
}

impl Exchange<'_> {
    /// Asks a model. A request that the model cannot read is written in another way, and one that comes at a
    /// busy time is repeated once.
    async fn ask(&self, model: &str) -> Result<Completion, Failure> {
        let quirk = self.endpoint.identity(model);
        let context_tokens = self.context_tokens();
        let mut shape =
            Shape { has_system: !self.quirks.lacks_system(&quirk), has_history: true, context_tokens };
        let mut has_waited = false;
        let mut requests = 0;
        loop {
            let began_without_system = !shape.has_system;
            let reply = self.post(model, shape).await?;
            let read = completion::read(reply.status, &reply.body);
            if !has_waited && let Some(wait) = self.wait(&reply, &read) {
                has_waited = true;
                tokio::time::sleep(wait).await;
                continue;
            }
            requests += 1;
            if read.is_ok() && reply.status.is_success() {
                if began_without_system && shape.has_history {
                    self.quirks.remember_no_system(quirk);
                }
                return read;
            }
            match self.other_shape(shape, &reply, &read) {
                Some(other) if requests < MAX_REQUESTS => shape = other,
                _ => return read,
            }
        }
    }

    /// Returns the tokens that question and answer may have together.
    fn context_tokens(&self) -> u32 {
        self.endpoint.options.context_tokens.unwrap_or(self.target.provider.context_tokens)
    }

    async fn post(&self, model: &str, shape: Shape) -> Result<Reply, Failure> {
        let prompt = Prompt::new(self.question, shape);
        let body = body(self.target.format, model, self.context_tokens(), &prompt).to_json();
        let left = self.end.saturating_duration_since(Instant::now());
        let sent = self.client.post(self.target.url.clone(), self.headers.clone(), left, body);
        let late = || Failure::new(Fault::Endpoint, format!("no answer within {:?}", self.endpoint.timeout));
        let sent = tokio::time::timeout_at(self.end, sent).await.map_err(|_| late())?;
        sent.map_err(|error| Failure::new(Fault::Endpoint, error.to_string()))
    }

    /// Returns how long to wait before the same request is sent once more; `None` if that is of no use, or if
    /// the endpoint wants to be left alone for longer than the visitor waits.
    fn wait(&self, reply: &Reply, read: &Result<Completion, Failure>) -> Option<Duration> {
        let is_busy = matches!(
            reply.status,
            // 529 is Anthropic's word for a server that has no time.
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
        ) || reply.status.as_u16() == 529;
        let is_paid = matches!(read, Err(failure) if failure.fault == Fault::Endpoint);
        let wait = reply.retry_after.unwrap_or(BUSY_WAIT);
        let left = self.end.saturating_duration_since(Instant::now());
        (is_busy && is_paid && wait + MIN_ANSWER_TIME <= left).then_some(wait)
    }

    /// Returns another way to write a request that the endpoint refuses to read.
    fn other_shape(&self, shape: Shape, reply: &Reply, read: &Result<Completion, Failure>) -> Option<Shape> {
        let words = match read {
            Ok(_) => String::new(),
            Err(failure) => failure.words.as_deref().unwrap_or_default().to_lowercase(),
        };
        let has_word = |signs: &[&str]| signs.iter().any(|sign| words.contains(sign));
        let is_about_roles = has_word(&["system", "role", "template", "alternat", "developer instruction"]);
        let is_unreadable = match reply.status {
            StatusCode::BAD_REQUEST | StatusCode::PAYLOAD_TOO_LARGE | StatusCode::UNPROCESSABLE_ENTITY => {
                true
            }
            // llama.cpp answers so when its template refuses a role.
            StatusCode::INTERNAL_SERVER_ERROR => is_about_roles,
            _ => false,
        };
        if !is_unreadable {
            return None;
        }
        let is_filtered = read.is_ok();
        if shape.has_system && !is_filtered && (is_about_roles || words.is_empty()) {
            return Some(Shape { has_system: false, ..shape });
        }
        let is_too_long = has_word(&["context", "token", "too long", "too large", "length"]);
        let context_tokens = if is_too_long { SHORT_CONTEXT_TOKENS } else { shape.context_tokens };
        let context_tokens = context_tokens.min(shape.context_tokens);
        let has_earlier = shape.has_history && !self.question.earlier().is_empty();
        let other = Shape { has_history: shape.has_history && !has_earlier, context_tokens, ..shape };
        (other != shape).then_some(other)
    }
}
