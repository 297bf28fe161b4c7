//! The admin API of a site's questions and answers.

use std::time::Instant;

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{get, post};
use chat_protocol::admin::Empty;
use chat_protocol::admin::settings::{
    Answer, AnswerChange, AnswerPage, AnswerText, AskedAnswer, KnowledgeQuestion, Passages,
};
use serde::Deserialize;

use crate::Service;
use crate::accounts::{Actor, Operator, Right, SiteChange};
use crate::ai::{self, Threshold, Tried};
use crate::body_limit::limited;
use crate::clock::millis;
use crate::db::transaction;
use crate::error::ApiError;
use crate::input::{Body, Params, done, success};
use crate::knowledge::{Wanted, answers, find};
use crate::limits::check_search;
use crate::long_reads::{self, SEARCH_TIMEOUT};
use crate::rate::Caller;
use crate::response::ApiResponse;
use crate::sites::{self, Site};

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
#[openapi(paths(list, add, read, replace, delete, try_out, ask))]
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
    responses((status = 200, body = AnswerPage),
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
    let limit = page.limit.unwrap_or(DEFAULT_PAGE);
    let Some(text) = page.q.as_deref() else {
        return success(&answers::list(service.db(), &site.id, None, page.before, limit).await?);
    };
    let db = service.db().for_long_reads();
    let read = answers::list(&db, &site.id, Some(text), page.before, limit);
    success(&long_reads::execute(&service, &operator.tenant_id, SEARCH_TIMEOUT, read).await?)
}

#[utoipa::path(post, path = "/sites/{site}/answers", tag = "knowledge", request_body = AnswerText,
    params(("site" = String, Path)), responses(
    (status = 200, description = "The new answer", body = AnswerChange),
    (status = 403, description = "The role does not allow it"),
    (status = 409, description = "The site has the maximum number of answers"),
))]
async fn add(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
    Body(written): Body<AnswerText>,
) -> Result<ApiResponse, ApiError> {
    let change = SiteChange::new(&service, actor, &site, "answer.create").await?;
    let stored = transaction!(service.db(), |tx| {
        let stored = answers::add(tx, change.now_ms, &change.site_id, &written).await?;
        change.record(tx, &stored.id).await?;
        Ok::<_, ApiError>(stored)
    })
    .await?;
    one(stored)
}

#[utoipa::path(get, path = "/sites/{site}/answers/{answer}", tag = "knowledge",
    params(("site" = String, Path), ("answer" = String, Path)), responses(
    (status = 200, description = "The answer", body = AnswerChange),
    (status = 404, description = "The site or the answer does not exist"),
))]
async fn read(
    State(service): State<Service>,
    operator: Operator,
    Path((site, id)): Path<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &site).await?;
    one(answers::find(service.db(), &site.id, &id).await?)
}

#[utoipa::path(put, path = "/sites/{site}/answers/{answer}", tag = "knowledge", request_body = AnswerText,
    params(("site" = String, Path), ("answer" = String, Path)), responses(
    (status = 200, description = "The changed answer", body = AnswerChange),
    (status = 403, description = "The role does not allow it"),
    (status = 404, description = "The site or the answer does not exist"),
))]
async fn replace(
    State(service): State<Service>,
    actor: Actor,
    Path((site, id)): Path<(String, String)>,
    Body(written): Body<AnswerText>,
) -> Result<ApiResponse, ApiError> {
    let change = SiteChange::new(&service, actor, &site, "answer.update").await?;
    let stored = transaction!(service.db(), |tx| {
        let stored = answers::replace(tx, change.now_ms, &change.site_id, &id, &written).await?;
        change.record(tx, &stored.id).await?;
        Ok::<_, ApiError>(stored)
    })
    .await?;
    one(stored)
}

#[utoipa::path(delete, path = "/sites/{site}/answers/{answer}", tag = "knowledge",
    params(("site" = String, Path), ("answer" = String, Path)), responses(
    (status = 200, description = "Deleted", body = Empty),
    (status = 403, description = "The role does not allow it"),
    (status = 404, description = "The site or the answer does not exist"),
))]
async fn delete(
    State(service): State<Service>,
    actor: Actor,
    Path((site, id)): Path<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    let change = SiteChange::new(&service, actor, &site, "answer.delete").await?;
    transaction!(service.db(), |tx| {
        answers::delete(tx, &change.site_id, &id).await?;
        change.record(tx, &id).await
    })
    .await?;
    Ok(done())
}

#[utoipa::path(post, path = "/sites/{site}/knowledge/search", tag = "knowledge", request_body = KnowledgeQuestion,
    params(("site" = String, Path)), responses(
    (status = 200, body = Passages),
    (status = 404, description = "The site does not exist"),
))]
async fn try_out(
    State(service): State<Service>,
    operator: Operator,
    Path(site): Path<String>,
    Body(tried): Body<KnowledgeQuestion>,
) -> Result<ApiResponse, ApiError> {
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &site).await?;
    let threshold = check(&tried, &site)?;
    let wanted = Wanted { question: &tried.question, own: None, locale: tried.locale.as_deref() };
    let read = find(&service, &site.id, wanted);
    let passages = long_reads::execute(&service, &operator.tenant_id, SEARCH_TIMEOUT, read).await?;
    success(&Passages {
        passages: passages.into_iter().map(Into::into).collect(),
        threshold: threshold.in_thousandths(),
    })
}

/// Checks a question, and returns the threshold that it is tried with.
fn check(tried: &KnowledgeQuestion, site: &Site) -> Result<Threshold, ApiError> {
    let length = tried.question.chars().count();
    if !(1..=MAX_TRIED_LENGTH).contains(&length) {
        return Err(ApiError::InvalidRequest(format!(
            "Invalid question: expected 1 to {MAX_TRIED_LENGTH} characters, got {length}."
        )));
    }
    let Some(thousandths) = tried.threshold else { return Ok(Threshold::of_site(site)) };
    Threshold::of_thousandths(thousandths).ok_or_else(|| {
        ApiError::InvalidRequest(format!("Invalid threshold: expected 0 to 1000, got {thousandths}."))
    })
}

#[utoipa::path(post, path = "/sites/{site}/knowledge/ask", tag = "knowledge", request_body = KnowledgeQuestion,
    params(("site" = String, Path)), responses(
    (status = 200, description = "The answer that a visitor would get. It counts as a reply of the AI",
        body = AskedAnswer),
    (status = 403, description = "The role does not allow it"),
    (status = 404, description = "The site does not exist"),
))]
async fn ask(
    State(service): State<Service>,
    operator: Operator,
    Path(site): Path<String>,
    Body(tried): Body<KnowledgeQuestion>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::ManageSites)?;
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &site).await?;
    let threshold = check(&tried, &site)?;
    service.0.rates.trials.take(&service, &operator.tenant_id, Caller::Anybody).await?.check()?;
    let began = Instant::now();
    let asked = Tried { question: &tried.question, locale: tried.locale.as_deref(), threshold };
    let (answer, sources) = ai::try_answer(&service, &site, asked).await?;
    success(&AskedAnswer {
        text: answer.text,
        status: answer.status.as_str().to_owned(),
        used_fallback: answer.used_fallback,
        wants_person: answer.wants_person,
        outcome: answer.outcome,
        sources: sources.into_iter().map(Into::into).collect(),
        threshold: threshold.in_thousandths(),
        problem: answer.problem,
        duration_ms: millis(began.elapsed()),
    })
}

fn one(answer: Answer) -> Result<ApiResponse, ApiError> {
    success(&AnswerChange { answer })
}

#[cfg(test)]
mod knowledge_api_tests;
