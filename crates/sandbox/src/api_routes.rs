//! Handles an API request: authorisation, rate limit, faults, then the operation, once for each idempotency
//! key.

use std::io;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use chat_protocol::{IdempotencyKey, JobId, ServerEndpoint};
use tracing::error;

use crate::auth::{Access, authorize};
use crate::call::{Call, below_base};
use crate::error::ApiError;
use crate::faults::Fault;
use crate::fingerprint::{Fingerprint, fingerprint};
use crate::idempotency::{self, KeyedRequest};
use crate::operation::{self, Command};
use crate::rate::Caller;
use crate::response::ApiResponse;
use crate::same_origin::is_json;
use crate::{API_BASE, Sandbox, site};

/// Maximum bytes of a body that is parsed on the async thread; a larger one is parsed on a blocking thread.
const MAX_INLINE_BODY_BYTES: usize = 64 * 1024;

pub(crate) fn routes() -> Router<Sandbox> {
    Router::new().route(&format!("{API_BASE}/{{*path}}"), any(serve))
}

async fn serve(State(sandbox): State<Sandbox>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let key = parts.headers.get("idempotency-key").and_then(|key| key.to_str().ok());
    let path = parts.uri.path_and_query().map_or("", |path| path.as_str()).trim_start_matches(API_BASE);
    let number = sandbox.requests().record(parts.method.as_str(), below_base(path), key);
    match respond(&sandbox, &parts, body).await {
        Some(response) => {
            sandbox.requests().record_status(number, response.status().as_u16());
            response
        }
        None => broken_connection(),
    }
}

/// Returns the response; `None` to break the connection.
async fn respond(sandbox: &Sandbox, parts: &Parts, body: Body) -> Option<Response> {
    let call = Call::from_request(parts);
    let known = call.as_ref().ok().map(|(call, _)| *call);
    // `X-Forwarded-For` is believed only when it comes with the token.
    let caller = match authorize(known, &parts.headers, &sandbox.0.token) {
        Ok(Access::Token) => Caller::forwarded(&parts.headers),
        Ok(Access::Public) => Caller::peer(parts),
        Err(error) => return Some(error.into_response()),
    };
    let quota = sandbox.0.limiter.take(caller);
    let outcome = if quota.exceeded {
        Err(ApiError::RateLimited { retry_after_s: quota.reset_s })
    } else {
        match call {
            Ok((call, job)) => handle(sandbox, call, job, parts, body).await,
            Err(error) => Err(error),
        }
    };
    let mut response = match outcome {
        Ok(response) => response?.into_response(),
        Err(error) => error.into_response(),
    };
    quota.write_to(response.headers_mut());
    Some(response)
}

/// Handles a call with the active faults; `None` to break the connection.
async fn handle(
    sandbox: &Sandbox,
    call: Call,
    job: Option<JobId>,
    parts: &Parts,
    body: Body,
) -> Result<Option<ApiResponse>, ApiError> {
    let delay = sandbox.faults().delay(call);
    tokio::time::sleep(delay).await;
    let fault = sandbox.faults().next_fault(call);
    match fault {
        None => {}
        Some(Fault::DropConnection) => return Ok(None),
        Some(Fault::Fail { status, code, retry_after_s }) => {
            return Err(ApiError::Injected { status, code, retry_after_s });
        }
    }
    let response = match call.method() {
        chat_protocol::Method::Get => operation::query(sandbox, call, &parts.uri)?,
        chat_protocol::Method::Post => execute(sandbox, call, job, parts, body).await?,
    };
    let lost = sandbox.faults().loses_response(call);
    Ok((!lost).then_some(response))
}

/// Reads the body of a call that changes something, and executes it.
async fn execute(
    sandbox: &Sandbox,
    call: Call,
    job: Option<JobId>,
    parts: &Parts,
    body: Body,
) -> Result<ApiResponse, ApiError> {
    let key = match parts.headers.get("idempotency-key") {
        Some(key) => Some(IdempotencyKey::new(key.to_str().unwrap_or_default())?),
        None => None,
    };
    if !is_json(&parts.headers) {
        return Err(ApiError::InvalidRequest("Content-Type must be application/json.".to_owned()));
    }
    let limit = call.body_limit();
    // The only other error is a closed connection, where nobody reads the response.
    let body = to_bytes(body, limit).await.map_err(|_| ApiError::TooLarge { limit })?;
    let path = job.as_ref().map_or("", JobId::as_str).as_bytes();
    let request = fingerprint(&[path, b"\n", &body]);
    let command = if body.len() <= MAX_INLINE_BODY_BYTES {
        Command::parse(call, job, &body)?
    } else {
        sandbox.run_blocking(move || Command::parse(call, job, &body)).await??
    };
    if let Command::Activate(body) = &command {
        site::check_license(sandbox, Caller::peer(parts), body)?;
    }
    // In a separate task, so that a client that disconnects does not cancel a command in progress.
    let executed = tokio::spawn(execute_keyed(sandbox.clone(), call, command, key, request)).await;
    executed.unwrap_or_else(|panic| {
        error!("{panic}");
        Err(ApiError::Internal)
    })
}

/// Executes a command, once if it has a key. Only parsed requests reach this point, so a refused request
/// leaves its key unbound.
async fn execute_keyed(
    sandbox: Sandbox,
    call: Call,
    command: Command,
    key: Option<IdempotencyKey>,
    request: Fingerprint,
) -> Result<ApiResponse, ApiError> {
    let Some(key) = key else {
        return command.execute(&sandbox, None).await;
    };
    let conflict = match call {
        Call::Server(ServerEndpoint::ClaimJob | ServerEndpoint::CompleteJob) => ApiError::JobKeyConflict,
        _ => ApiError::IdempotencyConflict,
    };
    let keyed = KeyedRequest { scope: call.path(), key: key.clone(), request };
    idempotency::execute_once(&sandbox, keyed, conflict, command.execute(&sandbox, Some(&key))).await
}

/// Returns a response whose body fails at once, which makes the server close the connection.
fn broken_connection() -> Response {
    let broken = io::Error::new(io::ErrorKind::ConnectionAborted, "fault injection is on");
    Response::new(Body::from_stream(tokio_stream::once(Err::<Bytes, _>(broken))))
}
