//! The sessions of operators: which there are, and ending them.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{delete, get};
use chat_protocol::Value;
use chat_protocol::admin::Empty;
use chat_protocol::admin::settings::{EndedSessions, Sessions};

use crate::Service;
use crate::accounts::context::Context;
use crate::accounts::session::{self, Of};
use crate::accounts::{Operator, Right, account, people};
use crate::audit;
use crate::db::transaction;
use crate::error::ApiError;
use crate::input::{done, success};
use crate::response::ApiResponse;

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/sessions", get(list).delete(end_others))
        .route("/sessions/{session}", delete(end))
        .route("/operators/{operator}/sessions", get(list_of))
        .route("/operators/{operator}/sessions/{session}", delete(end_of))
}

#[utoipa::path(get, path = "/sessions", tag = "accounts",
    responses((status = 200, description = "The own sessions, in all workspaces", body = Sessions)))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
) -> Result<ApiResponse, ApiError> {
    success(&Sessions {
        sessions: session::list(&service, Of::Account(&operator.account_id), &current(&context)).await?,
    })
}

#[utoipa::path(delete, path = "/sessions", tag = "accounts",
    responses((status = 200, description = "All own sessions but this one have ended",
            body = EndedSessions)))]
pub(super) async fn end_others(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
) -> Result<ApiResponse, ApiError> {
    let now = service.now_ms();
    let ended: EndedSessions = transaction!(service.db(), |tx| {
        let (tenant, id) = (operator.tenant_id.as_str(), operator.id.as_str());
        account::lock(tx, &operator.account_id).await?.ok_or(ApiError::SIGNED_OUT)?;
        session::require(tx, now, context.session.as_ref()).await?;
        let own = Of::Account(&operator.account_id);
        let ended = session::revoke_all(tx, own, Some(&current(&context))).await?;
        let ended = EndedSessions { ended };
        let author = operator.author(&context.browser.address);
        audit::record(tx, &author.entry(tenant, "session.end", id, now).with(&ended)).await?;
        Ok::<_, ApiError>(ended)
    })
    .await?;
    success(&ended)
}

#[utoipa::path(delete, path = "/sessions/{session}", tag = "accounts", params(("session" = String, Path)),
    responses((status = 200, description = "The session has ended", body = Empty),
        (status = 404, description = "The operator has no such session")))]
pub(super) async fn end(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Path(session): Path<String>,
) -> Result<ApiResponse, ApiError> {
    let whose = Whose::Own;
    end_session(&service, operator, &context, whose, session).await
}

#[utoipa::path(get, path = "/operators/{operator}/sessions", tag = "accounts",
    params(("operator" = String, Path)),
    responses((status = 200, description = "The sessions of another operator", body = Sessions),
        (status = 403, description = "Only owners may do this")))]
pub(super) async fn list_of(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageCredentials)?;
    let person = people::find(&service, &operator.tenant_id, &id).await?;
    success(&Sessions {
        sessions: session::list(&service, Of::Operator(&person.id), &current(&context)).await?,
    })
}

#[utoipa::path(delete, path = "/operators/{operator}/sessions/{session}", tag = "accounts",
    params(("operator" = String, Path), ("session" = String, Path)),
    responses((status = 200, description = "The session has ended", body = Empty),
        (status = 403, description = "Only owners may do this")))]
pub(super) async fn end_of(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Path((id, session)): Path<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageCredentials)?;
    let person = people::find(&service, &operator.tenant_id, &id).await?;
    end_session(&service, operator, &context, Whose::Operator(person.id), session).await
}

/// Whose session ends: one's own, in any workspace, or that of an operator of the own tenant.
enum Whose {
    Own,
    Operator(String),
}

async fn end_session(
    service: &Service,
    operator: Operator,
    context: &Context,
    whose: Whose,
    session_id: String,
) -> Result<ApiResponse, ApiError> {
    let now = service.now_ms();
    let (author, own_session) = (operator.author(&context.browser.address), context.session.clone());
    transaction!(service.db(), |tx| {
        let tenant = operator.tenant_id.as_str();
        account::lock(tx, &operator.account_id).await?.ok_or(ApiError::SIGNED_OUT)?;
        session::require(tx, now, own_session.as_ref()).await?;
        let (of, target) = match &whose {
            Whose::Own => (Of::Account(&operator.account_id), &operator.id),
            Whose::Operator(id) => (Of::Operator(id), id),
        };
        if !session::revoke(tx, of, &session_id).await? {
            return Err(ApiError::NotFound("This session"));
        }
        let detail = Value::object([("session", session_id.into())]);
        audit::record(tx, &author.entry(tenant, "session.end", target, now).with(&detail)).await?;
        Ok(())
    })
    .await?;
    Ok(done())
}

fn current(context: &Context) -> String {
    context.session.as_ref().map(|session| session.id.clone()).unwrap_or_default()
}
