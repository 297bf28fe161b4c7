//! The operators of a tenant, and who of them is there.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use chat_protocol::admin::{Availability, TeamMember, WorkingState};

use crate::Service;
use crate::accounts::preferences::availability;
use crate::accounts::{Operator, Right};
use crate::db::{DbError, Row, args};
use crate::error::ApiError;
use crate::input::success;
use crate::presence::CONSOLE_TIMEOUT_MS;
use crate::response::ApiResponse;

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/team", get(list))
}

/// Lists the operators, and whether they are there.
#[utoipa::path(get, path = "/team", tag = "inbox", responses((status = 200, body = Vec<TeamMember>)))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    success(&members(&service, &operator.tenant_id).await?)
}

/// Returns the operators of a tenant who can sign in, by their names.
pub(super) async fn members(service: &Service, tenant_id: &str) -> Result<Vec<TeamMember>, DbError> {
    let sql = "SELECT o.id, o.name, o.availability, count(c.id),
            CAST(coalesce(sum(CASE WHEN c.idle = 0 THEN 1 ELSE 0 END), 0) AS BIGINT)
        FROM operators o LEFT JOIN consoles c ON c.tenant_id = o.tenant_id AND c.operator_id = o.id
            AND c.open = 1 AND c.seen_ms > $2
        WHERE o.tenant_id = $1 AND o.disabled_ms IS NULL
        GROUP BY o.id, o.name, o.availability ORDER BY o.name, o.id";
    let rows = service.db().all(sql, args![tenant_id, service.now_ms() - CONSOLE_TIMEOUT_MS]).await?;
    let read = |row: &Row| {
        let (open, in_use) = (row.int(3)? > 0, row.int(4)? > 0);
        let state = match availability(&row.text(2)?) {
            _ if !open => WorkingState::Offline,
            Availability::Offline => WorkingState::Offline,
            Availability::Automatic if in_use => WorkingState::Online,
            Availability::Automatic | Availability::Away => WorkingState::Away,
        };
        Ok(TeamMember { id: row.text(0)?, name: row.text(1)?, state })
    };
    rows.iter().map(read).collect()
}
