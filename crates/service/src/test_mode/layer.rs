//! The layer around the routes of the service: logs the requests of the connector API, injects faults, and
//! overrides parts of responses.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use chat_protocol::{Endpoint, Method, ServerEndpoint, Value};
use secrecy::ExposeSecret;
use tracing::error;

use super::faults::Fault;
use super::response::{broken_connection, change};
use super::site::{SITE_ID, SITE_NAME, WELCOME};
use super::{TestMode, jobs, setup};
use crate::API_BASE;
use crate::connector_api::call::{Call, below_base};
use crate::fingerprint::{fingerprint, is_same_hash};
use crate::response::ApiResponse;

pub(super) async fn serve(State(mode): State<TestMode>, request: Request, next: Next) -> Response {
    if !request.uri().path().starts_with(API_BASE) {
        return next.run(request).await;
    }
    let key = request.headers().get("idempotency-key").and_then(|key| key.to_str().ok());
    let path = request.uri().path_and_query().map_or("", |path| path.as_str()).trim_start_matches(API_BASE);
    let number = mode.requests().record(request.method().as_str(), below_base(path), key);
    match respond(&mode, request, next).await {
        Some(response) => {
            mode.requests().record_status(number, response.status().as_u16());
            response
        }
        None => broken_connection(),
    }
}

/// Returns the response with the active faults; `None` to break the connection.
async fn respond(mode: &TestMode, request: Request, next: Next) -> Option<Response> {
    let (parts, body) = request.into_parts();
    let call = Call::from_request(&parts).ok().map(|(call, _)| call);
    let Some(call) = call.filter(|call| mode.is_authorized(*call, &parts.headers)) else {
        return Some(next.run(Request::from_parts(parts, body)).await);
    };
    let delay = mode.0.responder.faults().delay(call);
    tokio::time::sleep(delay).await;
    let fault = mode.0.responder.faults().next_fault(call);
    match fault {
        None => {}
        Some(Fault::DropConnection) => return None,
        Some(Fault::Fail { status, code, retry_after_s }) => {
            let mut failure = ApiResponse::failure(status, &code, "Fault injection is on.").into_response();
            if let Some(seconds) = retry_after_s {
                failure.headers_mut().insert(header::RETRY_AFTER, seconds.into());
            }
            return Some(failure);
        }
    }
    let request = Request::from_parts(parts, body);
    let response = match call {
        Call::Server(endpoint) if call.method() == Method::Post => {
            // In a task of its own, so that a client that disconnects does not cancel what follows.
            let task = execute(mode.clone(), endpoint, request, next);
            mode.0.service.0.tasks.spawn(task).await.unwrap_or_else(|panic| {
                error!("{panic}");
                broken_connection()
            })
        }
        _ => next.run(request).await,
    };
    if !response.status().is_success() {
        return Some(response);
    }
    let response = mode.overridden(call, response).await;
    let lost = mode.0.responder.faults().loses_response(call);
    (!lost).then_some(response)
}

/// Executes a call of the site's server, and what the test mode does afterwards.
async fn execute(mode: TestMode, endpoint: ServerEndpoint, request: Request, next: Next) -> Response {
    let service = &mode.0.service;
    let done = match endpoint {
        ServerEndpoint::Activate => {
            let _turn = mode.0.activation.lock().await;
            let response = next.run(request).await;
            if !response.status().is_success() {
                return response;
            }
            (response, setup::after_activation(service, &mode.0.license).await)
        }
        ServerEndpoint::SyncContent => {
            let response = next.run(request).await;
            (response, setup::after_sync(service).await)
        }
        ServerEndpoint::ClaimJob => return jobs::shorten_lease(&mode, next.run(request).await).await,
        _ => (next.run(request).await, Ok(())),
    };
    let (response, done) = done;
    if let Err(problem) = done {
        error!("the site was not updated after a call: {problem}");
    }
    response
}

impl TestMode {
    /// Returns whether a call carries the site's token, or needs none. Faults affect no other calls.
    fn is_authorized(&self, call: Call, headers: &HeaderMap) -> bool {
        if matches!(call, Call::Server(endpoint) if !endpoint.needs_token()) {
            return true;
        }
        let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = authorization.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        let hash = |secret: &str| fingerprint(&[secret.as_bytes()]);
        is_same_hash(&hash(bearer), &hash(self.0.token.expose_secret()))
    }

    /// Applies the overrides of faults to a response.
    async fn overridden(&self, call: Call, response: Response) -> Response {
        let faults = self.0.responder.faults().active.clone();
        let changes: Vec<(&[&str], Value)> = match call {
            Call::Chat(Endpoint::Config) => {
                let config = faults.config;
                let welcome = config.welcome_message.or(self.welcome_of_named_site().await);
                let locale = config.locale.map(Value::from);
                let changes: [(&[&str], Option<Value>); 8] = [
                    (&["config", "enabled"], config.enabled.map(Value::from)),
                    (&["config", "widgetEnabled"], config.widget_enabled.map(Value::from)),
                    (&["config", "assistantName"], config.assistant_name.map(Value::from)),
                    (&["config", "welcomeMessage"], welcome.map(Value::from)),
                    (&["config", "avatarUrl"], config.avatar_url.map(Value::from)),
                    (&["config", "locale"], locale.clone()),
                    (&["locale"], locale),
                    (&["stale"], config.stale.map(Value::from)),
                ];
                changes.into_iter().filter_map(|(path, value)| Some((path, value?))).collect()
            }
            Call::Chat(Endpoint::Presence) => {
                let presence = faults.presence;
                let changes: [(&[&str], Option<Value>); 3] = [
                    (&["shouldPollMessages"], presence.should_poll_messages.map(Value::from)),
                    (
                        &["suggestedPresenceIntervalMs"],
                        presence.suggested_presence_interval_ms.map(Value::from),
                    ),
                    (
                        &["suggestedMessageIntervalMs"],
                        presence.suggested_message_interval_ms.map(Value::from),
                    ),
                ];
                changes.into_iter().filter_map(|(path, value)| Some((path, value?))).collect()
            }
            Call::Chat(Endpoint::Events) | Call::Server(ServerEndpoint::SiteStatus)
                if faults.tracking_disabled =>
            {
                vec![(&["tracking"], "disabled".into())]
            }
            Call::Server(ServerEndpoint::Activate) => {
                vec![(&["siteToken"], self.0.token.expose_secret().into())]
            }
            _ => Vec::new(),
        };
        if changes.is_empty() { response } else { change(response, &changes).await }
    }

    /// Returns the welcome message of a site that was activated with a name.
    async fn welcome_of_named_site(&self) -> Option<String> {
        let site = crate::connector_api::access::site(&self.0.service, SITE_ID).await.ok()??;
        let is_default = site.welcome.get("").is_some_and(|text| text == WELCOME);
        (is_default && site.activated_at.is_some() && site.name != SITE_NAME).then(|| {
            format!("Hello! I am Clover, the assistant of {}. What would you like to know?", site.name)
        })
    }
}
