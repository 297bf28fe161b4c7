//! The admin API of a site's test questions.

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{get, post, put};
use chat_protocol::admin::settings::{TestQuestionList, TestQuestionText, TestQuestions};

use super::{questions, runs, schedule};
use crate::Service;
use crate::accounts::{Actor, Operator, SiteChange};
use crate::body_limit::limited;
use crate::db::transaction;
use crate::error::ApiError;
use crate::input::{Body, success};
use crate::rate::Caller;
use crate::response::ApiResponse;
use crate::sites;

/// Maximum size of a request's body, in bytes. All questions of a site fit, escaped as well unless they are
/// of maximum length.
const MAX_BODY_BYTES: usize = 1024 * 1024;

/// Returns the routes, relative to the admin API's path. They must be guarded.
pub(crate) fn routes() -> Router<Service> {
    let routes = Router::new()
        .route("/sites/{site}/test-questions", get(list).post(add).put(replace_all))
        .route("/sites/{site}/test-questions/run", post(ask_now))
        .route("/sites/{site}/test-questions/{question}", put(replace).delete(remove));
    limited(routes, MAX_BODY_BYTES)
}

/// The OpenAPI description of the routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(list, add, replace_all, replace, remove, ask_now))]
pub(crate) struct TestQuestionsApi;

#[utoipa::path(get, path = "/sites/{site}/test-questions", tag = "knowledge", params(("site" = String, Path)),
    responses((status = 200, description = "The test questions, with the results of the last run",
        body = TestQuestions),
        (status = 404, description = "The site does not exist"))
)]
async fn list(
    State(service): State<Service>,
    operator: Operator,
    Path(site): Path<String>,
) -> Result<ApiResponse, ApiError> {
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &site).await?;
    shown(&service, &site.id).await
}

#[utoipa::path(post, path = "/sites/{site}/test-questions", tag = "knowledge", request_body = TestQuestionText,
    params(("site" = String, Path)), responses(
    (status = 200, description = "All test questions, with the new one", body = TestQuestions),
    (status = 403, description = "The role does not allow it"),
    (status = 409, description = "The site has the maximum number of test questions"),
))]
async fn add(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
    Body(written): Body<TestQuestionText>,
) -> Result<ApiResponse, ApiError> {
    let change = SiteChange::new(&service, actor, &site, "test_question.create").await?;
    let site_id = change.site_id.clone();
    transaction!(service.db(), |tx| {
        let stored = questions::add(tx, &change.site_id, &written).await?;
        change.record(tx, &stored.id).await
    })
    .await?;
    shown(&service, &site_id).await
}

#[utoipa::path(put, path = "/sites/{site}/test-questions", tag = "knowledge", request_body = TestQuestionList,
    params(("site" = String, Path)), responses(
    (status = 200, description = "All test questions", body = TestQuestions),
    (status = 400, description = "A question is not valid, or there are too many"),
    (status = 403, description = "The role does not allow it"),
    (status = 404, description = "The site does not exist"),
))]
async fn replace_all(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
    Body(wanted): Body<TestQuestionList>,
) -> Result<ApiResponse, ApiError> {
    let change = SiteChange::new(&service, actor, &site, "test_question.replace").await?;
    let site_id = change.site_id.clone();
    transaction!(service.db(), |tx| {
        questions::replace_all(tx, &change.site_id, &wanted.questions).await?;
        change.record(tx, &change.site_id).await
    })
    .await?;
    shown(&service, &site_id).await
}

#[utoipa::path(put, path = "/sites/{site}/test-questions/{question}", tag = "knowledge",
    request_body = TestQuestionText, params(("site" = String, Path), ("question" = String, Path)), responses(
    (status = 200, description = "All test questions, with the changed one", body = TestQuestions),
    (status = 403, description = "The role does not allow it"),
    (status = 404, description = "The site or the question does not exist"),
))]
async fn replace(
    State(service): State<Service>,
    actor: Actor,
    Path((site, id)): Path<(String, String)>,
    Body(written): Body<TestQuestionText>,
) -> Result<ApiResponse, ApiError> {
    let change = SiteChange::new(&service, actor, &site, "test_question.update").await?;
    let site_id = change.site_id.clone();
    transaction!(service.db(), |tx| {
        questions::replace(tx, &change.site_id, &id, &written).await?;
        change.record(tx, &id).await
    })
    .await?;
    shown(&service, &site_id).await
}

#[utoipa::path(delete, path = "/sites/{site}/test-questions/{question}", tag = "knowledge",
    params(("site" = String, Path), ("question" = String, Path)), responses(
    (status = 200, description = "The remaining test questions", body = TestQuestions),
    (status = 403, description = "The role does not allow it"),
    (status = 404, description = "The site or the question does not exist"),
))]
async fn remove(
    State(service): State<Service>,
    actor: Actor,
    Path((site, id)): Path<(String, String)>,
) -> Result<ApiResponse, ApiError> {
    let change = SiteChange::new(&service, actor, &site, "test_question.delete").await?;
    let site_id = change.site_id.clone();
    transaction!(service.db(), |tx| {
        questions::delete(tx, &change.site_id, &id).await?;
        change.record(tx, &id).await
    })
    .await?;
    shown(&service, &site_id).await
}

#[utoipa::path(post, path = "/sites/{site}/test-questions/run", tag = "knowledge",
    params(("site" = String, Path)), responses(
    (status = 200, description = "The test questions, which are asked in the background. `isRunning` says how \
        long", body = TestQuestions),
    (status = 403, description = "The role does not allow it"),
    (status = 404, description = "The site does not exist"),
))]
async fn ask_now(
    State(service): State<Service>,
    actor: Actor,
    Path(site): Path<String>,
) -> Result<ApiResponse, ApiError> {
    let tenant_id = actor.operator.tenant_id.clone();
    let change = SiteChange::new(&service, actor, &site, "test_question.run").await?;
    service.0.rates.trials.take(&service, &tenant_id, Caller::Anybody).await?.check()?;
    let site_id = change.site_id.clone();
    transaction!(service.db(), |tx| {
        schedule::request(tx, change.now_ms, &change.site_id).await?;
        change.record(tx, &change.site_id).await
    })
    .await?;
    shown(&service, &site_id).await
}

async fn shown(service: &Service, site_id: &str) -> Result<ApiResponse, ApiError> {
    success(&runs::show(service.db(), service.now_ms(), site_id).await?)
}
