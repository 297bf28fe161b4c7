//! Reading the audit log.

use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;
use chat_protocol::admin::settings::AuditPage;
use jiff::Timestamp;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::Service;
use crate::accounts::{Operator, Right};
use crate::audit::{self, Filter};
use crate::csv;
use crate::error::ApiError;
use crate::input::success;
use crate::limits::check_search;
use crate::long_reads::{self, SEARCH_TIMEOUT};
use crate::response::ApiResponse;

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/audit", get(list)).route("/audit.csv", get(export))
}

/// Entries of the audit log.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Page {
    /// Returns entries older than this one: the `next` of the page before.
    before: Option<i64>,
    /// Maximum entries: 1 to 200, 50 by default.
    limit: Option<i64>,
    /// The beginning of an action's name, such as `site.`.
    action: Option<String>,
    /// A part of the actor's name or address, or of the target.
    q: Option<String>,
    /// The earliest time, in RFC 3339.
    from: Option<String>,
    /// The time before which they were made, in RFC 3339.
    to: Option<String>,
}

impl Page {
    fn filter(&self) -> Result<Filter, ApiError> {
        check_search(self.q.as_deref())?;
        Ok(Filter {
            action: self.action.clone().unwrap_or_default(),
            text: self.q.clone().unwrap_or_default(),
            from_ms: time("from", self.from.as_deref())?,
            to_ms: time("to", self.to.as_deref())?,
        })
    }
}

fn time(name: &str, text: Option<&str>) -> Result<Option<i64>, ApiError> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let problem = || format!("invalid {name}: expected a time such as 2026-11-23T00:00:00Z.");
    let time: Timestamp = text.parse().map_err(|_| ApiError::InvalidRequest(problem()))?;
    Ok(Some(time.as_millisecond()))
}

#[utoipa::path(get, path = "/audit", tag = "accounts", params(Page),
    responses((status = 200, body = AuditPage),
        (status = 403, description = "Only owners and admins may do this")))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ReadAudit)?;
    let Query(page) = page?;
    let filter = page.filter()?;
    let db = service.db().for_long_reads();
    let read = audit::list(&db, &operator.tenant_id, &filter, page.before, page.limit);
    success(&long_reads::execute(&service, &operator.tenant_id, SEARCH_TIMEOUT, read).await?)
}

#[utoipa::path(get, path = "/audit.csv", tag = "accounts", params(Page),
    responses(
        (status = 200, description = "The entries as CSV, at most 10,000; `before` and `limit` are ignored",
            content_type = "text/csv"),
        (status = 403, description = "Only owners and admins may do this")))]
pub(super) async fn export(
    State(service): State<Service>,
    operator: Operator,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<Response, ApiError> {
    operator.may(Right::ReadAudit)?;
    let Query(page) = page?;
    let (db, filter) = (service.db().for_long_reads(), page.filter()?);
    let read = audit::export(&db, &operator.tenant_id, &filter);
    let csv = long_reads::execute(&service, &operator.tenant_id, SEARCH_TIMEOUT, read).await?;
    Ok(csv::download("audit.csv", &csv))
}
