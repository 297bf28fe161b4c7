//! An answer in its envelope (2.1), kept as bytes so that a replay is the same to the byte.

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chat_protocol::{Value, failure, success};
use uuid::Uuid;

use crate::error::ApiError;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
pub(crate) const API_VERSION: HeaderName = HeaderName::from_static("x-service-api-version");

/// The contract's major version (9).
const VERSION: HeaderValue = HeaderValue::from_static("1");

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    request_id: HeaderValue,
    body: Bytes,
}

impl Answer {
    pub(crate) fn success(data: Value) -> Self {
        Self::seal(StatusCode::OK, |request_id| success(data, request_id))
    }

    pub(crate) fn failure(error: &ApiError) -> Self {
        Self::seal(error.status(), |request_id| failure(&error.code(), &error.to_string(), request_id))
    }

    fn seal(status: StatusCode, envelope: impl FnOnce(&str) -> Value) -> Self {
        let request_id = format!("req_{}", Uuid::new_v4().simple());
        let body = Bytes::from(envelope(&request_id).to_string());
        let request_id = HeaderValue::try_from(request_id).unwrap_or(HeaderValue::from_static("req_unknown"));
        Self { status, request_id, body }
    }
}

impl Answer {
    /// An answer that was given before; `None` when it is none.
    pub(crate) fn kept(status: u16, request_id: &str, body: Vec<u8>) -> Option<Self> {
        let status = StatusCode::from_u16(status).ok()?;
        let request_id = HeaderValue::try_from(request_id).ok()?;
        Some(Self { status, request_id, body: body.into() })
    }

    /// Status, request id and body, to be kept.
    pub(crate) fn parts(&self) -> (u16, &str, &[u8]) {
        (self.status.as_u16(), self.request_id.to_str().unwrap_or_default(), &self.body)
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (REQUEST_ID, self.request_id),
            (API_VERSION, VERSION),
        ];
        (self.status, headers, Body::from(self.body)).into_response()
    }
}
