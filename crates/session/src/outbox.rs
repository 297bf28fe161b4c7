//! The visitor's messages on their way to the service: one at a time, each at most once.

use chat_protocol::{IdempotencyKey, SendMessage, Value, VisitorId, decimal, limits};

use crate::random::Random;
use crate::stored;
use crate::timeline::{Created, Delivery, Entry, EntryKey};

/// After so many attempts in a row a message is shown as failed.
const MAX_ATTEMPTS: u64 = 6;
/// What waited longer than a day is not sent behind the visitor's back.
const MAX_QUEUE_AGE_MS: u64 = 24 * 60 * 60 * 1000;

/// Why a text cannot be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is nothing in it but white space.
    Empty,
    /// It has more characters than the contract lets through (section 8).
    TooLong,
}

/// Whether a text can be sent, before anything is.
pub fn check_message(text: &str) -> Result<(), Refusal> {
    if text.trim().is_empty() {
        Err(Refusal::Empty)
    } else if limits::message_length(text) > *limits::MESSAGE_LENGTH.end() {
        Err(Refusal::TooLong)
    } else {
        Ok(())
    }
}

/// What every attempt of a message sends, to the byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frozen {
    pub(crate) key: IdempotencyKey,
    pub(crate) body: String,
}

/// A message that the service has not confirmed.
#[derive(Debug)]
pub(crate) struct PendingMessage {
    /// Identifies the message in storage, and in its idempotency key.
    pub(crate) id: String,
    pub(crate) entry: EntryKey,
    pub(crate) text: String,
    pub(crate) page_path: String,
    pub(crate) written_ms: u64,
    /// None until the first attempt: the conversation that it belongs to may not have begun.
    pub(crate) frozen: Option<Frozen>,
    /// How often it had to become another request, because its conversation was gone.
    pub(crate) round: u64,
    pub(crate) attempts: u64,
    /// Given up until the visitor asks for another try.
    pub(crate) failed: bool,
    /// No attempt before this time.
    pub(crate) not_before_ms: u64,
}

impl Frozen {
    /// Whether the attempts belong to a conversation, rather than begin one.
    pub(crate) fn names_conversation(&self) -> bool {
        // The one form that `SendMessage` is written in.
        self.body.starts_with(r#"{"conversationId":"#)
    }
}

impl PendingMessage {
    pub(crate) fn new(id: String, entry: EntryKey, text: String, page_path: String, written_ms: u64) -> Self {
        Self {
            id,
            entry,
            text,
            page_path,
            written_ms,
            frozen: None,
            round: 0,
            attempts: 0,
            failed: false,
            not_before_ms: 0,
        }
    }

    /// Makes a pending message again from an entry that is not delivered.
    pub(crate) fn of_entry(entry: &Entry) -> Option<Self> {
        let written_ms = match entry.created {
            Some(Created::Local(ms)) => ms,
            _ => 0,
        };
        let name = String::from(&**entry.local_id.as_ref()?);
        let mut pending = Self::new(name, entry.key, String::from(&*entry.text), String::new(), written_ms);
        pending.failed = entry.delivery == Delivery::Failed;
        Some(pending)
    }

    /// Body and key of this message's attempts, the same on every call.
    pub(crate) fn freeze(
        &mut self,
        visitor: &VisitorId,
        compose: impl FnOnce(&Self) -> SendMessage,
    ) -> &Frozen {
        let frozen = self.frozen.take().unwrap_or_else(|| Frozen {
            key: key(visitor, &self.id, self.round),
            body: Value::from(&compose(self)).to_json(),
        });
        self.frozen.insert(frozen)
    }

    /// Whether there were as many attempts as there may be.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.attempts >= MAX_ATTEMPTS
    }

    /// Whether the service may have it without our knowing.
    pub(crate) fn is_attempted(&self) -> bool {
        self.frozen.is_some()
    }

    /// The visitor wants it tried again: the same request, with its attempts before it.
    pub(crate) fn renew(&mut self, now_ms: u64) {
        self.failed = false;
        self.attempts = 0;
        self.not_before_ms = now_ms;
        self.written_ms = now_ms;
    }

