//! Activation: exchanges a license code for a site token (4.2).

use chat_protocol::{Activated, Activation, Value};
use futures_util::future::BoxFuture;
use secrecy::{ExposeSecret, SecretString};

use crate::Service;
use crate::db::{Tx, Wake, args};
use crate::error::ApiError;
use crate::idempotency::{KeyedRequest, Known};
use crate::licenses;
use crate::rate::Caller;
use crate::response::ApiResponse;
use crate::tokens;

/// Exchanges a code once. A peer with too many wrong codes is refused for a while, also with the right one.
///
/// The response contains a token, so its stored copy is encrypted.
pub(super) async fn activate(
    service: &Service,
    body: Activation,
    peer: Caller,
    keyed: Option<KeyedRequest>,
) -> Result<ApiResponse, ApiError> {
    let quota = service.0.failed_activations.take(service, "activation", peer).await?;
    if quota.exceeded {
        return Err(ApiError::RateLimited { retry_after_s: quota.reset_s });
    }
    let now_ms = service.now_ms();
    let key = service.0.options.key.clone();
    let response = service
        .db()
        .write(move |tx| -> BoxFuture<'_, Result<ApiResponse, ApiError>> {
            Box::pin(async move {
                let Some(keyed) = keyed else { return exchange(tx, now_ms, &body).await };
                let purpose = format!("activation {}", keyed.key.as_str());
                match keyed.bind(tx, now_ms, now_ms).await? {
                    Known::New | Known::Begun { .. } => {}
                    Known::Answered(sealed) => {
                        return sealed.unsealed(&key, &purpose).ok_or(ApiError::Internal);
                    }
                    Known::Conflict => return Err(ApiError::IdempotencyConflict),
                }
                let response = exchange(tx, now_ms, &body).await?;
                keyed.store_response(tx, &response.sealed(&key, &purpose)).await?;
                Ok(response)
            })
        })
        .await?;
    service.0.failed_activations.refund(service, "activation", peer);
    Ok(response)
}

async fn exchange(tx: &mut Tx, now_ms: i64, body: &Activation) -> Result<ApiResponse, ApiError> {
    let code = SecretString::from(body.license_code.expose());
    let name = body.site_name.as_deref().unwrap_or(&body.domain);
    let name: String = name.chars().filter(|character| !character.is_control()).take(200).collect();
    let site = licenses::redeem(tx, now_ms, &code, &name).await?;
    let site = site.ok_or_else(|| ApiError::InvalidRequest("Unknown licenseCode.".to_owned()))?;
    let locales: Value = body.supported_locales.iter().map(String::as_str).collect();
    tx.execute(
        "UPDATE sites SET name = coalesce($1, name), domain = $2, platform = $3,
             primary_locale = coalesce($4, primary_locale),
             supported_locales = CASE WHEN $5 = '[]' THEN supported_locales ELSE $5 END, activated_ms = $6
         WHERE id = $7",
        args![
            body.site_name.is_some().then_some(name),
            &body.domain,
            body.platform.clone(),
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
        site_id: Some(site.id),
    })))
}
