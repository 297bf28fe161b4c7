//! Notices: reasons why the visitor may not get a reply.

/// A reason why the visitor may not get a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The site's quota is used up (402, or `quota_insufficient`).
    Quota,
    /// The service blocks the visitor (`blocked`).
    Blocked,
    /// The message arrived, but there is no reply (`provider_error`).
    NoReply,
}

impl Notice {
    const ALL: [Self; 3] = [Self::Quota, Self::Blocked, Self::NoReply];

    /// Returns the name in snapshots.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Quota => "quota",
            Self::Blocked => "blocked",
            Self::NoReply => "noReply",
        }
    }

    /// Returns the notice with this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notice| notice.as_str() == name)
    }
}