    /// It becomes another request: a conversation that is gone takes no message.
    pub(crate) fn start_over(&mut self, now_ms: u64) {
        self.frozen = None;
        self.round += 1;
        self.attempts = 0;
        self.not_before_ms = now_ms;
    }

    pub(crate) fn is_stale(&self, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.written_ms) > MAX_QUEUE_AGE_MS
    }

    /// The message as it is stored.
    pub(crate) fn to_stored(&self, visitor: &VisitorId) -> Value {
        let frozen = self.frozen.as_ref();
        Value::object([
            ("v", stored::VERSION.into()),
            ("visitorId", visitor.into()),
            ("text", self.text.as_str().into()),
            ("path", self.page_path.as_str().into()),
            ("written", stored::to_value(self.written_ms)),
            ("round", stored::to_value(self.round)),
            ("attempts", stored::to_value(self.attempts)),
            ("notBefore", stored::to_value(self.not_before_ms)),
            ("key", frozen.map(|frozen| frozen.key.as_str()).into()),
            ("body", frozen.map(|frozen| frozen.body.as_str()).into()),
            ("failed", self.failed.into()),
        ])
    }

    /// Reads a stored message, without an entry yet. Returns `None` for one that cannot be used.
    pub(crate) fn from_stored(name: &str, value: &Value) -> Option<Self> {
        let field = |field| value.get(field).and_then(Value::as_text);
        if !is_valid_id(name) {
            return None;
        }
        let text = field("text").filter(|text| check_message(text).is_ok())?;
        let path = field("path").unwrap_or_default().to_owned();
        let written_ms = stored::number(value, "written");
        let mut pending = Self::new(name.to_owned(), EntryKey::default(), text.to_owned(), path, written_ms);
        if let (Some(key), Some(body)) = (field("key"), field("body")) {
            pending.frozen = Some(Frozen { key: IdempotencyKey::new(key).ok()?, body: body.to_owned() });
        }
        pending.round = stored::number(value, "round");
        pending.attempts = stored::number(value, "attempts");
        pending.not_before_ms = stored::number(value, "notBefore");
        pending.failed = value.get("failed") == Some(&Value::Bool(true));
        Some(pending)
    }
}

/// `chat-<visitor-id>-<message-id>` (4.1). A visitor id that the site chose may hold anything: what a header cannot
/// carry is left out, and it is cut so that the whole stays within the limit.
///
/// It depends on nothing but its arguments: where storage lost a pending message and kept its entry, the key is the same.
fn key(visitor: &VisitorId, name: &str, round: u64) -> IdempotencyKey {
    let visitor: String = visitor.as_str().chars().filter(char::is_ascii_graphic).take(100).collect();
    let round = if round > 0 { decimal(-round.cast_signed()) } else { String::new() };
    IdempotencyKey::new(["chat-", visitor.as_str(), "-", name, &round].concat())
        .expect("visible ASCII of 8 to 160 characters")
}

