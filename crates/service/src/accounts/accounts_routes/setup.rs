//! Using a one-time link: to create an account, to join with the one that one has, or to set a new password.

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use chat_protocol::Value;
use chat_protocol::admin::{LinkKind, LinkToken, Setup, SetupLink, SignedIn};

use super::password::words;
use super::sign_in::{describe, tenant_name};
use crate::Service;
use crate::accounts::account::{self, NewAccount};
use crate::accounts::context::Context;
use crate::accounts::email::parse_email;
use crate::accounts::hasher::Caller;
use crate::accounts::links::{self, INVALID_LINK, Link, Purpose};
use crate::accounts::mail;
use crate::accounts::session::{self, Browser, Of};
use crate::accounts::throttle::{self, Attempt};
use crate::accounts::{Operator, Role, password, people};
use crate::audit;
use crate::db::{Tx, Wake, transaction};
use crate::error::ApiError;
use crate::input::{Body, success};
use crate::limits::check_name;
use crate::response::ApiResponse;
use crate::secrets::new_id;

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/setup", post(finish))
        .route("/setup/check", post(check))
        .route("/setup/join", post(join))
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
    let has_account = must_join(&service, &link).await?;
    let tenant = tenant_name(&service, &link.tenant_id).await?;
    let (kind, email, role) = match link.purpose {
        Purpose::Owner => (LinkKind::Owner, None, Some(Role::Owner)),
        Purpose::Invitation { email, role } => (LinkKind::Invitation, Some(email), Some(role)),
        Purpose::Password { operator_id } => {
            let person = people::find(&service, &link.tenant_id, &operator_id).await?;
            (LinkKind::Password, Some(person.email), None)
        }
    };
    success(&SetupLink { kind, email, role, tenant, has_account })
}

/// Looks a link up, and counts the attempt.
async fn find(service: &Service, context: &Context, token: &str) -> Result<(Link, Attempt), ApiError> {
    let attempt = throttle::attempt(service, vec![context.of_network("link")]).await?;
    Ok((links::find(service, token).await?.ok_or(INVALID_LINK)?, attempt))
}

/// Returns whether an invitation is for an account that its mailbox has, which has to join by it. A link that
/// somebody else may have seen does not tell: it creates an account that is not confirmed.
async fn must_join(service: &Service, link: &Link) -> Result<bool, ApiError> {
    match &link.purpose {
        Purpose::Invitation { email, .. } if link.mailed => Ok(account::is_confirmed(service, email).await?),
        _ => Ok(false),
    }
}

#[utoipa::path(post, path = "/setup", tag = "accounts", request_body = Setup,
    responses((status = 200, description = "The operator; signed in (`signedIn`), unless the account has a \
                                      second factor", body = SignedIn),
        (status = 401, description = "The link is not valid (INVALID_LINK)"),
        (status = 409, description = "The address has an account already: join with it")))]
pub(super) async fn finish(
    State(service): State<Service>,
    context: Context,
    Body(request): Body<Setup>,
) -> Result<Response, ApiError> {
    context.require_cookies()?;
    let (link, attempt) = find(&service, &context, &request.token).await?;
    if must_join(&service, &link).await? {
        transaction!(service.db(), |tx| attempt.withdraw(tx).await).await?;
        return Err(account::has_account());
    }
    let (operator, secret) = match use_link(&service, &context, &request, &link, &attempt).await {
        Err(INVALID_LINK) => return Err(INVALID_LINK),
        // The link is valid, so that this was no guess at one.
        used => attempt.unless_unchecked(&service, used).await?,
    };
    let shown = describe(&service, &operator).await?;
    let shown = SignedIn { signed_in: Some(secret.is_some()), ..shown };
    if let Some(secret) = secret {
        return context.signed_in(&service, &operator.account_id, &secret, &shown);
    }
    // The second factor comes before the names of the companies that the account works for.
    let shown = SignedIn { workspaces: Vec::new(), ..shown };
    context.known_device(&service, &operator.account_id, &shown)
}

