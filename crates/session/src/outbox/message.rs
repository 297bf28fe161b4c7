//! One pending message, and the state of its delivery.

use chat_protocol::{ConversationId, IdempotencyKey, SendMessage, Value, VisitorId, decimal};

use super::check_message;
use crate::random::Random;
use crate::stored;
use crate::timeline::{Created, Delivery, Entry, EntryKey};

/// Maximum send attempts in a row before a message is marked as failed.
pub(crate) const MAX_ATTEMPTS: u64 = 6;
/// Messages older than 24 hours are not sent automatically. Milliseconds.
pub(super) const MAX_QUEUE_AGE_MS: u64 = 24 * 60 * 60 * 1000;

/// The request of a message. Every attempt sends the same key and body, to the byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SendRequest {
    pub(crate) key: IdempotencyKey,
    pub(crate) body: String,
    /// The number of attempts since the visitor's last retry.
    pub(super) attempts: u64,
}

/// The state of a pending message.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DeliveryState {
    /// Waits for its turn, or for the network. Without a request until the first attempt: the conversation
    /// that it belongs to may not have begun.
    Queued(Option<SendRequest>),
    /// An attempt is in flight since this time, or at no time once the conversation was polled after it.
    /// `is_first` is whether it is the first of all, before any retry.
    InFlight { request: SendRequest, unconfirmed_since_ms: Option<u64>, is_first: bool },
    /// The last attempt failed, or its tab lost the lead. No attempt before this time.
    BackingOff { request: SendRequest, until_ms: u64 },
    /// The service has the key with another body: polling shows whether the message arrived.
    InDoubt(SendRequest),
    /// Marked as failed until the visitor retries it. Without a request, storage may have lost it.
    Failed(Option<SendRequest>),
    /// Marked as failed without an attempt, because it waited for too long.
    Expired,
}

impl DeliveryState {
    pub(super) fn request(&self) -> Option<&SendRequest> {
        match self {
            Self::Queued(request) | Self::Failed(request) => request.as_ref(),
            Self::Expired => None,
            Self::InFlight { request, .. } | Self::BackingOff { request, .. } | Self::InDoubt(request) => {
                Some(request)
            }
        }
    }

    fn request_mut(&mut self) -> Option<&mut SendRequest> {
        match self {
            Self::Queued(request) | Self::Failed(request) => request.as_mut(),
            Self::Expired => None,
            Self::InFlight { request, .. } | Self::BackingOff { request, .. } | Self::InDoubt(request) => {
                Some(request)
            }
        }
    }

    /// Takes the request out, to move it into another state.
    pub(super) fn take_request(&mut self) -> Option<SendRequest> {
        match std::mem::replace(self, Self::Queued(None)) {
            Self::Queued(request) | Self::Failed(request) => request,
            Self::Expired => None,
            Self::InFlight { request, .. } | Self::BackingOff { request, .. } | Self::InDoubt(request) => {
                Some(request)
            }
        }
    }

    /// Returns the delivery as the visitor sees it.
    pub(super) fn delivery(&self) -> Delivery {
        match self {
            Self::Queued(_) => Delivery::Waiting,
            Self::InFlight { .. } | Self::BackingOff { .. } | Self::InDoubt(_) => Delivery::Sending,
            Self::Failed(_) | Self::Expired => Delivery::Failed,
        }
    }
}

/// A message that the service has not confirmed.
#[derive(Debug)]
pub(crate) struct PendingMessage {
    /// Identifies the message in storage, and in its idempotency key.
    pub(super) id: String,
    pub(super) entry: EntryKey,
    pub(super) text: String,
    pub(super) page_path: String,
    pub(super) written_ms: u64,
    /// The number of times that it became another request, because its conversation was gone.
    round: u64,
    pub(super) state: DeliveryState,
}

impl PendingMessage {
    pub(crate) fn new(id: String, entry: EntryKey, text: String, page_path: String, written_ms: u64) -> Self {
        Self { id, entry, text, page_path, written_ms, round: 0, state: DeliveryState::Queued(None) }
    }

