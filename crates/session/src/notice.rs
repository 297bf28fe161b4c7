//! Notices: reasons why the visitor may not get an answer.

/// A reason why the visitor may not get an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The service refuses messages, because the site's quota is used up (402).
    Quota,
    /// The service blocks the visitor (`blocked`).
    Blocked,
    /// The message arrived, but there is no reply (`provider_error`).
    NoReply,
    /// The reply says that the assistant has no answer, or replaces one.
    Unanswered,
}

impl Notice {
    const ALL: [Self; 4] = [Self::Quota, Self::Blocked, Self::NoReply, Self::Unanswered];

    /// Returns the name in snapshots.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Quota => "quota",
            Self::Blocked => "blocked",
            Self::NoReply => "noReply",
            Self::Unanswered => "unanswered",
        }
    }

    /// Returns the notice with this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|notice| notice.as_str() == name)
    }
}
