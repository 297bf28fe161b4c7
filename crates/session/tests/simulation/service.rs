//! The service behind the proxy: what the contract fixes, and what it leaves open as a seed has it.

use std::collections::HashMap;
use std::rc::Rc;

use chat_protocol::{
    AiStatus, ChatMessage, ConversationId, Endpoint, ErrorCode, EventBatch, History, IdempotencyKey, Lead,
    MessageId, Presence, Role, SendMessage, SendResult, Tracking, Value, failure, success,
};
use chat_session::{Answer, Request};
use fastrand::Rng;

use super::invariants::{Invariant, Violation};
use super::network::Flight;
use super::scenario::{Dates, NextAfter, Scenario};
use super::stats::{Fact, Stats};
use super::written::Tag;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    Visitor(Tag),
    Assistant,
    Operator,
}

/// A message as the service keeps it.
pub struct Kept {
    number: u32,
    pub author: Author,
    pub content: String,
    at_ms: u64,
}

impl Kept {
    /// Ids say nothing about the order in which they were given.
    pub fn id(&self) -> MessageId {
        format!("{:08x}", self.number.wrapping_mul(0x9E37_79B1)).into()
    }
}

#[derive(Default)]
pub struct Conversation {
    pub messages: Vec<Kept>,
    /// The service has forgotten it.
    pub purged: bool,
}

/// What the service made of an `Idempotency-Key`.
struct Known {
    body: String,
    state: State,
}

enum State {
    /// The first request is under way; those that repeat it get the same answer.
    Thinking {
        conversation: usize,
        waiting: Vec<Rc<Flight>>,
        long: bool,
    },
    Done(Answer),
}

/// What is to be done about a request.
pub enum Reaction {
    Answer(Answer),
    /// The answer comes when the AI has thought.
    Think(u64, IdempotencyKey),
    /// The answer comes with that of the request that this one repeats.
    Wait,
}

/// The AI's answer, for everybody who waits for it.
pub struct Thought {
    pub waiting: Vec<Rc<Flight>>,
    pub answer: Answer,
    /// The reply that the AI could not give is written to this conversation later.
    pub late: Option<(u64, usize)>,
}

pub struct Service {
    scenario: Scenario,
    rng: Rng,
    pub conversations: Vec<Conversation>,
    known: HashMap<IdempotencyKey, Known>,
    written: u32,
    /// An operator has joined.
    attended: bool,
    /// There are messages that came with no answer, or with one that nobody waited for. A service that hides this from those
    /// who ask is not tried: nobody would ever find them.
    pub to_be_polled: bool,
    /// The site's owner wants the chat to be seen.
    pub on: bool,
    /// The AI fails no more.
    pub well: bool,
}

impl Service {
    pub fn new(scenario: Scenario, rng: Rng) -> Self {
        Self {
            scenario,
            rng,
            conversations: Vec::new(),
            known: HashMap::new(),
            written: 0,
            attended: false,
            to_be_polled: false,
            on: true,
            well: false,
        }
    }

    /// How many messages there have been.
    pub fn written(&self) -> u32 {
        self.written
    }

    /// The conversation of this id, be it purged or not.
    pub fn conversation(&self, id: &ConversationId) -> Option<&Conversation> {
        self.conversations.get(index_of(id)?)
    }

