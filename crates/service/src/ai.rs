//! Answers visitors: by the AI endpoint that the site names, or by the built-in assistant.

mod address;
mod body;
mod breaker;
mod budget;
mod builtin;
mod completion;
mod confidence;
mod disclosure;
mod endpoint;
mod exchange;
mod failure;
#[cfg(test)]
mod hostile_tests;
mod links;
mod outcome;
mod phrases;
mod probe;
mod prompt;
#[cfg(test)]
mod provider_tests;
mod quirks;
pub(crate) mod quota;
pub(crate) mod reply;
mod said;
mod shares;
mod talk;
mod team;
mod thinking;
mod tried;
mod warning;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use chat_protocol::{AiStatus, Role};
use jiff::civil::Date;
use serde::Serialize;
use tracing::warn;

pub(crate) use address::EndpointError;
pub(crate) use confidence::Threshold;
pub use endpoint::Endpoint;
pub(crate) use outcome::Outcome;
pub(crate) use phrases::Phrases;
pub(crate) use probe::Probed;
pub(crate) use prompt::MAX_HISTORY;
pub(crate) use reply::{Responder, SiteResponder, VisitorMessage, answer, recent_events};
pub(crate) use talk::wants_person;
pub(crate) use team::{Team, UsualReply};
pub(crate) use tried::{Rehearsal, Tried, rehearse, try_answer};

use crate::fingerprint::Fingerprint;
use crate::knowledge::Passage;
use crate::rate::Caller;
use breaker::Breaker;
use budget::Budget;
use completion::Completion;
use exchange::AiClient;
use failure::{Failure, Fault};
use quirks::Quirks;
use said::Said;
use talk::Sentence;

/// Maximum endpoints whose failures are remembered.
const MAX_BREAKERS: usize = 4096;

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) role: Role,
    pub(crate) content: String,
}

/// What an AI is told about a site.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SiteFacts<'a> {
    pub(crate) name: &'a str,
    /// The origin of the site's pages, if it is known.
    pub(crate) origin: Option<&'a str>,
    /// The date (UTC), if it is known.
    pub(crate) today: Option<Date>,
}

/// The input of an answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Question<'a> {
    pub(crate) site_id: &'a str,
    pub(crate) site: SiteFacts<'a>,
    /// The passages of the site about the visitor's last message, best first.
    pub(crate) passages: &'a [Passage],
    /// The same message, question by question.
    pub(crate) said: &'a Said,
    /// A summary of what the visitor did on the website: see [`crate::lead::events_as_context`].
    pub(crate) visited: Option<&'a str>,
    /// The conversation; its last message is the visitor's.
    pub(crate) history: &'a [Turn],
    pub(crate) locale: Option<&'a str>,
    /// Whether the last message contains contact details.
    pub(crate) left_contact: bool,
    /// Whether contact details are known, from the last message or an earlier one.
    pub(crate) has_contact: bool,
    /// The people beside the AI.
    pub(crate) team: Team<'a>,
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

    /// Returns the conversation before the last message.
    fn earlier(&self) -> &[Turn] {
        self.history.split_last().map_or(&[], |(_, earlier)| earlier)
    }

    /// Returns what the visitor is told of the team, if there is something new.
    fn about_team(&self, phrases: Phrases) -> Option<String> {
        phrases.about_team(self.team, self.earlier())
    }

    /// Returns the sentence that refuses a person who was asked for, where none is offered.
    fn refusal_of_person(&self, phrases: Phrases) -> Option<String> {
        let is_refused = self.team.is_elsewhere && wants_person(self.message());
        is_refused.then(|| phrases.say(Sentence::AlonePerson, self.earlier()).to_owned())
    }

    /// Returns whose requests are counted together: those of an address, or else of a visitor.
    fn caller(&self) -> Caller {
        match self.asker {
            Some(Asker { caller: Caller::Anybody, visitor_id: Some(id) }) => Caller::visitor(id),
            Some(Asker { caller, .. }) => caller,
            None => Caller::Anybody,
        }
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
    /// Why the AI gave no answer, for the site's operators only: the provider may quote the conversation.
    pub(crate) problem: Option<String>,
    /// What became of the message; `None` if a person answers it.
    pub(crate) outcome: Option<Outcome>,
    /// Whether the text tells a visitor who waits for people that the team will read the message.
    pub(crate) tells_absence: bool,
}

