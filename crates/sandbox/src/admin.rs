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

use crate::error::ApiError;
use crate::faults::FaultInjector;
use crate::store::{NewJob, RequestLog};
use crate::{Faults, Sandbox, console, views};

pub(crate) fn routes() -> Router<Sandbox> {
    Router::new()
        .route("/sandbox/trouble", get(faults).put(set_faults).delete(clear_faults))
        .route("/sandbox/conversations", get(conversations).delete(clear_visitors))
        .route("/sandbox/site", get(site).delete(clear_site))
        .route("/sandbox/jobs", post(add_job))
        .route("/sandbox/operator", post(write_as_operator))
        .route("/sandbox/operator/online", put(force_online))
}

async fn faults(State(sandbox): State<Sandbox>) -> Json<Faults> {
    Json(sandbox.faults().active.clone())
}

async fn set_faults(
    State(sandbox): State<Sandbox>,
    body: Result<Json<Faults>, JsonRejection>,
) -> Result<Json<Faults>, ApiError> {
    let Json(faults) = body?;
    faults.check().map_err(|problem| ApiError::InvalidRequest(format!("{problem}.")))?;
    *sandbox.faults() = FaultInjector::new(faults.clone());
    Ok(Json(faults))
}

async fn clear_faults(State(sandbox): State<Sandbox>) -> StatusCode {
    *sandbox.faults() = FaultInjector::new(Faults::default());
    StatusCode::NO_CONTENT
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageQuery {
    after: Option<String>,
}

async fn conversations(
    State(sandbox): State<Sandbox>,
    query: Result<Query<PageQuery>, QueryRejection>,
) -> Result<Json<Value>, ApiError> {
    let Query(page) = query?;
    Ok(Json(views::everything(&sandbox.store(), &sandbox.requests(), page.after.as_deref())?))
}

async fn clear_visitors(State(sandbox): State<Sandbox>) -> Result<StatusCode, ApiError> {
    sandbox.store().clear_visitors()?;
    *sandbox.requests() = RequestLog::default();
    sandbox.notify_changed();
    Ok(StatusCode::NO_CONTENT)
}

async fn site(State(sandbox): State<Sandbox>) -> Result<Json<Value>, ApiError> {
    Ok(Json(views::site(&sandbox.store())?))
}

async fn clear_site(State(sandbox): State<Sandbox>) -> Result<StatusCode, ApiError> {
    sandbox.store().clear_site()?;
    sandbox.notify_changed();
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
    max_attempts: Option<u32>,
}

/// Queues a job as given, without any check.
async fn add_job(
    State(sandbox): State<Sandbox>,
    body: Result<Json<JobForTests>, JsonRejection>,
) -> Result<Json<Value>, ApiError> {
    let Json(body) = body?;
    let id = sandbox.store().add_job(&NewJob {
        job_type: JobType::from(body.job_type.as_str()),
        title: body.title,
        payload: body.payload,
        review: None,
        max_attempts: body.max_attempts.unwrap_or(sandbox.0.job_rules.max_attempts),
    })?;
    sandbox.notify_changed();
    Ok(Json(Value::object([("id", (&id).into())])))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OperatorMessage {
    conversation_id: String,
    content: String,
}

async fn write_as_operator(
    State(sandbox): State<Sandbox>,
    body: Result<Json<OperatorMessage>, JsonRejection>,
) -> Result<Json<Value>, ApiError> {
    let Json(body) = body?;
    console::write(&sandbox, &ConversationId::from(body.conversation_id), &body.content).map(Json)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Online {
    online: bool,
}

async fn force_online(
    State(sandbox): State<Sandbox>,
    body: Result<Json<Online>, JsonRejection>,
) -> Result<StatusCode, ApiError> {
    let Json(Online { online }) = body?;
    let mut operators = sandbox.operators();
    operators.forced_online = online;
    operators.mark_seen(sandbox.0.clock);
    Ok(StatusCode::NO_CONTENT)
}
