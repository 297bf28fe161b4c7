//! The messages of a conversation, numbered from 1 without gaps.

use std::collections::HashMap;

use chat_protocol::{ChatMessage, ConversationId, MessageId, Role, Value};

use super::Conversation;
use super::announce::Announcer;
use crate::ai::{Citation, Outcome, Turn};
use crate::clock::iso;
use crate::db::{Db, DbError, Numbers, Row, Tx, Wake, args};
use crate::knowledge::search_index::put_message;
use crate::notify::data::MessageData;
use crate::sites::{Answerer, Site};

/// Maximum messages of one read.
const MAX_READ: i64 = 500;
/// Maximum bytes of the messages of one read: proxies accept responses of up to 1 MiB.
const MAX_READ_BYTES: usize = 512 * 1024;

/// A stored message.
#[derive(Clone, Debug)]
pub(crate) struct StoredMessage {
    pub(crate) seq: i64,
    pub(crate) message: ChatMessage,
    /// The operator's id, in messages of operators.
    pub(crate) operator_id: Option<String>,
    /// The idempotency key that the message was sent with.
    pub(crate) key: Option<String>,
    /// The knowledge that an answer of the AI is based on, as JSON.
    pub(crate) sources: Option<String>,
    /// What became of a visitor's message that the AI answered.
    pub(crate) outcome: Option<Outcome>,
}

impl StoredMessage {
    /// Returns the message as the AI reads it.
    pub(crate) fn into_turn(self) -> Turn {
        Turn { role: self.message.role, content: self.message.content }
    }
}

/// The operator that writes a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Author {
    pub(crate) id: String,
    pub(crate) name: String,
}

/// A message to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NewMessage {
    pub(crate) role: Role,
    pub(crate) content: String,
    pub(crate) author: Option<Author>,
    pub(crate) key: Option<String>,
    /// The number of the visitor's message that this one answers.
    pub(crate) reply_to: Option<i64>,
    pub(crate) sources: Vec<Citation>,
    /// What became of the visitor's message that this one answers.
    pub(crate) outcome: Option<Outcome>,
    /// Of a visitor's message: who answers it.
    pub(crate) answerer: Answerer,
}

impl NewMessage {
    pub(crate) fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            author: None,
            key: None,
            reply_to: None,
            sources: Vec::new(),
            outcome: None,
            answerer: Answerer::Ai,
        }
    }
}

/// Counts a message with the role `$3`, which answers from a source if `$4` is 1, with the figures that
/// reports need. It is a response if `$5` is 1. Who waits for people without having asked for one waits from
/// the beginning of that. After `$6` milliseconds it is looked whether the visitor has seen the reply.
const NEXT_MESSAGE: &str = "UPDATE conversations SET last_seq = last_seq + 1, updated_ms = $1,
        last_reply_seq = CASE WHEN $3 = 'visitor' THEN last_reply_seq ELSE last_seq + 1 END,
        answered_by_ai = CASE WHEN $4 = 1 THEN 1 ELSE answered_by_ai END,
        answered_by_person = CASE WHEN $3 = 'operator' THEN 1 ELSE answered_by_person END,
        first_response_ms = CASE WHEN $5 = 1
            THEN coalesce(first_response_ms, $1 - created_ms) ELSE first_response_ms END,
        mail_due_ms = coalesce(mail_due_ms, $1 + $6),
        first_person_response_ms = CASE WHEN $3 = 'operator'
            THEN coalesce(first_person_response_ms, $1 - coalesce(person_asked_ms, waiting_since_ms)) ELSE first_person_response_ms END
    WHERE no = $2 RETURNING last_seq";