/// Uses a link: stores the new account or password. Returns the operator, with the secret of the new session
/// if the password is enough.
async fn use_link(
    service: &Service,
    context: &Context,
    request: &Setup,
    link: &Link,
    attempt: &Attempt,
) -> Result<(Operator, Option<String>), ApiError> {
    let target = accept(service, link, request).await?;
    let words = words(service, &link.tenant_id, &[&target.email, &target.name]).await?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let new_password = password::accept(&request.password, &words)?;
    let like = account::hash_of_address(service, &target.email).await?;
    let place = service.0.accounts.hasher.place(Caller::Known { tenant_id: &link.tenant_id });
    let hash = place?.hash(new_password, like).await?;
    let (now, browser, token) = (service.now_ms(), context.browser.clone(), request.token.clone());
    let attempt = attempt.clone();
    transaction!(service.db(), |tx| {
        if let Some((_, account_id)) = &target.existing {
            account::lock(tx, account_id).await?;
        }
        let link = links::take(tx, now, &token).await?;
        attempt.succeed(tx).await?;
        store(tx, now, &link, target, hash, &browser).await
    })
    .await
}

/// The operator that a link creates, or whose account gets a new password.
struct Target {
    /// The ids of the operator and of the account; `None` creates both.
    existing: Option<(String, String)>,
    email: String,
    name: String,
    role: Role,
}

async fn accept(service: &Service, link: &Link, request: &Setup) -> Result<Target, ApiError> {
    let given = request.email.as_deref().map(parse_email).transpose()?;
    let name = || check_name("name", request.name.as_deref().unwrap_or_default());
    let target = match &link.purpose {
        Purpose::Owner => {
            let missing =
                || ApiError::InvalidRequest("missing email: expected that of the owner.".to_owned());
            let email = given.clone().ok_or_else(missing)?;
            Target { existing: None, email, name: name()?, role: Role::Owner }
        }
        Purpose::Invitation { email, role } => {
            Target { existing: None, email: email.clone(), name: name()?, role: *role }
        }
        Purpose::Password { operator_id } => {
            let person = people::find(service, &link.tenant_id, operator_id).await?;
            let existing = Some((person.id, person.account_id));
            Target { existing, email: person.email, name: person.name, role: person.role }
        }
    };
    match given {
        Some(email) if email != target.email => {
            Err(ApiError::InvalidRequest("invalid email: this link is for another address.".to_owned()))
        }
        _ => Ok(target),
    }
}

/// Stores a new account or password. Returns the operator, and the secret of a session, unless a second
/// factor has to be shown first.
async fn store(
    tx: &mut Tx,
    now_ms: i64,
    link: &Link,
    target: Target,
    hash: String,
    browser: &Browser,
) -> Result<(Operator, Option<String>), ApiError> {
    let (tenant_id, Target { existing, email, name, role }) = (link.tenant_id.clone(), target);
    let (operator, action, has_totp) = if let Some((id, account_id)) = existing {
        let has_totp = reset(tx, now_ms, link, (&account_id, &email), hash).await?;
        (Operator { id, account_id, tenant_id, email, name, role }, "password.reset", has_totp)
    } else {
        let (id, account_id) = (new_id("operator"), new_id("account"));
        // The mailbox has proved its address, or the host says that it is its own.
        let is_proved = link.mailed || (link.purpose == Purpose::Owner && link.is_of_the_service());
        let confirmed_ms = is_proved.then_some(now_ms);
        let new = NewAccount { id: &account_id, address: &email, confirmed_ms, password: hash };
        account::create(tx, now_ms, new).await?;
        let operator = Operator { id, account_id, tenant_id, email, name, role };
        account::add_operator(tx, now_ms, &operator).await?;
        (operator, "operator.create", false)
    };
    record_use(tx, now_ms, link, &operator, action, browser).await?;
    if has_totp {
        return Ok((operator, None));
    }
    account::enter(tx, now_ms, &operator).await?;
    let secret = session::create(tx, now_ms, &operator.id, browser).await?;
    Ok((operator, Some(secret)))
}

/// Sets the password of a locked account anew, and ends its sessions. Returns whether it has a second factor,
/// which no link replaces.
async fn reset(
    tx: &mut Tx,
    now_ms: i64,
    link: &Link,
    (account_id, address): (&str, &str),
    hash: String,
) -> Result<bool, ApiError> {
    let of_operator = link.is_of_an_operator();
    // It may have joined another workspace since the link was created.
    if of_operator && account::is_shared(tx, account_id, &link.tenant_id).await? {
        return Err(INVALID_LINK);
    }
    let has_totp = account::set_password(tx, account_id, hash).await?.ok_or(INVALID_LINK)?;
    if link.mailed {
        account::confirm(tx, now_ms, account_id, address).await?;
    } else if of_operator {
        account::unconfirm(tx, account_id).await?;
    }
    session::revoke_all(tx, Of::Account(account_id), None).await?;
    Ok(has_totp)
}

