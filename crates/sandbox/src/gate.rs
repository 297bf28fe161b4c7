//! What every request to the API passes on its way in: token, share of requests, switches, method, key and size.

use std::io;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use chat_protocol::{IdempotencyKey, JobId, ServerEndpoint};
use secrecy::ExposeSecret;
use tracing::error;

use crate::answer::Answer;
use crate::api::{self, Change};
use crate::call::{Call, below_base};
use crate::error::ApiError;
use crate::fingerprint::{Fingerprint, fingerprint, is_same_secret};
use crate::idempotency::{self, KeyedRequest};
use crate::rate::Caller;
use crate::switches::Strike;
use crate::{API_BASE, Sandbox, site};

/// A larger body is read on a thread of its own.
const SMALL_BODY_BYTES: usize = 64 * 1024;

pub(crate) fn routes() -> Router<Sandbox> {
    Router::new().route(&format!("{API_BASE}/{{*path}}"), any(serve))
}

pub(crate) async fn not_found() -> ApiError {
    ApiError::NotFound("This path")
}

async fn serve(State(sandbox): State<Sandbox>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let key = parts.headers.get("idempotency-key").and_then(|key| key.to_str().ok());
    let path = parts.uri.path_and_query().map_or("", |path| path.as_str()).trim_start_matches(API_BASE);
    let number = sandbox.requests().record(parts.method.as_str(), below_base(path), key);
    match pass(&sandbox, &parts, body).await {
        Some(response) => {
            sandbox.requests().record_status(number, response.status().as_u16());
            response
        }
        None => broken_connection(),
    }
}

/// `None` is a connection that breaks.
async fn pass(sandbox: &Sandbox, parts: &Parts, body: Body) -> Option<Response> {
    let call = Call::of(parts);
    let open = matches!(call, Ok((Call::Server(endpoint), _)) if !endpoint.needs_token());
    // The token keeps pages away from the rest. A page that gets here by a name of its own must not get one.
    if open && ["origin", "sec-fetch-site"].iter().any(|name| parts.headers.contains_key(*name)) {
        return Some(
            ApiError::Forbidden("A site is activated by its server, not by a browser.").into_response(),
        );
    }
    if !open && !admits(sandbox, &parts.headers) {
        return Some(ApiError::InvalidToken.into_response());
    }
    // Whom a request is forwarded for, only the token's holder is believed.
    let caller = if open { Caller::peer(parts) } else { Caller::forwarded(&parts.headers) };
    let quota = sandbox.0.limiter.take(caller);
    let outcome = if quota.exceeded {
        Err(ApiError::RateLimited { retry_after_s: quota.reset_s })
    } else {
        match call {
            Ok((call, job)) => answer(sandbox, call, job, parts, body).await,
            Err(error) => Err(error),
        }
    };
    let mut response = match outcome {
        Ok(answer) => answer?.into_response(),
        Err(error) => error.into_response(),
    };
    quota.write_to(response.headers_mut());
    Some(response)
}

fn admits(sandbox: &Sandbox, headers: &HeaderMap) -> bool {
    let sent = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = sent.and_then(|value| value.strip_prefix("Bearer "));
    token.is_some_and(|token| is_same_secret(token, sandbox.0.token.expose_secret()))
}

async fn answer(
    sandbox: &Sandbox,
    call: Call,
    job: Option<JobId>,
    parts: &Parts,
    body: Body,
) -> Result<Option<Answer>, ApiError> {
    let delay = sandbox.switches().delay(call);
    tokio::time::sleep(delay).await;
    let strike = sandbox.switches().strike(call);
    match strike {
        Strike::Missed => {}
        Strike::Dropped => return Ok(None),
        Strike::Failed(error) => return Err(error),
    }
    let answer = match call.method() {
        chat_protocol::Method::Get => api::read(sandbox, call, &parts.uri)?,
        chat_protocol::Method::Post => write(sandbox, call, job, parts, body).await?,
    };
    let lost = sandbox.switches().loses_answer(call);
    Ok((!lost).then_some(answer))
}

async fn write(
    sandbox: &Sandbox,
    call: Call,
    job: Option<JobId>,
    parts: &Parts,
    body: Body,
) -> Result<Answer, ApiError> {
    let key = match parts.headers.get("idempotency-key") {
        Some(key) => Some(IdempotencyKey::new(key.to_str().unwrap_or_default())?),
        None => None,
    };
    if !is_json(&parts.headers) {
        return Err(ApiError::InvalidRequest("Content-Type must be application/json.".to_owned()));
    }
    let limit = call.body_limit();
    // The other way to fail is that the sender is gone, and then nobody reads the refusal.
    let body = to_bytes(body, limit).await.map_err(|_| ApiError::TooLarge { limit })?;
    let path = job.as_ref().map_or("", JobId::as_str).as_bytes();
    let request = fingerprint(&[path, b"\n", &body]);
    let change = if body.len() <= SMALL_BODY_BYTES {
        Change::read(call, job, &body)?
    } else {
        sandbox.run_blocking(move || Change::read(call, job, &body)).await??
    };
    if let Change::Activate(body) = &change {
        site::check_license(sandbox, Caller::peer(parts), body)?;
    }
    // On a task of its own: what has begun is carried out to its end, also for a sender who hangs up meanwhile.
    let carried_out = tokio::spawn(execute_once(sandbox.clone(), call, change, key, request)).await;
    carried_out.unwrap_or_else(|panic| {
        error!("{panic}");
        Err(ApiError::Internal)
    })
}

/// A key is bound to a request that could be read, and not to one that was refused.
async fn execute_once(
    sandbox: Sandbox,
    call: Call,
    change: Change,
    key: Option<IdempotencyKey>,
    request: Fingerprint,
) -> Result<Answer, ApiError> {
    let Some(key) = key else {
        return change.carry_out(&sandbox, None).await;
    };
    let conflict = match call {
        Call::Server(ServerEndpoint::ClaimJob | ServerEndpoint::CompleteJob) => ApiError::JobKeyConflict,
        _ => ApiError::IdempotencyConflict,
    };
    let request_key = KeyedRequest { scope: call.path(), key: key.clone(), request };
    idempotency::execute_once(&sandbox, request_key, conflict, change.carry_out(&sandbox, Some(&key))).await
}

/// Returns whether the body is said to be JSON. No page of another site can say so without being asked whether it may.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = content_type.and_then(|value| value.split(';').next()).unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

/// A body that breaks off at once, which makes the server close the connection.
fn broken_connection() -> Response {
    let broken = io::Error::new(io::ErrorKind::ConnectionAborted, "a trouble switch is on");
    Response::new(Body::from_stream(tokio_stream::once(Err::<Bytes, _>(broken))))
}
