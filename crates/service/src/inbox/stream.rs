//! The stream of changes that an open console follows. It makes the operator online, while the console is in
//! use.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body as HttpBody, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put};
use axum::{Extension, Router};
use chat_protocol::admin::{ConsoleState, Empty};
use futures_util::stream::unfold;
use tokio::time::{Interval, MissedTickBehavior};

use super::hub::Following;
use super::team;
use crate::Service;
use crate::accounts::{Operator, Right, Session};
use crate::db::transaction;
use crate::error::ApiError;
use crate::input::{Body, done};
use crate::presence::{open_console, set_idle as store_idle};
use crate::response::ApiResponse;

/// The interval of comments that keep proxies from closing an idle stream.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Asks nginx not to hold events back.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/stream", get(open)).route("/stream/{console}", put(set_idle))
}

/// Streams changes as server-sent events: `hello`, `conversation`, `removed`, `typing`, `team`, `site`,
/// `settings` and `reset`. `Last-Event-ID` brings those that were missed.
#[utoipa::path(get, path = "/stream", tag = "inbox",
    responses((status = 200, content_type = "text/event-stream")))]
pub(super) async fn open(
    State(service): State<Service>,
    operator: Operator,
    Extension(session): Extension<Session>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let (now_ms, tenant_id, operator_id) =
        (service.now_ms(), operator.tenant_id.clone(), operator.id.clone());
    let console: Result<String, ApiError> =
        transaction!(service.db(), |tx| open_console(tx, now_ms, &tenant_id, &operator_id).await).await;
    let console = console?;
    let members = team::members(&service, &operator.tenant_id).await?;
    let last_id = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
    let following = service.0.hubs.follow(&service, &operator, &session, console, members, last_id);
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (BUFFERING, HeaderValue::from_static("no")),
    ];
    Ok((headers, body(following)).into_response())
}

fn body(following: Following) -> HttpBody {
    let mut keep_alive = tokio::time::interval(KEEP_ALIVE);
    keep_alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The first tick is at once.
    keep_alive.reset();
    let events = unfold((following, keep_alive), |(mut following, mut keep_alive)| async move {
        let bytes = next(&mut following, &mut keep_alive).await?;
        Some((Ok::<_, Infallible>(bytes), (following, keep_alive)))
    });
    HttpBody::from_stream(events)
}

async fn next(following: &mut Following, keep_alive: &mut Interval) -> Option<Bytes> {
    if let Some(bytes) = following.greeting.pop_front() {
        return Some(bytes);
    }
    tokio::select! {
        bytes = following.next() => bytes,
        _ = keep_alive.tick() => Some(Bytes::from_static(b":\n\n")),
    }
}

/// Reports whether a console of the operator who asks is in use.
#[utoipa::path(put, path = "/stream/{console}", tag = "inbox", params(("console" = String, Path)),
    request_body = ConsoleState, responses((status = 200, body = Empty), (status = 404, description = "It is not open")))]
pub(super) async fn set_idle(
    State(service): State<Service>,
    operator: Operator,
    Path(console): Path<String>,
    Body(state): Body<ConsoleState>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let (tenant_id, operator_id) = (operator.tenant_id, operator.id);
    let stored: Result<(), ApiError> =
        transaction!(service.db(), |tx| store_idle(tx, &tenant_id, &operator_id, &console, state.idle).await)
            .await;
    stored?;
    Ok(done())
}
