//! Enabling and disabling the second factor.

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use chat_protocol::admin::{Empty, PasswordProof, RecoveryCodes, TotpConfirmation, TotpEnrolment};

use super::password::{lock_verified, verify};
use super::sign_in::WRONG_CODE;
use crate::Service;
use crate::accounts::Operator;
use crate::accounts::context::Context;
use crate::accounts::qr;
use crate::accounts::session::{self, Of};
use crate::accounts::throttle::{self, Attempt, Counted};
use crate::accounts::totp::{self, TotpSecret};
use crate::audit;
use crate::db::{Tx, args, transaction};
use crate::error::ApiError;
use crate::input::{Body, success};
use crate::response::ApiResponse;

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/totp", post(enrol))
        .route("/totp/confirm", post(confirm))
        .route("/totp/disable", post(disable))
        .route("/totp/recovery-codes", post(renew_codes))
}

#[utoipa::path(post, path = "/totp", tag = "accounts", request_body = PasswordProof,
    responses((status = 200, description = "What the authenticator app and the confirmation need",
            body = TotpEnrolment),
        (status = 401, description = "The password is wrong (WRONG_PASSWORD)"),
        (status = 409, description = "The second factor is enabled already")))]
pub(super) async fn enrol(
    State(service): State<Service>,
    operator: Operator,
    Body(request): Body<PasswordProof>,
) -> Result<ApiResponse, ApiError> {
    let (attempt, _) = verify(&service, &operator, &request.password).await?;
    let id = operator.account_id.clone();
    transaction!(service.db(), |tx| {
        require_totp(tx, &id, false).await?;
        Ok::<_, ApiError>(attempt.succeed(tx).await?)
    })
    .await?;
    let secret = TotpSecret::random();
    let enrolment = secret.enrolment(&service.0.options.key, &operator.account_id, service.now_ms());
    let uri = secret.uri(&operator.email);
    success(&TotpEnrolment { secret: secret.base32(), qr: qr::code(&uri)?, uri, enrolment })
}

#[utoipa::path(post, path = "/totp/confirm", tag = "accounts", request_body = TotpConfirmation,
    responses((status = 200, description = "Enabled, and all other sessions have ended",
            body = RecoveryCodes),
        (status = 400, description = "The enrolment is invalid, or older than ten minutes"),
        (status = 401, description = "The code is wrong (WRONG_CODE)")))]
pub(super) async fn confirm(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Body(request): Body<TotpConfirmation>,
) -> Result<Response, ApiError> {
    let (now, key) = (service.now_ms(), &service.0.options.key);
    let Some(secret) = TotpSecret::from_enrolment(key, &operator.account_id, &request.enrolment, now) else {
        return Err(ApiError::InvalidRequest("invalid enrolment: begin again.".to_owned()));
    };
    let attempt =
        throttle::attempt(&service, vec![Counted::account("code of", &operator.account_id)]).await?;
    let step = secret.check(request.code.trim(), now).ok_or(WRONG_CODE)?;
    let sealed = secret.seal(key, &operator.account_id);
    let (codes, hashes) = totp::recovery_codes();
    let (person, browser, current) = (operator.clone(), context.browser.clone(), context.session.clone());
    let session: String = transaction!(service.db(), |tx| {
        let (tenant, id) = (person.tenant_id.as_str(), person.id.as_str());
        require_totp(tx, &person.account_id, false).await?;
        session::require(tx, now, current.as_ref()).await?;
        attempt.succeed(tx).await?;
        totp::store(tx, &person.account_id, Some((sealed, step, hashes))).await?;
        session::revoke_all(tx, Of::Account(&person.account_id), None).await?;
        let author = person.author(&browser.address);
        audit::record(tx, &author.entry(tenant, "totp.enable", id, now)).await?;
        Ok::<_, ApiError>(session::create(tx, now, id, &browser).await?)
    })
    .await?;
    context.signed_in(&service, &operator.account_id, &session, &RecoveryCodes { recovery_codes: codes })
}

/// Locks the account, and refuses unless the second factor is enabled, or is not.
async fn require_totp(tx: &mut Tx, account_id: &str, enabled: bool) -> Result<(), ApiError> {
    let sql = "UPDATE accounts SET address = address WHERE id = $1
               RETURNING CAST(CASE WHEN totp_secret IS NULL THEN 0 ELSE 1 END AS BIGINT)";
    let is_enabled = tx.optional(sql, args![account_id]).await?.ok_or(ApiError::SIGNED_OUT)?.flag(0)?;
    match (is_enabled, enabled) {
        (true, false) => {
            Err(ApiError::Conflict("The second factor is enabled: disable it first.".to_owned()))
        }
        (false, true) => Err(ApiError::Conflict("The second factor is not enabled.".to_owned())),
        _ => Ok(()),
    }
}

#[utoipa::path(post, path = "/totp/disable", tag = "accounts", request_body = PasswordProof,
    responses((status = 200, description = "Disabled, and all other sessions have ended", body = Empty),
        (status = 401, description = "The password is wrong (WRONG_PASSWORD)")))]
pub(super) async fn disable(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Body(request): Body<PasswordProof>,
) -> Result<Response, ApiError> {
    let (attempt, hash) = verify(&service, &operator, &request.password).await?;
    let now = service.now_ms();
    let (person, browser) = (operator.clone(), context.browser.clone());
    let session: String = transaction!(service.db(), |tx| {
        let (tenant, id) = (person.tenant_id.as_str(), person.id.as_str());
        prove(tx, &person, hash, &attempt).await?;
        totp::store(tx, &person.account_id, None).await?;
        session::revoke_all(tx, Of::Account(&person.account_id), None).await?;
        let author = person.author(&browser.address);
        audit::record(tx, &author.entry(tenant, "totp.disable", id, now)).await?;
        Ok::<_, ApiError>(session::create(tx, now, id, &browser).await?)
    })
    .await?;
    context.signed_in(&service, &operator.account_id, &session, &Empty {})
}

#[utoipa::path(post, path = "/totp/recovery-codes", tag = "accounts", request_body = PasswordProof,
    responses((status = 200, description = "New codes; the old ones are not valid any more",
            body = RecoveryCodes),
        (status = 401, description = "The password is wrong (WRONG_PASSWORD)")))]
pub(super) async fn renew_codes(
    State(service): State<Service>,
    operator: Operator,
    context: Context,
    Body(request): Body<PasswordProof>,
) -> Result<ApiResponse, ApiError> {
    let (attempt, hash) = verify(&service, &operator, &request.password).await?;
    let now = service.now_ms();
    let (codes, hashes) = totp::recovery_codes();
    transaction!(service.db(), |tx| {
        prove(tx, &operator, hash, &attempt).await?;
        let sql = "UPDATE accounts SET recovery_codes = $1 WHERE id = $2";
        tx.execute(sql, args![hashes, &operator.account_id]).await?;
        let author = operator.author(&context.browser.address);
        let entry = author.entry(&operator.tenant_id, "totp.codes", &operator.id, now);
        audit::record(tx, &entry).await?;
        Ok::<_, ApiError>(())
    })
    .await?;
    success(&RecoveryCodes { recovery_codes: codes })
}

async fn prove(tx: &mut Tx, operator: &Operator, hash: String, attempt: &Attempt) -> Result<(), ApiError> {
    lock_verified(tx, operator, hash).await?;
    require_totp(tx, &operator.account_id, true).await?;
    Ok(attempt.succeed(tx).await?)
}
