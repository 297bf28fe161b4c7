//! Conversations and their messages.

use chat_protocol::{
    ChatMessage, ConversationId, IdempotencyKey, MessageId, Role, SendMessage, Value, VisitorProfile,
};
use rusqlite::{OptionalExtension, Row, params};
use uuid::Uuid;

use super::{World, json};
use crate::lead::LeadNotes;

#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) id: ConversationId,
    pub(crate) created_at: String,
    pub(crate) visitor: VisitorProfile,
    pub(crate) locale: Option<String>,
    pub(crate) source_page: Option<String>,
    pub(crate) notes: LeadNotes,
    /// Messages of the visitor that no operator has seen.
    pub(crate) unread: u32,
}

#[derive(Debug)]
pub(crate) struct KeptMessage {
    pub(crate) message: ChatMessage,
    pub(crate) key: Option<String>,
}

const COLUMNS: &str = "id, created_at, visitor, locale, source_page, notes, unread";

impl World {
    /// All conversations, oldest first.
    pub(crate) fn conversations(&self) -> rusqlite::Result<Vec<Conversation>> {
        let sql = format!("SELECT {COLUMNS} FROM conversations ORDER BY position");
        self.db.prepare_cached(&sql)?.query_map([], read)?.collect()
    }

    /// All conversations, the one that was written in last first.
    pub(crate) fn latest_conversations(&self) -> rusqlite::Result<Vec<Conversation>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM conversations
             ORDER BY (SELECT max(position) FROM messages WHERE conversation = conversations.id) DESC"
        );
        self.db.prepare_cached(&sql)?.query_map([], read)?.collect()
    }

    pub(crate) fn conversation(&self, id: &ConversationId) -> rusqlite::Result<Option<Conversation>> {
        let sql = format!("SELECT {COLUMNS} FROM conversations WHERE id = ?");
        self.db.prepare_cached(&sql)?.query_row([id.as_str()], read).optional()
    }

    /// The conversation that a message belongs to, begun if it names none; `None` if the one that it names is unknown.
    pub(crate) fn conversation_for(&self, body: &SendMessage) -> rusqlite::Result<Option<Conversation>> {
        match body.conversation_id.as_ref().filter(|id| !id.as_str().is_empty()) {
            Some(id) => self.conversation(id),
            None => self.begin().map(Some),
        }
    }

    fn begin(&self) -> rusqlite::Result<Conversation> {
        let conversation = Conversation {
            id: ConversationId::from(format!("conv_{}", Uuid::new_v4().simple())),
            created_at: self.clock.now(),
            visitor: VisitorProfile::default(),
            locale: None,
            source_page: None,
            notes: LeadNotes::default(),
            unread: 0,
        };
        self.db.execute(
            "INSERT INTO conversations (id, created_at, visitor, notes) VALUES (?, ?, '{}', '{}')",
            [conversation.id.as_str(), &conversation.created_at],
        )?;
        Ok(conversation)
    }

    /// Keeps what has been learned about a conversation.
    pub(crate) fn keep(&self, conversation: &Conversation) -> rusqlite::Result<()> {
        self.db
            .prepare_cached(
                "UPDATE conversations SET visitor = ?, locale = ?, source_page = ?, notes = ?, unread = ?
                 WHERE id = ?",
            )?
            .execute(params![
                Value::from(&conversation.visitor).to_string(),
                conversation.locale,
                conversation.source_page,
                serde_json::to_string(&conversation.notes).unwrap_or_default(),
                conversation.unread,
                conversation.id.as_str(),
            ])?;
        Ok(())
    }

    /// Adds a message at the end of a conversation, and gives it as the contract shows it.
    pub(crate) fn write(
        &self,
        conversation: &ConversationId,
        role: Role,
        content: &str,
        key: Option<&IdempotencyKey>,
    ) -> rusqlite::Result<ChatMessage> {
        let message = new_message(role, content, self.clock.now());
        self.db
            .prepare_cached(
                "INSERT INTO messages (conversation, id, role, content, created_at, key) VALUES (?, ?, ?, ?, ?, ?)",
            )?
            .execute(params![
                conversation.as_str(),
                message.id.as_ref().map(MessageId::as_str),
                message.role.as_str(),
                content,
                message.created_at,
                key.map(IdempotencyKey::as_str),
            ])?;
        Ok(message)
    }

    /// A conversation's messages after the one with this id; all of them when it is not there.
    pub(crate) fn messages(
        &self,
        conversation: &ConversationId,
        after: Option<&str>,
    ) -> rusqlite::Result<Vec<KeptMessage>> {
        self.db
            .prepare_cached(
                "SELECT id, role, content, created_at, key FROM messages
                 WHERE conversation = ?1 AND position > coalesce(
                     (SELECT position FROM messages WHERE conversation = ?1 AND id = ?2), 0)
                 ORDER BY position",
            )?
            .query_map(params![conversation.as_str(), after], read_message)?
            .collect()
    }

    /// Returns the last message of a conversation that its visitor wrote.
    pub(crate) fn last_visitor_message(
        &self,
        conversation: &ConversationId,
    ) -> rusqlite::Result<Option<ChatMessage>> {
        let mut last = self.db.prepare_cached(
            "SELECT id, role, content, created_at, key FROM messages WHERE conversation = ? AND role = ?
             ORDER BY position DESC LIMIT 1",
        )?;
        let last =
            last.query_row([conversation.as_str(), Role::Visitor.as_str()], read_message).optional()?;
        Ok(last.map(|kept| kept.message))
    }

    pub(crate) fn last_message(
        &self,
        conversation: &ConversationId,
    ) -> rusqlite::Result<Option<ChatMessage>> {
        let mut last = self.db.prepare_cached(
            "SELECT id, role, content, created_at, key FROM messages WHERE conversation = ?
             ORDER BY position DESC LIMIT 1",
        )?;
        Ok(last.query_row([conversation.as_str()], read_message).optional()?.map(|kept| kept.message))
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Conversation> {
    let (id, visitor, notes): (String, String, String) = (row.get(0)?, row.get(2)?, row.get(5)?);
    Ok(Conversation {
        id: ConversationId::from(id),
        created_at: row.get(1)?,
        visitor: VisitorProfile::try_from(json(&visitor)).unwrap_or_default(),
        locale: row.get(3)?,
        source_page: row.get(4)?,
        notes: serde_json::from_str(&notes).unwrap_or_default(),
        unread: row.get(6)?,
    })
}

fn read_message(row: &Row<'_>) -> rusqlite::Result<KeptMessage> {
    let (id, role): (String, String) = (row.get(0)?, row.get(1)?);
    let message = ChatMessage {
        id: Some(MessageId::from(id)),
        role: Role::from(role.as_str()),
        content: row.get(2)?,
        created_at: row.get(3)?,
    };
    Ok(KeptMessage { message, key: row.get(4)? })
}

impl Conversation {
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
}

/// A message with an id of its own, that is in no conversation yet.
pub(crate) fn new_message(role: Role, content: &str, created_at: String) -> ChatMessage {
    ChatMessage {
        id: Some(MessageId::from(format!("msg_{}", Uuid::new_v4().simple()))),
        role,
        content: content.to_owned(),
        created_at: Some(created_at),
    }
}
