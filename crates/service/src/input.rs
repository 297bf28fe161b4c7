//! The extractors of the handlers, and their responses.

use axum::Json;
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use chat_protocol::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Service;
use crate::error::ApiError;
use crate::response::ApiResponse;

/// A JSON body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Service> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, service: &Service) -> Result<Self, ApiError> {
        let Json(body) = Json::from_request(request, service).await?;
        Ok(Self(body))
    }
}

/// The parameters of a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<Service> for Params<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Service) -> Result<Self, ApiError> {
        let axum::extract::Query(params) = axum::extract::Query::try_from_uri(&parts.uri)?;
        Ok(Self(params))
    }
}

/// Returns a success with a type's JSON.
pub(crate) fn success<T: Serialize>(data: &T) -> Result<ApiResponse, ApiError> {
    ApiResponse::of(data).map_err(|_| ApiError::Internal)
}

/// Returns a success without content.
pub(crate) fn done() -> ApiResponse {
    ApiResponse::success(Value::Object(Vec::new()))
}
