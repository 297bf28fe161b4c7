//! Operations on conversations by operators: list, answer, take over, assign, close.

use chat_protocol::{ConversationId, Role, Value};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    Author, Conversation, NO_CONVERSATION, NewMessage, Status, StoredMessage, add_message, announce, lock,
    read, select,
};
use crate::clock::iso;
use crate::db::{Arg, Db, DbError, Tx, Wake, args};
use crate::error::ApiError;
use crate::knowledge::search_index::{SearchTable, message_query};
use crate::secrets::new_id;
use crate::sites::Site;

/// Maximum characters of a message or a note of an operator.
const MAX_TEXT_LENGTH: usize = 16_000;
/// A time that never comes, in milliseconds since 1970: an AI that is paused until it is told to go on.
const NEVER_MS: i64 = 253_370_764_800_000;

/// The conversations to list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filter {
    pub(crate) site_id: Option<String>,
    pub(crate) status: Option<Status>,
    /// An operator's id; an empty text is nobody.
    pub(crate) assignee: Option<String>,
    pub(crate) visitor_no: Option<i64>,
    /// Only conversations with a message that contains these words; needs `site_id`.
    pub(crate) words: Option<String>,
    /// Only conversations whose last message is older, as the cursor of the next page: time and number.
    pub(crate) before: Option<(i64, i64)>,
    pub(crate) limit: i64,
}

/// Returns conversations of a tenant with a filter, by their last message, newest first.
pub(crate) async fn list(db: &Db, tenant_id: &str, filter: &Filter) -> Result<Vec<Conversation>, ApiError> {
    let mut sql =
        "JOIN sites s ON s.id = c.site_id WHERE s.tenant_id = $1 AND s.deleted_ms IS NULL".to_owned();
    let mut values = args![tenant_id];
    let mut condition = |text: &str, given: Vec<Arg>| {
        let mut text = text.to_owned();
        for (index, arg) in given.into_iter().enumerate() {
            values.push(arg);
            text = text.replace(&format!("?{index}"), &format!("${}", values.len()));
        }
        sql.push_str(&text);
    };
    if let Some(site) = &filter.site_id {
        condition(" AND c.site_id = ?0", args![site]);
    }
    if let Some(status) = filter.status {
        condition(" AND c.status = ?0", args![status.as_str()]);
    }
    match filter.assignee.as_deref() {
        None => {}
        Some("") => condition(" AND c.assignee_id IS NULL", args![]),
        Some(operator) => condition(" AND c.assignee_id = ?0", args![operator]),
    }
    if let Some(visitor) = filter.visitor_no {
        condition(" AND c.visitor_no = ?0", args![visitor]);
    }
    if let (Some(words), Some(site)) = (&filter.words, &filter.site_id) {
        let Some(query) = message_query(db.dialect(), site, words) else { return Ok(Vec::new()) };
        let found = SearchTable::Messages.matching(db.dialect(), 0).replace("$0", "?0");
        condition(
            &format!(
                " AND c.no IN (SELECT m.conversation_no FROM messages m JOIN ({found}) found ON found.no = m.no)"
            ),
            args![query],
        );
    }
    if let Some((time, no)) = filter.before {
        condition(" AND (c.updated_ms < ?0 OR (c.updated_ms = ?0 AND c.no < ?1))", args![time, no]);
    }
    condition(" ORDER BY c.updated_ms DESC, c.no DESC LIMIT ?0", args![filter.limit]);
    let rows = db.all(select(&sql), values).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Returns a conversation of a tenant; one of another tenant does not exist.
pub(crate) async fn of_tenant(
    db: &Db,
    tenant_id: &str,
    id: &ConversationId,
) -> Result<Conversation, ApiError> {
    let sql =
        "JOIN sites s ON s.id = c.site_id WHERE c.id = $1 AND s.tenant_id = $2 AND s.deleted_ms IS NULL";
    let row = db.optional(select(sql), args![id, tenant_id]).await?;
    Ok(read(&row.ok_or(NO_CONVERSATION)?)?)
}

/// Checks a text of an operator.
pub(crate) fn check_text(text: &str) -> Result<String, ApiError> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > MAX_TEXT_LENGTH {
        return Err(ApiError::InvalidRequest(format!("text must have 1 to {MAX_TEXT_LENGTH} characters.")));
    }
    Ok(text.to_owned())
}

/// Adds a message of an operator, who takes the conversation over: the AI is silent for a while.
pub(crate) async fn answer(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    id: &ConversationId,
    author: Author,
    text: String,
    key: Option<String>,
) -> Result<StoredMessage, ApiError> {
    let mut conversation = lock(tx, &site.id, id).await?;
    let (was_closed, was_assigned) =
        (conversation.status == Status::Closed, conversation.assignee_id.is_some());
    conversation.set_status(now_ms, Status::Open);
    conversation.unread = 0;
    conversation.notes.record_operator_message();
    // A pause until the AI is told to go on stays.
    conversation.ai_paused_until_ms = conversation.ai_paused_until_ms.max(now_ms + site.ai_pause_ms);
    if conversation.assignee_id.is_none() {
        conversation.assignee_id = Some(author.id.clone());
    }
    super::store(tx, &conversation).await?;
    if was_closed {
        announce::closed(tx, now_ms, site, &conversation, false).await?;
    }
    if !was_assigned {
        announce::assigned(tx, now_ms, site, &conversation, Some(&author.name)).await?;
    }
    announce::answered(tx, &conversation).await?;
    let new = NewMessage { author: Some(author), key, ..NewMessage::new(Role::Operator, text) };
    Ok(add_message(tx, now_ms, site, &mut conversation, new).await?)
}

