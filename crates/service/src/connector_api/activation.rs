//! Activation: exchanges a license code for a site token (4.2).

use chat_protocol::{Activated, Activation, Value};
use secrecy::{ExposeSecret, SecretString};

use crate::Service;
use crate::db::{Tx, Wake, args, work};
use crate::error::ApiError;
use crate::idempotency::{KeyedRequest, execute_secret_once};
use crate::licenses;
use crate::limits::{MAX_NAME_LENGTH, MAX_URL_LENGTH};
use crate::rate::Caller;
use crate::response::ApiResponse;
use crate::tokens;

/// The name of a new site whose activation names neither the site nor its domain.
const UNNAMED: &str = "Site";

/// Exchanges a code once. A client with too many wrong codes is refused for a while, also with the right one.
pub(super) async fn activate(
    service: &Service,
    body: Activation,
    client: Caller,
    keyed: Option<KeyedRequest>,
) -> Result<ApiResponse, ApiError> {
    let failed = &service.0.rates.failed_activations;
    failed.take(service, "activation", client).await?.check()?;
    let now_ms = service.now_ms();
    let execute = work!(|tx| exchange(tx, now_ms, &body).await);
    let result = execute_secret_once(service, keyed, ApiError::IdempotencyConflict, execute).await;
    // Only wrong codes count.
    if !matches!(result, Err(ApiError::InvalidRequest(_))) {
        failed.refund("activation", client);
    }
    result
}

async fn exchange(tx: &mut Tx, now_ms: i64, body: &Activation) -> Result<ApiResponse, ApiError> {
    let code = SecretString::from(body.license_code.expose());
    let name = body.site_name.as_deref().and_then(|name| cleaned(name, MAX_NAME_LENGTH));
    let domain = cleaned(&body.domain, MAX_URL_LENGTH);
    let new_name = name.as_deref().or(domain.as_deref()).unwrap_or(UNNAMED);
    let new_name: String = new_name.chars().take(MAX_NAME_LENGTH).collect();
    let site = licenses::redeem(tx, now_ms, &code, &new_name).await?;
    let site = site.ok_or_else(|| ApiError::InvalidRequest("Unknown licenseCode.".to_owned()))?;
    let locales: Value = body.supported_locales.iter().map(String::as_str).collect();
    tx.execute(
        "UPDATE sites SET name = coalesce($1, name), domain = $2, platform = $3,
             primary_locale = coalesce($4, primary_locale),
             supported_locales = CASE WHEN $5 = '[]' THEN supported_locales ELSE $5 END, activated_ms = $6
         WHERE id = $7",
        args![
            name,
            domain,
            body.platform.as_deref().and_then(|platform| cleaned(platform, MAX_NAME_LENGTH)),
            body.primary_locale.clone(),
            &locales,
            now_ms,
            &site.id
        ],
    )
    .await?;
    tx.wake(Wake::Settings { tenant: site.tenant_id.clone() });
    let token = tokens::create(tx, now_ms, &site, "activation", None).await?;
    Ok(ApiResponse::success(Value::from(&Activated {
        site_token: token.secret.expose_secret().into(),
        tenant_id: Some(site.tenant_id.clone()),
        site_id: Some(site.settings.id),
    })))
}

/// Returns a text on one line, cut off at `max` characters; `None` if nothing is left of it.
fn cleaned(text: &str, max: usize) -> Option<String> {
    let text: String = text.chars().filter(|character| !character.is_control()).collect();
    let text: String = text.trim().chars().take(max).collect();
    (!text.is_empty()).then_some(text)
}
