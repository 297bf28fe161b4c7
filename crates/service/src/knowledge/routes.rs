//! The admin API of a site's questions and answers.

use axum::Router;
use axum::extract::{Extension, Path, State};
use axum::routing::{get, post};
use chat_protocol::Value;
use serde::Deserialize;

use super::answers::{self, AnswerDraft, StoredAnswer};
use super::find;
use crate::Service;
use crate::accounts::{Client, Operator, Right};
use crate::admin_api::input::{Body, Params};
use crate::audit::{self, Entry};
use crate::body_limit::limited;
use crate::db::Tx;
use crate::error::ApiError;
use crate::response::ApiResponse;
use crate::sites;

/// Maximum size of a request's body, in bytes. A question and an answer of maximum length fit, escaped as
/// well.
const MAX_BODY_BYTES: usize = 64 * 1024;
/// The number of questions in a page of the list, unless the request names one.
const DEFAULT_PAGE: u32 = 50;
/// Maximum characters of a question that is tried out.
const MAX_TRIED_LENGTH: usize = 4000;

/// Returns the routes, relative to the admin API's path. They must be guarded.
pub(crate) fn routes() -> Router<Service> {
    let routes = Router::new()
        .route("/sites/{site}/answers", get(list).post(add))
        .route("/sites/{site}/answers/{answer}", get(read).put(replace).delete(delete))
        .route("/sites/{site}/knowledge/search", post(try_out));
    limited(routes, MAX_BODY_BYTES)
}

/// The OpenAPI description of the routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list, add, read, replace, delete, try_out), components(schemas(AnswerDraft, Tried)))]
pub(crate) struct KnowledgeApi;

/// A page of a list.
#[derive(Clone, Copy, Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Page {
    /// The `next` of the page before.
    before: Option<i64>,
    /// The maximum number of entries, at most 200.
    limit: Option<u32>,
}

#[utoipa::path(get, path = "/sites/{site}/answers", tag = "knowledge", params(("site" = String, Path), Page),
    responses((status = 200, description = "The questions and answers, newest first"),
        (status = 404, description = "The site does not exist"))
)]
async fn list(
    State(service): State<Service>,
    operator: Operator,
    Path(site): Path<String>,
    Params(page): Params<Page>,
) -> Result<ApiResponse, ApiError> {
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &site).await?;
    let limit = page.limit.unwrap_or(DEFAULT_PAGE).clamp(1, answers::MAX_LISTED);
    let listed = answers::list(service.db(), &site.id, page.before, limit).await?;
    let is_full = listed.len() == usize::try_from(limit).unwrap_or(usize::MAX);
    let next = listed.last().map(|last| last.no).filter(|_| is_full);
    Ok(ApiResponse::success(Value::object([("answers", listed.iter().collect()), ("next", next.into())])))
}

#[utoipa::path(post, path = "/sites/{site}/answers", tag = "knowledge", request_body = AnswerDraft,
    params(("site" = String, Path)), responses(
    (status = 200, description = "The new answer"),
    (status = 403, description = "The role does not allow it"),
    (status = 409, description = "The site has the maximum number of answers"),
))]
async fn add(
    State(service): State<Service>,
    operator: Operator,
    client: Option<Extension<Client>>,
    Path(site): Path<String>,
    Body(draft): Body<AnswerDraft>,
) -> Result<ApiResponse, ApiError> {
    let change = Change::new(&service, operator, client, &site, "answer.create").await?;
    let stored = service
        .db()
        .write(move |tx| {
            Box::pin(async move {
                let stored = answers::add(tx, change.now_ms, &change.site_id, &draft).await?;
                change.record(tx, &stored.id).await?;
                Ok::<_, ApiError>(stored)
            })
        })
        .await?;
    Ok(one(&stored))
}

#[utoipa::path(get, path = "/sites/{site}/answers/{answer}", tag = "knowledge",
    params(("site" = String, Path), ("answer" = String, Path)), responses(
    (status = 200, description = "The answer"),
    (status = 404, description = "The site or the answer does not exist"),
))]
async fn read(
    State(service): State<Service>,
    operator: Operator,
    Path((site, id)): Path<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &site).await?;
    Ok(one(&answers::find(service.db(), &site.id, &id).await?))
}

