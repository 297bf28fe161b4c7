//! Using a one-time link: to create an account, or to set a new password.

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use chat_protocol::Value;
use chat_protocol::admin::{LinkKind, LinkToken, Setup, SetupLink, SignedIn};

use super::password::words;
use super::sign_in::{describe, tenant_name};
use crate::Service;
use crate::accounts::context::Context;
use crate::accounts::email::parse_email;
use crate::accounts::hasher::Caller;
use crate::accounts::links::{self, INVALID_LINK, Link, Purpose};
use crate::accounts::session::{self, Browser};
use crate::accounts::throttle::{self, Attempt};
use crate::accounts::{Operator, Role, password, people};
use crate::audit;
use crate::db::{DbError, Tx, args, transaction};
use crate::error::ApiError;
use crate::input::{Body, success};
use crate::limits::check_name;
use crate::response::ApiResponse;
use crate::secrets::new_id;

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/setup", post(finish)).route("/setup/check", post(check))
}

#[utoipa::path(post, path = "/setup/check", tag = "accounts", request_body = LinkToken,
    responses((status = 200, description = "What the link is for; does not use it up", body = SetupLink),
        (status = 401, description = "The link is not valid (INVALID_LINK)")))]
pub(super) async fn check(
    State(service): State<Service>,
    context: Context,
    Body(request): Body<LinkToken>,
) -> Result<ApiResponse, ApiError> {
    let (link, attempt) = find(&service, &context, &request.token).await?;
    transaction!(service.db(), |tx| attempt.withdraw(tx).await).await?;
    let tenant = tenant_name(&service, &link.tenant_id).await?;
    let (kind, email, role) = match link.purpose {
        Purpose::Owner => (LinkKind::Owner, None, Some(Role::Owner)),
        Purpose::Invitation { email, role } => (LinkKind::Invitation, Some(email), Some(role)),
        Purpose::Password { operator_id } => {
            let person = people::find(&service, &link.tenant_id, &operator_id).await?;
            (LinkKind::Password, Some(person.email), None)
        }
    };
    success(&SetupLink { kind, email, role, tenant })
}

/// Looks a link up, and counts the attempt.
async fn find(service: &Service, context: &Context, token: &str) -> Result<(Link, Attempt), ApiError> {
    let attempt = throttle::attempt(service, vec![context.of_network("link")]).await?;
    Ok((links::find(service, token).await?.ok_or(INVALID_LINK)?, attempt))
}

#[utoipa::path(post, path = "/setup", tag = "accounts", request_body = Setup,
    responses((status = 200, description = "The operator; signed in (`signedIn`), unless the account has a \
                                      second factor", body = SignedIn),
        (status = 401, description = "The link is not valid (INVALID_LINK)"),
        (status = 409, description = "The address has an account already")))]
pub(super) async fn finish(
    State(service): State<Service>,
    context: Context,
    Body(request): Body<Setup>,
) -> Result<Response, ApiError> {
    context.require_cookies()?;
    let (link, attempt) = find(&service, &context, &request.token).await?;
    let account = accept(&service, &link, &request).await?;
    let words = words(&service, &link.tenant_id, &[&account.email, &account.name]).await?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let new_password = password::accept(&request.password, &words)?;
    let place = service.0.accounts.hasher.place(Caller::Known { tenant_id: &link.tenant_id });
    let hash = match place {
        Ok(place) => place.hash(new_password).await,
        Err(full) => Err(full),
    };
    let hash = attempt.unless_unchecked(&service, hash).await?;
    let (now, browser, token) = (service.now_ms(), context.browser.clone(), request.token);
    let (operator, secret) = transaction!(service.db(), |tx| {
        let link = links::take(tx, now, &token).await?;
        attempt.succeed(tx).await?;
        store(tx, now, &link, account, hash, &browser).await
    })
    .await?;
    let shown = describe(&service, &operator, secret.is_none()).await?;
    let shown = SignedIn { signed_in: Some(secret.is_some()), ..shown };
    match secret {
        Some(secret) => context.signed_in(&service, &operator.id, &secret, &shown),
        None => context.known_device(&service, &operator.id, &shown),
    }
}

/// The account that a link creates, or gives a new password.
struct Account {
    /// `None` creates one.
    id: Option<String>,
    email: String,
    name: String,
    role: Role,
}

async fn accept(service: &Service, link: &Link, request: &Setup) -> Result<Account, ApiError> {
    let given = request.email.as_deref().map(parse_email).transpose()?;
    let name = || check_name("name", request.name.as_deref().unwrap_or_default());
    let account = match &link.purpose {
        Purpose::Owner => {
            let missing =
                || ApiError::InvalidRequest("missing email: expected that of the owner.".to_owned());
            Account { id: None, email: given.clone().ok_or_else(missing)?, name: name()?, role: Role::Owner }
        }
        Purpose::Invitation { email, role } => {
            Account { id: None, email: email.clone(), name: name()?, role: *role }
        }
        Purpose::Password { operator_id } => {
            let person = people::find(service, &link.tenant_id, operator_id).await?;
            Account { id: Some(person.id), email: person.email, name: person.name, role: person.role }
        }
    };
    match given {
        Some(email) if email != account.email => {
            Err(ApiError::InvalidRequest("invalid email: this link is for another address.".to_owned()))
        }
        _ => Ok(account),
    }
}

/// Stores a new account or password. Returns the operator, and the secret of a session, unless a second
/// factor has to be shown first.
async fn store(
    tx: &mut Tx,
    now_ms: i64,
    link: &Link,
    account: Account,
    hash: String,
    browser: &Browser,
) -> Result<(Operator, Option<String>), ApiError> {
    let (tenant, Account { id, email, name, role }) = (link.tenant_id.as_str(), account);
    let (id, action, has_totp) = if let Some(id) = id {
        let sql = "UPDATE operators SET password = $1 WHERE id = $2 AND tenant_id = $3
                       RETURNING CAST(CASE WHEN totp_secret IS NULL THEN 0 ELSE 1 END AS BIGINT)";
        let row = tx.optional(sql, args![hash, &id, tenant]).await?.ok_or(INVALID_LINK)?;
        session::revoke_all(tx, tenant, &id, None).await?;
        (id, "password.reset", row.flag(0)?)
    } else {
        let id = new_id("operator");
        let sql = "INSERT INTO operators (id, tenant_id, email, name, role, password, created_ms)
                       VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let values = args![&id, tenant, &email, &name, role.as_str(), hash, now_ms];
        tx.execute(sql, values).await.map_err(taken)?;
        (id, "operator.create", false)
    };
    let operator = Operator { id, tenant_id: tenant.to_owned(), email, name, role };
    let author = operator.author(&browser.address);
    let detail = Value::object([("link", link.id.as_str().into()), ("role", role.as_str().into())]);
    audit::record(tx, &author.entry(tenant, action, &operator.id, now_ms).with(&detail)).await?;
    let secret =
        if has_totp { None } else { Some(session::create(tx, now_ms, &operator.id, browser).await?) };
    Ok((operator, secret))
}

fn taken(error: DbError) -> ApiError {
    if error.is_unique_violation() {
        return ApiError::Conflict("This address has an account already: use another one.".to_owned());
    }
    error.into()
}
