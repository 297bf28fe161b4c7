//! The connector API (4): its routes, and what happens to each request before it is executed.

pub(crate) mod access;
mod activation;
pub(crate) mod call;
mod chat;
mod command;
#[cfg(test)]
mod connector_api_tests;
pub(crate) mod late_reply;
mod publishing;
mod record;
mod reply;
mod send;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use chat_protocol::{ConversationId, Endpoint, IdempotencyKey, JobId};
use tracing::error;

use crate::body_limit::check_declared;
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::idempotency::KeyedRequest;
use crate::ops::{RouteLabel, is_body_timeout};
use crate::rate::{Caller, Quota};
use crate::response::ApiResponse;
use crate::visitors::identity::Identity;
use crate::visitors::proof;
use crate::{API_BASE, Service, onboarding, reply_mails};
pub(crate) use access::{Access, site};
pub(crate) use call::Call;
pub(crate) use command::{Command, query};

/// Maximum bytes of a body that is parsed on the async thread; a larger one is parsed on a blocking thread.
const MAX_INLINE_BODY_BYTES: usize = 64 * 1024;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Returns the routes of the API.
pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .route(API_BASE, any(handle))
        .route(&format!("{API_BASE}/"), any(handle))
        .route(&format!("{API_BASE}/{{*path}}"), any(handle))
}

async fn handle(State(service): State<Service>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let (mut quota, mut label) = (None, None);
    let result = process(&service, &parts, body, &mut quota, &mut label).await;
    let mut response = match result {
        Ok(response) => response.into_response(),
        Err(error) => error.into_response(),
    };
    if let Some(quota) = quota {
        quota.write_to(response.headers_mut());
    }
    if let Some(path) = label {
        response.extensions_mut().insert(RouteLabel(path));
    }
    response
}

async fn process(
    service: &Service,
    parts: &Parts,
    body: Body,
    quota: &mut Option<Quota>,
    label: &mut Option<&'static str>,
) -> Result<ApiResponse, ApiError> {
    let call = Call::from_request(parts);
    *label = call.as_ref().ok().map(|(call, _)| call.path());
    // Only the holder of a token is told which paths exist.
    let access = access::authorize(service, call.as_ref().ok().map(|(call, _)| *call), parts).await?;
    // `X-Forwarded-For` is believed only when it comes with the token.
    let caller = match &access {
        Access::Token { .. } => Caller::forwarded(&parts.headers),
        Access::Page { .. } | Access::Public => Caller::client(parts),
    };
    let taken = access.count(service, caller).await?;
    *quota = Some(taken);
    taken.check()?;
    let (call, job) = call?;
    let identity = proved(service, &access, call, &parts.headers)?;
    // Pages name their locale. A proxy that checks its token, as it does when it starts, does not.
    let names_locale = parts.uri.query().is_some_and(|query| query.contains("locale="));
    if matches!(call, Call::Chat(Endpoint::Config)) && names_locale {
        onboarding::record_seen(service, access.site_id());
    }
    if call.method() == chat_protocol::Method::Get {
        let opened = opened(service, &access, call, parts).await?;
        return query(service, access.site()?, call, identity.as_ref(), opened, &parts.uri).await;
    }
    let (command, keyed) = read(service, access.site_id(), call, job, parts, body).await?;
    execute(service, command, access, identity, caller, keyed).await
}

/// Returns the visitor that the token of a request proves; `None` without a token, and for calls of the
/// site's server.
///
/// The token is not part of what an idempotency key is bound to: a message keeps its key when its visitor
/// signs in or out between two attempts.
pub(crate) fn proved(
    service: &Service,
    access: &Access,
    call: Call,
    headers: &HeaderMap,
) -> Result<Option<Identity>, ApiError> {
    match call {
        // The same for everybody, and cached by proxies.
        Call::Chat(Endpoint::Config) | Call::Server(_) => Ok(None),
        Call::Chat(_) => proof::of_request(&service.0.options.key, access.site()?, headers, service.now_ms()),
    }
}

/// Returns the conversation that the link of an e-mail opens, for a poll that names none.
pub(crate) async fn opened(
    service: &Service,
    access: &Access,
    call: Call,
    parts: &Parts,
) -> Result<Option<ConversationId>, ApiError> {
    let names_one = parts.uri.query().is_some_and(|query| query.contains("conversationId="));
    let is_poll = matches!(call, Call::Chat(Endpoint::Messages));
    if !is_poll || names_one || !reply_mails::is_link(&parts.headers) {
        return Ok(None);
    }
    reply_mails::opened(service, access.site()?, &parts.headers).await.map(Some)
}

/// Reads the body of a request, and parses its command and its idempotency key.
pub(crate) async fn read(
    service: &Service,
    site_id: &str,
    call: Call,
    job: Option<JobId>,
    parts: &Parts,
    body: Body,
) -> Result<(Command, Option<KeyedRequest>), ApiError> {
    let key = idempotency_key(&parts.headers)?;
    if !is_json(&parts.headers) {
        return Err(ApiError::InvalidRequest("Content-Type must be application/json.".to_owned()));
    }
    let limit = call.body_limit();
    let body = check_declared(&parts.headers, body, limit).await?;
    // The only other error is a closed connection, where nobody reads the response.
    let body = to_bytes(body, limit).await.map_err(|error| {
        if is_body_timeout(&error) { ApiError::BodyTimeout } else { ApiError::TooLarge { limit } }
    })?;
    let path = job.as_ref().map_or("", JobId::as_str).as_bytes();
    let request = fingerprint(&[path, b"\n", &body]);
    let command = if body.len() <= MAX_INLINE_BODY_BYTES {
        Command::parse(call, job, &body)?
    } else {
        service.run_blocking(move || Command::parse(call, job, &body)).await??
    };
    let site_id = site_id.to_owned();
    Ok((command, key.map(|key| KeyedRequest { site_id, scope: call.path(), key, request })))
}

/// Executes a command in a task of its own, so that a client that disconnects does not cancel it.
pub(crate) async fn execute(
    service: &Service,
    command: Command,
    access: Access,
    identity: Option<Identity>,
    caller: Caller,
    keyed: Option<KeyedRequest>,
) -> Result<ApiResponse, ApiError> {
    let task = {
        let service = service.clone();
        async move { command.execute(&service, access, identity, caller, keyed).await }
    };
    service.0.tasks.spawn(task).await.unwrap_or_else(|panic| {
        error!("{panic}");
        Err(ApiError::Internal)
    })
}

/// Returns whether the content type is JSON.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = content_type.and_then(|value| value.split(';').next()).unwrap_or_default();
    media_type.trim().eq_ignore_ascii_case("application/json")
}

/// Returns the idempotency key of a request, if it has one.
fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ApiError> {
    let mut keys = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(key) = keys.next() else { return Ok(None) };
    let (Ok(key), None) = (key.to_str(), keys.next()) else {
        return Err(ApiError::InvalidRequest(
            "Idempotency-Key must be one header of visible ASCII characters.".to_owned(),
        ));
    };
    Ok(Some(IdempotencyKey::new(key)?))
}