#[utoipa::path(put, path = "/sites/{site}/answers/{answer}", tag = "knowledge", request_body = AnswerDraft,
    params(("site" = String, Path), ("answer" = String, Path)), responses(
    (status = 200, description = "The changed answer"),
    (status = 403, description = "The role does not allow it"),
    (status = 404, description = "The site or the answer does not exist"),
))]
async fn replace(
    State(service): State<Service>,
    operator: Operator,
    client: Option<Extension<Client>>,
    Path((site, id)): Path<(String, String)>,
    Body(draft): Body<AnswerDraft>,
) -> Result<ApiResponse, ApiError> {
    let change = Change::new(&service, operator, client, &site, "answer.update").await?;
    let stored = service
        .db()
        .write(move |tx| {
            Box::pin(async move {
                let stored = answers::replace(tx, change.now_ms, &change.site_id, &id, &draft).await?;
                change.record(tx, &stored.id).await?;
                Ok::<_, ApiError>(stored)
            })
        })
        .await?;
    Ok(one(&stored))
}

#[utoipa::path(delete, path = "/sites/{site}/answers/{answer}", tag = "knowledge",
    params(("site" = String, Path), ("answer" = String, Path)), responses(
    (status = 200, description = "Deleted"),
    (status = 403, description = "The role does not allow it"),
    (status = 404, description = "The site or the answer does not exist"),
))]
async fn delete(
    State(service): State<Service>,
    operator: Operator,
    client: Option<Extension<Client>>,
    Path((site, id)): Path<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    let change = Change::new(&service, operator, client, &site, "answer.delete").await?;
    service
        .db()
        .write(move |tx| {
            Box::pin(async move {
                answers::delete(tx, &change.site_id, &id).await?;
                change.record(tx, &id).await
            })
        })
        .await?;
    Ok(ApiResponse::success(Value::object([])))
}

/// A question that is tried out.
#[derive(Clone, Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Tried {
    /// The question, in 1 to 4000 characters.
    question: String,
    /// The language tag of the visitor's page.
    locale: Option<String>,
}

#[utoipa::path(post, path = "/sites/{site}/knowledge/search", tag = "knowledge", request_body = Tried,
    params(("site" = String, Path)), responses(
    (status = 200, description = "The passages that the assistant would answer the question from, best first"),
    (status = 404, description = "The site does not exist"),
))]
async fn try_out(
    State(service): State<Service>,
    operator: Operator,
    Path(site): Path<String>,
    Body(tried): Body<Tried>,
) -> Result<ApiResponse, ApiError> {
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &site).await?;
    let length = tried.question.chars().count();
    if !(1..=MAX_TRIED_LENGTH).contains(&length) {
        return Err(ApiError::InvalidRequest(format!(
            "Invalid question: expected 1 to {MAX_TRIED_LENGTH} characters, got {length}."
        )));
    }
    let passages = find(&service, &site.id, &tried.question, tried.locale.as_deref()).await?;
    let passages = passages.iter().map(|passage| {
        Value::object([
            ("id", passage.id.as_str().into()),
            ("title", passage.title.as_str().into()),
            ("location", passage.location.clone().into()),
            ("text", passage.text.as_str().into()),
        ])
    });
    Ok(ApiResponse::success(Value::object([("passages", Value::List(passages.collect()))])))
}

fn one(stored: &StoredAnswer) -> ApiResponse {
    ApiResponse::success(Value::object([("answer", stored.into())]))
}

/// A change of a site's knowledge by an operator who may make it.
struct Change {
    operator: Operator,
    site_id: String,
    action: &'static str,
    address: String,
    now_ms: i64,
}

impl Change {
    async fn new(
        service: &Service,
        operator: Operator,
        client: Option<Extension<Client>>,
        site: &str,
        action: &'static str,
    ) -> Result<Self, ApiError> {
        operator.may(Right::ManageSites)?;
        let site_id = sites::of_tenant(service.db(), &operator.tenant_id, site).await?.id;
        let address = client.map(|Extension(client)| client.address.to_string()).unwrap_or_default();
        Ok(Self { operator, site_id, action, address, now_ms: service.now_ms() })
    }

    /// Records the change in the audit log, without the words of the answer.
    async fn record(&self, tx: &mut Tx, id: &str) -> Result<(), ApiError> {
        let Self { operator, site_id, action, address, now_ms } = self;
        let entry = Entry {
            tenant_id: &operator.tenant_id,
            actor_id: &operator.id,
            actor: &format!("{} <{}>", operator.name, operator.email),
            action,
            target: id,
            detail: Value::object([("site", site_id.as_str().into())]),
            address,
            at_ms: *now_ms,
        };
        Ok(audit::record(tx, &entry).await?)
    }
}

#[cfg(test)]
#[path = "../../tests/knowledge/routes.rs"]
mod tests;