/// The changes of a conversation. A missing member changes nothing.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ConversationChange {
    /// `open`, `waiting` or `closed`.
    #[serde(default)]
    pub(crate) status: Option<String>,
    /// The id of the operator who is responsible; an empty text is nobody.
    #[serde(default)]
    pub(crate) assignee_id: Option<String>,
    /// `true` silences the AI until it is told to go on, `false` tells it to go on.
    #[serde(default)]
    pub(crate) ai_paused: Option<bool>,
    /// `true`: the operator has read the conversation.
    #[serde(default)]
    pub(crate) read: Option<bool>,
}

/// Changes a conversation, and returns it. What changed is recorded in the conversation's activity.
pub(crate) async fn change(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    id: &ConversationId,
    author: &Author,
    change: &ConversationChange,
) -> Result<Conversation, ApiError> {
    let mut conversation = lock(tx, &site.id, id).await?;
    if let Some(status) = &change.status {
        let status = Status::parse(status)
            .ok_or_else(|| ApiError::InvalidRequest("status must be open, waiting or closed.".to_owned()))?;
        if status != conversation.status {
            let was_closed = conversation.status == Status::Closed;
            conversation.set_status(now_ms, status);
            if was_closed || status == Status::Closed {
                announce::closed(tx, now_ms, site, &conversation, status == Status::Closed).await?;
            }
            if status != Status::Waiting {
                announce::answered(tx, &conversation).await?;
            }
            add_note(tx, now_ms, &conversation, "activity", Some(author), status.as_str()).await?;
        }
    }
    if let Some(assignee) = &change.assignee_id {
        let name = match assignee.as_str() {
            "" => None,
            id => Some(operator_name(tx, &site.tenant_id, id).await?),
        };
        let assignee = Some(assignee.clone()).filter(|id| !id.is_empty());
        if assignee != conversation.assignee_id {
            conversation.assignee_id = assignee;
            announce::assigned(tx, now_ms, site, &conversation, name.as_deref()).await?;
            let text = name.map_or_else(|| "unassigned".to_owned(), |name| format!("assigned to {name}"));
            add_note(tx, now_ms, &conversation, "activity", Some(author), &text).await?;
        }
    }
    if let Some(paused) = change.ai_paused {
        conversation.ai_paused_until_ms = if paused { NEVER_MS } else { 0 };
        let text = if paused { "AI paused" } else { "AI resumed" };
        add_note(tx, now_ms, &conversation, "activity", Some(author), text).await?;
    }
    if change.read == Some(true) {
        conversation.unread = 0;
    }
    super::store(tx, &conversation).await?;
    tx.wake(Wake::Conversation {
        tenant: site.tenant_id.clone(),
        site: site.id.clone(),
        conversation: conversation.id.as_str().to_owned(),
    });
    Ok(conversation)
}

async fn operator_name(tx: &mut Tx, tenant_id: &str, id: &str) -> Result<String, ApiError> {
    let sql = "SELECT name FROM operators WHERE tenant_id = $1 AND id = $2 AND disabled_ms IS NULL";
    let row = tx.optional(sql, args![tenant_id, id]).await?;
    Ok(row.ok_or(ApiError::NotFound("This operator"))?.text(0)?)
}

/// A private note of an operator, or a record of a change. Visitors never see it.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    id: String,
    kind: String,
    content: String,
    operator_name: Option<String>,
    after_seq: i64,
    created_ms: i64,
}

impl From<&Note> for Value {
    fn from(note: &Note) -> Self {
        Self::object([
            ("id", note.id.as_str().into()),
            ("kind", note.kind.as_str().into()),
            ("text", note.content.as_str().into()),
            ("operatorName", note.operator_name.clone().into()),
            ("afterSequence", note.after_seq.into()),
            ("createdAt", iso(note.created_ms).into()),
        ])
    }
}

/// Adds a note to a conversation.
pub(crate) async fn add_note(
    tx: &mut Tx,
    now_ms: i64,
    conversation: &Conversation,
    kind: &str,
    author: Option<&Author>,
    text: &str,
) -> Result<Note, DbError> {
    let note = Note {
        id: new_id("note"),
        kind: kind.to_owned(),
        content: text.to_owned(),
        operator_name: author.map(|author| author.name.clone()),
        after_seq: conversation.last_seq,
        created_ms: now_ms,
    };
    tx.execute(
        "INSERT INTO notes (id, conversation_no, kind, content, operator_id, operator_name, after_seq, created_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        args![
            &note.id,
            conversation.no,
            kind,
            text,
            author.map(|author| author.id.clone()),
            note.operator_name.clone(),
            note.after_seq,
            now_ms
        ],
    )
    .await?;
    Ok(note)
}

/// Returns the last notes of a conversation, oldest first.
pub(crate) async fn notes(db: &Db, conversation_no: i64, limit: i64) -> Result<Vec<Note>, DbError> {
    let sql = "SELECT id, kind, content, operator_name, after_seq, created_ms FROM notes
        WHERE conversation_no = $1 ORDER BY no DESC LIMIT $2";
    let rows = db.all(sql, args![conversation_no, limit]).await?;
    rows.iter()
        .rev()
        .map(|row| {
            Ok(Note {
                id: row.text(0)?,
                kind: row.text(1)?,
                content: row.text(2)?,
                operator_name: row.optional_text(3)?,
                after_seq: row.int(4)?,
                created_ms: row.int(5)?,
            })
        })
        .collect()
}
