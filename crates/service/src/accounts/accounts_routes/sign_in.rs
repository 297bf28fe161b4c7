//! Signing in and out, and switching to another workspace.

use std::iter;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use chat_protocol::admin::{Empty, Me, SignIn, SignedIn, SwitchWorkspace, Tenant};
use tracing::warn;

use crate::Service;
use crate::accounts::Operator;
use crate::accounts::account::{self, Account, MAX_CANDIDATES};
use crate::accounts::context::Context;
use crate::accounts::email::parse_email;
use crate::accounts::hasher::Caller;
use crate::accounts::people;
use crate::accounts::session::{self, Of, Session};
use crate::accounts::throttle::{self, Attempt, Counted};
use crate::accounts::totp;
use crate::audit::{self, Author};
use crate::db::{DbError, Tx, Wake, args, transaction};
use crate::error::ApiError;
use crate::input::{Body, success};
use crate::response::ApiResponse;

/// The answer to an unknown address, a wrong password and a disabled account alike.
const WRONG_CREDENTIALS: ApiError = ApiError::Unauthorized {
    code: "WRONG_CREDENTIALS",
    message: "The e-mail address or the password is wrong.",
};
const TOTP_REQUIRED: ApiError = ApiError::Unauthorized {
    code: "TOTP_REQUIRED",
    message: "Enter the code of your authenticator app, or a recovery code.",
};
pub(super) const WRONG_CODE: ApiError = ApiError::Unauthorized {
    code: "WRONG_CODE",
    message: "This code is wrong, or was used: wait for the next one.",
};

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/session", post(sign_in).get(who).delete(sign_out))
        .route("/session/switch", post(switch))
}

#[utoipa::path(post, path = "/session", tag = "accounts", request_body = SignIn,
    responses((status = 200, description = "The operator, in the workspace that was used last; sets the \
                                      session's cookie", body = SignedIn),
        (status = 401, description = "Wrong credentials (WRONG_CREDENTIALS), or a code is required \
                                      (TOTP_REQUIRED) or wrong (WRONG_CODE)"),
        (status = 429, description = "Too many failed attempts: see Retry-After"),
        (status = 503, description = "Too many attempts at once: this one was not checked, and does not \
                                      count")))]
pub(super) async fn sign_in(
    State(service): State<Service>,
    context: Context,
    Body(request): Body<SignIn>,
) -> Result<Response, ApiError> {
    context.require_cookies()?;
    let email = parse_email(&request.email)?;
    let accounts = account::of_address(&service, &email).await?;
    let device = known_device(&service, &context, &accounts);
    let caller = match &device {
        Some((position, _)) => Caller::Known { tenant_id: &accounts[*position].operator.tenant_id },
        None => Caller::Stranger,
    };
    let place = service.0.accounts.hasher.place(caller)?;
    let counted = vec![context.of_network("sign in"), Counted::address("sign in", &email)];
    let (attempts, candidates) = count(&service, counted, device, &accounts).await?;
    let hashes = candidates.iter().map(|position| accounts[*position].password.clone()).collect();
    let matching = match place.matches(&request.password, hashes).await {
        Ok(matching) => matching,
        Err(unchecked) => {
            attempts.withdraw(&service).await?;
            return Err(unchecked);
        }
    };
    let mut right = matching.into_iter().map(|position| &accounts[candidates[position]]);
    let Some(account) = right.find(|account| account.enabled) else {
        record_failures(&service, candidates.iter().map(|position| &accounts[*position]), context);
        return Err(WRONG_CREDENTIALS);
    };
    let factor = account.second_factor(&service)?;
    if factor.is_some() && request.code.is_none() {
        // Neither a failure nor a success: otherwise it would forget the wrong codes before.
        attempts.withdraw(&service).await?;
        return Err(TOTP_REQUIRED);
    }
    let now = service.now_ms();
    let browser = context.browser.clone();
    let previous = context.session.clone();
    let operator = account.operator.clone();
    let (code, password, totp_secret) = (request.code, account.password.clone(), account.totp_secret.clone());
    let redeemed: Result<String, ApiError> = transaction!(service.db(), |tx| {
        // Locks the account, which may have got another password or a second factor since it was read.
        if !account::lock_unchanged(tx, &operator.account_id, password, totp_secret).await? {
            return Err(WRONG_CREDENTIALS);
        }
        if let (Some(factor), Some(code)) = (factor, code)
            && !totp::redeem(tx, now, &operator.account_id, &factor, &code).await?
        {
            return Err(WRONG_CODE);
        }
        if !account::enter(tx, now, &operator).await? {
            return Err(WRONG_CREDENTIALS);
        }
        attempts.succeed(tx).await?;
        if let Some(previous) = previous {
            tx.execute("DELETE FROM operator_sessions WHERE id = $1", args![previous.id]).await?;
        }
        let secret = session::create(tx, now, &operator.id, &browser).await?;
        let author = operator.author(&browser.address);
        let entry = author.entry(&operator.tenant_id, "operator.login", &operator.id, now);
        audit::record(tx, &entry).await?;
        Ok(secret)
    })
    .await;
    if redeemed == Err(WRONG_CODE) {
        record_failures(&service, [account], context.clone());
    }
    let secret = redeemed?;
    let shown = describe(&service, &account.operator).await?;
    context.signed_in(&service, &account.id, &secret, &shown)
}

