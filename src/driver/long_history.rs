//! A long history: the browser keeps the response, and the session takes it over in parts, so that no task
//! is long and the module's memory holds each message once.

use chat_protocol::{ConversationId, Value};
use chat_session::{Answer, Request, first_part_start, part_end};
use js_sys::{Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use crate::client::json;
use crate::client::transport::Reply;

/// Messages of a part.
const PART: u32 = 400;
/// Messages that are shown ahead of the others: a few more than the log renders at first.
const NEWEST: u32 = 50;

/// A response with more messages than a part.
pub(super) struct LongHistory {
    reply: Reply,
    data: JsValue,
    messages: Array,
    next_after: JsValue,
    conversation: String,
    /// The number of messages that the session has.
    taken: u32,
    /// The id of the last one of them.
    after: String,
}

impl LongHistory {
    /// Takes the response to a request for messages. Returns it if it is not longer than a part, without the
    /// messages that the session has.
    #[inline(never)]
    pub(super) fn of(request: &Request, reply: Reply) -> Result<Self, Reply> {
        let member = |of: &JsValue, name: &str| Reflect::get(of, &name.into()).unwrap_or_default();
        let data = member(&reply.body, "data");
        let Ok(messages) = member(&data, "messages").dyn_into::<Array>() else { return Err(reply) };
        let count = messages.length();
        if count <= PART {
            return Err(reply);
        }
        let taken = match parameter(request, "after") {
            Some(after) => first_part_start(count, |at| id(&messages, at) == *after),
            None => 0,
        };
        if count - taken <= PART {
            set(&data, "messages", &messages.slice(taken, count));
            return Err(reply);
        }
        let next_after = member(&data, "nextAfter");
        let conversation = parameter(request, "conversationId").cloned().unwrap_or_default();
        Ok(Self { reply, data, messages, next_after, conversation, taken, after: String::new() })
    }

    /// Returns whether a request is for the messages after those that the session has.
    pub(super) fn continues(&self, request: &Request) -> bool {
        parameter(request, "conversationId") == Some(&self.conversation)
            && parameter(request, "after") == Some(&self.after)
    }

    /// Returns whether it is the history of this conversation.
    pub(super) fn is_of(&self, conversation: Option<&ConversationId>) -> bool {
        conversation.is_some_and(|id| id.as_str() == self.conversation)
    }

    /// Returns whether the session has none of it yet.
    pub(super) fn is_whole(&self) -> bool {
        self.taken == 0
    }

    /// Returns the response with its newest messages alone.
    #[inline(never)]
    pub(super) fn newest(&self) -> Value {
        let count = self.messages.length();
        self.with(count.saturating_sub(NEWEST), count)
    }

    /// Takes the next part.
    #[inline(never)]
    pub(super) fn take_part(&mut self) -> Answer {
        let (from, count) = (self.taken, self.messages.length());
        self.taken = part_end(from, PART, count, |at| !id(&self.messages, at).is_empty());
        self.after = id(&self.messages, self.taken - 1);
        let has_more = self.taken < count;
        Answer { body: self.with(from, self.taken), has_more, ..self.reply.head() }
    }

    /// Returns the response with these messages alone. The `nextAfter` of the response is that of the last.
    fn with(&self, from: u32, to: u32) -> Value {
        let next_after = if to == self.messages.length() { &self.next_after } else { &JsValue::NULL };
        let members: [(&str, &JsValue); 2] =
            [("messages", &self.messages.slice(from, to)), ("nextAfter", next_after)];
        for (name, value) in members {
            set(&self.data, name, value);
        }
        json::from_js(&self.reply.body)
    }
}

fn set(object: &JsValue, name: &str, value: &JsValue) {
    // `JSON.parse` made the object, so that this does not fail.
    _ = Reflect::set(object, &name.into(), value);
}

/// Returns the id of a message, or an empty text.
fn id(messages: &Array, at: u32) -> String {
    let id = Reflect::get(&messages.get(at), &"id".into());
    id.ok().and_then(|id| id.as_string()).unwrap_or_default()
}

fn parameter<'a>(request: &'a Request, name: &str) -> Option<&'a String> {
    request.query.iter().find(|(given, _)| *given == name).map(|(_, value)| value)
}
