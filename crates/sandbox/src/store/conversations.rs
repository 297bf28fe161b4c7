//! Conversations and their messages.

use chat_protocol::{
    ChatMessage, ConversationId, IdempotencyKey, MessageId, Role, SendMessage, Value, VisitorId,
    VisitorProfile,
};
use rusqlite::{OptionalExtension, Row, params};
use uuid::Uuid;

use super::{Store, json};
use crate::lead::LeadNotes;
use crate::text::truncate_bytes;

#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) id: ConversationId,
    pub(crate) created_at: String,
    pub(crate) visitor: VisitorProfile,
    pub(crate) locale: Option<String>,
    pub(crate) source_page: Option<String>,
    pub(crate) notes: LeadNotes,
    /// The number of the visitor's messages that no operator has read.
    pub(crate) unread: u32,
}

#[derive(Debug)]
pub(crate) struct StoredMessage {
    pub(crate) message: ChatMessage,
    pub(crate) key: Option<String>,
}

/// Maximum messages of one read.
const MAX_READ: u32 = 500;
/// Maximum bytes of the messages of one read: proxies accept responses of up to 1 MiB.
const MAX_READ_BYTES: usize = 512 * 1024;

/// Maximum characters of a profile field; the rest is cut off.
const MAX_PROFILE_FIELD_LENGTH: usize = 500;

const COLUMNS: &str = "id, created_at, visitor, locale, source_page, notes, unread";

