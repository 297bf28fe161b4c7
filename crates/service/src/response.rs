//! A response in its envelope (2.1), stored as bytes so that a replay is identical.

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chat_protocol::{ErrorCode, Value, failure, success};
use secrecy::ExposeSecret;
use serde::Serialize;
use uuid::Uuid;

use crate::ServiceKey;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
pub(crate) const API_VERSION: HeaderName = HeaderName::from_static("x-service-api-version");

/// The contract's major version (9).
const VERSION: HeaderValue = HeaderValue::from_static("1");

#[derive(Clone, Debug)]
pub(crate) struct ApiResponse {
    status: StatusCode,
    request_id: HeaderValue,
    body: Bytes,
}

impl ApiResponse {
    pub(crate) fn success(data: Value) -> Self {
        Self::new(StatusCode::OK, |request_id| success(data, request_id))
    }

    /// Returns a success with the JSON of any type.
    pub(crate) fn of<T: Serialize>(data: &T) -> Result<Self, serde_json::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Envelope<'a, T> {
            ok: bool,
            data: &'a T,
            request_id: &'a str,
        }
        let request_id = new_request_id();
        let body = serde_json::to_vec(&Envelope { ok: true, data, request_id: &request_id })?;
        Ok(Self { status: StatusCode::OK, request_id: header_value(request_id), body: body.into() })
    }

    pub(crate) fn failure(status: StatusCode, code: &ErrorCode, message: &str) -> Self {
        Self::new(status, |request_id| failure(code, message, request_id))
    }

    fn new(status: StatusCode, envelope: impl FnOnce(&str) -> Value) -> Self {
        let request_id = new_request_id();
        let body = Bytes::from(envelope(&request_id).to_string());
        Self { status, request_id: header_value(request_id), body }
    }

    /// Restores a stored response; `None` when its status or request id is not valid.
    pub(crate) fn from_parts(status: u16, request_id: &str, body: Vec<u8>) -> Option<Self> {
        let status = StatusCode::from_u16(status).ok()?;
        let request_id = HeaderValue::try_from(request_id).ok()?;
        Some(Self { status, request_id, body: body.into() })
    }

    /// Returns a copy whose body is encrypted, to be stored.
    pub(crate) fn sealed(&self, key: &ServiceKey, purpose: &str) -> Self {
        let body = String::from_utf8_lossy(&self.body);
        Self { body: key.seal(purpose, &body).into(), ..self.clone() }
    }

    /// Returns the response whose encrypted copy this is; `None` with another key.
    pub(crate) fn unsealed(&self, key: &ServiceKey, purpose: &str) -> Option<Self> {
        let body = key.unseal(purpose, &self.body).ok()?;
        Some(Self { body: Bytes::from(body.expose_secret().to_owned()), ..self.clone() })
    }

    /// Returns the status, the request id and the body, to be stored.
    pub(crate) fn parts(&self) -> (u16, &str, &[u8]) {
        (self.status.as_u16(), self.request_id.to_str().unwrap_or_default(), &self.body)
    }
}

fn new_request_id() -> String {
    format!("req_{}", Uuid::new_v4().simple())
}

fn header_value(request_id: String) -> HeaderValue {
    HeaderValue::try_from(request_id).unwrap_or(HeaderValue::from_static("req_unknown"))
}

impl IntoResponse for ApiResponse {
    fn into_response(self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (REQUEST_ID, self.request_id),
            (API_VERSION, VERSION),
        ];
        (self.status, headers, Body::from(self.body)).into_response()
    }
}
