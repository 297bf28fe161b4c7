//! Changing a password, and asking for a new one.

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use chat_protocol::admin::{Empty, PasswordChange, PasswordForgotten, PasswordMail};
use tracing::warn;

use super::sign_in::tenant_name;
use crate::Service;
use crate::accounts::context::Context;
use crate::accounts::email::parse_email;
use crate::accounts::hasher::Caller;
use crate::accounts::links::{self, Purpose};
use crate::accounts::mail::{self, Mail};
use crate::accounts::session::{self, Of};
use crate::accounts::throttle::{self, Attempt, Counted};
use crate::accounts::{Operator, account, password};
use crate::audit::{self, Author};
use crate::db::{Tx, args, transaction};
use crate::error::ApiError;
use crate::input::{Body, success};
use crate::response::ApiResponse;

pub(super) const WRONG_PASSWORD: ApiError =
    ApiError::Unauthorized { code: "WRONG_PASSWORD", message: "Your password is wrong." };

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/password", post(change)).route("/password/forgot", post(forgot))
}

#[utoipa::path(post, path = "/password", tag = "accounts", request_body = PasswordChange,
    responses((status = 200, description = "The password is changed, and all other sessions have ended",
            body = Empty),
        (status = 401, description = "The current password is wrong (WRONG_PASSWORD)")))]
pub(super) async fn change(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Body(request): Body<PasswordChange>,
) -> Result<Response, ApiError> {
    let (attempt, old_hash) = verify(&service, &operator, &request.current_password).await?;
    let words = words(&service, &operator.tenant_id, &[&operator.email, &operator.name]).await?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let new_password = password::accept(&request.new_password, &words)?;
    let place = service.0.accounts.hasher.place(Caller::Known { tenant_id: &operator.tenant_id })?;
    // The salt is that of all accounts of the address.
    let hash = place.hash(new_password, Some(old_hash.clone())).await?;
    let now = service.now_ms();
    let (person, browser) = (operator.clone(), context.browser.clone());
    let secret: String = transaction!(service.db(), |tx| {
        let (tenant, id) = (person.tenant_id.as_str(), person.id.as_str());
        // A password that was changed meanwhile is not the one that was verified.
        let sql = "UPDATE accounts SET password = $1 WHERE id = $2 AND password = $3";
        if tx.execute(sql, args![hash, &person.account_id, old_hash]).await? == 0 {
            return Err(WRONG_PASSWORD);
        }
        attempt.succeed(tx).await?;
        links::revoke_password_links(tx, &person.account_id).await?;
        session::revoke_all(tx, Of::Account(&person.account_id), None).await?;
        let secret = session::create(tx, now, id, &browser).await?;
        let author = person.author(&browser.address);
        audit::record(tx, &author.entry(tenant, "password.change", id, now)).await?;
        Ok(secret)
    })
    .await?;
    context.signed_in(&service, &operator.account_id, &secret, &Empty {})
}

/// Verifies the password of a signed-in operator, which is asked for before a change that would keep its
/// owner out. Returns the attempt, which counts as failed until it is told to have succeeded, and the hash.
pub(super) async fn verify(
    service: &Service,
    operator: &Operator,
    password: &str,
) -> Result<(Attempt, String), ApiError> {
    let place = service.0.accounts.hasher.place(Caller::Known { tenant_id: &operator.tenant_id })?;
    let counted = vec![Counted::account("password of", &operator.account_id)];
    let attempt = throttle::attempt(service, counted).await?;
    let sql = "SELECT password FROM accounts WHERE id = $1";
    let hash = service
        .db()
        .optional(sql, args![&operator.account_id])
        .await?
        .ok_or(ApiError::SIGNED_OUT)?
        .text(0)?;
    let verified = place.verify(password, Some(hash.clone())).await;
    if !attempt.unless_unchecked(service, verified).await? {
        return Err(WRONG_PASSWORD);
    }
    Ok((attempt, hash))
}

