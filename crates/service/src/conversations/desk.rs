//! Operators answer visitors, and take conversations over.

use chat_protocol::{ConversationId, Role};

use super::announce::Announcer;
use super::notes::{self, Event};
use super::{Author, Conversation, NewMessage, Status, StoredMessage, add_message, lock, store};
use crate::db::{Tx, args};
use crate::error::ApiError;
use crate::sites::Site;

/// Maximum characters of a message or a note of an operator.
const MAX_TEXT_LENGTH: usize = 16_000;

/// Checks a text of an operator.
pub(crate) fn check_text(text: &str) -> Result<String, ApiError> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > MAX_TEXT_LENGTH {
        return Err(ApiError::InvalidRequest(format!("text must have 1 to {MAX_TEXT_LENGTH} characters.")));
    }
    Ok(text.to_owned())
}

/// A message of an operator.
#[derive(Clone, Debug)]
pub(crate) struct OperatorMessage {
    pub(crate) text: String,
    /// The idempotency key of the request.
    pub(crate) key: Option<String>,
    /// Whether the conversation is closed with it.
    pub(crate) close: bool,
}

/// Adds a message of an operator, who takes the conversation over: the AI is silent for a while.
pub(crate) async fn answer(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    id: &ConversationId,
    author: Author,
    message: OperatorMessage,
) -> Result<StoredMessage, ApiError> {
    let mut conversation = lock(tx, &site.id, id).await?;
    let (was_closed, was_assigned) =
        (conversation.status == Status::Closed, conversation.assignee_id.is_some());
    conversation.set_status(now_ms, Status::Open);
    conversation.unread = 0;
    conversation.notes.record_operator_message();
    // A pause until the AI is told to go on stays.
    conversation.ai_paused_until_ms = conversation.ai_paused_until_ms.max(now_ms + site.ai_pause_ms);
    conversation.handed_off_ms.get_or_insert(now_ms);
    if conversation.assignee_id.is_none() {
        conversation.assignee_id = Some(author.id.clone());
    }
    let announcer = Announcer::new(now_ms, site, &conversation);
    if was_closed {
        announcer.closed(tx, false).await?;
    }
    if !was_assigned {
        announcer.assigned(tx, Some(&author.name)).await?;
    }
    announcer.answered(tx).await?;
    let new = NewMessage {
        author: Some(author.clone()),
        key: message.key,
        ..NewMessage::new(Role::Operator, message.text)
    };
    // Counts the time since the visitor began to wait, which the row forgets when the conversation is stored.
    let stored = add_message(tx, now_ms, site, &mut conversation, new).await?;
    store(tx, &conversation).await?;
    if message.close {
        conversation.set_status(now_ms, Status::Closed);
        store(tx, &conversation).await?;
        Announcer::new(now_ms, site, &conversation).closed(tx, true).await?;
        notes::record(tx, now_ms, &conversation, Some(&author), Event::Status(Status::Closed)).await?;
    }
    Ok(stored)
}

/// Makes an operator responsible for a conversation, and silences the AI until it is told to go on. `from` is
/// the operator who was responsible on their screen: if somebody else is by now, the conversation stays
/// theirs.
pub(crate) async fn take_over(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    id: &ConversationId,
    author: &Author,
    from: Option<&str>,
) -> Result<Conversation, ApiError> {
    let mut conversation = lock(tx, &site.id, id).await?;
    let is_own = conversation.assignee_id.as_ref() == Some(&author.id);
    if let Some(assignee) = conversation.assignee_id.as_deref()
        && !is_own
        && Some(assignee) != from
        && let Some(name) = working_operator(tx, &site.tenant_id, assignee).await?
    {
        return Err(ApiError::ConversationTaken(name));
    }
    let was_closed = conversation.status == Status::Closed;
    if was_closed {
        conversation.set_status(now_ms, Status::Open);
    }
    conversation.assignee_id = Some(author.id.clone());
    conversation.pause_ai();
    conversation.handed_off_ms.get_or_insert(now_ms);
    store(tx, &conversation).await?;
    let announcer = Announcer::new(now_ms, site, &conversation);
    if was_closed {
        announcer.closed(tx, false).await?;
    }
    if !is_own {
        announcer.assigned(tx, Some(&author.name)).await?;
    }
    notes::record(tx, now_ms, &conversation, Some(author), Event::TookOver).await?;
    tx.wake(conversation.wake(&site.tenant_id));
    Ok(conversation)
}

/// Returns the name of an operator of a tenant who can sign in; `None` for all others.
pub(super) async fn working_operator(
    tx: &mut Tx,
    tenant_id: &str,
    id: &str,
) -> Result<Option<String>, ApiError> {
    let sql = "SELECT name FROM operators WHERE tenant_id = $1 AND id = $2 AND disabled_ms IS NULL";
    let row = tx.optional(sql, args![tenant_id, id]).await?;
    Ok(row.map(|row| row.text(0)).transpose()?)
}
