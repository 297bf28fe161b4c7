//! Removes conversations with everything that holds their words.
//!
//! A transaction removes a limited number of rows, so that writers are not held up. A conversation that needs
//! several transactions keeps its row until the last one, so that the work can go on after a crash.

use chat_protocol::Endpoint;

use crate::db::{DbError, Dialect, Tx, Wake, args};
use crate::error::ApiError;
use crate::notify;
use crate::response::ApiResponse;

/// Maximum rows that one transaction removes.
pub(crate) const BATCH: i64 = 500;

/// A conversation to remove.
#[derive(Clone, Debug)]
pub(crate) struct Removed {
    pub(crate) no: i64,
    pub(crate) id: String,
    pub(crate) site_id: String,
    pub(crate) tenant_id: String,
}

/// Removes at most `limit` messages of a conversation and, after the last one, the conversation itself.
/// Returns the number of removed messages, and whether nothing is left.
pub(crate) async fn remove(tx: &mut Tx, conversation: &Removed, limit: i64) -> Result<(i64, bool), DbError> {
    let Removed { no, id, site_id, tenant_id } = conversation;
    // Locks the conversation: nobody adds a message until the commit, and afterwards it does not exist.
    let lock = "UPDATE conversations SET last_seq = last_seq WHERE no = $1";
    if tx.execute(lock, args![*no]).await? == 0 {
        return Ok((0, true));
    }
    forget_requests(tx, site_id, *no, limit).await?;
    let messages = remove_messages(tx, *no, limit).await?;
    if messages == limit {
        return Ok((messages, false));
    }
    notify::erase(tx, id).await?;
    // Private notes go with the conversation.
    tx.execute("DELETE FROM conversations WHERE no = $1", args![*no]).await?;
    tx.wake(Wake::Conversation {
        tenant: tenant_id.clone(),
        site: site_id.clone(),
        conversation: id.clone(),
    });
    Ok((messages, true))
}

/// Removes the oldest messages of a conversation, with their search terms.
async fn remove_messages(tx: &mut Tx, no: i64, limit: i64) -> Result<i64, DbError> {
    if tx.dialect() == Dialect::Sqlite {
        let terms = "DELETE FROM message_terms WHERE rowid IN
                     (SELECT no FROM messages WHERE conversation_no = $1 ORDER BY seq LIMIT $2)";
        tx.execute(terms, args![no, limit]).await?;
    }
    let messages = "DELETE FROM messages WHERE no IN
                    (SELECT no FROM messages WHERE conversation_no = $1 ORDER BY seq LIMIT $2)";
    Ok(i64::try_from(tx.execute(messages, args![no, limit]).await?).unwrap_or(i64::MAX))
}

/// Removes the words from the stored responses to the oldest messages of a conversation. The keys stay, so
/// that a repeated request is not executed once more: its response says that the conversation does not exist.
/// A request that is not answered yet loses its key, so that its response is not stored either.
async fn forget_requests(tx: &mut Tx, site_id: &str, no: i64, limit: i64) -> Result<(), DbError> {
    let of_messages = "site_id = $1 AND scope = $2 AND key IN
        (SELECT key FROM messages WHERE conversation_no = $3 AND key IS NOT NULL ORDER BY seq LIMIT $4)";
    let scope = Endpoint::Send.path();
    let gone = ApiError::NotFound("This conversation");
    let response = ApiResponse::failure(gone.status(), &gone.code(), &gone.to_string());
    let (status, request_id, body) = response.parts();
    let unanswered =
        sqlx::AssertSqlSafe(format!("DELETE FROM idempotency WHERE {of_messages} AND status IS NULL"));
    tx.execute(unanswered, args![site_id, scope, no, limit]).await?;
    let answered = sqlx::AssertSqlSafe(format!(
        "UPDATE idempotency SET status = $5, request_id = $6, body = $7, progress = NULL WHERE {of_messages}"
    ));
    let values = args![site_id, scope, no, limit, i64::from(status), request_id, body];
    tx.execute(answered, values).await?;
    Ok(())
}