/// Appends a message to a conversation, and announces it.
pub(crate) async fn add_message(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    conversation: &mut Conversation,
    new: NewMessage,
) -> Result<StoredMessage, DbError> {
    // The update locks the conversation until the commit, so messages become visible in their order.
    let is_answer = new.outcome == Some(Outcome::Answered);
    // The text that the team will read the message answers nothing.
    let is_response = match new.role {
        Role::Operator => true,
        Role::Assistant => new.outcome.is_some(),
        _ => false,
    };
    let mailed_after_ms = (is_response && site.mail_replies).then_some(site.mail_replies_after_ms);
    let values = args![now_ms, conversation.no, new.role.as_str(), is_answer, is_response, mailed_after_ms];
    let row = tx.one(NEXT_MESSAGE, values).await?;
    let seq = row.int(0)?;
    conversation.last_seq = seq;
    conversation.updated_ms = now_ms;
    let NewMessage { role, content, author, key, reply_to, sources, outcome, answerer: _ } = new;
    let (operator_id, operator_name) = author.map(|author| (author.id, author.name)).unzip();
    let sources = (!sources.is_empty()).then(|| serde_json::to_string(&sources).unwrap_or_default());
    let row = tx.one(
        "INSERT INTO messages (conversation_no, seq, role, content, operator_id, operator_name, created_ms, key,
             reply_to, sources)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING no",
        args![
            conversation.no,
            seq,
            role.as_str(),
            &content,
            operator_id.clone(),
            operator_name.clone(),
            now_ms,
            key.clone(),
            reply_to,
            sources.clone(),
        ],
    )
    .await?;
    put_message(tx, &site.id, row.int(0)?, &content).await?;
    tx.wake(Wake::Conversation {
        tenant: site.tenant_id.clone(),
        site: site.id.clone(),
        conversation: conversation.id.as_str().to_owned(),
    });
    let message = ChatMessage {
        id: Some(message_id(&conversation.id, seq)),
        role,
        content,
        created_at: Some(iso(now_ms)),
        author_name: operator_name,
    };
    let stored = StoredMessage { seq, message, operator_id, key, sources, outcome: None };
    let announced = MessageData {
        conversation_id: conversation.id.as_str(),
        seq,
        role: stored.message.role.as_str(),
        content: &stored.message.content,
        operator_name: stored.message.author_name.as_deref(),
        outcome: outcome.map(Outcome::as_str),
        created_ms: now_ms,
    };
    Announcer::new(now_ms, site, conversation).message(tx, announced).await?;
    Ok(stored)
}

/// Returns the id of a message, which contains its number, so that a poll needs no index of ids.
pub(crate) fn message_id(conversation: &ConversationId, seq: i64) -> MessageId {
    MessageId::from(format!("msg_{seq}_{}", tail(conversation)))
}

fn tail(conversation: &ConversationId) -> &str {
    conversation.as_str().strip_prefix("conv_").unwrap_or(conversation.as_str())
}

/// Returns the number of the message with an id; 0, from which a history is read from its beginning, for an
/// id of another conversation.
pub(crate) fn sequence_of(conversation: &ConversationId, id: &str) -> i64 {
    let parts = id.strip_prefix("msg_").and_then(|rest| rest.split_once('_'));
    match parts {
        Some((seq, of)) if of == tail(conversation) => seq.parse().ok().filter(|seq| *seq > 0).unwrap_or(0),
        _ => 0,
    }
}

const COLUMNS: &str =
    "SELECT seq, role, content, operator_id, operator_name, created_ms, key, sources, outcome
     FROM messages";
/// The same columns of messages `m`.
const SELECTED: &str =
    "SELECT m.seq, m.role, m.content, m.operator_id, m.operator_name, m.created_ms, m.key, m.sources,
        m.outcome";

fn read(conversation: &ConversationId, row: &Row) -> Result<StoredMessage, DbError> {
    let seq = row.int(0)?;
    let message = ChatMessage {
        id: Some(message_id(conversation, seq)),
        role: Role::from(row.text(1)?.as_str()),
        content: row.text(2)?,
        created_at: Some(iso(row.int(5)?)),
        author_name: row.optional_text(4)?,
    };
    Ok(StoredMessage {
        seq,
        message,
        operator_id: row.optional_text(3)?,
        key: row.optional_text(6)?,
        sources: row.optional_text(7)?,
        outcome: row.optional_text(8)?.as_deref().and_then(Outcome::parse),
    })
}

/// Returns the messages after the one with the number `after`: at most [`MAX_READ`] messages and
/// [`MAX_READ_BYTES`]. The next read continues after the last of them.
pub(crate) async fn page(
    db: &Db,
    conversation: &ConversationId,
    no: i64,
    after: i64,
) -> Result<Vec<StoredMessage>, DbError> {
    let sql = sqlx::AssertSqlSafe(format!(
        "{COLUMNS} WHERE conversation_no = $1 AND seq > $2 ORDER BY seq LIMIT $3"
    ));
    let mut bytes = 0;
    let mut messages = Vec::new();
    for row in db.all(sql, args![no, after, MAX_READ]).await? {
        let stored = read(conversation, &row)?;
        bytes += Value::from(&stored.message).to_json().len();
        if bytes > MAX_READ_BYTES && !messages.is_empty() {
            break;
        }
        messages.push(stored);
    }
    Ok(messages)
}

