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

/// Something that not everybody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    /// Read and answer conversations, take notes, close conversations.
    AnswerVisitors,
    /// See who else works here.
    SeeOperators,
    /// Change sites, their tokens, knowledge, articles, webhooks and AI.
    ManageSites,
    /// Export and erase the data of a visitor.
    ManageVisitors,
    /// Invite, disable and remove agents.
    ManageAgents,
    /// Read the audit log.
    ReadAudit,
    /// Invite, disable and remove owners and admins, and change roles.
    ManageOwners,
    /// See and end the sessions of others, and give them new passwords.
    ManageCredentials,
}

/// The rights, and the least role that has each.
const RIGHTS: [(Right, Role); 8] = [
    (Right::AnswerVisitors, Role::Agent),
    (Right::SeeOperators, Role::Agent),
    (Right::ManageSites, Role::Admin),
    (Right::ManageVisitors, Role::Admin),
    (Right::ManageAgents, Role::Admin),
    (Right::ReadAudit, Role::Admin),
    (Right::ManageOwners, Role::Owner),
    (Right::ManageCredentials, Role::Owner),
];

impl Right {
    /// Returns the least role that has this right.
    pub(crate) fn least_role(self) -> Role {
        let row = RIGHTS.iter().find(|(right, _)| *right == self);
        row.map_or(Role::Owner, |(_, role)| *role)
    }

    /// Returns the right to invite, change and remove operators of a role.
    pub(crate) fn to_manage(role: Role) -> Self {
        match role {
            Role::Agent => Self::ManageAgents,
            Role::Admin | Role::Owner => Self::ManageOwners,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_right_has_one_row() {
        for (index, (right, role)) in RIGHTS.iter().enumerate() {
            assert_eq!(right.least_role(), *role);
            assert!(RIGHTS[index + 1..].iter().all(|(other, _)| other != right));
        }
    }

    #[test]
    fn a_role_is_read_as_it_is_written() {
        for role in Role::ALL {
            assert_eq!(role.to_string().parse(), Ok(role));
        }
        assert!(Role::Agent < Role::Admin && Role::Admin < Role::Owner);
        for text in ["", "Owner", "root", "owner "] {
            assert_eq!(text.parse::<Role>(), Err(UnknownRole));
        }
    }
}
