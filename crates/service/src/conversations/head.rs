//! The part of a conversation that polls read, cached.

use std::sync::Arc;

use chat_protocol::ConversationId;

use super::NO_CONVERSATION;
use crate::Service;
use crate::cache::Version;
use crate::db::{Dialect, args};
use crate::error::ApiError;
use crate::visitors::identity::is_verified;

/// The part of a conversation that a poll reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) site_id: String,
    pub(crate) no: i64,
    /// The number of the last message.
    pub(crate) last_seq: i64,
    /// The number of the last message that is not the visitor's; 0 without one.
    pub(crate) last_reply_seq: i64,
    /// The visitor's widget has polled past the messages up to this number.
    pub(crate) seen_seq: i64,
    /// The id of the visitor, if the site has proved it.
    pub(crate) verified: Option<String>,
}

/// Returns the head of a conversation of a site; one of another site does not exist.
pub(crate) async fn head(
    service: &Service,
    site_id: &str,
    id: &ConversationId,
) -> Result<Arc<Head>, ApiError> {
    let cache = &service.0.caches.heads;
    let version = match service.db().dialect() {
        Dialect::Sqlite => match cache.get(&id.as_str().to_owned()) {
            Ok(head) => return of_site(head, site_id),
            Err(version) => version,
        },
        // Another node may have written a moment ago.
        Dialect::Postgres => cache.version(),
    };
    read_head(service, site_id, id, version).await
}

/// Returns whether a site has a conversation. The answer may be outdated for a moment after an erasure at
/// another node, which nobody minds: polls of the conversation then say that it does not exist.
pub(crate) async fn exists(service: &Service, site_id: &str, id: &ConversationId) -> Result<bool, ApiError> {
    let found = match service.0.caches.heads.get(&id.as_str().to_owned()) {
        Ok(head) => of_site(head, site_id),
        Err(version) => read_head(service, site_id, id, version).await,
    };
    match found {
        Ok(_) => Ok(true),
        Err(ApiError::NotFound(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

fn of_site(head: Arc<Head>, site_id: &str) -> Result<Arc<Head>, ApiError> {
    if head.site_id == site_id { Ok(head) } else { Err(NO_CONVERSATION) }
}

async fn read_head(
    service: &Service,
    site_id: &str,
    id: &ConversationId,
    version: Version,
) -> Result<Arc<Head>, ApiError> {
    let sql = "SELECT c.no, c.last_seq, c.last_reply_seq, c.seen_seq, v.id FROM conversations c
         LEFT JOIN visitors v ON v.no = c.visitor_no WHERE c.id = $1 AND c.site_id = $2";
    let row = service.db().optional(sql, args![id, site_id]).await?.ok_or(NO_CONVERSATION)?;
    let head = Arc::new(Head {
        site_id: site_id.to_owned(),
        no: row.int(0)?,
        last_seq: row.int(1)?,
        last_reply_seq: row.int(2)?,
        seen_seq: row.int(3)?,
        verified: row.optional_text(4)?.filter(|id| is_verified(id)),
    });
    service.0.caches.heads.put(version, id.as_str().to_owned(), Arc::clone(&head));
    Ok(head)
}