/// Returns the position of the account that has used this browser before, and what counts its attempts. It
/// takes as long for any number of accounts.
fn known_device(service: &Service, context: &Context, accounts: &[Account]) -> Option<(usize, Counted)> {
    let mut known = None;
    for position in 0..MAX_CANDIDATES {
        let id = accounts.get(position).map_or("", |account| account.id.as_str());
        if let Some(counted) = context.of_device(service, id) {
            known = known.or(Some((position, counted)));
        }
    }
    known
}

/// The counted attempts of a request: that of a known device, and that of a stranger.
struct Attempts(Vec<Attempt>);

impl Attempts {
    /// Records that nothing was checked, or nothing that is known to be wrong.
    async fn withdraw(self, service: &Service) -> Result<(), DbError> {
        transaction!(service.db(), |tx| {
            for attempt in &self.0 {
                attempt.withdraw(tx).await?;
            }
            Ok(())
        })
        .await
    }

    async fn succeed(&self, tx: &mut Tx) -> Result<(), DbError> {
        for attempt in &self.0 {
            attempt.succeed(tx).await?;
        }
        Ok(())
    }
}

/// Counts an attempt, or refuses it. Returns the positions of the accounts whose password may be checked,
/// that of a known device first.
///
/// A device that is known to one account is counted for that one, so that strangers do not hold it up. For
/// the other accounts of the address it is a stranger like others: a password of one's own must not buy
/// guesses at those of others.
async fn count(
    service: &Service,
    strangers: Vec<Counted>,
    device: Option<(usize, Counted)>,
    accounts: &[Account],
) -> Result<(Attempts, Vec<usize>), ApiError> {
    let Some((position, counted)) = device else {
        let all = (0..accounts.len()).collect();
        return Ok((Attempts(vec![throttle::attempt(service, strangers).await?]), all));
    };
    let own = throttle::attempt(service, vec![counted]).await?;
    let others = (0..accounts.len()).filter(|other| *other != position);
    let all = iter::once(position).chain(others).collect();
    match throttle::attempt(service, strangers).await {
        Ok(stranger) => Ok((Attempts(vec![own, stranger]), all)),
        Err(ApiError::RateLimited { .. }) => Ok((Attempts(vec![own]), vec![position])),
        Err(error) => {
            Attempts(vec![own]).withdraw(service).await?;
            Err(error)
        }
    }
}

/// Records a failed attempt, after the response, which would otherwise take longer than for an unknown
/// address.
///
/// It is recorded for each account that was tried: a log without it would tell its tenant that the address
/// has another account.
fn record_failures<'a>(service: &Service, tried: impl IntoIterator<Item = &'a Account>, context: Context) {
    let tried: Vec<Operator> = tried.into_iter().map(|account| account.operator.clone()).collect();
    let (service, now) = (service.clone(), service.now_ms());
    service.0.tasks.clone().spawn(async move {
        let addresses: Vec<String> = tried
            .iter()
            .map(|operator| context.address_for(&service, &operator.account_id).to_owned())
            .collect();
        let recorded: Result<(), DbError> = transaction!(service.db(), |tx| {
            for (operator, address) in tried.iter().zip(&addresses) {
                let stranger = Author::stranger(address);
                let (tenant, id) = (operator.tenant_id.as_str(), operator.id.as_str());
                audit::record(tx, &stranger.entry(tenant, "operator.login_failed", id, now)).await?;
            }
            Ok(())
        })
        .await;
        if let Err(error) = recorded {
            warn!("a failed login was not recorded: {error}");
        }
    });
}

