//! Answers visitors: by an OpenAI-compatible endpoint that the site names, or by the built-in assistant.

mod address;
mod breaker;
mod budget;
mod builtin;
mod disclosure;
mod endpoint;
mod exchange;
#[cfg(test)]
mod hostile_tests;
mod phrases;
mod prompt;
pub(crate) mod quota;
pub(crate) mod reply;
mod requests;
mod shares;
mod warning;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use chat_protocol::{AiStatus, Role};
use serde::Serialize;
use tracing::warn;

pub(crate) use address::EndpointError;
pub use endpoint::Endpoint;
pub(crate) use phrases::Phrases;
pub(crate) use prompt::MAX_HISTORY;
pub(crate) use reply::{Responder, SiteResponder, VisitorMessage, answer, recent_events, try_answer};
pub(crate) use requests::wants_person;

use crate::fingerprint::Fingerprint;
use crate::knowledge::Passage;
use crate::rate::Caller;
use breaker::Breaker;
use budget::Budget;
use exchange::AiClient;

/// Maximum endpoints whose failures are remembered.
const MAX_BREAKERS: usize = 4096;

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) role: Role,
    pub(crate) content: String,
}

/// The input of an answer.
#[derive(Clone, Debug)]
pub(crate) struct Question<'a> {
    pub(crate) site_id: &'a str,
    /// The passages of the site about the visitor's last message, best first.
    pub(crate) passages: &'a [Passage],
    /// A summary of what the visitor did on the website: see [`crate::lead::events_as_context`].
    pub(crate) visited: Option<&'a str>,
    /// The conversation; its last message is the visitor's.
    pub(crate) history: &'a [Turn],
    pub(crate) locale: Option<&'a str>,
    /// Whether the last message contains contact details.
    pub(crate) left_contact: bool,
    /// Whether contact details are known, from the last message or an earlier one.
    pub(crate) has_contact: bool,
    /// The visitor who asks; `None` if an operator tries a question out.
    pub(crate) asker: Option<Asker<'a>>,
}

/// The visitor who asks a question, by whom the replies are bounded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker<'a> {
    pub(crate) visitor_id: Option<&'a str>,
    pub(crate) caller: Caller,
}

impl Question<'_> {
    pub(crate) fn message(&self) -> &str {
        self.history.last().map(|turn| turn.content.as_str()).unwrap_or_default()
    }
}

/// A passage that an answer is based on, as it was called then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Citation {
    /// See [`Passage::id`].
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) location: Option<String>,
}

impl From<&Passage> for Citation {
    fn from(passage: &Passage) -> Self {
        Self { id: passage.id.clone(), title: passage.title.clone(), location: passage.location.clone() }
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: AiStatus,
    /// The text; when the AI failed, the fallback text in the visitor's language. `None` when the endpoint
    /// blocked the message.
    pub(crate) text: Option<String>,
    /// The passages that the answer is based on.
    pub(crate) sources: Vec<Citation>,
    /// Whether the text is the fallback text.
    pub(crate) used_fallback: bool,
    /// The title of the passage that fits best, as a topic of the lead.
    pub(crate) topic: Option<String>,
    /// Whether the last message asks for a person.
    pub(crate) wants_person: bool,
}

/// All that answers the visitors of all sites.
#[derive(Debug)]
pub(crate) struct Ai {
    allows_private: bool,
    https: OnceLock<AiClient>,
    http: OnceLock<AiClient>,
    breakers: Mutex<HashMap<Fingerprint, Arc<Breaker>>>,
    budget: Budget,
}

impl Ai {
    /// Creates the AI. `allows_private` is set when the host allows endpoints in its own network, such as a
    /// model on the same machine. Whoever may set a site's endpoint can then reach that network.
    pub(crate) fn new(allows_private: bool) -> Self {
        Self {
            allows_private,
            https: OnceLock::new(),
            http: OnceLock::new(),
            breakers: Mutex::default(),
            budget: Budget::default(),
        }
    }

    /// Checks the settings of an endpoint, before they are stored.
    pub(crate) fn check(&self, endpoint: &Endpoint) -> Result<(), EndpointError> {
        endpoint.url(self.allows_private)?;
        endpoint.authorization()?;
        Ok(())
    }