/// Locks an operator's account in a transaction, unless the password was changed since it was verified.
pub(super) async fn lock_verified(tx: &mut Tx, operator: &Operator, hash: String) -> Result<(), ApiError> {
    if account::lock_verified(tx, &operator.account_id, hash).await? { Ok(()) } else { Err(WRONG_PASSWORD) }
}

/// Lists what an attacker tries first as a password: besides `more`, the names of the tenant and its sites.
pub(super) async fn words(
    service: &Service,
    tenant_id: &str,
    more: &[&str],
) -> Result<Vec<String>, ApiError> {
    let sql = "SELECT name FROM tenants WHERE id = $1
               UNION ALL SELECT name FROM sites WHERE tenant_id = $1 AND deleted_ms IS NULL
               UNION ALL SELECT domain FROM sites WHERE tenant_id = $1 AND domain IS NOT NULL
                         AND deleted_ms IS NULL";
    let rows = service.db().all(sql, args![tenant_id]).await?;
    let mut words = rows.iter().map(|row| row.text(0)).collect::<Result<Vec<_>, _>>()?;
    words.extend(more.iter().map(|word| (*word).to_owned()));
    Ok(words)
}

#[utoipa::path(post, path = "/password/forgot", tag = "accounts", request_body = PasswordForgotten,
    responses((status = 200, description = "If there is such an account, and `mailed` is true, it is sent an \
                                      e-mail with a link for each account of the address",
            body = PasswordMail),
        (status = 429, description = "Too many requests: see Retry-After")))]
pub(super) async fn forgot(
    State(service): State<Service>,
    context: Context,
    Body(request): Body<PasswordForgotten>,
) -> Result<ApiResponse, ApiError> {
    let email = parse_email(&request.email)?;
    throttle::attempt(&service, vec![context.of_network("forgot")]).await?;
    let mailed = mail::is_set_up(&service);
    if mailed {
        let service = service.clone();
        // After the response, which otherwise would take longer for addresses that have an account.
        service.0.tasks.clone().spawn(async move {
            if let Err(error) = send_links(&service, email, &context).await {
                warn!("links for a new password were not sent: {error}");
            }
        });
    }
    success(&PasswordMail { mailed })
}

/// Sends one e-mail with a link for each account of the address that can sign in. If it had a link for one
/// of them only, an account that somebody else made could keep the owner of the mailbox from the others. Each
/// account is recorded in the log of its tenant, so that no log tells whether there are others.
async fn send_links(service: &Service, email: String, context: &Context) -> Result<(), ApiError> {
    // Limits the e-mails that strangers can cause. The links of an earlier one remain valid.
    throttle::attempt(service, vec![Counted::account("forgot", &email)]).await?;
    let mut accounts = account::of_address(service, &email).await?;
    accounts.retain(|account| account.enabled);
    let mut asked: Vec<(Operator, String)> = Vec::new();
    let mut workspaces = Vec::new();
    for account in accounts {
        workspaces.push(tenant_name(service, &account.operator.tenant_id).await?);
        let address = context.address_for(service, &account.id).to_owned();
        asked.push((account.operator, address));
    }
    let Some((first, _)) = asked.first() else { return Ok(()) };
    let texts = mail::texts(service, &first.tenant_id, &email).await?;
    let now = service.now_ms();
    let secrets: Vec<String> = transaction!(service.db(), |tx| {
        let mut secrets = Vec::new();
        for (Operator { id, tenant_id, .. }, address) in &asked {
            let purpose = Purpose::Password { operator_id: id.clone() };
            let link = links::create_mailed(tx, now, tenant_id, &purpose, links::BY_SERVICE).await?;
            let stranger = Author::stranger(address);
            audit::record(tx, &stranger.entry(tenant_id, "password.forgot", id, now)).await?;
            secrets.push(link.secret);
        }
        Ok::<_, ApiError>(secrets)
    })
    .await?;
    let urls = secrets.iter().map(|secret| links::url(service, secret));
    let links: Vec<(String, String)> = workspaces.into_iter().zip(urls).collect();
    mail::send(service, Mail::new_password(email, texts, &links)).await;
    Ok(())
}
