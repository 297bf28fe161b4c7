//! The operator console: its page, and the API that the page uses.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use chat_protocol::{ConversationId, Role, Value, limits};
use futures_util::{Stream, StreamExt};
use serde::Deserialize;
use tokio_stream::wrappers::WatchStream;

use crate::error::ApiError;
use crate::operators::ConsoleSession;
use crate::{Sandbox, views};

const PAGE: &str = include_str!("../console/console.html");
const STYLES: &str = concat!(
    include_str!("../console/styles/base.css"),
    include_str!("../console/styles/publishing.css"),
    include_str!("../console/styles/conversations.css"),
    include_str!("../console/styles/log.css"),
    include_str!("../console/styles/markdown.css"),
    include_str!("../console/styles/visitor.css"),
    include_str!("../console/styles/widths.css"),
);
const SCRIPT: &str = include_str!("../console/console.js");
const COMMON: &str = include_str!("../console/page.js");
const DATES: &str = include_str!("../console/dates.js");
const MARKDOWN: &str = include_str!("../console/markdown.js");
const INLINE: &str = include_str!("../console/inline.js");
const LOG: &str = include_str!("../console/log.js");
const PUBLISHING: &str = include_str!("../console/publishing.js");
const ICON: &str = include_str!("../console/icon.svg");

const POLICY: &str = "default-src 'self'; require-trusted-types-for 'script'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

const NO_CONVERSATION: ApiError = ApiError::NotFound("This conversation");

pub(crate) async fn not_found() -> ApiError {
    ApiError::NotFound("This path")
}

pub(crate) fn routes() -> Router<Sandbox> {
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
    State(sandbox): State<Sandbox>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, ApiError> {
    let session = ConsoleSession::open(&sandbox).ok_or(ApiError::TooManyConsoles)?;
    let closing = sandbox.0.closing.clone().cancelled_owned();
    let versions = WatchStream::new(sandbox.0.changes.subscribe()).take_until(closing).map(move |version| {
        // The stream owns the session, which ends with the connection.
        let _held = &session;
        Ok(Event::default().event("change").data(version.to_string()))
    });
    // Keep-alive comments detect a connection that was lost without being closed.
    Ok(Sse::new(versions).keep_alive(KeepAlive::new().interval(Duration::from_secs(2))))
}

async fn list(State(sandbox): State<Sandbox>) -> Result<Json<Value>, ApiError> {
    Ok(Json(views::list(&sandbox.store())?))
}

async fn conversation(
    State(sandbox): State<Sandbox>,
    Path(id): Path<String>,
) -> Result<Json<Value>, ApiError> {
    let store = sandbox.store();
    let conversation = store.conversation(&ConversationId::from(id))?.ok_or(NO_CONVERSATION)?;
    Ok(Json(views::whole(&store, &conversation)?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OperatorAnswer {
    content: String,
}

async fn answer(
    State(sandbox): State<Sandbox>,
    Path(id): Path<String>,
    body: Result<Json<OperatorAnswer>, JsonRejection>,
) -> Result<Json<Value>, ApiError> {
    let Json(OperatorAnswer { content }) = body?;
    write(&sandbox, &ConversationId::from(id), &content).map(Json)
}

/// Adds an operator's message to a conversation, and returns it.
pub(crate) fn write(sandbox: &Sandbox, id: &ConversationId, content: &str) -> Result<Value, ApiError> {
    if content.trim().is_empty() || content.chars().count() > *limits::MESSAGE_LENGTH.end() {
        return Err(ApiError::InvalidRequest("content must have 1 to 4000 characters.".to_owned()));
    }
    let message = {
        let store = sandbox.store();
        let mut conversation = store.conversation(id)?.ok_or(NO_CONVERSATION)?;
        conversation.unread = 0;
        conversation.notes.record_operator_message();
        store.update_conversation(&conversation)?;
        store.add_message(id, Role::Operator, content, None)?
    };
    sandbox.operators().mark_seen(sandbox.0.clock);
    sandbox.notify_changed();
    Ok(Value::from(&message))
}

async fn read(State(sandbox): State<Sandbox>, Path(id): Path<String>) -> Result<StatusCode, ApiError> {
    let newly_read = {
        let store = sandbox.store();
        let mut conversation = store.conversation(&ConversationId::from(id))?.ok_or(NO_CONVERSATION)?;
        let unread = std::mem::take(&mut conversation.unread);
        store.update_conversation(&conversation)?;
        unread > 0
    };
    if newly_read {
        sandbox.notify_changed();
    }
    Ok(StatusCode::NO_CONTENT)
}
