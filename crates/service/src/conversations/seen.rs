//! What the visitor has seen: their widget has polled past a message.

use chat_protocol::ConversationId;
use tracing::warn;

use super::Head;
use crate::Service;
use crate::db::{DbError, Wake, args, work};
use crate::sites::Site;

/// Records that the visitor's widget has polled past the message with the number `after`.
///
/// This writes only when an answer is seen for the first time, which the head tells. The poll does not wait
/// for it.
pub(crate) fn record(service: &Service, site: &Site, id: &ConversationId, head: &Head, after: i64) {
    let seen = after.min(head.last_seq);
    if head.last_reply_seq <= head.seen_seq || seen < head.last_reply_seq {
        return;
    }
    let wake = Wake::Conversation {
        tenant: site.tenant_id.clone(),
        site: site.id.clone(),
        conversation: id.as_str().to_owned(),
    };
    let (node, no) = (service.clone(), head.no);
    service.0.tasks.spawn(async move {
        let written: Result<(), DbError> = node
            .db()
            .write_unflushed(work!(|tx| {
                let sql = "UPDATE conversations SET seen_seq = $1 WHERE no = $2 AND seen_seq < $1";
                if tx.execute(sql, args![seen, no]).await? > 0 {
                    tx.wake(wake);
                }
                Ok(())
            }))
            .await;
        if let Err(error) = written {
            warn!("it was not stored that a visitor has seen a message: {error}");
        }
    });
}
