//! Invitations of further operators.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{delete, get};
use chat_protocol::admin::Empty;
use chat_protocol::admin::settings::{Invitation, InvitationRequest, Invitations, NewInvitation};

use super::sign_in::tenant_name;
use crate::Service;
use crate::accounts::context::Context;
use crate::accounts::email::parse_email;
use crate::accounts::links::{self, NewLink, Purpose};
use crate::accounts::mail::{self, Mail};
use crate::accounts::session::{self, read_role};
use crate::accounts::{Operator, Right, people};
use crate::audit;
use crate::clock::iso;
use crate::db::{DbError, Row, Tx, args, transaction};
use crate::error::ApiError;
use crate::input::{Body, done, success};
use crate::response::ApiResponse;

/// Maximum invitations of a tenant that nobody has used yet.
const MAX_OPEN: i64 = 100;

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/invitations", get(list).post(create))
        .route("/invitations/{invitation}", delete(revoke))
}

#[utoipa::path(get, path = "/invitations", tag = "accounts",
    responses((status = 200, description = "The invitations that are still valid", body = Invitations),
        (status = 403, description = "Only owners and admins may do this")))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageAgents)?;
    let sql = "SELECT id, email, role, created_ms, expires_ms FROM invitations
               WHERE tenant_id = $1 AND email IS NOT NULL AND used_ms IS NULL AND expires_ms > $2
               ORDER BY created_ms, id";
    let rows = service.db().all(sql, args![&operator.tenant_id, service.now_ms()]).await?;
    let read = |row: &Row| {
        Ok::<_, DbError>(Invitation {
            id: row.text(0)?,
            email: row.optional_text(1)?,
            role: read_role(&row.text(2)?),
            created_at: iso(row.int(3)?),
            expires_at: iso(row.int(4)?),
        })
    };
    success(&Invitations { invitations: rows.iter().map(read).collect::<Result<_, _>>()? })
}

#[utoipa::path(post, path = "/invitations", tag = "accounts", request_body = InvitationRequest,
    responses((status = 200, description = "The invitation. Its one-time link is sent by e-mail, and \
                                      shown only where the service sends none", body = NewInvitation),
        (status = 403, description = "The role does not allow it"),
        (status = 409, description = "The address belongs to an operator of this tenant already"),
        (status = 429, description = "Too many e-mails to this address, or of this tenant")))]
pub(super) async fn create(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Body(request): Body<InvitationRequest>,
) -> Result<ApiResponse, ApiError> {
    let right = Right::to_manage(request.role);
    operator.may(right)?;
    let request = InvitationRequest { email: parse_email(&request.email)?, ..request };
    let mailed = mail::is_set_up(&service);
    if mailed {
        service.0.rates.take_invitation(&service, &operator.tenant_id, &request.email).await?;
    }
    let now = service.now_ms();
    let (inviter, wanted) = (operator.clone(), request.clone());
    let link: NewLink = transaction!(service.db(), |tx| {
        let tenant = inviter.tenant_id.as_str();
        people::lock(tx, tenant).await?;
        people::still_may(tx, &inviter, right).await?;
        session::require(tx, now, context.session.as_ref()).await?;
        check(tx, tenant, &wanted.email, now).await?;
        let purpose = Purpose::Invitation { email: wanted.email.clone(), role: wanted.role };
        let link = if mailed {
            links::create_mailed(tx, now, tenant, &purpose, &inviter.id).await?
        } else {
            links::create(tx, now, tenant, &purpose, &inviter.id).await?
        };
        let author = inviter.author(&context.browser.address);
        let entry = author.entry(tenant, "operator.invite", &link.id, now).with(&wanted);
        audit::record(tx, &entry).await?;
        Ok::<_, ApiError>(link)
    })
    .await?;
    let InvitationRequest { email, role } = request;
    let url = links::url(&service, &link.secret);
    if mailed {
        let tenant = tenant_name(&service, &operator.tenant_id).await?;
        let texts = mail::texts(&service, &operator.tenant_id, &email).await?;
        mail::send(&service, Mail::invitation(email.clone(), texts, &operator, &tenant, &url)).await;
    }
    let expires_at = iso(link.expires_ms);
    success(&NewInvitation { id: link.id, email, role, link: (!mailed).then_some(url), expires_at, mailed })
}

/// Refuses to invite somebody who is here already. Whether the address has an account elsewhere is neither
/// looked up nor told.
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

#[utoipa::path(delete, path = "/invitations/{invitation}", tag = "accounts",
    params(("invitation" = String, Path)),
    responses((status = 200, description = "The invitation is not valid any more", body = Empty),
        (status = 403, description = "The role does not allow it")))]
pub(super) async fn revoke(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageAgents)?;
    let now = service.now_ms();
    transaction!(service.db(), |tx| {
        let tenant = operator.tenant_id.as_str();
        let sql = "DELETE FROM invitations WHERE id = $1 AND tenant_id = $2 AND email IS NOT NULL
                   AND used_ms IS NULL RETURNING role";
        let row = tx.optional(sql, args![&id, tenant]).await?;
        let role = row.ok_or(ApiError::NotFound("This invitation"))?.text(0)?;
        people::still_may(tx, &operator, Right::to_manage(read_role(&role))).await?;
        session::require(tx, now, context.session.as_ref()).await?;
        let author = operator.author(&context.browser.address);
        audit::record(tx, &author.entry(tenant, "operator.uninvite", &id, now)).await?;
        Ok::<_, ApiError>(())
    })
    .await?;
    Ok(done())
}
