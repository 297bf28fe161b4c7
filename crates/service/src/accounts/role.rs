//! The roles of operators, and what each may do.

use std::fmt;
use std::str::FromStr;

/// A role. Each may do everything that the ones before it may do.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, serde::Serialize, utoipa::ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    /// Answers visitors.
    Agent,
    /// Sets up sites, and manages agents.
    Admin,
    /// Manages everybody, and everything.
    Owner,
}

impl Role {
    pub(crate) const ALL: [Self; 3] = [Self::Agent, Self::Admin, Self::Owner];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Admin => "admin",
            Self::Owner => "owner",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A text is not a role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid role: expected owner, admin or agent")]
pub(crate) struct UnknownRole;

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or(UnknownRole)
    }
}
