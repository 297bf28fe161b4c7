//! The admin API: what the console and scripts of the operators use.

mod conversations;
pub(crate) mod input;
mod licenses;
mod sites;
mod stream;
mod tokens;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{StatusCode, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use utoipa::OpenApi;

use crate::error::ApiError;
use crate::response::ApiResponse;
use crate::{ADMIN_BASE, Service, accounts, knowledge, notify, publishing, visitors};

/// Maximum size of a request's body, in bytes.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// Returns the routes of the API, which only a signed-in operator of the same origin reaches.
pub(crate) fn routes(service: &Service) -> Router<Service> {
    let routes = Router::new()
        .merge(sites::routes())
        .merge(tokens::routes())
        .merge(licenses::routes())
        .merge(conversations::routes())
        .merge(stream::routes())
        .merge(knowledge::routes())
        .merge(notify::routes())
        .merge(visitors::routes())
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .merge(publishing::routes())
        .merge(accounts::routes())
        .route("/openapi.json", get(async || axum::Json(document())))
        .fallback(async || ApiError::NotFound("This path"))
        .layer(map_response(in_envelope));
    accounts::guarded(Router::new().nest(ADMIN_BASE, routes), service)
}

/// Gives a failure of the router or of an extractor the envelope that all others have.
async fn in_envelope(mut response: Response) -> Response {
    let status = response.status();
    let is_json =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|value| value == "application/json");
    if is_json || !(status.is_client_error() || status.is_server_error()) {
        return response;
    }
    let allow = response.headers_mut().remove(header::ALLOW);
    let (code, message) = match status {
        StatusCode::METHOD_NOT_ALLOWED => {
            ("METHOD_NOT_ALLOWED", "This path has other methods: see the header Allow.")
        }
        status if status.is_client_error() => ("INVALID_REQUEST", "The request is not valid."),
        _ => ("INTERNAL_ERROR", "The service failed: see its log."),
    };
    let mut failure = ApiResponse::failure(status, &code.to_owned().into(), message).into_response();
    if let Some(allow) = allow {
        failure.headers_mut().insert(header::ALLOW, allow);
    }
    failure
}

/// The description of the API.
#[derive(OpenApi)]
#[openapi(
    info(title = "Admin API", description = "What the operators' console uses. Sign in with `POST /session`."),
    paths(
        sites::list, sites::create, sites::show, sites::change, sites::remove, sites::disable, sites::enable,
        tokens::list, tokens::create, tokens::rotate, tokens::revoke,
        licenses::list, licenses::create, licenses::revoke,
        conversations::list, conversations::show, conversations::messages, conversations::send,
        conversations::add_note, conversations::change,
        stream::open,
    ),
    servers((url = "/api/admin/v1"))
)]
struct AdminApi;

/// Returns the OpenAPI document of the whole API.
pub(crate) fn document() -> utoipa::openapi::OpenApi {
    let mut document = AdminApi::openapi();
    document.merge(accounts::AccountsApi::openapi());
    document.merge(knowledge::KnowledgeApi::openapi());
    document.merge(notify::webhooks::WebhooksApi::openapi());
    document.merge(notify::mail::NotificationsApi::openapi());
    document.merge(publishing::PublishingApi::openapi());
    document.merge(visitors::VisitorsApi::openapi());
    document
}