    /// Creates a pending message again from an entry that is not delivered.
    pub(crate) fn of_entry(entry: &Entry) -> Option<Self> {
        let written_ms = match entry.created {
            Some(Created::Local(ms)) => ms,
            _ => 0,
        };
        let id = String::from(&**entry.local_id.as_ref()?);
        let mut pending = Self::new(id, entry.key, String::from(&*entry.text), String::new(), written_ms);
        if entry.delivery == Delivery::Failed {
            pending.apply_remote_failure();
        }
        Some(pending)
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Returns the entry that shows the message.
    pub(crate) fn entry(&self) -> EntryKey {
        self.entry
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn page_path(&self) -> &str {
        &self.page_path
    }

    pub(crate) fn written_ms(&self) -> u64 {
        self.written_ms
    }

    /// Returns the request of the message, if it has one.
    pub(crate) fn into_request(mut self) -> Option<SendRequest> {
        self.state.take_request()
    }

    /// Returns whether only the visitor can start the next attempt.
    pub(crate) fn is_failed(&self) -> bool {
        self.state.delivery() == Delivery::Failed
    }

    /// Returns whether the message has a request.
    pub(crate) fn is_attempted(&self) -> bool {
        self.state.request().is_some()
    }

    /// Returns whether the service may have the message, even if storage has lost its request.
    pub(super) fn may_have_arrived(&self) -> bool {
        !matches!(self.state, DeliveryState::Queued(None) | DeliveryState::Expired)
    }

    pub(super) fn is_in_flight(&self) -> bool {
        matches!(self.state, DeliveryState::InFlight { .. })
    }

    /// Returns whether other messages wait for the outcome of this one.
    pub(super) fn blocks_others(&self) -> bool {
        matches!(self.state, DeliveryState::InFlight { .. } | DeliveryState::InDoubt(_))
    }

    pub(super) fn attempts(&self) -> u64 {
        self.state.request().map_or(0, |request| request.attempts)
    }

    /// Returns whether the maximum number of attempts was made.
    pub(super) fn is_exhausted(&self) -> bool {
        self.attempts() >= MAX_ATTEMPTS
    }

    pub(crate) fn is_stale(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.written_ms) > MAX_QUEUE_AGE_MS
    }

    /// Returns the time before which no attempt is made; zero if there is none.
    pub(super) fn not_before_ms(&self) -> u64 {
        match self.state {
            DeliveryState::BackingOff { until_ms, .. } => until_ms,
            _ => 0,
        }
    }

    /// Begins an attempt. Freezes key and body if it is the first one.
    pub(super) fn start(
        &mut self,
        now_ms: u64,
        visitor: &VisitorId,
        compose: impl FnOnce(&Self) -> SendMessage,
    ) -> SendRequest {
        let is_first = !self.is_attempted();
        let mut request = self.state.take_request().unwrap_or_else(|| SendRequest {
            key: key(visitor, &self.id, self.round),
            body: Value::from(&compose(self)).to_json(),
            attempts: 0,
        });
        request.attempts += 1;
        let started = request.clone();
        self.state = DeliveryState::InFlight { request, unconfirmed_since_ms: Some(now_ms), is_first };
        started
    }

    /// Waits until this time for the next attempt.
    pub(super) fn back_off(&mut self, until_ms: u64) {
        if let Some(request) = self.state.take_request() {
            self.state = DeliveryState::BackingOff { request, until_ms };
        }
    }

    /// Waits for its turn, with the request that it has.
    pub(super) fn queue(&mut self) {
        self.state = DeliveryState::Queued(self.state.take_request());
    }

    pub(super) fn doubt(&mut self) {
        if let Some(request) = self.state.take_request() {
            self.state = DeliveryState::InDoubt(request);
        }
    }

    /// Marks the message as failed. Without an attempt, it has expired.
    pub(crate) fn fail(&mut self) {
        if matches!(self.state, DeliveryState::Queued(None)) {
            self.state = DeliveryState::Expired;
        }
        self.apply_remote_failure();
    }

    /// Marks the message as failed, as another tab or an earlier page did. That page may have attempted it.
    pub(super) fn apply_remote_failure(&mut self) {
        if !matches!(self.state, DeliveryState::Expired) {
            self.state = DeliveryState::Failed(self.state.take_request());
        }
    }

    /// Begins to count the attempts again.
    pub(super) fn reset_attempts(&mut self) {
        if let Some(request) = self.state.request_mut() {
            request.attempts = 0;
        }
    }

    /// Becomes another request: the conversation that the one before names is gone.
    pub(super) fn start_over(&mut self) {
        self.state = DeliveryState::Queued(None);
        self.round += 1;
    }

    /// Returns the message as it is stored.
    pub(crate) fn to_stored(&self, visitor: &VisitorId) -> Value {
        let request = self.state.request();
        Value::object([
            ("v", stored::VERSION.into()),
            ("visitorId", visitor.into()),
            ("text", self.text.as_str().into()),
            ("path", self.page_path.as_str().into()),
            ("written", stored::to_value(self.written_ms)),
            ("round", stored::to_value(self.round)),
            ("attempts", stored::to_value(self.attempts())),
            ("notBefore", stored::to_value(self.not_before_ms())),
            ("key", request.map(|request| request.key.as_str()).into()),
            ("body", request.map(|request| request.body.as_str()).into()),
            ("failed", self.is_failed().into()),
            ("expired", matches!(self.state, DeliveryState::Expired).into()),
        ])
    }

    /// Reads a stored message, without an entry yet. Returns `None` if it cannot be used.
    pub(crate) fn from_stored(id: &str, value: &Value) -> Option<Self> {
        let field = |field| value.get(field).and_then(Value::as_text);
        if !is_valid_id(id) {
            return None;
        }
        let text = field("text").filter(|text| check_message(text).is_ok())?;
        let path = field("path").unwrap_or_default().to_owned();
        let written_ms = stored::number(value, "written");
        let mut pending = Self::new(id.to_owned(), EntryKey::default(), text.to_owned(), path, written_ms);
        pending.round = stored::number(value, "round");
        if let (Some(key), Some(body)) = (field("key"), field("body")) {
            let key = IdempotencyKey::new(key).ok()?;
            let attempts = stored::number(value, "attempts");
            let request = SendRequest { key, body: body.to_owned(), attempts };
            pending.state =
                DeliveryState::BackingOff { request, until_ms: stored::number(value, "notBefore") };
        }
        let is = |field| value.get(field) == Some(&Value::Bool(true));
        if is("expired") {
            pending.fail();
        } else if is("failed") {
            pending.apply_remote_failure();
        }
        Some(pending)
    }
}

impl SendRequest {
    /// Returns whether the request belongs to a conversation. The others begin one.
    pub(super) fn names_conversation(&self) -> bool {
        // `SendMessage` has one written form.
        self.body.starts_with(CONVERSATION_FIELD)
    }