async fn record_use(
    tx: &mut Tx,
    now_ms: i64,
    link: &Link,
    operator: &Operator,
    action: &str,
    browser: &Browser,
) -> Result<(), ApiError> {
    let author = operator.author(&browser.address);
    let detail = Value::object([("link", link.id.as_str().into()), ("role", operator.role.as_str().into())]);
    let entry = author.entry(&operator.tenant_id, action, &operator.id, now_ms).with(&detail);
    Ok(audit::record(tx, &entry).await?)
}

#[utoipa::path(post, path = "/setup/join", tag = "accounts", request_body = LinkToken,
    responses((status = 200, description = "The signed-in account's operator in the workspace of the link; \
                                      replaces the session and its cookie", body = SignedIn),
        (status = 400, description = "The link is for another address"),
        (status = 401, description = "The link is not valid (INVALID_LINK), or nobody is signed in \
                                      (SIGNED_OUT)"),
        (status = 409, description = "The account is not confirmed, or works here already")))]
pub(super) async fn join(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Body(request): Body<LinkToken>,
) -> Result<Response, ApiError> {
    let session = context.session.clone().ok_or(ApiError::SIGNED_OUT)?;
    let (link, attempt) = find(&service, &context, &request.token).await?;
    let role = match &link.purpose {
        Purpose::Owner => Role::Owner,
        Purpose::Invitation { email, role } if *email == operator.email => *role,
        _ => {
            transaction!(service.db(), |tx| attempt.withdraw(tx).await).await?;
            return Err(ApiError::InvalidRequest(
                "invalid link: it is for another address than that of your account.".to_owned(),
            ));
        }
    };
    let (now, browser, token) = (service.now_ms(), context.browser.clone(), request.token);
    let (account_id, counted) = (operator.account_id.clone(), attempt.clone());
    let mailed = mail::is_set_up(&service);
    let joined: Result<(Operator, String), ApiError> = transaction!(service.db(), |tx| {
        match account::lock(tx, &operator.account_id).await? {
            None => return Err(ApiError::SIGNED_OUT),
            // Somebody else may know the password of such an account.
            Some(false) => return Err(not_confirmed(&operator.email, mailed)),
            Some(true) => {}
        }
        let link = links::take(tx, now, &token).await?;
        counted.succeed(tx).await?;
        let joined =
            Operator { id: new_id("operator"), tenant_id: link.tenant_id.clone(), role, ..operator.clone() };
        account::add_operator(tx, now, &joined).await?;
        let secret = session::switch(tx, now, &session.id, &joined.id, &browser).await?;
        let secret = secret.ok_or(ApiError::SIGNED_OUT)?;
        account::enter(tx, now, &joined).await?;
        record_use(tx, now, &link, &joined, "operator.join", &browser).await?;
        for tenant in [&operator.tenant_id, &joined.tenant_id] {
            tx.wake(Wake::Settings { tenant: tenant.clone() });
        }
        Ok((joined, secret))
    })
    .await;
    let (joined, secret) = match joined {
        Err(INVALID_LINK) => return Err(INVALID_LINK),
        // The link is valid, so that this was no guess at one.
        joined => attempt.unless_unchecked(&service, joined).await?,
    };
    let shown = describe(&service, &joined).await?;
    let shown = SignedIn { signed_in: Some(true), ..shown };
    context.signed_in(&service, &account_id, &secret, &shown)
}

/// Returns the answer to an account that has to be confirmed before it joins.
fn not_confirmed(email: &str, mailed: bool) -> ApiError {
    ApiError::Conflict(if mailed {
        "Your address is not confirmed: ask for a new password by e-mail first.".to_owned()
    } else {
        format!(
            "Your address is not confirmed: ask the host of this service for the link that \
             `site-connector admin operator confirm {email}` prints."
        )
    })
}
