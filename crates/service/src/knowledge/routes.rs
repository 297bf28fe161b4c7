//! The admin API of a site's questions and answers.

use std::time::Instant;

use axum::Router;
use axum::extract::{Extension, Path, State};
use axum::routing::{get, post};
use chat_protocol::Value;
use serde::Deserialize;

use super::answers::{self, AnswerDraft, StoredAnswer};
use super::{Passage, find};
use crate::accounts::{Client, Operator, Right};
use crate::audit::{self, Entry};
use crate::body_limit::limited;
use crate::clock::millis;
use crate::db::Tx;
use crate::error::ApiError;
use crate::input::{Body, Params};
use crate::limits::check_search;
use crate::rate::Caller;
use crate::response::ApiResponse;
use crate::sites;
use crate::{Service, ai};

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
        .route("/sites/{site}/knowledge/search", post(try_out))
        .route("/sites/{site}/knowledge/ask", post(ask));
    limited(routes, MAX_BODY_BYTES)
}

/// The OpenAPI description of the routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list, add, read, replace, delete, try_out, ask), components(schemas(AnswerDraft, Tried)))]
pub(crate) struct KnowledgeApi;

/// A page of a list.
#[derive(Clone, Debug, Deserialize, utoipa::IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Page {
    /// The `next` of the page before.
    before: Option<i64>,
    /// The maximum number of entries, at most 200.
    limit: Option<u32>,
    /// A part of the question or of the answer.
    q: Option<String>,
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
    check_search(page.q.as_deref())?;
    let limit = page.limit.unwrap_or(DEFAULT_PAGE).clamp(1, answers::MAX_LISTED);
    let listed = answers::list(service.db(), &site.id, page.q.as_deref(), page.before, limit).await?;
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
    tried.check()?;
    let passages = find(&service, &site.id, &tried.question, tried.locale.as_deref()).await?;
    let passages = passages.iter().map(passage_value).collect();
    Ok(ApiResponse::success(Value::object([("passages", Value::List(passages))])))
}

impl Tried {
    fn check(&self) -> Result<(), ApiError> {
        let length = self.question.chars().count();
        if (1..=MAX_TRIED_LENGTH).contains(&length) {
            return Ok(());
        }
        Err(ApiError::InvalidRequest(format!(
            "Invalid question: expected 1 to {MAX_TRIED_LENGTH} characters, got {length}."
        )))
    }
}

fn passage_value(passage: &Passage) -> Value {
    Value::object([
        ("id", passage.id.as_str().into()),
        ("title", passage.title.as_str().into()),
        ("location", passage.location.clone().into()),
        ("text", passage.text.as_str().into()),
    ])
}

#[utoipa::path(post, path = "/sites/{site}/knowledge/ask", tag = "knowledge", request_body = Tried,
    params(("site" = String, Path)), responses(
    (status = 200, description = "The answer that a visitor would get, with its sources. It counts as a \
                                  reply of the AI"),
    (status = 403, description = "The role does not allow it"),
    (status = 404, description = "The site does not exist"),
))]
async fn ask(
    State(service): State<Service>,
    operator: Operator,
    Path(site): Path<String>,
    Body(tried): Body<Tried>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageSites)?;
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &site).await?;
    tried.check()?;
    service.0.rates.trials.take(&service, &operator.tenant_id, Caller::ANYBODY).await?.check()?;
    let began = Instant::now();
    let (answer, sources) = ai::try_answer(&service, &site, &tried.question, tried.locale.as_deref()).await?;
    Ok(ApiResponse::success(Value::object([
        ("text", answer.text.into()),
        ("status", answer.status.as_str().into()),
        ("usedFallback", answer.used_fallback.into()),
        ("wantsPerson", answer.wants_person.into()),
        ("sources", Value::List(sources.iter().map(passage_value).collect())),
        ("durationMs", millis(began.elapsed()).into()),
    ])))
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
        let site_id = sites::of_tenant(service.db(), &operator.tenant_id, site).await?.settings.id;
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
mod tests;