impl Store {
    /// Returns at most `limit` conversations after the one with the id `after`, oldest first, or from the
    /// beginning if there is no such conversation.
    pub(crate) fn conversations(
        &self,
        after: Option<&str>,
        limit: u32,
    ) -> rusqlite::Result<Vec<Conversation>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM conversations
             WHERE position > coalesce((SELECT position FROM conversations WHERE id = ?), 0)
             ORDER BY position LIMIT ?"
        );
        self.db.prepare_cached(&sql)?.query_map(params![after, limit], read)?.collect()
    }

    /// Returns the id of the newest conversation.
    pub(crate) fn last_conversation_id(&self) -> rusqlite::Result<Option<ConversationId>> {
        let mut last =
            self.db.prepare_cached("SELECT id FROM conversations ORDER BY position DESC LIMIT 1")?;
        last.query_row([], |row| Ok(ConversationId::from(row.get::<_, String>(0)?))).optional()
    }

    /// Returns at most `limit` conversations: first those whose visitor waits for a person, then by the
    /// newest message.
    pub(crate) fn latest_conversations(&self, limit: u32) -> rusqlite::Result<Vec<Conversation>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM conversations ORDER BY wants_person DESC, last_message DESC LIMIT ?"
        );
        self.db.prepare_cached(&sql)?.query_map([limit], read)?.collect()
    }

    pub(crate) fn conversation(&self, id: &ConversationId) -> rusqlite::Result<Option<Conversation>> {
        let sql = format!("SELECT {COLUMNS} FROM conversations WHERE id = ?");
        self.db.prepare_cached(&sql)?.query_row([id.as_str()], read).optional()
    }

    /// Returns the conversation of a message, which is created if the message names none; `None` if the named
    /// one is unknown.
    pub(crate) fn conversation_for(&self, body: &SendMessage) -> rusqlite::Result<Option<Conversation>> {
        match target_conversation(body) {
            Some(id) => self.conversation(id),
            None => self.create_conversation().map(Some),
        }
    }

    fn create_conversation(&self) -> rusqlite::Result<Conversation> {
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

    /// Stores the changed fields of a conversation.
    pub(crate) fn update_conversation(&self, conversation: &Conversation) -> rusqlite::Result<()> {
        self.db
            .prepare_cached(
                "UPDATE conversations SET visitor = ?, locale = ?, source_page = ?, notes = ?, unread = ?,
                     wants_person = ?
                 WHERE id = ?",
            )?
            .execute(params![
                Value::from(&conversation.visitor).to_string(),
                conversation.locale,
                conversation.source_page,
                serde_json::to_string(&conversation.notes).unwrap_or_default(),
                conversation.unread,
                conversation.notes.wants_person(),
                conversation.id.as_str(),
            ])?;
        Ok(())
    }

    /// Appends a message to a conversation, and returns it.
    pub(crate) fn add_message(
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
        self.db
            .prepare_cached("UPDATE conversations SET last_message = ? WHERE id = ?")?
            .execute(params![self.db.last_insert_rowid(), conversation.as_str()])?;
        Ok(message)
    }

    /// Returns the messages after the one with the id `after`, or from the beginning if there is no such
    /// message: at most [`MAX_READ`] messages and [`MAX_READ_BYTES`]. The next read continues after the last
    /// of them.
    pub(crate) fn messages(
        &self,
        conversation: &ConversationId,
        after: Option<&str>,
    ) -> rusqlite::Result<Vec<StoredMessage>> {
        let mut next = self.db.prepare_cached(
            "SELECT id, role, content, created_at, key FROM messages
             WHERE conversation = ?1 AND position > coalesce(
                 (SELECT position FROM messages WHERE conversation = ?1 AND id = ?2), 0)
             ORDER BY position LIMIT ?3",
        )?;
        let mut bytes = 0;
        let mut messages = Vec::new();
        for message in next.query_map(params![conversation.as_str(), after, MAX_READ], read_message)? {
            let stored = message?;
            bytes += Value::from(&stored.message).to_json().len();
            if bytes > MAX_READ_BYTES && !messages.is_empty() {
                break;
            }
            messages.push(stored);
        }
        Ok(messages)
    }

    /// Returns the last messages of a conversation, oldest first.
    pub(crate) fn last_messages(
        &self,
        conversation: &ConversationId,
        limit: u32,
    ) -> rusqlite::Result<Vec<StoredMessage>> {
        let mut last = self.db.prepare_cached(
            "SELECT id, role, content, created_at, key FROM messages WHERE conversation = ?
             ORDER BY position DESC LIMIT ?",
        )?;
        let mut messages: Vec<StoredMessage> =
            last.query_map(params![conversation.as_str(), limit], read_message)?.collect::<Result<_, _>>()?;
        messages.reverse();
        Ok(messages)
    }

    /// Returns the role of the last message that the visitor did not write.
    pub(crate) fn last_responder(&self, conversation: &ConversationId) -> rusqlite::Result<Option<Role>> {
        let mut last = self.db.prepare_cached(
            "SELECT role FROM messages WHERE conversation = ? AND role != ? ORDER BY position DESC LIMIT 1",
        )?;
        let role = |row: &Row<'_>| Ok(Role::from(row.get::<_, String>(0)?.as_str()));
        last.query_row([conversation.as_str(), Role::Visitor.as_str()], role).optional()
    }

    /// Returns the visitor's last message.
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
        Ok(last.map(|stored| stored.message))
    }

    pub(crate) fn last_message(
        &self,
        conversation: &ConversationId,
    ) -> rusqlite::Result<Option<ChatMessage>> {
        let mut last = self.db.prepare_cached(
            "SELECT id, role, content, created_at, key FROM messages WHERE conversation = ?
             ORDER BY position DESC LIMIT 1",
        )?;
        Ok(last.query_row([conversation.as_str()], read_message).optional()?.map(|stored| stored.message))
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

fn read_message(row: &Row<'_>) -> rusqlite::Result<StoredMessage> {
    let (id, role): (String, String) = (row.get(0)?, row.get(1)?);
    let message = ChatMessage {
        id: Some(MessageId::from(id)),
        role: Role::from(role.as_str()),
        content: row.get(2)?,
        created_at: row.get(3)?,
    };
    Ok(StoredMessage { message, key: row.get(4)? })
}

impl Conversation {
    /// Merges the profile of a message into the stored one. Missing fields keep their value.
    pub(crate) fn merge_profile(&mut self, body: &SendMessage) {
        let sent = &body.visitor;
        let known = &mut self.visitor;
        for (known, sent) in [
            (&mut known.name, &sent.name),
            (&mut known.email, &sent.email),
            (&mut known.phone, &sent.phone),
            (&mut known.company, &sent.company),
            (&mut known.wechat, &sent.wechat),
            (&mut known.whatsapp, &sent.whatsapp),
            (&mut known.country, &sent.country),
            (&mut self.locale, &body.locale),
            (&mut self.source_page, &body.source_page),
        ] {
            if let Some(sent) = sent {
                *known = Some(sent.chars().take(MAX_PROFILE_FIELD_LENGTH).collect());
            }
        }
        if let Some(id) = &sent.visitor_id {
            known.visitor_id = Some(VisitorId::from(truncated_visitor_id(id)));
        }
    }
}

/// Returns the conversation that a message names, if any.
pub(crate) fn target_conversation(body: &SendMessage) -> Option<&ConversationId> {
    body.conversation_id.as_ref().filter(|id| !id.as_str().is_empty())
}

/// Returns the part of a visitor id that is stored and compared.
pub(super) fn truncated_visitor_id(id: &VisitorId) -> &str {
    truncate_bytes(id.as_str(), MAX_PROFILE_FIELD_LENGTH)
}

/// Returns a message with a new id, which is not stored yet.
pub(crate) fn new_message(role: Role, content: &str, created_at: String) -> ChatMessage {
    ChatMessage {
        id: Some(MessageId::from(format!("msg_{}", Uuid::new_v4().simple()))),
        role,
        content: content.to_owned(),
        created_at: Some(created_at),
    }
}
