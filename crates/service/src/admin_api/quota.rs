//! The use of what is limited.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use chat_protocol::Value;

use crate::Service;
use crate::accounts::{Operator, Right};
use crate::ai::quota;
use crate::db::{DbError, Row};
use crate::error::ApiError;
use crate::response::ApiResponse;

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/quota", get(show))
}

/// Shows how many replies of the AI each site has used this month, and how many it may use.
#[utoipa::path(get, path = "/quota", tag = "sites", responses((status = 200, description = "The `month` in UTC, and the `sites` with `used` and `limit`")))]
pub(super) async fn show(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageSites)?;
    let (month, rows) = quota::of_tenant(service.db(), &operator.tenant_id, service.now_ms()).await?;
    let sites = rows.iter().map(view).collect::<Result<Vec<Value>, DbError>>()?;
    Ok(ApiResponse::success(Value::object([("month", month.into()), ("sites", Value::List(sites))])))
}

fn view(row: &Row) -> Result<Value, DbError> {
    Ok(Value::object([
        ("siteId", row.text(0)?.into()),
        ("name", row.text(1)?.into()),
        ("used", row.int(2)?.into()),
        ("limit", row.optional_int(3)?.into()),
        ("refuses", row.flag(4)?.into()),
    ]))
}
