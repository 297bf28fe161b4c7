//! Invitations of further operators.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{delete, get};
use chat_protocol::Value;
use serde::Deserialize;
use utoipa::ToSchema;

use super::sign_in::describe;
use crate::Service;
use crate::accounts::context::{Body, Context};
use crate::accounts::email::parse_email;
use crate::accounts::links::{self, NewLink, Purpose};
use crate::accounts::mail::{self, Mail};
use crate::accounts::session::read_role;
use crate::accounts::{Operator, Right, Role, people};
use crate::audit;
use crate::clock::iso;
use crate::db::{DbError, Row, Tx, args};
use crate::error::ApiError;
use crate::response::ApiResponse;

/// Maximum invitations of a tenant that nobody has used yet.
const MAX_OPEN: i64 = 100;

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/invitations", get(list).post(create))
        .route("/invitations/{invitation}", delete(revoke))
}

#[utoipa::path(
    get,
    path = "/invitations",
    tag = "accounts",
    responses(
        (status = 200, description = "The invitations that are still valid"),
        (status = 403, description = "Only owners and admins may do this"),
    ),
)]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageAgents)?;
    let sql = "SELECT id, email, role, created_ms, expires_ms FROM invitations
               WHERE tenant_id = $1 AND email IS NOT NULL AND used_ms IS NULL AND expires_ms > $2
               ORDER BY created_ms, id";
    let rows = service.db().all(sql, args![&operator.tenant_id, service.now_ms()]).await?;
    let invitations = rows.iter().map(read).collect::<Result<Vec<Value>, DbError>>()?;
    Ok(ApiResponse::success(Value::object([("invitations", Value::List(invitations))])))
}

fn read(row: &Row) -> Result<Value, DbError> {
    Ok(Value::object([
        ("id", row.text(0)?.into()),
        ("email", row.optional_text(1)?.into()),
        ("role", row.text(2)?.into()),
        ("createdAt", iso(row.int(3)?).into()),
        ("expiresAt", iso(row.int(4)?).into()),
    ]))
}

/// An invitation of somebody.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Invite {
    email: String,
    /// Admins may invite agents, owners everybody.
    role: Role,
}

#[utoipa::path(
    post,
    path = "/invitations",
    tag = "accounts",
    request_body = Invite,
    responses(
        (status = 200, description = "The invitation, with its one-time `link`; `mailed` if it was sent \
                                      by e-mail"),
        (status = 403, description = "The role does not allow it"),
        (status = 409, description = "The address belongs to an operator of this tenant already"),
    ),
)]
pub(super) async fn create(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Body(request): Body<Invite>,
) -> Result<ApiResponse, ApiError> {
    let right = Right::to_manage(request.role);
    operator.may(right)?;
    let (email, role) = (parse_email(&request.email)?, request.role);
    let now = service.now_ms();
    let (inviter, address) = (operator.clone(), email.clone());
    let link: NewLink = service
        .db()
        .write(move |tx| {
            Box::pin(async move {
                let tenant = inviter.tenant_id.as_str();
                people::lock(tx, tenant).await?;
                people::still_may(tx, &inviter, right).await?;
                check(tx, tenant, &address, now).await?;
                let purpose = Purpose::Invitation { email: address.clone(), role };
                let link = links::create(tx, now, tenant, &purpose, &inviter.id).await?;
                let actor = inviter.actor(&context.browser.address);
                let detail = Value::object([("email", address.into()), ("role", role.as_str().into())]);
                audit::record(tx, &actor.entry(tenant, "operator.invite", &link.id, detail, now)).await?;
                Ok::<_, ApiError>(link)
            })
        })
        .await?;
    let url = links::url(&service, &link.secret);
    let mailed = mail::is_set_up(&service);
    if mailed {
        let session = describe(&service, &operator, false).await?;
        let tenant = session.get("tenant").and_then(|tenant| tenant.get("name")).and_then(Value::as_text);
        let tenant = tenant.unwrap_or_default();
        let texts = mail::texts(&service, &operator.tenant_id, &email).await?;
        mail::send(&service, Mail::invitation(email.clone(), texts, &operator.name, tenant, &url)).await;
    }
    Ok(ApiResponse::success(Value::object([
        ("id", link.id.into()),
        ("email", email.into()),
        ("role", role.as_str().into()),
        ("expiresAt", iso(link.expires_ms).into()),
        ("link", url.into()),
        ("mailed", mailed.into()),
    ])))
}

/// Refuses to invite somebody who is here already. Whether another tenant has such an operator is not told.
async fn check(tx: &mut Tx, tenant_id: &str, email: &str, now_ms: i64) -> Result<(), ApiError> {
    let sql = "SELECT count(*) FROM operators WHERE tenant_id = $1 AND email = $2";
    if tx.one(sql, args![tenant_id, email]).await?.int(0)? > 0 {
        return Err(ApiError::Conflict("This address has an account here already.".to_owned()));
    }
    let sql = "SELECT count(*) FROM invitations WHERE tenant_id = $1 AND used_ms IS NULL AND expires_ms > $2";
    if tx.one(sql, args![tenant_id, now_ms]).await?.int(0)? >= MAX_OPEN {
        return Err(ApiError::Conflict("Too many invitations are open: revoke some first.".to_owned()));
    }
    Ok(())
}

#[utoipa::path(
    delete,
    path = "/invitations/{invitation}",
    tag = "accounts",
    params(("invitation" = String, Path)),
    responses(
        (status = 200, description = "The invitation is not valid any more"),
        (status = 403, description = "The role does not allow it"),
    ),
)]
pub(super) async fn revoke(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageAgents)?;
    let now = service.now_ms();
    service
        .db()
        .write(move |tx| {
            Box::pin(async move {
                let tenant = operator.tenant_id.as_str();
                let sql = "DELETE FROM invitations WHERE id = $1 AND tenant_id = $2 AND email IS NOT NULL
                           AND used_ms IS NULL RETURNING role";
                let row = tx.optional(sql, args![&id, tenant]).await?;
                let role = row.ok_or(ApiError::NotFound("This invitation"))?.text(0)?;
                people::still_may(tx, &operator, Right::to_manage(read_role(&role))).await?;
                let actor = operator.actor(&context.browser.address);
                let entry = actor.entry(tenant, "operator.uninvite", &id, Value::object([]), now);
                audit::record(tx, &entry).await?;
                Ok::<_, ApiError>(())
            })
        })
        .await?;
    Ok(ApiResponse::success(Value::object([])))
}