    /// Answers a visitor's message. Without an endpoint, the built-in assistant answers.
    pub(crate) async fn answer(&self, endpoint: Option<&Endpoint>, question: &Question<'_>) -> Answer {
        let message = question.message();
        let mut answer = Answer {
            status: AiStatus::Ok,
            text: None,
            sources: Vec::new(),
            used_fallback: false,
            topic: question.passages.first().map(|best| topic(&best.title)),
            wants_person: wants_person(message),
        };
        let Some(endpoint) = endpoint else {
            let Question { left_contact, has_contact, passages, locale, .. } = question;
            let reply = builtin::reply(message, *left_contact, *has_contact, passages, *locale);
            if reply.source.is_none() {
                answer.topic = None;
            }
            let source = passages.iter().find(|passage| Some(&passage.id) == reply.source.as_ref());
            answer.sources.extend(source.map(Citation::from));
            answer.text = Some(reply.text);
            return answer;
        };
        match self.ask(endpoint, question).await {
            Ok((status, text)) => {
                answer.status = status;
                if text.is_some() {
                    answer.sources = question.passages.iter().map(Citation::from).collect();
                }
                answer.text = text;
            }
            Err(status) => {
                answer.status = status;
                answer.used_fallback = true;
                answer.text = Some(Phrases::of(message, question.locale).fallback.to_owned());
            }
        }
        answer
    }

    /// Asks an endpoint, unless it has failed several times in a row, or too many requests are in progress.
    async fn ask(
        &self,
        endpoint: &Endpoint,
        question: &Question<'_>,
    ) -> Result<(AiStatus, Option<String>), AiStatus> {
        let breaker = self.breaker(question.site_id, endpoint);
        if breaker.is_open() {
            return Err(AiStatus::ProviderError);
        }
        let turn = self.budget.turn(question.site_id, endpoint.timeout).await.map_err(|busy| {
            warn!(site = question.site_id, "{}", busy.reason);
            busy.status
        });
        let _turn = turn?;
        // The circuit may have opened while the request waited.
        let attempt = breaker.attempt().ok_or(AiStatus::ProviderError)?;
        let asked = async {
            let client = self.client(endpoint.is_https())?;
            endpoint.complete(&client, self.allows_private, question).await
        };
        let asked = tokio::time::timeout(endpoint.timeout, asked).await;
        let failure = match asked {
            Ok(Ok(answer)) => {
                attempt.succeeded();
                return Ok(answer);
            }
            Ok(Err(failure)) => failure,
            Err(_) => Failure::down(format!("no answer within {:?}", endpoint.timeout)),
        };
        warn!(site = question.site_id, "the AI endpoint failed: {}", failure.reason);
        if failure.is_down {
            if attempt.failed() {
                warn!(
                    site = question.site_id,
                    "the AI endpoint is not asked for a while, after several failures"
                );
            }
        } else {
            drop(attempt);
        }
        Err(failure.status)
    }

    fn client(&self, is_https: bool) -> Result<AiClient, Failure> {
        let cell = if is_https { &self.https } else { &self.http };
        if let Some(client) = cell.get() {
            return Ok(client.clone());
        }
        let client = AiClient::new(is_https, self.allows_private)
            .map_err(|error| Failure::refused(format!("cannot create the HTTP client: {error}")))?;
        Ok(cell.get_or_init(|| client).clone())
    }

    /// Returns the breaker of a site's endpoint. Sites do not share one: what fails for a site, such as a
    /// timeout that is too short, must not silence the AI of another tenant. Each node has its own: it learns
    /// of a failure by itself, after a few visitors.
    fn breaker(&self, site_id: &str, endpoint: &Endpoint) -> Arc<Breaker> {
        let mut breakers = self.breakers.lock().unwrap_or_else(PoisonError::into_inner);
        if breakers.len() >= MAX_BREAKERS {
            // Those in use are kept; what the others had counted is forgotten.
            breakers.retain(|_, breaker| Arc::strong_count(breaker) > 1);
        }
        Arc::clone(breakers.entry(endpoint.identity(site_id)).or_default())
    }
}

/// Returns the first line of a title, by which a lead names a topic.
fn topic(title: &str) -> String {
    title.lines().next().unwrap_or_default().to_owned()
}

/// The reason why an endpoint gave no answer.
#[derive(Debug)]
struct Failure {
    status: AiStatus,
    /// For the log: neither the key nor words of visitors.
    reason: String,
    /// Whether the next request would probably fail as well, after a wait.
    is_down: bool,
}

impl Failure {
    fn down(reason: impl Into<String>) -> Self {
        Self { status: AiStatus::ProviderError, reason: reason.into(), is_down: true }
    }

    fn refused(reason: impl Into<String>) -> Self {
        Self { status: AiStatus::ProviderError, reason: reason.into(), is_down: false }
    }
}
