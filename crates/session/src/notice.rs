//! What keeps a conversation from going on as usual.

/// What keeps the conversation from going on as usual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The site's quota is used up (402, or `quota_insufficient`).
    Quota,
    /// The service does not let the visitor through (`blocked`).
    Blocked,
    /// The message arrived, but no reply could be made (`provider_error`).
    NoReply,
}
