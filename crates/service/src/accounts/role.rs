//! What each role of operators may do.

pub(crate) use chat_protocol::admin::settings::OperatorRole as Role;

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
}
