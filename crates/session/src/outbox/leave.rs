//! The messages of a visitor who signs in or out, to be sent as they are.

use chat_protocol::{SendMessage, VisitorId};

use super::{Outbox, PendingMessage, SendRequest};

impl Outbox {
    /// Returns the requests of all messages that would be sent, each with its key and body.
    pub(crate) fn requests(
        &mut self,
        now_ms: u64,
        visitor: &VisitorId,
        compose: impl Fn(&PendingMessage) -> SendMessage,
    ) -> Vec<SendRequest> {
        let mut requests = Vec::new();
        for pending in self.messages.iter_mut().filter(|pending| !pending.is_failed()) {
            if !pending.is_stale(now_ms) {
                requests.push(pending.start(now_ms, visitor, &compose));
            }
        }
        requests
    }
}
