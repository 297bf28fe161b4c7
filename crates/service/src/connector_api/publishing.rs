//! The endpoints that a site's server calls: status, content, overlays and jobs (4.3, 4.9 to 4.12).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chat_protocol::{Claim, Completion, ContentPage, JobId, SiteStatus, SyncReceipt, Value};

use crate::Service;
use crate::bulk_writes;
use crate::content;
use crate::db::{Wake, work};
use crate::error::ApiError;
use crate::idempotency::{KeyedRequest, execute_once};
use crate::notify::{self, Event, EventName};
use crate::publishing;
use crate::response::ApiResponse;
use crate::sites::Site;
use crate::storage::{self, Class};

fn changed(site: &Site) -> Wake {
    Wake::Site { tenant: site.tenant_id.clone(), site: site.id.clone() }
}

pub(super) async fn status(service: &Service, site: &Site) -> Result<Value, ApiError> {
    let (db, now_ms) = (service.db(), service.now_ms());
    let extra = Value::object([
        ("activatedAt", site.activated_at.clone().into()),
        ("platform", site.platform.clone().into()),
        ("primaryLocale", site.primary_locale.clone().into()),
        ("supportedLocales", site.supported_locales.iter().map(String::as_str).collect()),
        ("publishing", site.publishing.as_str().into()),
        ("contentItems", content::count(db, &site.id).await?.into()),
        ("jobsWaiting", publishing::pending_count(db, now_ms, &site.id).await?.into()),
    ]);
    Ok(Value::from(&SiteStatus {
        tenant_id: Some(site.tenant_id.clone()),
        site_id: Some(site.id.clone()),
        site_name: Some(site.name.clone()),
        domain: site.domain.clone(),
        status: Some("active".to_owned()),
        tracking_enabled: Some(site.tracking_enabled),
        extra,
    }))
}

/// Parses a page of content. A page without any usable item is refused: most likely its sender makes the same
/// mistake in all of them.
pub(super) fn content_page(body: Value) -> Result<ContentPage, ApiError> {
    let page = ContentPage::try_from(body)?;
    match page.refused.first() {
        Some(refused) if page.items.is_empty() => Err(refused.clone().into()),
        _ => Ok(page),
    }
}

pub(super) async fn sync(
    service: &Service,
    site: Arc<Site>,
    mut page: ContentPage,
    keyed: Option<KeyedRequest>,
) -> Result<ApiResponse, ApiError> {
    let now_ms = service.now_ms();
    let items = std::mem::take(&mut page.items);
    let items = service.run_blocking(move || content::prepare(items)).await?;
    let room = storage::room(service, &site.tenant_id, &site.id, Class::Bulk).await?;
    let limits = room.clone();
    let (writer, tenant, id) = (service.clone(), site.tenant_id.clone(), site.id.clone());
    let bytes = Arc::new(AtomicU64::new(0));
    let grown = Arc::clone(&bytes);
    let execute = work!(|tx| {
        let rejected = i64::try_from(page.refused.len()).unwrap_or(i64::MAX);
        let mut synced = content::sync(tx, now_ms, &site.id, &page, items, &room).await?;
        grown.store(synced.bytes, Ordering::Relaxed);
        let suggestions = std::mem::take(&mut synced.suggestions);
        publishing::suggest_overlays(tx, now_ms, &site.id, suggestions).await?;
        if synced.removed > 0 {
            publishing::remove_orphaned_drafts(tx, &site.id).await?;
        }
        tx.wake(changed(&site));
        Ok(ApiResponse::success(Value::from(&SyncReceipt {
            accepted: Some(synced.accepted),
            rejected: Some(rejected),
            removed: Some(synced.removed),
            extra: Value::Null,
        })))
    });
    let write = async move { execute_once(&writer, keyed, ApiError::IdempotencyConflict, execute).await };
    let response = bulk_writes::execute(service, &tenant, write).await;
    match &response {
        Ok(_) => storage::expect(service, &tenant, &id, bytes.load(Ordering::Relaxed)),
        Err(ApiError::StorageFull(_) | ApiError::DiskFull) => limits.count_refusal(service),
        Err(_) => {}
    }
    response
}

pub(super) async fn overlays(
    service: &Service,
    site: &Site,
    path: Option<&str>,
    locale: Option<&str>,
) -> Result<Value, ApiError> {
    let overlays = publishing::overlays(service.db(), &site.id, path, locale).await?;
    Ok(Value::object([("siteId", site.id.as_str().into()), ("overlays", Value::List(overlays))]))
}

pub(super) async fn claim(
    service: &Service,
    site: Arc<Site>,
    keyed: Option<KeyedRequest>,
) -> Result<ApiResponse, ApiError> {
    let (now_ms, lease) = (service.now_ms(), service.0.options.job_lease);
    let execute = work!(|tx| {
        let job = publishing::claim(tx, now_ms, &site.id, lease).await?;
        if job.is_some() {
            tx.wake(changed(&site));
        }
        Ok(ApiResponse::success(Value::from(&Claim { site_id: Some(site.id.clone()), job })))
    });
    execute_once(service, keyed, ApiError::JobKeyConflict, execute).await
}

pub(super) async fn complete(
    service: &Service,
    site: Arc<Site>,
    id: JobId,
    body: Completion,
    keyed: Option<KeyedRequest>,
) -> Result<ApiResponse, ApiError> {
    let (now_ms, retry) = (service.now_ms(), service.0.options.job_retry);
    let execute = work!(|tx| {
        let job = publishing::complete(tx, now_ms, &site.id, &id, &body, retry).await?;
        tx.wake(changed(&site));
        let (id, kind, status) = (job.id.as_str(), job.job_type.as_str(), job.status.as_str());
        let event = Event {
            tenant_id: site.tenant_id.clone(),
            site_id: site.id.clone(),
            name: EventName::JobCompleted,
            data: notify::data::job_completed(id, kind, status, job.title.as_deref().unwrap_or_default()),
            conversation_id: None,
        };
        notify::event(tx, now_ms, &event).await?;
        // The fields that the contract shows (4.12).
        let shown = Value::object([
            ("id", (&job.id).into()),
            ("type", job.job_type.as_str().into()),
            ("status", job.status.as_str().into()),
            ("completedAt", job.completed_at.into()),
            ("updatedAt", job.updated_at.into()),
        ]);
        Ok(ApiResponse::success(Value::object([("job", shown)])))
    });
    execute_once(service, keyed, ApiError::JobKeyConflict, execute).await
}
