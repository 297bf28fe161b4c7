//! The service behind the proxy. The scenario decides what the contract leaves open.

mod polls;

use std::collections::HashMap;
use std::rc::Rc;

use chat_protocol::{
    AiStatus, ChatMessage, ConversationId, Endpoint, ErrorCode, IdempotencyKey, Lead, MessageId, Role,
    SendMessage, SendResult, Value, failure, success,
};
use chat_session::Answer;
use fastrand::Rng;

use super::invariants::{Invariant, Violation};
use super::messages::Tag;
use super::network::InFlight;
use super::scenario::{Dates, Scenario};
use super::stats::{Fact, Stats};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    Visitor(Tag),
    Assistant,
    Operator,
}

/// A message as the service stores it.
pub struct StoredMessage {
    number: u32,
    pub author: Author,
    pub content: String,
    at_ms: u64,
}

impl StoredMessage {
    /// Returns the id. Ids are not in the order of messages.
    pub fn id(&self) -> MessageId {
        format!("{:08x}", self.number.wrapping_mul(0x9E37_79B1)).into()
    }
}

#[derive(Default)]
pub struct Conversation {
    pub messages: Vec<StoredMessage>,
    /// The service has purged the conversation.
    pub purged: bool,
}

/// The request and the state of an `Idempotency-Key`.
struct KeyRecord {
    body: String,
    state: State,
}

enum State {
    /// The first request waits for the AI. Repetitions get the same response.
    Pending {
        conversation: usize,
        waiting: Vec<Rc<InFlight>>,
        long: bool,
    },
    Done(Answer),
}

/// The reaction to a request.
pub enum Reaction {
    Answer(Answer),
    /// Responds when the AI is done, after this time in milliseconds.
    Think(u64, IdempotencyKey),
    /// Responds together with the request that this one repeats.
    Wait,
}

/// The response of the AI, for all requests that wait for it.
pub struct AiResult {
    pub waiting: Vec<Rc<InFlight>>,
    pub answer: Answer,
    /// The delay and the conversation of a reply that comes later.
    pub late: Option<(u64, usize)>,
}

pub struct Service {
    scenario: Scenario,
    rng: Rng,
    pub conversations: Vec<Conversation>,
    keys: HashMap<IdempotencyKey, KeyRecord>,
    message_count: u32,
    operator_joined: bool,
    /// Some messages were not in a response, or in one that nobody awaited. Presence always reports this:
    /// otherwise no client could find them.
    pub has_unpolled: bool,
    /// The chat is switched on.
    pub on: bool,
    /// The AI no longer fails.
    pub ai_reliable: bool,
}

impl Service {
    pub fn new(scenario: Scenario, rng: Rng) -> Self {
        Self {
            scenario,
            rng,
            conversations: Vec::new(),
            keys: HashMap::new(),
            message_count: 0,
            operator_joined: false,
            has_unpolled: false,
            on: true,
            ai_reliable: false,
        }
    }

    /// Returns the number of messages so far.
    pub fn message_count(&self) -> u32 {
        self.message_count
    }

    /// Returns the conversation with this id, purged ones included.
    pub fn conversation(&self, id: &ConversationId) -> Option<&Conversation> {
        self.conversations.get(index_of(id)?)
    }

