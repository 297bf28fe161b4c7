//! The admin API of visitors.

mod privacy;

use axum::Router;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::routing::{delete, get, post};
use chat_protocol::Value;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{EarlierConversation, SiteVisitor, earlier, events, list};
use crate::Service;
use crate::accounts::{Operator, Right};
use crate::error::ApiError;
use crate::input::{Params, success};
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
        .route("/sites/{site}/conversations/{id}", delete(privacy::erase_conversation))
        .route("/sites/{site}/conversations/{id}/export", get(privacy::export_conversation))
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
    privacy::erase_conversation,
    privacy::export_conversation,
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

/// A page of the visitors of a site.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct VisitorPage {
    /// The visitors, last seen first.
    visitors: Vec<SiteVisitor>,
    /// The parameter `after` of the next page, if there may be one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

/// Lists the visitors of a site, last seen first.
#[utoipa::path(get, path = "/sites/{site}/visitors", tag = "visitors",
    params(("site" = String, Path), ("after" = Option<String>, Query), ("limit" = Option<i64>, Query)),
    responses((status = 200, body = VisitorPage)))]
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
    success(&VisitorPage { visitors: visitors.into_iter().map(Into::into).collect(), next })
}

fn parse_cursor(cursor: &str) -> Option<(i64, i64)> {
    let (last_seen_ms, no) = cursor.split_once('-')?;
    Some((last_seen_ms.parse().ok()?, no.parse().ok()?))
}

/// A visitor, with what is known about it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct VisitorDetails {
    visitor: SiteVisitor,
    /// The latest conversations, newest first.
    conversations: Vec<EarlierConversation>,
    /// The latest events as received, each with `receivedAt`, oldest first.
    #[schema(value_type = Vec<Object>)]
    events: Vec<Value>,
}

/// Shows a visitor with its latest conversations and events.
#[utoipa::path(get, path = "/sites/{site}/visitors/{id}", tag = "visitors",
    params(("site" = String, Path), ("id" = String, Path)),
    responses((status = 200, body = VisitorDetails),
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
    let events = events.iter().map(events::ReceivedEvent::view).collect();
    success(&VisitorDetails { visitor: visitor.into(), conversations, events })
}
