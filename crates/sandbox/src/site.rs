//! The endpoints that a site's server calls: activation, status, content, overlays and jobs (4.2, 4.3, 4.9 to
//! 4.12).

use std::time::Duration;

use chat_protocol::{
    Activated, Activation, Claim, Completion, ContentPage, JobId, SiteStatus, SyncReceipt, Value,
};
use secrecy::ExposeSecret;

use crate::error::ApiError;
use crate::fingerprint::is_same_secret;
use crate::identity::{SITE_ID, TENANT_ID};
use crate::rate::Caller;
use crate::store::{CompletionError, prepare};
use crate::{Sandbox, publishing};

/// Checks the license code of an activation. A peer with too many wrong codes is refused for a while, also
/// with the right one.
pub(crate) fn check_license(sandbox: &Sandbox, peer: Caller, body: &Activation) -> Result<(), ApiError> {
    let quota = sandbox.0.failed_activations.take(peer);
    if quota.exceeded {
        return Err(ApiError::RateLimited { retry_after_s: quota.reset_s });
    }
    if !is_same_secret(body.license_code.expose(), sandbox.0.license.expose_secret()) {
        return Err(ApiError::InvalidRequest("Unknown licenseCode.".to_owned()));
    }
    sandbox.0.failed_activations.refund(peer);
    Ok(())
}

pub(crate) fn activate(sandbox: &Sandbox, body: &Activation) -> Result<Value, ApiError> {
    sandbox.store().activate(body)?;
    sandbox.notify_changed();
    Ok(Value::from(&Activated {
        site_token: sandbox.0.token.expose_secret().into(),
        tenant_id: Some(TENANT_ID.to_owned()),
        site_id: Some(SITE_ID.to_owned()),
    }))
}

pub(crate) fn status(sandbox: &Sandbox) -> Result<Value, ApiError> {
    let tracking_enabled = !sandbox.faults().active.tracking_disabled;
    let store = sandbox.store();
    let site = store.site()?;
    let locales = site.as_ref().map(|site| site.supported_locales.clone()).unwrap_or_default();
    let extra = Value::object([
        ("activatedAt", site.as_ref().map(|site| site.activated_at.clone()).into()),
        ("platform", site.as_ref().and_then(|site| site.platform.clone()).into()),
        ("primaryLocale", site.as_ref().and_then(|site| site.primary_locale.clone()).into()),
        ("supportedLocales", locales),
        ("publishing", sandbox.0.publishing.as_str().into()),
        ("contentItems", store.content_count()?.into()),
        ("jobsWaiting", store.pending_job_count()?.into()),
    ]);
    let (name, domain) = site.map_or((None, None), |site| (site.name, Some(site.domain)));
    Ok(Value::from(&SiteStatus {
        tenant_id: Some(TENANT_ID.to_owned()),
        site_id: Some(SITE_ID.to_owned()),
        site_name: name,
        domain,
        status: Some("active".to_owned()),
        tracking_enabled: Some(tracking_enabled),
        extra,
    }))
}

/// Parses a page of content. A page without any usable item is refused: most likely its sender makes the same
/// mistake in all of them.
pub(crate) fn content_page(body: Value) -> Result<ContentPage, ApiError> {
    let page = ContentPage::try_from(body)?;
    match page.refused.first() {
        Some(refused) if page.items.is_empty() => Err(refused.clone().into()),
        _ => Ok(page),
    }
}

pub(crate) async fn sync(sandbox: &Sandbox, mut page: ContentPage) -> Result<Value, ApiError> {
    let rejected = i64::try_from(page.refused.len()).unwrap_or(i64::MAX);
    let items = std::mem::take(&mut page.items);
    let items = sandbox.run_blocking(move || prepare(items)).await?;
    let synced = {
        let mut store = sandbox.store();
        let mut synced = store.sync(&page, items)?;
        let suggestions = std::mem::take(&mut synced.suggestions);
        publishing::suggest_overlays(&store, sandbox.0.publishing, sandbox.0.job_rules, suggestions)?;
        synced
    };
    sandbox.notify_changed();
    let receipt = SyncReceipt {
        accepted: Some(synced.accepted),
        rejected: Some(rejected),
        removed: Some(synced.removed),
        extra: Value::Null,
    };
    Ok(Value::from(&receipt))
}

pub(crate) fn overlays(
    sandbox: &Sandbox,
    path: Option<&str>,
    locale: Option<&str>,
) -> Result<Value, ApiError> {
    let overlays = sandbox.store().overlays(path, locale)?;
    Ok(Value::object([("siteId", SITE_ID.into()), ("overlays", Value::List(overlays))]))
}

pub(crate) fn claim(sandbox: &Sandbox) -> Result<Value, ApiError> {
    let lease = sandbox.faults().active.lease_ms.map_or(sandbox.0.job_rules.lease, Duration::from_millis);
    let job = sandbox.store().claim_job(lease)?;
    if job.is_some() {
        sandbox.notify_changed();
    }
    Ok(Value::from(&Claim { site_id: Some(SITE_ID.to_owned()), job }))
}

pub(crate) fn complete(sandbox: &Sandbox, id: &JobId, body: &Completion) -> Result<Value, ApiError> {
    let result = sandbox.store().complete_job(id, &body.claim_token, &body.outcome)?;
    let job = result.map_err(|error| match error {
        CompletionError::Unknown => ApiError::NotFound("This job"),
        CompletionError::AlreadyCompleted => ApiError::AlreadyCompleted,
        CompletionError::LeaseLost => ApiError::LeaseMismatch,
    })?;
    sandbox.notify_changed();
    // The fields that the contract shows (4.12).
    let shown = Value::object([
        ("id", (&job.id).into()),
        ("type", job.job_type.as_str().into()),
        ("status", job.status.as_str().into()),
        ("completedAt", job.completed_at.into()),
        ("updatedAt", job.updated_at.into()),
    ]);
    Ok(Value::object([("job", shown)]))
}
