//! Everything that the sandbox has been told, in memory.

use std::collections::VecDeque;

use chat_protocol::{
    ChatMessage, ConversationId, IdempotencyKey, MessageId, Role, SendMessage, Value, VisitorEvent,
    VisitorProfile,
};
use jiff::Timestamp;
use uuid::Uuid;

use crate::lead::LeadNotes;

/// Events and requests kept; the oldest go first, so that a sandbox may run for weeks.
const KEPT: usize = 10_000;

/// The time of the clock on the wall, ISO 8601 with milliseconds.
pub(crate) fn now() -> String {
    format!("{:.3}", Timestamp::now())
}

#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) conversations: Vec<Conversation>,
    pub(crate) events: VecDeque<ReceivedEvent>,
    pub(crate) requests: VecDeque<LoggedRequest>,
    requests_so_far: u64,
}

#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) id: ConversationId,
    pub(crate) created_at: String,
    pub(crate) visitor: VisitorProfile,
    pub(crate) locale: Option<String>,
    pub(crate) source_page: Option<String>,
    pub(crate) messages: Vec<KeptMessage>,
    pub(crate) notes: LeadNotes,
    /// Messages of the visitor that no operator has seen.
    pub(crate) unread: u32,
}

#[derive(Debug)]
pub(crate) struct KeptMessage {
    pub(crate) message: ChatMessage,
    pub(crate) key: Option<IdempotencyKey>,
}

#[derive(Debug)]
pub(crate) struct ReceivedEvent {
    pub(crate) event: VisitorEvent,
    pub(crate) received_at: String,
    pub(crate) key: Option<IdempotencyKey>,
}

/// A request to the connector API. Without a status its answer is still to come, or its connection was broken.
#[derive(Debug)]
pub(crate) struct LoggedRequest {
    number: u64,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) key: Option<String>,
    pub(crate) status: Option<u16>,
}

impl World {
    pub(crate) fn conversation(&mut self, id: &ConversationId) -> Option<&mut Conversation> {
        self.conversations.iter_mut().find(|conversation| conversation.id == *id)
    }

    /// The conversation that a message belongs to, begun if it names none; `None` if the one that it names is unknown.
    pub(crate) fn conversation_for(&mut self, body: &SendMessage) -> Option<&mut Conversation> {
        let id = match body.conversation_id.as_ref().filter(|id| !id.as_str().is_empty()) {
            Some(id) => id.clone(),
            None => self.begin(),
        };
        self.conversation(&id)
    }

    fn begin(&mut self) -> ConversationId {
        let id = ConversationId::from(format!("conv_{}", Uuid::new_v4().simple()));
        self.conversations.push(Conversation {
            id: id.clone(),
            created_at: now(),
            visitor: VisitorProfile::default(),
            locale: None,
            source_page: None,
            messages: Vec::new(),
            notes: LeadNotes::default(),
            unread: 0,
        });
        id
    }

    pub(crate) fn keep_event(&mut self, event: VisitorEvent, key: Option<IdempotencyKey>) {
        if self.events.len() == KEPT {
            self.events.pop_front();
        }
        self.events.push_back(ReceivedEvent { event, received_at: now(), key });
    }

    /// Writes a request down; the number is for [`Self::answered`].
    pub(crate) fn arrived(&mut self, method: String, path: String, key: Option<String>) -> u64 {
        if self.requests.len() == KEPT {
            self.requests.pop_front();
        }
        self.requests_so_far += 1;
        let number = self.requests_so_far;
        self.requests.push_back(LoggedRequest { number, method, path, key, status: None });
        number
    }

    pub(crate) fn answered(&mut self, number: u64, status: u16) {
        if let Some(request) = self.requests.iter_mut().rev().find(|request| request.number == number) {
            request.status = Some(status);
        }
    }

    /// The events of a conversation's visitor, oldest first: theirs by id, or by `eventData.conversationId` (6).
    pub(crate) fn events_of<'a>(
        &'a self,
        conversation: &'a Conversation,
    ) -> impl Iterator<Item = &'a ReceivedEvent> {
        self.events.iter().filter(|received| {
            let named = received.event.event_data.get("conversationId").and_then(Value::as_text);
            named == Some(conversation.id.as_str())
                || (received.event.visitor_id.is_some()
                    && received.event.visitor_id == conversation.visitor.visitor_id)
        })
    }
}

impl Conversation {
    /// Adds a message at the end, and gives it as the contract shows it.
    pub(crate) fn write(&mut self, role: Role, content: &str, key: Option<IdempotencyKey>) -> ChatMessage {
        let message = new_message(role, content);
        self.messages.push(KeptMessage { message: message.clone(), key });
        message
    }

    /// Takes over what a message tells about its sender; what it does not tell stays.
    pub(crate) fn learn(&mut self, body: &SendMessage) {
        let told = &body.visitor;
        let known = &mut self.visitor;
        for (known, told) in [
            (&mut known.name, &told.name),
            (&mut known.email, &told.email),
            (&mut known.phone, &told.phone),
            (&mut known.company, &told.company),
            (&mut known.wechat, &told.wechat),
            (&mut known.whatsapp, &told.whatsapp),
            (&mut known.country, &told.country),
            (&mut self.locale, &body.locale),
            (&mut self.source_page, &body.source_page),
        ] {
            if told.is_some() {
                known.clone_from(told);
            }
        }
        if told.visitor_id.is_some() {
            known.visitor_id.clone_from(&told.visitor_id);
        }
    }

    /// The messages after the one with this id; all of them when it is not there.
    pub(crate) fn messages_after(&self, after: Option<&str>) -> &[KeptMessage] {
        let is_it = |kept: &KeptMessage| kept.message.id.as_ref().map(MessageId::as_str) == after;
        let start = self.messages.iter().position(is_it).map_or(0, |index| index + 1);
        &self.messages[start..]
    }
}

/// A message with an id of its own, that is in no conversation yet.
pub(crate) fn new_message(role: Role, content: &str) -> ChatMessage {
    ChatMessage {
        id: Some(MessageId::from(format!("msg_{}", Uuid::new_v4().simple()))),
        role,
        content: content.to_owned(),
        created_at: Some(now()),
    }
}
