//! `/sandbox`: the paths by which tests inject faults, inspect data and clear it. Responses are plain JSON;
//! errors are failure envelopes.
//!
//! `GET /sandbox/conversations` is paged: request the next page with `?after={nextAfter}`, until a page
//! contains no conversations.

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::routing::{get, post, put};
use axum::{Json, Router};
use chat_protocol::{ConversationId, JobType, Value};
use serde::Deserialize;

use super::faults::FaultInjector;
use super::requests::RequestLog;
use super::{Faults, TestMode, jobs, operator, setup, views};
use crate::error::ApiError;

pub(super) fn routes() -> Router<TestMode> {
    Router::new()
        .route("/sandbox/trouble", get(faults).put(set_faults).delete(clear_faults))
        .route("/sandbox/conversations", get(conversations).delete(clear_visitors))
        .route("/sandbox/site", get(site).delete(clear_site))
        .route("/sandbox/jobs", post(add_job))
        .route("/sandbox/overlays", post(approve_drafts))
        .route("/sandbox/operator", post(write_as_operator))
        .route("/sandbox/operator/online", put(force_online))
}

async fn faults(State(mode): State<TestMode>) -> Json<Faults> {
    Json(mode.0.responder.faults().active.clone())
}

async fn set_faults(
    State(mode): State<TestMode>,
    body: Result<Json<Faults>, JsonRejection>,
) -> Result<Json<Faults>, ApiError> {
    let Json(faults) = body?;
    faults.check().map_err(|problem| ApiError::InvalidRequest(format!("{problem}.")))?;
    *mode.0.responder.faults() = FaultInjector::new(faults.clone());
    Ok(Json(faults))
}

async fn clear_faults(State(mode): State<TestMode>) -> StatusCode {
    *mode.0.responder.faults() = FaultInjector::new(Faults::default());
    StatusCode::NO_CONTENT
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageQuery {
    after: Option<String>,
}

async fn conversations(
    State(mode): State<TestMode>,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Json<Value>, ApiError> {
    let Query(page) = query?;
    views::everything(&mode, page.after.as_deref()).await.map(Json)
}

async fn clear_visitors(State(mode): State<TestMode>) -> Result<StatusCode, ApiError> {
    setup::clear_visitors(&mode.0.service).await?;
    *mode.requests() = RequestLog::default();
    Ok(StatusCode::NO_CONTENT)
}

async fn site(State(mode): State<TestMode>) -> Result<Json<Value>, ApiError> {
    views::site(&mode).await.map(Json)
}

async fn clear_site(State(mode): State<TestMode>) -> Result<StatusCode, ApiError> {
    setup::clear_site(&mode.0.service).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct JobForTests {
    #[serde(rename = "type")]
    job_type: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    payload: Value,
    max_attempts: Option<i64>,
}

/// Queues a job as given, without any check.
async fn add_job(
    State(mode): State<TestMode>,
    body: Result<Json<JobForTests>, JsonRejection>,
) -> Result<Json<Value>, ApiError> {
    let Json(body) = body?;
    let id = jobs::add(
        &mode,
        JobType::from(body.job_type.as_str()),
        body.title,
        body.payload,
        body.max_attempts.unwrap_or(crate::publishing::MAX_ATTEMPTS),
    )
    .await?;
    Ok(Json(Value::object([("id", (&id).into())])))
}

/// Approves every overlay that is a draft.
async fn approve_drafts(State(mode): State<TestMode>) -> Result<StatusCode, ApiError> {
    jobs::approve_overlays(&mode).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OperatorMessage {
    conversation_id: String,
    content: String,
}

async fn write_as_operator(
    State(mode): State<TestMode>,
    body: Result<Json<OperatorMessage>, JsonRejection>,
) -> Result<Json<Value>, ApiError> {
    let Json(body) = body?;
    operator::write(&mode, ConversationId::from(body.conversation_id), &body.content).await.map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Online {
    online: bool,
}

async fn force_online(
    State(mode): State<TestMode>,
    body: Result<Json<Online>, JsonRejection>,
) -> Result<StatusCode, ApiError> {
    let Json(Online { online }) = body?;
    mode.force_online(online).await?;
    Ok(StatusCode::NO_CONTENT)
}