    /// Returns the messages that the history of a conversation lists.
    pub fn listing<'a>(&self, conversation: &'a Conversation) -> impl Iterator<Item = &'a StoredMessage> {
        let echoes = self.scenario.echoes;
        conversation
            .messages
            .iter()
            .filter(move |message| echoes || !matches!(message.author, Author::Visitor(_)))
    }

    /// Returns the number of copies of a visitor message, in conversations that are not purged.
    pub fn copies(&self, tag: Tag) -> usize {
        let live = self.conversations.iter().filter(|conversation| !conversation.purged);
        live.flat_map(|conversation| &conversation.messages)
            .filter(|message| message.author == Author::Visitor(tag))
            .count()
    }

    /// Returns whether the service has accepted a visitor message.
    pub fn accepted(&self, tag: Tag) -> bool {
        let all = self.conversations.iter().flat_map(|conversation| &conversation.messages);
        all.into_iter().any(|message| message.author == Author::Visitor(tag))
    }

    /// Returns whether two pages have started a conversation each.
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

    /// Starts a conversation with these texts of the visitor, each with a reply. Returns its id.
    pub fn start_conversation<'a>(&mut self, texts: impl Iterator<Item = &'a str>) -> ConversationId {
        let conversation = self.conversations.len();
        self.conversations.push(Conversation::default());
        for (tag, text) in texts.enumerate() {
            self.write(conversation, Author::Visitor(tag), Some(text.to_owned()), 0);
            self.write(conversation, Author::Assistant, None, 0);
        }
        id_of(conversation)
    }

    /// Writes a message of an operator to the latest conversation.
    pub fn operator_writes(&mut self, now_ms: u64) -> bool {
        let Some(latest) = self.conversations.len().checked_sub(1) else { return false };
        (self.operator_joined, self.has_unpolled) = (true, true);
        !self.conversations[latest].purged && self.write(latest, Author::Operator, None, now_ms).is_some()
    }

    /// Writes a late reply of the AI.
    pub fn write_late_reply(&mut self, conversation: usize, now_ms: u64) {
        self.has_unpolled = true;
        self.write(conversation, Author::Assistant, None, now_ms);
    }

    fn write(
        &mut self,
        conversation: usize,
        author: Author,
        content: Option<String>,
        at_ms: u64,
    ) -> Option<&StoredMessage> {
        self.message_count += 1;
        // Every generated text is unique, so that the text identifies the message.
        let content = content.unwrap_or_else(|| format!("#{}", self.message_count));
        let messages = &mut self.conversations[conversation].messages;
        messages.push(StoredMessage { number: self.message_count, author, content, at_ms });
        messages.last()
    }

    fn to_wire(&self, message: &StoredMessage) -> ChatMessage {
        let role = match message.author {
            Author::Visitor(_) => Role::Other(self.scenario.visitor_role.to_owned()),
            Author::Assistant => Role::Assistant,
            Author::Operator => Role::Operator,
        };
        let date = match self.scenario.dates {
            Dates::Missing => None,
            Dates::Equal => Some(iso(0, 0)),
            Dates::True => Some(iso(message.at_ms, message.number)),
            Dates::Skewed => {
                Some(iso(message.at_ms + u64::from(message.number * 7 % 5) * 60_000, message.number))
            }
        };
        ChatMessage {
            id: self.scenario.ids.then(|| message.id()),
            role,
            content: message.content.clone(),
            created_at: date,
            author_name: (message.author == Author::Operator).then(|| "Mara".to_owned()),
        }
    }

    /// Handles a request that arrived.
    pub fn take(
        &mut self,
        flight: &Rc<InFlight>,
        now_ms: u64,
        stats: &mut Stats,
    ) -> Result<Reaction, Violation> {
        let request = &flight.request;
        Ok(Reaction::Answer(match request.endpoint {
            Endpoint::Send => return self.accept_message(flight, now_ms, stats),
            Endpoint::Messages => self.history(request),
            Endpoint::Presence => self.presence(request),
            Endpoint::Events => self.events(request)?,
            Endpoint::Config => ok(Value::object([("config", Value::object([("enabled", self.on.into())]))])),
        }))
    }

    fn accept_message(
        &mut self,
        flight: &Rc<InFlight>,
        now_ms: u64,
        statistics: &mut Stats,
    ) -> Result<Reaction, Violation> {
        let malformed = |what: &str| Violation::new(Invariant::WellFormed, format!("a message {what}"));
        let text = flight.request.body.as_deref().ok_or_else(|| malformed("without a body"))?;
        let key = flight.request.key.as_ref().ok_or_else(|| malformed("without a key"))?;
        if let Some(record) = self.keys.get_mut(key) {
            if record.body != text {
                statistics.count(Fact::Conflict);
                return Ok(Reaction::Answer(refuse(409, &ErrorCode::IdempotencyConflict)));
            }
            statistics.count(Fact::RequestRepeatedByService);
            return Ok(match &mut record.state {
                State::Done(answer) => Reaction::Answer(answer.clone()),
                State::Pending { waiting, .. } => {
                    waiting.push(Rc::clone(flight));
                    Reaction::Wait
                }
            });
        }
        let read: Value = serde_json::from_str(text).map_err(|error| malformed(&error.to_string()))?;
        let body = SendMessage::try_from(read).map_err(|unusable| malformed(&unusable.to_string()))?;
        let tag = flight.tag.ok_or_else(|| malformed("that nobody wrote"))?;
        let conversation = if let Some(id) = &body.conversation_id {
            self.live_conversation(id)
        } else {
            self.conversations.push(Conversation::default());
            Some(self.conversations.len() - 1)
        };
        let Some(conversation) = conversation else {
            return Ok(Reaction::Answer(refuse(404, &ErrorCode::NotFound)));
        };
        self.write(conversation, Author::Visitor(tag), Some(body.message), now_ms);
        if self.copies(tag) > 1 {
            let detail = format!("message {tag} was accepted again with the key {key}");
            return Err(Violation::new(Invariant::AcceptedOnce, detail));
        }
        // Sometimes longer than the deadline.
        let long = self.scenario.think_ms > 0 && !self.ai_reliable && self.rng.u8(..30) == 0;
        let think_ms =
            if long { self.rng.u64(20_000..50_000) } else { self.rng.u64(0..=self.scenario.think_ms) };
        let state = State::Pending { conversation, waiting: vec![Rc::clone(flight)], long };
        self.keys.insert(key.clone(), KeyRecord { body: text.to_owned(), state });
        Ok(Reaction::Think(think_ms, key.clone()))
    }

    /// Completes the message with this key. Returns the response, and the requests that wait for it.
    pub fn think(&mut self, key: &IdempotencyKey, now_ms: u64) -> Option<AiResult> {
        let State::Pending { conversation, waiting, long } = &mut self.keys.get_mut(key)?.state else {
            return None;
        };
        self.has_unpolled |= *long;
        let (conversation, waiting) = (*conversation, std::mem::take(waiting));
        let sent = waiting.first().and_then(|first| first.tag).map(Author::Visitor);
        let sent = self.conversations[conversation]
            .messages
            .iter()
            .rev()
            .find(|message| Some(message.author) == sent);
        let user_message_id = sent.filter(|_| self.scenario.user_message_ids).map(StoredMessage::id);
        let percent = self.rng.u8(..100);
        let (fails, refuses) = (self.scenario.ai_fails, self.scenario.ai_refuses);
        let (ai_status, blocked) = match percent {
            _ if self.ai_reliable => (AiStatus::Ok, false),
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
            self.conversations[conversation].messages.last().map(|message| self.to_wire(message))
        } else {
            if ai_status == AiStatus::ProviderError && self.rng.u8(..4) > 0 {
                late = Some((self.rng.u64(500..20_000), conversation));
            }
            if self.scenario.stores_empty_reply {
                self.write(conversation, Author::Assistant, Some(String::new()), now_ms);
            }
            let empty = ChatMessage {
                id: None,
                role: Role::Assistant,
                content: String::new(),
                created_at: None,
                author_name: None,
            };
            self.rng.bool().then_some(empty)
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
            outcome: None,
            lead: Lead::default(),
        };
        let answer = ok(Value::from(&result));
        if let Some(record) = self.keys.get_mut(key) {
            record.state = State::Done(answer.clone());
        }
        Some(AiResult { waiting, answer, late })
    }

    fn live_conversation(&self, id: &ConversationId) -> Option<usize> {
        index_of(id)
            .filter(|index| self.conversations.get(*index).is_some_and(|conversation| !conversation.purged))
    }
}

fn id_of(conversation: usize) -> ConversationId {
    format!("c{conversation}").into()
}

fn index_of(id: &ConversationId) -> Option<usize> {
    id.as_str().strip_prefix('c')?.parse().ok()
}

fn ok(data: Value) -> Answer {
    Answer { status: 200, body: success(data, "r"), ..Answer::default() }
}

fn refuse(status: u16, code: &ErrorCode) -> Answer {
    Answer { status, body: failure(code, "no", "r"), ..Answer::default() }
}

/// Returns a date in ISO 8601. The number in the fraction makes each one unique.
fn iso(at_ms: u64, number: u32) -> String {
    let seconds = at_ms / 1000;
    let (hours, minutes, seconds) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("2026-01-01T{hours:02}:{minutes:02}:{seconds:02}.{number:06}Z")
}
