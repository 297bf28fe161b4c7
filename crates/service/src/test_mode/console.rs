//! The operator's page, and the API that it uses.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use chat_protocol::{ConversationId, Value};
use futures_util::{Stream, StreamExt};
use serde::Deserialize;

use super::{SITE_ID, TestMode, desk, views};
use crate::conversations;
use crate::error::ApiError;

const PAGE: &str = include_str!("console/console.html");
const STYLES: &str = concat!(
    include_str!("console/styles/base.css"),
    include_str!("console/styles/publishing.css"),
    include_str!("console/styles/conversations.css"),
    include_str!("console/styles/log.css"),
    include_str!("console/styles/markdown.css"),
    include_str!("console/styles/visitor.css"),
    include_str!("console/styles/widths.css"),
);
const SCRIPT: &str = include_str!("console/console.js");
const COMMON: &str = include_str!("console/page.js");
const DATES: &str = include_str!("console/dates.js");
const MARKDOWN: &str = include_str!("console/markdown.js");
const INLINE: &str = include_str!("console/inline.js");
const LOG: &str = include_str!("console/log.js");
const PUBLISHING: &str = include_str!("console/publishing.js");
const ICON: &str = include_str!("console/icon.svg");

const POLICY: &str = "default-src 'self'; require-trusted-types-for 'script'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

pub(super) async fn not_found() -> ApiError {
    ApiError::NotFound("This path")
}

pub(super) fn routes() -> Router<TestMode> {
    Router::new()
        .route("/", get(|| async { Redirect::temporary("/operator") }))
        .route("/operator", get(|| async { file("text/html; charset=utf-8", PAGE) }))
        .route("/operator/console.css", get(|| async { file("text/css; charset=utf-8", STYLES) }))
        .route("/operator/console.js", get(|| async { script(SCRIPT) }))
        .route("/operator/publishing.js", get(|| async { script(PUBLISHING) }))
        .route("/operator/page.js", get(|| async { script(COMMON) }))
        .route("/operator/dates.js", get(|| async { script(DATES) }))
        .route("/operator/markdown.js", get(|| async { script(MARKDOWN) }))
        .route("/operator/inline.js", get(|| async { script(INLINE) }))
        .route("/operator/log.js", get(|| async { script(LOG) }))
        .route("/operator/icon.svg", get(|| async { file("image/svg+xml", ICON) }))
        .route("/operator/api/changes", get(changes))
        .route("/operator/api/conversations", get(list))
        .route("/operator/api/conversations/{id}", get(conversation))
        .route("/operator/api/conversations/{id}/messages", post(answer))
        .route("/operator/api/conversations/{id}/read", post(read))
}

fn file(content_type: &'static str, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (HeaderName::from_static("referrer-policy"), HeaderValue::from_static("no-referrer")),
    ];
    (headers, text).into_response()
}

fn script(text: &'static str) -> Response {
    file("text/javascript; charset=utf-8", text)
}

/// Streams an event for each change. The operator is online while a stream is open.
async fn changes(
    State(mode): State<TestMode>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let versions = mode.open_page().await?;
    let events = versions.map(|version| Ok(Event::default().event("change").data(version.to_string())));
    // Keep-alive comments detect a connection that was lost without being closed.
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(2))))
}

async fn list(State(mode): State<TestMode>) -> Result<Json<Value>, ApiError> {
    views::list(&mode).await.map(Json)
}

async fn conversation(State(mode): State<TestMode>, Path(id): Path<String>) -> Result<Json<Value>, ApiError> {
    let conversation = conversations::find(mode.db(), SITE_ID, &ConversationId::from(id)).await?;
    Ok(Json(views::whole(mode.db(), &conversation).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OperatorAnswer {
    content: String,
}

async fn answer(
    State(mode): State<TestMode>,
    Path(id): Path<String>,
    body: Result<Json<OperatorAnswer>, JsonRejection>,
) -> Result<Json<Value>, ApiError> {
    let Json(OperatorAnswer { content }) = body?;
    desk::write(&mode, ConversationId::from(id), content).await.map(Json)
}

async fn read(State(mode): State<TestMode>, Path(id): Path<String>) -> Result<StatusCode, ApiError> {
    desk::read(&mode, ConversationId::from(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}