/// Returns the last messages of a conversation, oldest first.
pub(crate) async fn last_messages(
    db: &Db,
    conversation: &ConversationId,
    no: i64,
    limit: u32,
) -> Result<Vec<StoredMessage>, DbError> {
    let sql = sqlx::AssertSqlSafe(format!("{COLUMNS} WHERE conversation_no = $1 ORDER BY seq DESC LIMIT $2"));
    let rows = db.all(sql, args![no, limit]).await?;
    rows.iter().rev().map(|row| read(conversation, row)).collect()
}

/// Returns the last `limit` messages before the one with the number `before`, oldest first, of at most
/// [`MAX_READ_BYTES`].
pub(crate) async fn page_before(
    db: &Db,
    conversation: &ConversationId,
    no: i64,
    before: i64,
    limit: i64,
) -> Result<Vec<StoredMessage>, DbError> {
    let sql = sqlx::AssertSqlSafe(format!(
        "{COLUMNS} WHERE conversation_no = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3"
    ));
    let mut bytes = 0;
    let mut messages = Vec::new();
    for row in db.all(sql, args![no, before, limit]).await? {
        let stored = read(conversation, &row)?;
        bytes += stored.message.content.len();
        if bytes > MAX_READ_BYTES && !messages.is_empty() {
            break;
        }
        messages.push(stored);
    }
    messages.reverse();
    Ok(messages)
}

/// Returns the last `limit` messages of each of these conversations, oldest first, by their numbers.
pub(crate) async fn last_of_each(
    db: &Db,
    conversations: &[(i64, &ConversationId)],
    limit: i64,
) -> Result<HashMap<i64, Vec<StoredMessage>>, DbError> {
    let mut found: HashMap<i64, Vec<StoredMessage>> = HashMap::new();
    let Some(numbers) = Numbers::of(conversations.iter().map(|(no, _)| *no)) else { return Ok(found) };
    let sql = sqlx::AssertSqlSafe(format!(
        "{SELECTED}, m.conversation_no FROM messages m JOIN conversations c ON c.no = m.conversation_no
         WHERE c.no IN ({}) AND m.seq > c.last_seq - $1 ORDER BY m.conversation_no, m.seq",
        numbers.placeholders(2)
    ));
    let ids: HashMap<i64, &ConversationId> = conversations.iter().copied().collect();
    for row in db.all(sql, numbers.args(args![limit])).await? {
        let no = row.int(9)?;
        if let Some(id) = ids.get(&no) {
            found.entry(no).or_default().push(read(id, &row)?);
        }
    }
    Ok(found)
}

/// Returns the number of the last message of the visitor that was answered, or of the last message of an
/// operator after it; 0 if nothing was answered.
pub(crate) async fn answered_seq(db: &Db, no: i64) -> Result<i64, DbError> {
    let sql = "SELECT coalesce(max(CASE WHEN role = 'visitor' THEN 0 ELSE coalesce(reply_to, seq) END), 0)
        FROM messages WHERE conversation_no = $1";
    db.one(sql, args![no]).await?.int(0)
}

/// Stores what became of the visitor's message with a number. What was stored first stays.
pub(crate) async fn record_outcome(
    tx: &mut Tx,
    conversation_no: i64,
    seq: i64,
    outcome: Outcome,
) -> Result<(), DbError> {
    let sql = "UPDATE messages SET outcome = $3 WHERE conversation_no = $1 AND seq = $2 AND outcome IS NULL";
    tx.execute(sql, args![conversation_no, seq, outcome.as_str()]).await.map(drop)
}

/// Returns the answer to the visitor's message with a number, if there is one.
pub(crate) async fn answer_to(
    tx: &mut Tx,
    conversation: &ConversationId,
    no: i64,
    seq: i64,
) -> Result<Option<StoredMessage>, DbError> {
    let sql = sqlx::AssertSqlSafe(format!(
        "{COLUMNS} WHERE conversation_no = $1 AND reply_to = $2 AND seq > $2 ORDER BY seq LIMIT 1"
    ));
    let row = tx.optional(sql, args![no, seq]).await?;
    row.as_ref().map(|row| read(conversation, row)).transpose()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_id_gives_its_number_in_its_own_conversation_only() {
        let one = ConversationId::from("conv_1");
        let id = message_id(&one, 42);
        assert_eq!(sequence_of(&one, id.as_str()), 42);
        assert_eq!(sequence_of(&ConversationId::from("conv_2"), id.as_str()), 0);
        for id in ["", "msg_", "msg_-1_1", "msg_1", "42", "msg_99999999999999999999_1"] {
            assert_eq!(sequence_of(&one, id), 0, "{id}");
        }
    }

    proptest! {
        #[test]
        fn any_cursor_is_a_number_from_zero(id in any::<String>()) {
            prop_assert!(sequence_of(&ConversationId::from("conv_1"), &id) >= 0);
        }
    }
}
