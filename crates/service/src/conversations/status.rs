//! The states of a conversation.

/// The state of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// The AI answers, or an operator has.
    Open,
    /// The visitor waits for a person.
    Waiting,
    /// Done. The next message of the visitor opens it again.
    Closed,
}

impl Status {
    pub(crate) const ALL: [Self; 3] = [Self::Open, Self::Waiting, Self::Closed];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Waiting => "waiting",
            Self::Closed => "closed",
        }
    }

    /// Returns the state with a name.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }

    /// Reads a stored state.
    pub(crate) fn from_stored(text: &str) -> Self {
        match text {
            "waiting" => Self::Waiting,
            "closed" => Self::Closed,
            _ => Self::Open,
        }
    }
}
