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

impl Notice {
    const ALL: [Self; 3] = [Self::Quota, Self::Blocked, Self::NoReply];

    /// The name by which the tabs tell it to each other.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Quota => "quota",
            Self::Blocked => "blocked",
            Self::NoReply => "noReply",
        }
    }

    /// The notice of this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notice| notice.as_str() == name)
    }
}
