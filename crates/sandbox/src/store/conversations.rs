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
    /// Messages of the visitor that no operator has seen.
    pub(crate) unread: u32,
}

#[derive(Debug)]
pub(crate) struct StoredMessage {
    pub(crate) message: ChatMessage,
    pub(crate) key: Option<String>,
}

/// Maximum messages that one read gives, and of bytes: proxies take answers of up to 1 MiB.
const MAX_READ: u32 = 500;
const MAX_READ_BYTES: usize = 512 * 1024;

/// Maximum characters of what a visitor or a site tells about the visitor; the rest is left out.
const MAX_PROFILE_FIELD_LENGTH: usize = 500;

const COLUMNS: &str = "id, created_at, visitor, locale, source_page, notes, unread";

impl Store {
    /// All conversations, oldest first.
    pub(crate) fn conversations(&self) -> rusqlite::Result<Vec<Conversation>> {
        let sql = format!("SELECT {COLUMNS} FROM conversations ORDER BY position");
        self.db.prepare_cached(&sql)?.query_map([], read)?.collect()
    }

    /// The conversations to look at, at most `limit`: first those whose visitor waits for a person, then by the newest
    /// message.
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

    /// The conversation that a message belongs to, begun if it names none; `None` if the one that it names is unknown.
    pub(crate) fn conversation_for(&self, body: &SendMessage) -> rusqlite::Result<Option<Conversation>> {
        match target_conversation(body) {
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

    /// Adds a message at the end of a conversation, and gives it as the contract shows it.
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

    /// A conversation's first messages after the one with this id, or from its beginning when it is not there: at most
    /// [`MAX_READ`], and [`MAX_READ_BYTES`] of text. The next read goes on from the last of them.
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
        for kept in next.query_map(params![conversation.as_str(), after, MAX_READ], read_message)? {
            let kept = kept?;
            bytes += Value::from(&kept.message).to_json().len();
            if bytes > MAX_READ_BYTES && !messages.is_empty() {
                break;
            }
            messages.push(kept);
        }
        Ok(messages)
    }

    /// The last messages of a conversation, oldest first.
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

    /// Returns who wrote last in a conversation, its visitor aside.
    pub(crate) fn last_responder(&self, conversation: &ConversationId) -> rusqlite::Result<Option<Role>> {
        let mut last = self.db.prepare_cached(
            "SELECT role FROM messages WHERE conversation = ? AND role != ? ORDER BY position DESC LIMIT 1",
        )?;
        let role = |row: &Row<'_>| Ok(Role::from(row.get::<_, String>(0)?.as_str()));
        last.query_row([conversation.as_str(), Role::Visitor.as_str()], role).optional()
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
    /// Takes over what a message tells about its sender; what it does not tell stays.
    pub(crate) fn merge_profile(&mut self, body: &SendMessage) {
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
            if let Some(told) = told {
                *known = Some(told.chars().take(MAX_PROFILE_FIELD_LENGTH).collect());
            }
        }
        if let Some(id) = &told.visitor_id {
            known.visitor_id = Some(VisitorId::from(truncated_visitor_id(id)));
        }
    }
}

/// The conversation that a message names.
pub(crate) fn target_conversation(body: &SendMessage) -> Option<&ConversationId> {
    body.conversation_id.as_ref().filter(|id| !id.as_str().is_empty())
}

/// The part of a visitor's id by which their events are found.
pub(super) fn truncated_visitor_id(id: &VisitorId) -> &str {
    truncate_bytes(id.as_str(), MAX_PROFILE_FIELD_LENGTH)
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
