//! The labels of conversations. Agents assign them, admins make them.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{get, put};
use chat_protocol::admin::{Empty, Label, LabelChange};

use super::shared_list::{Change, SharedList};
use crate::Service;
use crate::accounts::{Actor, Operator, Right};
use crate::db::{Row, args};
use crate::error::ApiError;
use crate::input::{Body, done, success};
use crate::limits::check_text;
use crate::response::ApiResponse;
use crate::secrets::new_id;

/// Maximum characters of a name.
const MAX_NAME: usize = 40;
static LABELS: SharedList = SharedList {
    name: "label",
    count: "SELECT count(*) FROM labels WHERE tenant_id = $1",
    taken: "SELECT 1 FROM labels WHERE tenant_id = $1 AND name_key = $2 AND id <> $3",
    insert: "INSERT INTO labels (id, tenant_id, name_key, name, color) VALUES ($1, $2, $3, $4, $5)",
    update: "UPDATE labels SET name_key = $3, name = $4, color = $5 WHERE id = $1 AND tenant_id = $2",
    delete: "DELETE FROM labels WHERE id = $1 AND tenant_id = $2",
    max: 200,
    is_full: "There are 200 labels: delete one.",
    is_taken: "Another label has this name.",
    missing: "This label",
};
/// The colours that a label can have.
const COLORS: [&str; 8] = ["grey", "red", "orange", "yellow", "green", "teal", "blue", "violet"];

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/labels", get(list).post(create))
        .route("/labels/{label}", put(change).delete(remove))
}

/// Lists the labels, by their names.
#[utoipa::path(get, path = "/labels", tag = "inbox", responses((status = 200, body = Vec<Label>)))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let sql = "SELECT id, name, color FROM labels WHERE tenant_id = $1 ORDER BY name_key";
    let rows = service.db().all(sql, args![&operator.tenant_id]).await?;
    let read = |row: &Row| Ok(Label { id: row.text(0)?, name: row.text(1)?, color: row.text(2)? });
    success(&rows.iter().map(read).collect::<Result<Vec<_>, ApiError>>()?)
}

fn checked(change: &LabelChange) -> Result<LabelChange, ApiError> {
    let name = check_text("name", &change.name, 1, MAX_NAME)?;
    if !COLORS.contains(&change.color.as_str()) {
        let problem = format!("invalid color: expected one of {}.", COLORS.join(", "));
        return Err(ApiError::InvalidRequest(problem));
    }
    Ok(LabelChange { name, color: change.color.clone() })
}

/// Creates a label.
#[utoipa::path(post, path = "/labels", tag = "inbox", request_body = LabelChange,
    responses((status = 200, body = Label), (status = 409, description = "Another label has this name")))]
pub(super) async fn create(
    State(service): State<Service>,
    actor: Actor,
    Body(change): Body<LabelChange>,
) -> Result<ApiResponse, ApiError> {
    actor.operator.may(Right::ManageSites)?;
    let LabelChange { name, color } = checked(&change)?;
    let label = Label { id: new_id("label"), name, color };
    let entry = Change::Create(label.name.clone(), args![&label.name, &label.color]);
    LABELS.write(&service, actor, &label.id, entry).await?;
    success(&label)
}

/// Changes a label.
#[utoipa::path(put, path = "/labels/{label}", tag = "inbox", params(("label" = String, Path)),
    request_body = LabelChange,
    responses((status = 200, body = Label), (status = 409, description = "Another label has this name")))]
pub(super) async fn change(
    State(service): State<Service>,
    actor: Actor,
    Path(id): Path<String>,
    Body(change): Body<LabelChange>,
) -> Result<ApiResponse, ApiError> {
    actor.operator.may(Right::ManageSites)?;
    let LabelChange { name, color } = checked(&change)?;
    let label = Label { id, name, color };
    let entry = Change::Update(label.name.clone(), args![&label.name, &label.color]);
    LABELS.write(&service, actor, &label.id, entry).await?;
    success(&label)
}

/// Deletes a label, also from the conversations that have it.
#[utoipa::path(delete, path = "/labels/{label}", tag = "inbox", params(("label" = String, Path)),
    responses((status = 200, body = Empty)))]
pub(super) async fn remove(
    State(service): State<Service>,
    actor: Actor,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    actor.operator.may(Right::ManageSites)?;
    LABELS.write(&service, actor, &id, Change::Delete).await?;
    Ok(done())
}
