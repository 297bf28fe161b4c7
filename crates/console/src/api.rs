//! The client of the admin API. No other module sends requests.

mod account;
mod conversations;
mod directory;
mod envelope;
mod error;
pub mod publishing;
pub mod settings;

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use chat_protocol::admin::Empty;
use gloo_net::http::{Method, Request, RequestBuilder, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use web_sys::{RequestCache, RequestCredentials};

use crate::browser::deadline::Deadline;

pub use error::{ApiError, ErrorCode};

pub mod requests {
    //! One function for each endpoint that the inbox and the account use.
    pub use super::account::*;
    pub use super::conversations::*;
    pub use super::directory::*;
}

/// The path of the admin API.
pub const BASE: &str = "/api/admin/v1/";
/// The time after which a request without a response has failed. No endpoint needs as long.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A function that is called with [`ErrorCode::SignedOut`] or [`ErrorCode::OperatorChanged`].
type OnSession = Box<dyn Fn(&ErrorCode)>;

thread_local! {
    static ON_SESSION: RefCell<Option<OnSession>> = const { RefCell::new(None) };
    static OPERATOR: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Sets the function that is called when a response says that the session has ended or is another
/// operator's.
pub fn on_session(callback: impl Fn(&ErrorCode) + 'static) {
    ON_SESSION.with_borrow_mut(|slot| *slot = Some(Box::new(callback)));
}

/// Sets the operator for whom requests are sent. The service refuses them when the session is another
/// operator's by now, as after a switch in another tab.
pub fn act_as(operator_id: Option<&str>) {
    OPERATOR.with_borrow_mut(|slot| *slot = operator_id.map(str::to_owned));
}

/// Sends a GET request for a path below the admin API.
pub async fn get<T: DeserializeOwned>(path: &str) -> Result<T, ApiError> {
    send(builder(Method::GET, path), RequestBuilder::build).await
}

/// Sends a POST request with a JSON body.
pub async fn post<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> Result<T, ApiError> {
    send_json(builder(Method::POST, path), body).await
}

/// Sends a POST request that the service carries out once for each key.
pub async fn post_once<T: DeserializeOwned>(
    path: &str,
    key: &str,
    body: &impl Serialize,
) -> Result<T, ApiError> {
    send_json(builder(Method::POST, path).header("Idempotency-Key", key), body).await
}

/// Sends a PUT request with a JSON body.
pub async fn put<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> Result<T, ApiError> {
    send_json(builder(Method::PUT, path), body).await
}

/// Sends a PATCH request with a JSON body.
pub async fn patch<T: DeserializeOwned>(path: &str, body: &impl Serialize) -> Result<T, ApiError> {
    send_json(builder(Method::PATCH, path), body).await
}

/// Sends a DELETE request.
pub async fn delete<T: DeserializeOwned>(path: &str) -> Result<T, ApiError> {
    send_json(builder(Method::DELETE, path), &Empty {}).await
}

/// Loads the texts of the interface in a language.
pub async fn texts(tag: &str) -> Result<HashMap<String, String>, ApiError> {
    let response = Request::get(&format!("/console/texts/{tag}.json")).send().await;
    let response = response.map_err(ApiError::from_request)?;
    response.json().await.map_err(ApiError::from_request)
}

fn builder(method: Method, path: &str) -> RequestBuilder {
    let builder = RequestBuilder::new(&format!("{BASE}{path}"))
        .method(method)
        .credentials(RequestCredentials::SameOrigin)
        .cache(RequestCache::NoStore);
    OPERATOR.with_borrow(|operator| match operator {
        Some(id) => builder.header("Operator-Id", id),
        None => builder,
    })
}

/// Sends a request with a JSON body. Every change has this content type, which no form of another site can
/// send.
async fn send_json<T: DeserializeOwned>(
    builder: RequestBuilder,
    body: &impl Serialize,
) -> Result<T, ApiError> {
    send(builder, |builder| builder.json(body)).await
}

async fn send<T: DeserializeOwned>(
    builder: RequestBuilder,
    build: impl FnOnce(RequestBuilder) -> Result<Request, gloo_net::Error>,
) -> Result<T, ApiError> {
    let deadline = Deadline::after(REQUEST_TIMEOUT);
    let request = build(builder.abort_signal(deadline.signal().as_ref())).map_err(ApiError::from_request)?;
    receive(request.send().await).await
}

async fn receive<T: DeserializeOwned>(response: Result<Response, gloo_net::Error>) -> Result<T, ApiError> {
    let response = response.map_err(ApiError::from_request)?;
    let retry_after_s = response.headers().get("Retry-After").and_then(|seconds| seconds.parse().ok());
    // A body that breaks off is a lost connection.
    let body = response.text().await.map_err(ApiError::from_request)?;
    let read = envelope::read(response.status(), retry_after_s, &body);
    if let Err(error) = &read
        && matches!(error.code, ErrorCode::SignedOut | ErrorCode::OperatorChanged)
    {
        ON_SESSION.with_borrow(|callback| {
            if let Some(callback) = callback {
                callback(&error.code);
            }
        });
    }
    read
}