/// Returns whether a message can have this id: it becomes part of a key, which goes into a header.
pub(crate) fn is_valid_id(name: &str) -> bool {
    (1..=32).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns an id for a new message.
pub(crate) fn new_id(random: &mut Random) -> String {
    ["m", &random.hex()].concat()
}

/// The pending messages, in the order in which the visitor wrote them or asked for another try.
pub(crate) type Outbox = Vec<PendingMessage>;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::Timeline;

    fn pending(name: &str) -> PendingMessage {
        PendingMessage::new(
            name.into(),
            Timeline::default().write(name, "hi", 0, Delivery::Waiting),
            "hi".into(),
            "/".into(),
            5,
        )
    }

    fn body(pending: &PendingMessage, locale: &str) -> SendMessage {
        SendMessage {
            conversation_id: None,
            message: pending.text.clone(),
            locale: Some(locale.into()),
            source_page: Some(pending.page_path.clone()),
            visitor: chat_protocol::VisitorProfile::default(),
        }
    }

    #[test]
    fn what_an_attempt_sends_never_changes_once_it_is_frozen() {
        let mut pending = pending("m1");
        let visitor = VisitorId::from("v1");
        let first = pending.freeze(&visitor, |pending| body(pending, "en")).clone();
        pending.page_path = "/elsewhere".into();
        assert_eq!(pending.freeze(&visitor, |pending| body(pending, "de")), &first);
        assert_eq!(first.key.as_str(), "chat-v1-m1");
    }

    #[test]
    fn a_letter_comes_back_from_storage_with_the_same_body_and_key() {
        let mut pending = pending("m1");
        pending.freeze(&VisitorId::from("v1"), |pending| body(pending, "en"));
        let stored: Value =
            serde_json::from_str(&pending.to_stored(&VisitorId::from("v1")).to_string()).expect("JSON");
        let back = PendingMessage::from_stored("m1", &stored).expect("usable");
        assert_eq!((back.frozen, back.text, back.written_ms), (pending.frozen, pending.text, 5));
    }

    #[test]
    fn a_name_that_no_key_can_carry_is_no_letter() {
        let stored = pending("m1").to_stored(&VisitorId::from("v1"));
        let longest = "m".repeat(32);
        for (name, usable) in [("m", true), (&*longest, true), (&*(longest.clone() + "m"), false)] {
            assert_eq!(PendingMessage::from_stored(name, &stored).is_some(), usable, "{name}");
        }
        for name in ["", "m 1", "m\n", "é"] {
            assert!(PendingMessage::from_stored(name, &stored).is_none(), "{name:?}");
        }
    }

    #[test]
    fn a_letter_is_stale_after_a_day_and_exhausted_after_six_attempts() {
        let mut pending = pending("m1");
        assert!(!pending.is_stale(5 + MAX_QUEUE_AGE_MS) && pending.is_stale(6 + MAX_QUEUE_AGE_MS));
        pending.attempts = 5;
        assert!(!pending.is_exhausted());
        pending.attempts = 6;
        assert!(pending.is_exhausted());
    }

    #[test]
    fn stored_rubbish_is_no_letter() {
        for text in [
            "null",
            "[]",
            "{}",
            r#"{"text":""}"#,
            r#"{"text":7}"#,
            r#"{"text":"a","key":"short","body":"{}"}"#,
        ] {
            let stored: Value = serde_json::from_str(text).expect("JSON");
            assert!(PendingMessage::from_stored("m1", &stored).is_none(), "{text}");
        }
    }

    #[test]
    fn any_visitor_id_makes_a_key_that_the_contract_takes() {
        for visitor in ["", "ключ", "a b\r\nX: y", &"v".repeat(500)] {
            let key = key(&VisitorId::from(visitor), &new_id(&mut Random::new(1)), 7);
            assert!(limits::KEY_LENGTH.contains(&key.as_str().len()));
        }
        let table = &crate::clients_table()["idempotencyKey"];
        let longest = table["maxVisitorIdLength"].as_u64().expect("a number");
        for (length, kept) in [(longest, longest), (longest + 1, longest)] {
            let visitor = "v".repeat(usize::try_from(length).expect("small"));
            let key = key(&VisitorId::from(&*visitor), "m1", 0);
            let expected = format!("chat-{}-m1", "v".repeat(usize::try_from(kept).expect("small")));
            assert_eq!(key.as_str(), expected);
        }
    }

    #[test]
    fn a_key_says_how_often_its_message_became_another_request() {
        let visitor = VisitorId::from("v1");
        assert_eq!(key(&visitor, "m1", 0).as_str(), "chat-v1-m1");
        assert_eq!(key(&visitor, "m1", 2).as_str(), "chat-v1-m1-2");
    }

    #[test]
    fn a_text_is_checked_as_the_strictest_service_would() {
        assert_eq!(check_message(" \n\u{a0}"), Err(Refusal::Empty));
        assert_eq!(check_message(&"a".repeat(4000)), Ok(()));
        assert_eq!(check_message(&"a".repeat(4001)), Err(Refusal::TooLong));
        assert_eq!(check_message(&"\u{1F600}".repeat(2001)), Err(Refusal::TooLong));
    }
}