/// All that answers the visitors of all sites.
#[derive(Debug)]
pub(crate) struct Ai {
    allows_private: bool,
    https: OnceLock<AiClient>,
    http: OnceLock<AiClient>,
    breakers: Mutex<HashMap<Fingerprint, Arc<Breaker>>>,
    quirks: Quirks,
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
            quirks: Quirks::default(),
            budget: Budget::default(),
        }
    }

    /// Checks the settings of an endpoint, before they are stored.
    pub(crate) fn check(&self, endpoint: &Endpoint) -> Result<(), EndpointError> {
        endpoint.headers(&endpoint.target(self.allows_private)?)?;
        Ok(())
    }

    /// Answers a visitor's message. Without an endpoint, the built-in assistant answers.
    pub(crate) async fn answer(&self, endpoint: Option<&Endpoint>, question: &Question<'_>) -> Answer {
        let message = question.message();
        let mut answer = Answer {
            tells_absence: false,
            status: AiStatus::Ok,
            text: None,
            sources: Vec::new(),
            used_fallback: false,
            topic: question.passages.first().map(|best| topic(&best.title)),
            wants_person: wants_person(message),
            problem: None,
            outcome: Some(Outcome::Failed),
        };
        let Some(endpoint) = endpoint else {
            let reply = builtin::reply(question);
            let sources = question.passages.iter().filter(|passage| reply.sources.contains(&passage.id));
            answer.topic = sources.clone().next().map(|best| topic(&best.title));
            answer.sources.extend(sources.map(Citation::from));
            answer.text = Some(reply.text);
            answer.outcome = Some(reply.outcome);
            return answer;
        };
        match self.ask(endpoint, question).await {
            Ok(Completion::Answer(text)) => {
                answer.sources = question.passages.iter().map(Citation::from).collect();
                let has_sources = !answer.sources.is_empty();
                let mut outcome =
                    outcome::of_endpoint(&answer.status, has_sources, &question.said.understood);
                let phrases = Phrases::of(message, question.locale);
                // A model does not know the hours, and may promise a person.
                let refusal = question.refusal_of_person(phrases);
                if refusal.is_some() {
                    outcome = Outcome::CouldNotAnswer;
                }
                answer.outcome = Some(outcome);
                let waits = answer.wants_person || outcome.needs_person();
                let about_team = if waits { question.about_team(phrases) } else { None };
                answer.text = Some(paragraphs(paragraphs(text, refusal), about_team));
            }
            Ok(Completion::Refusal(text)) => {
                if text.is_none() {
                    answer.status = AiStatus::Blocked;
                }
                (answer.text, answer.outcome) = (text, Some(Outcome::Refused));
            }
            Err(failure) => {
                let fallback = Answer::fallback(failure.status.clone(), question);
                answer.problem = Some(failure.for_operators(endpoint.key.as_ref()));
                (answer.status, answer.text, answer.used_fallback) = (fallback.status, fallback.text, true);
            }
        }
        answer
    }

    /// Asks an endpoint, unless it has failed several times in a row, or too many requests are in progress.
    async fn ask(&self, endpoint: &Endpoint, question: &Question<'_>) -> Result<Completion, Failure> {
        let breaker = self.breaker(question.site_id, endpoint);
        let caller = question.caller();
        let open = || {
            Failure::new(Fault::Question, "the endpoint failed several times, and is left alone for a while")
        };
        if breaker.is_open(caller) {
            return Err(open());
        }
        let turn = self.budget.turn(question.site_id, caller, endpoint.timeout).await;
        let _turn = turn.inspect_err(|busy| warn!(site = question.site_id, "{}", busy.reason))?;
        // The circuit may have opened while the request waited.
        let attempt = breaker.attempt(caller).ok_or_else(open)?;
        let asked = self.complete(endpoint, question).await;
        match &asked {
            Ok(_) => attempt.succeeded(),
            Err(failure) => {
                let reason = failure.for_log(endpoint.key.as_ref(), question);
                warn!(site = question.site_id, "the AI endpoint failed: {reason}");
                if failure.fault == Fault::Endpoint && attempt.failed() {
                    warn!(
                        site = question.site_id,
                        "the AI endpoint is not asked for a while, after several failures"
                    );
                }
            }
        }
        asked
    }

    async fn complete(&self, endpoint: &Endpoint, question: &Question<'_>) -> Result<Completion, Failure> {
        let target = endpoint.target(self.allows_private);
        let target = target.map_err(|error| Failure::new(Fault::Settings, error.to_string()))?;
        let client = self.client(target.url.scheme() == "https")?;
        endpoint.complete(&client, &target, &self.quirks, question).await
    }

    fn client(&self, is_https: bool) -> Result<AiClient, Failure> {
        let cell = if is_https { &self.https } else { &self.http };
        if let Some(client) = cell.get() {
            return Ok(client.clone());
        }
        let client = AiClient::new(is_https, self.allows_private).map_err(|error| {
            Failure::new(Fault::Settings, format!("cannot create the HTTP client: {error}"))
        })?;
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

/// Returns a text with another paragraph, if there is one.
fn paragraphs(text: String, next: Option<String>) -> String {
    match next {
        Some(next) => format!("{text}\n\n{next}"),
        None => text,
    }
}

/// Returns the first line of a title, by which a lead names a topic.
fn topic(title: &str) -> String {
    title.lines().next().unwrap_or_default().to_owned()
}
