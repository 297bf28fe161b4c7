//! The operators of a tenant, their invitations and their sessions.

use serde::{Deserialize, Serialize};

/// A role. Each may do everything that the ones before it may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum OperatorRole {
    /// Answers visitors.
    #[default]
    Agent,
    /// Sets up sites, and manages agents.
    Admin,
    /// Manages everybody, and everything.
    Owner,
}

impl OperatorRole {
    /// All roles, the least first.
    pub const ALL: [Self; 3] = [Self::Agent, Self::Admin, Self::Owner];

    /// Returns the role's name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Admin => "admin",
            Self::Owner => "owner",
        }
    }

    /// Returns the role of a name; `None` for an unknown one.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }
}

/// An operator's account.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct OperatorAccount {
    /// The operator's id.
    pub id: String,
    /// The e-mail address, which signs in.
    pub email: String,
    /// The name that visitors see.
    pub name: String,
    /// The role.
    pub role: OperatorRole,
    /// Whether the operator has a second factor. Only the operator and those who may manage the account are
    /// told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub totp: Option<bool>,
    /// Whether the account is disabled.
    pub disabled: bool,
    /// When the account was created.
    pub created_at: String,
}

/// `data` of `GET /operators`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Operators {
    /// The operators of the tenant, the oldest account first.
    pub operators: Vec<OperatorAccount>,
}

/// The body of `PATCH /operators/{operator}`. A missing member keeps its value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OperatorChange {
    /// The name that visitors see. Everybody may change their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The role. Only owners may change it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<OperatorRole>,
    /// Whether the account is disabled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
}

/// `data` of `PATCH /operators/{operator}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct OperatorChanged {
    /// The operator as they are now.
    pub operator: OperatorAccount,
}

/// An invitation that nobody has used yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Invitation {
    /// The invitation's id.
    pub id: String,
    /// The address that it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The role that it gives.
    pub role: OperatorRole,
    /// When it was made.
    pub created_at: String,
    /// When it expires.
    pub expires_at: String,
}

/// `data` of `GET /invitations`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Invitations {
    /// The invitations that are still valid, oldest first.
    pub invitations: Vec<Invitation>,
}

/// The body of `POST /invitations`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InvitationRequest {
    /// The address of the person.
    pub email: String,
    /// The role that they get. Admins may invite agents, owners everybody.
    pub role: OperatorRole,
}

/// A link that works once, and is shown this once: `data` of `POST /operators/{operator}/password-link`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct OneTimeLink {
    /// The address.
    pub link: String,
    /// When it expires.
    pub expires_at: String,
}

/// `data` of `POST /invitations`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct NewInvitation {
    /// The invitation's id.
    pub id: String,
    /// The address that it is for.
    pub email: String,
    /// The role that it gives.
    pub role: OperatorRole,
    /// The link to pass on to the person, where the service sends no e-mails. One that was sent is shown to
    /// nobody else, so that it proves the mailbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// When the link expires.
    pub expires_at: String,
    /// Whether the link was sent by e-mail.
    pub mailed: bool,
}

/// A session of an operator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct SessionInfo {
    /// The session's id, which is no secret.
    pub id: String,
    /// Whether it is the session of this request.
    pub current: bool,
    /// When it began.
    pub created_at: String,
    /// When it was last used.
    pub seen_at: String,
    /// When it ends.
    pub expires_at: String,
    /// The client's address.
    pub address: String,
    /// What the browser says of itself.
    pub user_agent: String,
}

/// `data` of `GET /sessions` and `GET /operators/{operator}/sessions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Sessions {
    /// The sessions, the last used first.
    pub sessions: Vec<SessionInfo>,
}

/// `data` of `DELETE /sessions`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EndedSessions {
    /// The number of sessions that ended: all own ones but the one of this request.
    pub ended: u64,
}

/// The e-mails that the signed-in operator receives: `data` of `GET` and `PUT /notifications`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct EmailPreferences {
    /// About visitors that wait for an answer.
    pub unanswered: bool,
    /// About visitors that left contact details.
    pub lead: bool,
    /// About visitors that want to talk to a person.
    pub hand_off: bool,
    /// The language tag of the e-mails; without one, they are in the language of the site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// Whether the service sends e-mails.
    pub available: bool,
}

/// The body of `PUT /notifications`. See [`EmailPreferences`] for the members.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmailChoice {
    /// About visitors that wait for an answer.
    pub unanswered: bool,
    /// About visitors that left contact details.
    pub lead: bool,
    /// About visitors that want to talk to a person.
    pub hand_off: bool,
    /// The language tag of the e-mails.
    #[serde(default)]
    pub locale: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_read_as_it_is_written() {
        for role in OperatorRole::ALL {
            assert_eq!(OperatorRole::parse(role.as_str()), Some(role));
            assert_eq!(serde_json::to_string(&role).expect("JSON"), format!("\"{}\"", role.as_str()));
        }
        assert!(OperatorRole::Agent < OperatorRole::Admin && OperatorRole::Admin < OperatorRole::Owner);
        for text in ["", "Owner", "root", "owner "] {
            assert_eq!(OperatorRole::parse(text), None);
        }
    }
}