#[utoipa::path(get, path = "/session", tag = "accounts",
    responses((status = 200, description = "The signed-in operator", body = SignedIn),
        (status = 401, description = "Nobody is signed in (SIGNED_OUT)")))]
pub(super) async fn who(State(service): State<Service>, operator: Operator) -> Result<ApiResponse, ApiError> {
    success(&describe(&service, &operator).await?)
}

/// Describes the signed-in operator.
pub(super) async fn describe(service: &Service, operator: &Operator) -> Result<SignedIn, DbError> {
    let sql = "SELECT CAST(CASE WHEN totp_secret IS NULL THEN 0 ELSE 1 END AS BIGINT),
                   CAST(CASE WHEN confirmed_ms IS NULL THEN 0 ELSE 1 END AS BIGINT) FROM accounts WHERE id = $1";
    let row = service.db().one(sql, args![&operator.account_id]).await?;
    let (totp, confirmed) = (row.flag(0)?, row.flag(1)?);
    let Operator { id, account_id, tenant_id, email, name, role } = operator.clone();
    let tenant = Tenant { name: tenant_name(service, &tenant_id).await?, id: tenant_id };
    let workspaces = account::workspaces(service, &account_id).await?;
    let operator = Me { id, email, name, role, totp, confirmed };
    Ok(SignedIn { operator, tenant, workspaces, signed_in: None })
}

/// Returns the name of a tenant.
pub(super) async fn tenant_name(service: &Service, id: &str) -> Result<String, DbError> {
    service.db().one("SELECT name FROM tenants WHERE id = $1", args![id]).await?.text(0)
}

#[utoipa::path(post, path = "/session/switch", tag = "accounts", request_body = SwitchWorkspace,
    responses((status = 200, description = "The account's operator in the other workspace; replaces the \
                                      session and its cookie", body = SignedIn),
        (status = 404, description = "The account has no such workspace, or is disabled there")))]
pub(super) async fn switch(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Body(request): Body<SwitchWorkspace>,
) -> Result<Response, ApiError> {
    let session = context.session.clone().ok_or(ApiError::SIGNED_OUT)?;
    if request.operator_id == operator.id {
        return Ok(success(&describe(&service, &operator).await?)?.into_response());
    }
    let (now, browser) = (service.now_ms(), context.browser.clone());
    let (from, account_id) = (operator.clone(), operator.account_id.clone());
    let (target, secret): (Operator, String) = transaction!(service.db(), |tx| {
        account::lock(tx, &from.account_id).await?.ok_or(ApiError::SIGNED_OUT)?;
        let target = people::of_account(tx, &from.account_id, &request.operator_id).await?;
        if !account::enter(tx, now, &target).await? {
            return Err(people::UNKNOWN_WORKSPACE);
        }
        let secret = session::switch(tx, now, &session.id, &target.id, &browser).await?;
        let secret = secret.ok_or(ApiError::SIGNED_OUT)?;
        for (of, action) in [(&from, "operator.logout"), (&target, "operator.login")] {
            let author = of.author(&browser.address);
            audit::record(tx, &author.entry(&of.tenant_id, action, &of.id, now)).await?;
            tx.wake(Wake::Settings { tenant: of.tenant_id.clone() });
        }
        Ok((target, secret))
    })
    .await?;
    let shown = describe(&service, &target).await?;
    context.signed_in(&service, &account_id, &secret, &shown)
}

#[utoipa::path(delete, path = "/session", tag = "accounts",
    responses((status = 200, description = "Signed out of all workspaces in this browser; removes the \
                                      session's cookie", body = Empty)))]
pub(super) async fn sign_out(
    State(service): State<Service>,
    context: Context,
    operator: Option<axum::Extension<Operator>>,
) -> Result<Response, ApiError> {
    if let (Some(Session { id, .. }), Some(axum::Extension(operator))) = (context.session.clone(), operator) {
        let (now, address) = (service.now_ms(), context.browser.address.clone());
        transaction!(service.db(), |tx| {
            session::revoke(tx, Of::Operator(&operator.id), &id).await?;
            let author = operator.author(&address);
            let entry = author.entry(&operator.tenant_id, "operator.logout", &operator.id, now);
            audit::record(tx, &entry).await
        })
        .await?;
    }
    context.signed_out()
}
