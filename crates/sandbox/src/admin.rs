//! `/sandbox`: what tests switch, see and reset. Answers are plain JSON; refusals are failure envelopes.

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::StatusCode;
use axum::routing::{get, post, put};
use axum::{Json, Router};
use chat_protocol::{ConversationId, Value};
use serde::Deserialize;

use crate::error::ApiError;
use crate::switches::Switches;
use crate::{Sandbox, Trouble, console, views};

pub(crate) fn routes() -> Router<Sandbox> {
    Router::new()
        .route("/sandbox/trouble", get(trouble).put(set_trouble).delete(clear_trouble))
        .route("/sandbox/conversations", get(conversations).delete(forget))
        .route("/sandbox/operator", post(write_as_operator))
        .route("/sandbox/operator/online", put(hold_online))
}

async fn trouble(State(sandbox): State<Sandbox>) -> Json<Trouble> {
    Json(sandbox.switches().now.clone())
}

async fn set_trouble(
    State(sandbox): State<Sandbox>,
    body: Result<Json<Trouble>, JsonRejection>,
) -> Result<Json<Trouble>, ApiError> {
    let Json(trouble) = body?;
    trouble.check().map_err(|problem| ApiError::InvalidRequest(format!("{problem}.")))?;
    *sandbox.switches() = Switches::new(trouble.clone());
    Ok(Json(trouble))
}

async fn clear_trouble(State(sandbox): State<Sandbox>) -> StatusCode {
    *sandbox.switches() = Switches::new(Trouble::default());
    StatusCode::NO_CONTENT
}

async fn conversations(State(sandbox): State<Sandbox>) -> Json<Value> {
    Json(views::everything(&sandbox.world()))
}

async fn forget(State(sandbox): State<Sandbox>) -> StatusCode {
    sandbox.0.replays.forget();
    *sandbox.world() = crate::World::default();
    sandbox.changed();
    StatusCode::NO_CONTENT
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

async fn hold_online(
    State(sandbox): State<Sandbox>,
    body: Result<Json<Online>, JsonRejection>,
) -> Result<StatusCode, ApiError> {
    let Json(Online { online }) = body?;
    let mut operators = sandbox.operators();
    operators.held_online = online;
    operators.seen();
    Ok(StatusCode::NO_CONTENT)
}
