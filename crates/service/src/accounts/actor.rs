//! The signed-in operator as the actor of a change.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chat_protocol::admin::Empty;
use serde::Serialize;

use crate::Service;
use crate::audit::{self, Author};
use crate::db::{DbError, Tx};
use crate::error::ApiError;

use super::client::address;
use super::operator::Operator;

/// The signed-in operator, as the actor of a change.
#[derive(Clone, Debug)]
pub(crate) struct Actor {
    pub(crate) operator: Operator,
    author: Author,
}

impl FromRequestParts<Service> for Actor {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, service: &Service) -> Result<Self, ApiError> {
        let operator = Operator::from_request_parts(parts, service).await?;
        let author = operator.author(&address(parts));
        Ok(Self { operator, author })
    }
}

impl Actor {
    /// Records a change in the audit log, in its transaction.
    pub(crate) async fn record(
        &self,
        tx: &mut Tx,
        at_ms: i64,
        action: &str,
        target: &str,
    ) -> Result<(), DbError> {
        self.record_with(tx, at_ms, action, target, &Empty {}).await
    }

    /// Records a change with its details, in its transaction.
    pub(crate) async fn record_with(
        &self,
        tx: &mut Tx,
        at_ms: i64,
        action: &str,
        target: &str,
        detail: &impl Serialize,
    ) -> Result<(), DbError> {
        let entry = self.author.entry(&self.operator.tenant_id, action, target, at_ms);
        audit::record(tx, &entry.with(detail)).await
    }
}