    /// Returns whether the request names this conversation.
    pub(super) fn names(&self, conversation: &ConversationId) -> bool {
        let id = self.body.strip_prefix(CONVERSATION_FIELD);
        id.is_some_and(|id| id.starts_with(&Value::from(conversation).to_json()))
    }
}

/// The beginning of a request that names its conversation.
const CONVERSATION_FIELD: &str = r#"{"conversationId":"#;

/// Returns `chat-<visitor-id>-<message-id>` (4.1). A visitor id that the site chose may hold anything:
/// characters that a header cannot carry are left out, and the id is cut so that the key stays within the
/// limit.
///
/// The key depends on the arguments only: if storage lost a pending message but not its entry, the key stays
/// the same.
fn key(visitor: &VisitorId, id: &str, round: u64) -> IdempotencyKey {
    let visitor: String = visitor.as_str().chars().filter(char::is_ascii_graphic).take(100).collect();
    let round = if round > 0 { decimal(-round.cast_signed()) } else { String::new() };
    IdempotencyKey::new(["chat-", visitor.as_str(), "-", id, &round].concat())
        .expect("visible ASCII of 8 to 160 characters")
}

/// Returns whether a message can have this id: it becomes part of a key, which goes into a header.
pub(crate) fn is_valid_id(id: &str) -> bool {
    (1..=32).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns an id for a new message.
pub(crate) fn new_id(random: &mut Random) -> String {
    ["m", &random.hex()].concat()
}

#[cfg(test)]
mod message_tests;
