//! The admin API of visitors.

mod privacy;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use chat_protocol::Value;
use serde::Deserialize;

use super::{EarlierConversation, Visitor, earlier, events, list};
use crate::Service;
use crate::accounts::{Operator, Right};
use crate::error::ApiError;
use crate::input::Params;
use crate::response::ApiResponse;
use crate::sites;

/// Visitors of a page, and the maximum that a request may ask for.
const DEFAULT_PAGE: i64 = 50;
const MAX_PAGE: i64 = 200;
/// The shown conversations and events of one visitor.
const SHOWN_CONVERSATIONS: i64 = 50;
const SHOWN_EVENTS: i64 = 50;

const NO_VISITOR: ApiError = ApiError::NotFound("This visitor");

/// Returns the routes, relative to the admin API's path. They must be guarded.
pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route("/sites/{site}/visitors", get(list_visitors))
        .route("/sites/{site}/visitors/{id}", get(show).delete(privacy::erase))
        .route("/sites/{site}/visitors/{id}/export", get(privacy::export))
        .route("/sites/{site}/privacy/search", post(privacy::search))
        .route("/sites/{site}/privacy/export", post(privacy::export_by_email))
        .route("/sites/{site}/privacy/erase", post(privacy::erase_by_email))
}

/// The OpenAPI description of the routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    list_visitors,
    show,
    privacy::erase,
    privacy::export,
    privacy::search,
    privacy::export_by_email,
    privacy::erase_by_email
))]
pub(crate) struct VisitorsApi;

/// The page of a list.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Page {
    /// `next` of the page before.
    after: Option<String>,
    limit: Option<i64>,
}

type Segments<T> = Result<Path<T>, PathRejection>;

/// Returns the parts of a path. Text that is not UTF-8 names nothing.
fn segments<T>(path: Segments<T>) -> Result<T, ApiError> {
    path.map(|Path(segments)| segments).map_err(|_| NO_VISITOR)
}

/// Lists the visitors of a site, last seen first.
#[utoipa::path(get, path = "/sites/{site}/visitors", tag = "visitors",
    params(("site" = String, Path), ("after" = Option<String>, Query), ("limit" = Option<i64>, Query)),
    responses((status = 200, description = "`visitors`, and `next` if there may be more")))]
async fn list_visitors(
    State(service): State<Service>,
    operator: Operator,
    path: Segments<String>,
    Params(Page { after, limit }): Params<Page>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &segments(path)?).await?;
    let after = match after {
        None => (i64::MAX, i64::MAX),
        Some(cursor) => parse_cursor(&cursor).ok_or(ApiError::InvalidRequest(
            "invalid after: expected the value of next of the page before".to_owned(),
        ))?,
    };
    let limit = limit.unwrap_or(DEFAULT_PAGE).clamp(1, MAX_PAGE);
    let visitors = list(service.db(), &site.id, after, limit).await?;
    let is_full = i64::try_from(visitors.len()) == Ok(limit);
    let next = visitors.last().filter(|_| is_full);
    let next = next.map(|last| format!("{}-{}", last.last_seen_ms, last.no));
    Ok(ApiResponse::success(Value::object([
        ("visitors", visitors.iter().map(Visitor::view).collect()),
        ("next", next.into()),
    ])))
}

fn parse_cursor(cursor: &str) -> Option<(i64, i64)> {
    let (last_seen_ms, no) = cursor.split_once('-')?;
    Some((last_seen_ms.parse().ok()?, no.parse().ok()?))
}

/// Shows a visitor with its latest conversations and events.
#[utoipa::path(get, path = "/sites/{site}/visitors/{id}", tag = "visitors",
    params(("site" = String, Path), ("id" = String, Path)),
    responses((status = 200, description = "`visitor`, `conversations` newest first, `events` oldest first"),
        (status = 404, description = "The site has no such visitor")))]
async fn show(
    State(service): State<Service>,
    operator: Operator,
    path: Segments<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let (site, id) = segments(path)?;
    let db = service.db();
    let site = sites::of_tenant(db, &operator.tenant_id, &site).await?;
    let visitor = super::find(db, &site.id, &id).await?.ok_or(NO_VISITOR)?;
    let conversations = earlier(db, &site.id, visitor.no, i64::MAX, SHOWN_CONVERSATIONS).await?;
    let events = events::recent(db, &site.id, &visitor.id, SHOWN_EVENTS).await?;
    Ok(ApiResponse::success(Value::object([
        ("visitor", visitor.view()),
        ("conversations", conversations.iter().map(EarlierConversation::view).collect()),
        ("events", events.iter().map(events::ReceivedEvent::view).collect()),
    ])))
}
