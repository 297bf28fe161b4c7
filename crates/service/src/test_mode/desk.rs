//! What the operator does with conversations: answers and reads them.

use chat_protocol::{ConversationId, Role, Value, limits};

use super::{SITE_ID, TENANT_ID, TestMode, presence};
use crate::conversations::{self, Author, NewMessage, Status, add_message};
use crate::db::Wake;
use crate::demo_site::{OPERATOR_ID, OPERATOR_NAME};
use crate::error::ApiError;
use crate::sites;

/// Adds an operator's message to a conversation, and returns it.
pub(super) async fn write(mode: &TestMode, id: ConversationId, content: String) -> Result<Value, ApiError> {
    if content.trim().is_empty() || content.chars().count() > *limits::MESSAGE_LENGTH.end() {
        return Err(ApiError::InvalidRequest("content must have 1 to 4000 characters.".to_owned()));
    }
    let now_ms = mode.now_ms();
    let stored = mode
        .db()
        .write(move |tx| {
            Box::pin(async move {
                let site = sites::load(tx, SITE_ID).await?;
                let mut conversation = conversations::lock(tx, SITE_ID, &id).await?;
                conversation.status = Status::Open;
                conversation.closed_ms = None;
                conversation.waiting_since_ms = None;
                conversation.unread = 0;
                conversation.notes.record_operator_message();
                conversation.ai_paused_until_ms = now_ms.saturating_add(site.ai_pause_ms);
                conversations::store(tx, &conversation).await?;
                let author = Author { id: OPERATOR_ID.to_owned(), name: OPERATOR_NAME.to_owned() };
                let new = NewMessage { author: Some(author), ..NewMessage::new(Role::Operator, content) };
                let stored = add_message(tx, now_ms, &site, &mut conversation, new).await?;
                presence::mark_seen(tx, now_ms).await?;
                Ok::<_, ApiError>(stored)
            })
        })
        .await?;
    Ok(Value::from(&stored.message))
}

/// Marks a conversation as read.
pub(super) async fn read(mode: &TestMode, id: ConversationId) -> Result<(), ApiError> {
    mode.db()
        .write(move |tx| {
            Box::pin(async move {
                let mut conversation = conversations::lock(tx, SITE_ID, &id).await?;
                if conversation.unread > 0 {
                    conversation.unread = 0;
                    conversations::store(tx, &conversation).await?;
                    tx.wake(Wake::Conversation {
                        tenant: TENANT_ID.to_owned(),
                        site: SITE_ID.to_owned(),
                        conversation: id.as_str().to_owned(),
                    });
                }
                Ok(())
            })
        })
        .await
}