    /// What the history of a conversation lists.
    pub fn listing<'a>(&self, conversation: &'a Conversation) -> impl Iterator<Item = &'a Kept> {
        let echoes = self.scenario.echoes;
        conversation.messages.iter().filter(move |kept| echoes || !matches!(kept.author, Author::Visitor(_)))
    }

    /// How often the service has a message of the visitor, in conversations that it still knows.
    pub fn copies(&self, tag: Tag) -> usize {
        let known = self.conversations.iter().filter(|conversation| !conversation.purged);
        known.flat_map(|known| &known.messages).filter(|kept| kept.author == Author::Visitor(tag)).count()
    }

    /// Whether the service ever took a message of the visitor.
    pub fn took(&self, tag: Tag) -> bool {
        let all = self.conversations.iter().flat_map(|conversation| &conversation.messages);
        all.into_iter().any(|kept| kept.author == Author::Visitor(tag))
    }

    /// Two pages began a conversation each.
    pub fn is_split(&self) -> bool {
        self.conversations.iter().filter(|conversation| !conversation.purged).count() > 1
    }

    pub fn purge(&mut self) -> bool {
        match self.conversations.last_mut() {
            Some(conversation) if !conversation.purged => {
                conversation.purged = true;
                true
            }
            _ => false,
        }
    }

    /// An operator writes to the latest conversation.
    pub fn operator_writes(&mut self, now_ms: u64) -> bool {
        let Some(latest) = self.conversations.len().checked_sub(1) else { return false };
        (self.attended, self.to_be_polled) = (true, true);
        !self.conversations[latest].purged && self.write(latest, Author::Operator, None, now_ms).is_some()
    }

    /// The reply that the AI could not give comes after all.
    pub fn reply_late(&mut self, conversation: usize, now_ms: u64) {
        self.to_be_polled = true;
        self.write(conversation, Author::Assistant, None, now_ms);
    }

    fn write(
        &mut self,
        conversation: usize,
        author: Author,
        content: Option<String>,
        at_ms: u64,
    ) -> Option<&Kept> {
        self.written += 1;
        // No two of these say the same, so that each can be told from all others by what it says.
        let content = content.unwrap_or_else(|| format!("#{}", self.written));
        let messages = &mut self.conversations[conversation].messages;
        messages.push(Kept { number: self.written, author, content, at_ms });
        messages.last()
    }

    fn shown(&self, kept: &Kept) -> ChatMessage {
        let role = match kept.author {
            Author::Visitor(_) => Role::Other(self.scenario.visitor_role.to_owned()),
            Author::Assistant => Role::Assistant,
            Author::Operator => Role::Operator,
        };
        let date = match self.scenario.dates {
            Dates::Missing => None,
            Dates::Equal => Some(iso(0, 0)),
            Dates::True => Some(iso(kept.at_ms, kept.number)),
            Dates::Skewed => Some(iso(kept.at_ms + u64::from(kept.number * 7 % 5) * 60_000, kept.number)),
        };
        ChatMessage {
            id: self.scenario.ids.then(|| kept.id()),
            role,
            content: kept.content.clone(),
            created_at: date,
        }
    }

    /// Takes a request that arrived.
    pub fn take(
        &mut self,
        flight: &Rc<Flight>,
        now_ms: u64,
        stats: &mut Stats,
    ) -> Result<Reaction, Violation> {
        let request = &flight.request;
        Ok(Reaction::Answer(match request.endpoint {
            Endpoint::Send => return self.take_message(flight, now_ms, stats),
            Endpoint::Messages => self.history(request),
            Endpoint::Presence => self.presence(request),
            Endpoint::Events => self.events(request)?,
            Endpoint::Config => ok(Value::object([("config", Value::object([("enabled", self.on.into())]))])),
        }))
    }

    fn take_message(
        &mut self,
        flight: &Rc<Flight>,
        now_ms: u64,
        counts: &mut Stats,
    ) -> Result<Reaction, Violation> {
        let malformed = |what: &str| Violation::new(Invariant::WellFormed, format!("a message {what}"));
        let text = flight.request.body.as_deref().ok_or_else(|| malformed("without a body"))?;
        let key = flight.request.key.as_ref().ok_or_else(|| malformed("without a key"))?;
        if let Some(known) = self.known.get_mut(key) {
            if known.body != text {
                counts.count(Fact::Conflict);
                return Ok(Reaction::Answer(refuse(409, &ErrorCode::IdempotencyConflict)));
            }
            counts.count(Fact::RequestRepeatedByService);
            return Ok(match &mut known.state {
                State::Done(answer) => Reaction::Answer(answer.clone()),
                State::Thinking { waiting, .. } => {
                    waiting.push(Rc::clone(flight));
                    Reaction::Wait
                }
            });
        }
        let read: Value = serde_json::from_str(text).map_err(|error| malformed(&error.to_string()))?;
        let body = SendMessage::try_from(read).map_err(|unusable| malformed(&unusable.to_string()))?;
        let tag = flight.tag.ok_or_else(|| malformed("that nobody wrote"))?;
        let conversation = if let Some(id) = &body.conversation_id {
            self.known_conversation(id)
        } else {
            self.conversations.push(Conversation::default());
            Some(self.conversations.len() - 1)
        };
        let Some(conversation) = conversation else {
            return Ok(Reaction::Answer(refuse(404, &ErrorCode::NotFound)));
        };
        self.write(conversation, Author::Visitor(tag), Some(body.message), now_ms);
        if self.copies(tag) > 1 {
            let told = format!("message {tag} was taken again under the key {key}");
            return Err(Violation::new(Invariant::OnceOnTheServer, told));
        }
        // Now and then longer than anybody waits.
        let long = self.scenario.think_ms > 0 && !self.well && self.rng.u8(..30) == 0;
        let think_ms =
            if long { self.rng.u64(20_000..50_000) } else { self.rng.u64(0..=self.scenario.think_ms) };
        let state = State::Thinking { conversation, waiting: vec![Rc::clone(flight)], long };
        self.known.insert(key.clone(), Known { body: text.to_owned(), state });
        Ok(Reaction::Think(think_ms, key.clone()))
    }

    /// The AI is done with the message that came under this key.
    pub fn think(&mut self, key: &IdempotencyKey, now_ms: u64) -> Option<Thought> {
        let State::Thinking { conversation, waiting, long } = &mut self.known.get_mut(key)?.state else {
            return None;
        };
        self.to_be_polled |= *long;
        let (conversation, waiting) = (*conversation, std::mem::take(waiting));
        let asked = waiting.first().and_then(|first| first.tag).map(Author::Visitor);
        let asked =
            self.conversations[conversation].messages.iter().rev().find(|kept| Some(kept.author) == asked);
        let user_message_id = asked.filter(|_| self.scenario.user_message_ids).map(Kept::id);
        let percent = self.rng.u8(..100);
        let (fails, refuses) = (self.scenario.ai_fails, self.scenario.ai_refuses);
        let (ai_status, blocked) = match percent {
            _ if self.well => (AiStatus::Ok, false),
            percent if percent < fails => (AiStatus::ProviderError, false),
            percent if percent < fails.saturating_add(refuses) => match percent % 3 {
                0 => (AiStatus::QuotaInsufficient, false),
                1 => (AiStatus::Blocked, false),
                _ => (AiStatus::Ok, true),
            },
            _ => (AiStatus::Ok, false),
        };
        let mut late = None;
        let message = if ai_status == AiStatus::Ok && !blocked {
            self.write(conversation, Author::Assistant, None, now_ms);
            self.conversations[conversation].messages.last().map(|kept| self.shown(kept))
        } else {
            if ai_status == AiStatus::ProviderError && self.rng.u8(..4) > 0 {
                late = Some((self.rng.u64(500..20_000), conversation));
            }
            if self.scenario.leaves_empty {
                self.write(conversation, Author::Assistant, Some(String::new()), now_ms);
            }
            let nothing =
                ChatMessage { id: None, role: Role::Assistant, content: String::new(), created_at: None };
            self.rng.bool().then_some(nothing)
        };
        let result = SendResult {
            conversation_id: id_of(conversation),
            user_message_id,
            message,
            provider: None,
            used_fallback: false,
            ai_status,
            ai_status_message: None,
            locale: None,
            blocked,
            lead: Lead::default(),
        };
        let answer = ok(Value::from(&result));
        if let Some(known) = self.known.get_mut(key) {
            known.state = State::Done(answer.clone());
        }
        Some(Thought { waiting, answer, late })
    }

    fn known_conversation(&self, id: &ConversationId) -> Option<usize> {
        index_of(id).filter(|index| self.conversations.get(*index).is_some_and(|known| !known.purged))
    }

    fn history(&mut self, request: &Request) -> Answer {
        let asked =
            |name: &str| request.query.iter().find(|(given, _)| *given == name).map(|(_, value)| value);
        let id = asked("conversationId").map_or("", String::as_str).into();
        let Some(conversation) = self.known_conversation(&id) else {
            return refuse(404, &ErrorCode::NotFound);
        };
        let after = asked("after").map(|after| MessageId::from(after.as_str()));
        let conversation = &self.conversations[conversation];
        let listed: Vec<&Kept> = self.listing(conversation).collect();
        let start = match &after {
            Some(after) if self.scenario.honours_after => {
                listed.iter().position(|kept| kept.id() == *after).map_or(0, |index| index + 1)
            }
            _ => 0,
        };
        let page = &listed[start..listed.len().min(start.saturating_add(self.scenario.page_size))];
        let last = || page.last().map(|kept| kept.id()).or_else(|| after.clone());
        let next_after = match self.scenario.next_after {
            NextAfter::Missing => None,
            NextAfter::Last => last(),
            NextAfter::Repeated => after.clone(),
            NextAfter::Back if listed.is_empty() || self.rng.bool() => last(),
            NextAfter::Back => Some(listed[self.rng.usize(..listed.len())].id()),
        };
        let messages = page.iter().map(|kept| self.shown(kept)).collect();
        ok(Value::from(&History { conversation_id: Some(id), messages, next_after }))
    }

    fn presence(&self, request: &Request) -> Answer {
        let known = request.query.iter().any(|(name, id)| {
            *name == "conversationId" && self.known_conversation(&id.as_str().into()).is_some()
        });
        if !known {
            return refuse(404, &ErrorCode::NotFound);
        }
        let presence = Presence {
            operator_online: self.attended,
            should_poll_messages: self.to_be_polled || !self.scenario.tells_when_to_poll,
            presence_interval_ms: self.scenario.presence_hint,
            message_interval_ms: self.scenario.messages_hint,
            ..Presence::default()
        };
        ok(Value::from(&presence))
    }

    fn events(&self, request: &Request) -> Result<Answer, Violation> {
        let malformed =
            |what: String| Violation::new(Invariant::WellFormed, format!("a batch of events: {what}"));
        let read = serde_json::from_str::<Value>(request.body.as_deref().unwrap_or_default());
        let read = read.map_err(|error| malformed(error.to_string()))?;
        let batch = EventBatch::try_from(read).map_err(|unusable| malformed(unusable.to_string()))?;
        if let Some(refused) = batch.refused.first() {
            return Err(malformed(refused.to_string()));
        }
        let accepted = i64::try_from(batch.events.len()).unwrap_or(0);
        Ok(ok(Value::from(&Tracking { accepted, rejected: 0, enabled: self.scenario.tracks })))
    }
}

fn id_of(conversation: usize) -> ConversationId {
    format!("c{conversation}").into()
}

fn index_of(id: &ConversationId) -> Option<usize> {
    id.as_str().strip_prefix('c')?.parse().ok()
}

fn ok(data: Value) -> Answer {
    Answer { status: 200, retry_after_ms: None, body: success(data, "r") }
}

fn refuse(status: u16, code: &ErrorCode) -> Answer {
    Answer { status, retry_after_ms: None, body: failure(code, "no", "r") }
}

/// A time of the day that the simulation is in; the number behind the point makes each another.
fn iso(at_ms: u64, number: u32) -> String {
    let seconds = at_ms / 1000;
    let (hours, minutes, seconds) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("2026-01-01T{hours:02}:{minutes:02}:{seconds:02}.{number:06}Z")
}
