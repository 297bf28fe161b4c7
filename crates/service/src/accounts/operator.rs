//! The signed-in operator of a request.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use super::{Right, Role};
use crate::Service;
use crate::audit::Author;
use crate::error::ApiError;

/// The operator who is signed in. As an argument of a handler, it refuses requests without a valid session.
///
/// The session is looked up by the guard, so that a route outside of it refuses everybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Operator {
    pub(crate) id: String,
    /// The account, which may be that of operators of other tenants too.
    pub(crate) account_id: String,
    pub(crate) tenant_id: String,
    pub(crate) email: String,
    pub(crate) name: String,
    pub(crate) role: Role,
}

impl Operator {
    /// Refuses operators of lesser roles.
    pub(crate) fn require(&self, role: Role) -> Result<(), ApiError> {
        match role {
            _ if self.role >= role => Ok(()),
            Role::Owner => Err(ApiError::Forbidden("Only owners may do this.")),
            _ => Err(ApiError::Forbidden("Only owners and admins may do this.")),
        }
    }

    /// Refuses operators whose role does not have a right.
    pub(crate) fn may(&self, right: Right) -> Result<(), ApiError> {
        self.require(right.least_role())
    }

    /// Returns the operator as the author of a change, at a client's address.
    pub(super) fn author(&self, address: &str) -> Author {
        Author::new(&self.id, format!("{} <{}>", self.name, self.email), address)
    }
}

impl FromRequestParts<Service> for Operator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _service: &Service) -> Result<Self, ApiError> {
        parts.extensions.get::<Self>().cloned().ok_or(ApiError::SIGNED_OUT)
    }
}
