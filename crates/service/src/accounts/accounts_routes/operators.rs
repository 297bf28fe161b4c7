//! The operators of a tenant.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{get, patch, post};
use chat_protocol::admin::settings::{OneTimeLink, OperatorChange, OperatorChanged, Operators};
use chat_protocol::admin::{Empty, PasswordProof};

use super::password::{lock_verified, verify};
use crate::Service;
use crate::accounts::context::Context;
use crate::accounts::links::{self, Purpose};
use crate::accounts::people::{self, Person};
use crate::accounts::{Operator, Right, account, session};
use crate::audit;
use crate::clock::iso;
use crate::db::transaction;
use crate::error::ApiError;
use crate::input::{Body, done, success};
use crate::limits::check_name;
use crate::response::ApiResponse;

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/operators", get(list))
        .route("/operators/{operator}", patch(change).delete(remove))
        .route("/operators/{operator}/password-link", post(password_link))
        .route("/operators/{operator}/totp/remove", post(remove_totp))
}

#[utoipa::path(get, path = "/operators", tag = "accounts",
    responses((status = 200, description = "The operators of the tenant", body = Operators)))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::SeeOperators)?;
    let people = people::list(&service, &operator.tenant_id).await?;
    success(&Operators { operators: people.into_iter().map(|person| person.account(&operator)).collect() })
}

#[utoipa::path(patch, path = "/operators/{operator}", tag = "accounts", request_body = OperatorChange,
    params(("operator" = String, Path)),
    responses(
        (status = 200, description = "The changed operator, whose sessions have ended if the rights changed",
            body = OperatorChanged),
        (status = 403, description = "The role does not allow it"),
        (status = 409, description = "This is the last owner")))]
pub(super) async fn change(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Path(id): Path<String>,
    Body(request): Body<OperatorChange>,
) -> Result<ApiResponse, ApiError> {
    let name = request.name.map(|name| check_name("name", &name)).transpose()?;
    let change = OperatorChange { name, ..request };
    let (now, to) = (service.now_ms(), operator.clone());
    let changed: Person = transaction!(service.db(), |tx| {
        let tenant = operator.tenant_id.as_str();
        people::lock(tx, tenant).await?;
        let person = people::find_in(tx, tenant, &id).await?;
        let is_own_name = id == operator.id && change.role.is_none() && change.disabled.is_none();
        if !is_own_name {
            people::still_may(tx, &operator, Right::to_manage(person.role)).await?;
        }
        if change.role.is_some() {
            people::still_may(tx, &operator, Right::ManageOwners).await?;
        }
        session::require(tx, now, context.session.as_ref()).await?;
        let author = operator.author(&context.browser.address);
        people::change(tx, now, tenant, &id, &change, &author).await
    })
    .await?;
    success(&OperatorChanged { operator: changed.account(&to) })
}

#[utoipa::path(delete, path = "/operators/{operator}", tag = "accounts", params(("operator" = String, Path)),
    responses((status = 200, description = "Deleted; what the operator wrote remains", body = Empty),
        (status = 403, description = "The role does not allow it"),
        (status = 409, description = "This is the last owner")))]
pub(super) async fn remove(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    let now = service.now_ms();
    transaction!(service.db(), |tx| {
        let tenant = operator.tenant_id.as_str();
        people::lock(tx, tenant).await?;
        let person = people::find_in(tx, tenant, &id).await?;
        people::still_may(tx, &operator, Right::to_manage(person.role)).await?;
        session::require(tx, now, context.session.as_ref()).await?;
        people::remove(tx, now, tenant, &id, &operator.author(&context.browser.address)).await
    })
    .await?;
    Ok(done())
}

#[utoipa::path(post, path = "/operators/{operator}/password-link", tag = "accounts",
    params(("operator" = String, Path)),
    responses(
        (status = 200, description = "A link with which the operator sets a new password within an hour",
            body = OneTimeLink),
        (status = 403, description = "Only owners may do this"),
        (status = 409, description = "The operator is disabled, or the account works for others as well")))]
pub(super) async fn password_link(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageCredentials)?;
    let now = service.now_ms();
    let link = transaction!(service.db(), |tx| {
        let tenant = operator.tenant_id.as_str();
        people::still_may(tx, &operator, Right::ManageCredentials).await?;
        session::require(tx, now, context.session.as_ref()).await?;
        let person = people::find_in(tx, tenant, &id).await?;
        if person.disabled_ms.is_some() {
            return Err(ApiError::Conflict("This operator is disabled: enable them first.".to_owned()));
        }
        people::require_sole(tx, tenant, &person).await?;
        let purpose = Purpose::Password { operator_id: person.id };
        let link = links::create(tx, now, tenant, &purpose, &operator.id).await?;
        let author = operator.author(&context.browser.address);
        audit::record(tx, &author.entry(tenant, "password.link", &id, now)).await?;
        Ok(link)
    })
    .await?;
    success(&OneTimeLink { link: links::url(&service, &link.secret), expires_at: iso(link.expires_ms) })
}

#[utoipa::path(post, path = "/operators/{operator}/totp/remove", tag = "accounts",
    request_body = PasswordProof, params(("operator" = String, Path)),
    responses(
        (status = 200, description = "The second factor of another operator is removed; needs one's own \
                                      password",
            body = Empty),
        (status = 403, description = "Only owners may do this"),
        (status = 409, description = "The account works for others as well")))]
pub(super) async fn remove_totp(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Path(id): Path<String>,
    Body(request): Body<PasswordProof>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageCredentials)?;
    let person = people::find(&service, &operator.tenant_id, &id).await?;
    let (attempt, hash) = verify(&service, &operator, &request.password).await?;
    let now = service.now_ms();
    transaction!(service.db(), |tx| {
        // In one order, so that two owners who do this to each other do not wait for each other.
        let mut accounts = [&operator.account_id, &person.account_id];
        accounts.sort();
        for account_id in accounts {
            account::lock(tx, account_id).await?;
        }
        lock_verified(tx, &operator, hash).await?;
        people::still_may(tx, &operator, Right::ManageCredentials).await?;
        session::require(tx, now, context.session.as_ref()).await?;
        attempt.succeed(tx).await?;
        people::require_sole(tx, &operator.tenant_id, &person).await?;
        let author = operator.author(&context.browser.address);
        people::remove_totp(tx, now, &operator.tenant_id, &person.id, &author).await
    })
    .await?;
    Ok(done())
}
