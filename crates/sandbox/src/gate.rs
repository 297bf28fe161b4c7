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
use crate::call::{Call, below_base};
use crate::error::ApiError;
use crate::idempotency::{self, Keyed};
use crate::switches::Strike;
use crate::{API_BASE, Sandbox, api, rate};

pub(crate) fn routes() -> Router<Sandbox> {
    Router::new().route(&format!("{API_BASE}/{{*path}}"), any(serve))
}

pub(crate) async fn not_found() -> ApiError {
    ApiError::NotFound("This path")
}

async fn serve(State(sandbox): State<Sandbox>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let key = parts.headers.get("idempotency-key").and_then(|key| key.to_str().ok()).map(str::to_owned);
    let path = parts.uri.path_and_query().map_or("", |path| path.as_str()).trim_start_matches(API_BASE);
    let number = sandbox.world().requests.arrived(parts.method.to_string(), below_base(path).to_owned(), key);
    match pass(&sandbox, &parts, body).await {
        Some(response) => {
            sandbox.world().requests.answered(number, response.status().as_u16());
            response
        }
        None => broken_connection(),
    }
}

/// `None` is a connection that breaks.
async fn pass(sandbox: &Sandbox, parts: &Parts, body: Body) -> Option<Response> {
    let call = Call::of(parts);
    let open = matches!(call, Ok((Call::Server(endpoint), _)) if !endpoint.needs_token());
    if !open && !admits(sandbox, &parts.headers) {
        return Some(ApiError::InvalidToken.into_response());
    }
    let quota = sandbox.0.limiter.take(rate::caller(&parts.headers));
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
    sent.and_then(|value| value.strip_prefix("Bearer ")) == Some(sandbox.0.token.expose_secret())
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
        chat_protocol::Method::Post => write(sandbox, call, job, &parts.headers, body).await?,
    };
    let lost = sandbox.switches().loses_answer(call);
    Ok((!lost).then_some(answer))
}

async fn write(
    sandbox: &Sandbox,
    call: Call,
    job: Option<JobId>,
    headers: &HeaderMap,
    body: Body,
) -> Result<Answer, ApiError> {
    let key = match headers.get("idempotency-key") {
        Some(key) => Some(IdempotencyKey::new(key.to_str().unwrap_or_default())?),
        None => None,
    };
    let content_type =
        headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !content_type.trim_start().to_ascii_lowercase().starts_with("application/json") {
        return Err(ApiError::InvalidRequest("Content-Type must be application/json.".to_owned()));
    }
    let limit = call.body_limit();
    // The other way to fail is that the sender is gone, and then nobody reads the refusal.
    let body = to_bytes(body, limit).await.map_err(|_| ApiError::TooLarge { limit })?;
    // On a task of its own: what has begun is carried out to its end, also for a sender who hangs up meanwhile.
    let carried_out = tokio::spawn(once(sandbox.clone(), call, job, key, body)).await;
    carried_out.unwrap_or_else(|panic| {
        error!("{panic}");
        Err(ApiError::Internal)
    })
}

async fn once(
    sandbox: Sandbox,
    call: Call,
    job: Option<JobId>,
    key: Option<IdempotencyKey>,
    body: Bytes,
) -> Result<Answer, ApiError> {
    let Some(key) = key else {
        return api::write(&sandbox, call, job.as_ref(), &body, None).await;
    };
    let request = match &job {
        Some(job) => [job.as_str().as_bytes(), b"\n", &body].concat().into(),
        None => body.clone(),
    };
    let conflict = match call {
        Call::Server(ServerEndpoint::ClaimJob | ServerEndpoint::CompleteJob) => ApiError::JobKeyConflict,
        _ => ApiError::IdempotencyConflict,
    };
    let keyed = Keyed { scope: call.path(), key: key.clone(), request };
    let process = api::write(&sandbox, call, job.as_ref(), &body, Some(key));
    idempotency::once(&sandbox, keyed, conflict, process).await
}

/// A body that breaks off at once, which makes the server close the connection.
fn broken_connection() -> Response {
    let broken = io::Error::new(io::ErrorKind::ConnectionAborted, "a trouble switch is on");
    Response::new(Body::from_stream(tokio_stream::once(Err::<Bytes, _>(broken))))
}
