//! The use of what is limited.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use chat_protocol::admin::settings::Quota;

use crate::Service;
use crate::accounts::{Operator, Right};
use crate::ai::quota;
use crate::error::ApiError;
use crate::input::success;
use crate::response::ApiResponse;
use crate::storage::{self, DiskState};

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/quota", get(show))
}

/// Shows how many replies of the AI each site has used this month, how many bytes it stores, and how many of
/// both it may use.
#[utoipa::path(get, path = "/quota", tag = "sites", responses((status = 200, body = Quota)))]
pub(super) async fn show(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageSites)?;
    let mut quota = quota::of_tenant(service.db(), &operator.tenant_id, service.now_ms()).await?;
    let stored = storage::of_tenant(service.db(), &operator.tenant_id).await?;
    let budgets = service.0.storage.budgets();
    for site in &mut quota.sites {
        site.stored_bytes = stored.get(&site.site_id).copied().unwrap_or_default();
        site.max_bytes = budgets.site;
    }
    // Those of sites that are being deleted as well.
    quota.stored_bytes = stored.values().sum();
    quota.max_bytes = budgets.tenant;
    quota.disk_refuses = match storage::disk_state(&service).await.map(|space| space.state) {
        None | Some(DiskState::Ample) => None,
        Some(DiskState::BulkRefused) => Some("bulk".to_owned()),
        Some(DiskState::MessagesRefused) => Some("messages".to_owned()),
    };
    success(&quota)
}
