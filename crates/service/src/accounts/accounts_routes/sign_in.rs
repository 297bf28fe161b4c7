//! Signing in and out.

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use chat_protocol::admin::{Empty, Me, SignIn, SignedIn, Tenant};
use tracing::warn;

use crate::Service;
use crate::accounts::Operator;
use crate::accounts::context::Context;
use crate::accounts::email::parse_email;
use crate::accounts::hasher::Caller;
use crate::accounts::session::{self, Session, read_role};
use crate::accounts::throttle::{self, Counted};
use crate::accounts::totp::{self, SecondFactor, TotpSecret};
use crate::audit::{self, Author};
use crate::db::{DbError, args, transaction};
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
    Router::new().route("/session", post(sign_in).get(who).delete(sign_out))
}

/// An account as it is stored.
struct Account {
    operator: Operator,
    password: String,
    enabled: bool,
    totp_secret: Option<Vec<u8>>,
    recovery_codes: String,
}

#[utoipa::path(post, path = "/session", tag = "accounts", request_body = SignIn,
    responses((status = 200, description = "The operator; sets the session's cookie", body = SignedIn),
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
    let account = find(&service, &email).await?;
    let known_id = account.as_ref().map_or("", |account| account.operator.id.as_str());
    let known = account.as_ref().zip(context.of_device(&service, known_id));
    let (caller, counted) = if let Some((account, device)) = known {
        (Caller::Known { tenant_id: &account.operator.tenant_id }, vec![device])
    } else {
        (Caller::Stranger, vec![context.of_network("sign in"), Counted::account("sign in", &email)])
    };
    let place = service.0.accounts.hasher.place(caller)?;
    let attempt = throttle::attempt(&service, counted).await?;
    let hash = account.as_ref().map(|account| account.password.clone());
    let verified = place.verify(&request.password, hash).await;
    let is_right = attempt.unless_unchecked(&service, verified).await?;
    let account = match account {
        Some(account) if is_right && account.enabled => account,
        Some(account) => {
            record_failure(&service, account.operator, &context);
            return Err(WRONG_CREDENTIALS);
        }
        None => return Err(WRONG_CREDENTIALS),
    };
    let factor = second_factor(&service, &account)?;
    if factor.is_some() && request.code.is_none() {
        // Neither a failure nor a success: otherwise it would forget the wrong codes before.
        transaction!(service.db(), |tx| attempt.withdraw(tx).await).await?;
        return Err(TOTP_REQUIRED);
    }
    let now = service.now_ms();
    let browser = context.browser.clone();
    let previous = context.session.clone();
    let operator = account.operator.clone();
    let (code, had_totp) = (request.code, factor.is_some());
    let redeemed: Result<String, ApiError> = transaction!(service.db(), |tx| {
        // Locks the account, which may have been changed since its password was verified.
        let sql = "UPDATE operators SET name = name
                   WHERE id = $1 AND password = $2 AND disabled_ms IS NULL";
        if tx.execute(sql, args![&operator.id, account.password]).await? == 0 {
            return Err(WRONG_CREDENTIALS);
        }
        if let (Some(factor), Some(code)) = (factor, code)
            && !totp::redeem(tx, now, &operator.id, &factor, &code).await?
        {
            return Err(WRONG_CODE);
        }
        attempt.succeed(tx).await?;
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
        record_failure(&service, account.operator.clone(), &context);
    }
    let secret = redeemed?;
    let shown = describe(&service, &account.operator, had_totp).await?;
    context.signed_in(&service, &account.operator.id, &secret, &shown)
}

async fn find(service: &Service, email: &str) -> Result<Option<Account>, ApiError> {
    let sql =
        "SELECT o.id, o.tenant_id, o.email, o.name, o.role, o.password, o.totp_secret, o.recovery_codes,
                   CAST(CASE WHEN o.disabled_ms IS NULL AND t.disabled_ms IS NULL THEN 1 ELSE 0 END AS BIGINT)
               FROM operators o JOIN tenants t ON t.id = o.tenant_id WHERE o.email = $1";
    let Some(row) = service.db().optional(sql, args![email]).await? else { return Ok(None) };
    let operator = Operator {
        id: row.text(0)?,
        tenant_id: row.text(1)?,
        email: row.text(2)?,
        name: row.text(3)?,
        role: read_role(&row.text(4)?),
    };
    Ok(Some(Account {
        operator,
        password: row.text(5)?,
        totp_secret: row.optional_bytes(6)?,
        recovery_codes: row.text(7)?,
        enabled: row.flag(8)?,
    }))
}

fn second_factor(service: &Service, account: &Account) -> Result<Option<SecondFactor>, ApiError> {
    let Some(sealed) = &account.totp_secret else { return Ok(None) };
    let key = &service.0.options.key;
    let secret = TotpSecret::unseal(key, &account.operator.id, sealed).map_err(|error| {
        warn!("the second factor of {}: {error}", account.operator.id);
        ApiError::Internal
    })?;
    Ok(Some(SecondFactor { secret, recovery_codes: account.recovery_codes.clone() }))
}

/// Records a failed attempt on an account, after the response, which would otherwise take longer than for an
/// unknown address.
fn record_failure(service: &Service, operator: Operator, context: &Context) {
    let address = context.browser.address.clone();
    let (service, now) = (service.clone(), service.now_ms());
    service.0.tasks.clone().spawn(async move {
        let recorded: Result<(), DbError> = transaction!(service.db(), |tx| {
            let stranger = Author::stranger(&address);
            let (tenant, id) = (operator.tenant_id.as_str(), operator.id.as_str());
            audit::record(tx, &stranger.entry(tenant, "operator.login_failed", id, now)).await
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
    let sql =
        "SELECT CAST(CASE WHEN totp_secret IS NULL THEN 0 ELSE 1 END AS BIGINT) FROM operators WHERE id = $1";
    let has_totp = service.db().one(sql, args![&operator.id]).await?.flag(0)?;
    success(&describe(&service, &operator, has_totp).await?)
}

/// Describes the signed-in operator.
pub(super) async fn describe(
    service: &Service,
    operator: &Operator,
    has_totp: bool,
) -> Result<SignedIn, DbError> {
    let Operator { id, tenant_id, email, name, role } = operator.clone();
    let tenant = Tenant { name: tenant_name(service, &tenant_id).await?, id: tenant_id };
    Ok(SignedIn { operator: Me { id, email, name, role, totp: has_totp }, tenant, signed_in: None })
}

/// Returns the name of a tenant.
pub(super) async fn tenant_name(service: &Service, id: &str) -> Result<String, DbError> {
    service.db().one("SELECT name FROM tenants WHERE id = $1", args![id]).await?.text(0)
}

#[utoipa::path(delete, path = "/session", tag = "accounts",
    responses((status = 200, description = "Signed out; removes the session's cookie", body = Empty)))]
pub(super) async fn sign_out(
    State(service): State<Service>,
    context: Context,
    operator: Option<axum::Extension<Operator>>,
) -> Result<Response, ApiError> {
    if let (Some(Session { id, .. }), Some(axum::Extension(operator))) = (context.session.clone(), operator) {
        let (now, address) = (service.now_ms(), context.browser.address.clone());
        transaction!(service.db(), |tx| {
            session::revoke(tx, &operator.tenant_id, &operator.id, &id).await?;
            let author = operator.author(&address);
            let entry = author.entry(&operator.tenant_id, "operator.logout", &operator.id, now);
            audit::record(tx, &entry).await
        })
        .await?;
    }
    context.signed_out()
}
