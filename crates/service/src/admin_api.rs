//! The admin API: what the console and scripts of the operators use.

mod conversations;
mod licenses;
mod proxy_check;
mod quota;
mod sites;
mod tokens;

use axum::Router;
use axum::routing::get;
use utoipa::OpenApi;

use crate::error::ApiError;
use crate::{ADMIN_BASE, Service, accounts, body_limit, inbox, knowledge, notify, publishing, visitors};

/// Maximum size of a request's body, in bytes.
const MAX_BODY_BYTES: usize = 256 * 1024;

/// Returns the routes of the API, which only a signed-in operator of the same origin reaches.
pub(crate) fn routes(service: &Service) -> Router<Service> {
    let limited = Router::new()
        .merge(sites::routes())
        .merge(tokens::routes())
        .merge(licenses::routes())
        .merge(quota::routes())
        .merge(proxy_check::routes())
        .merge(conversations::routes())
        .merge(inbox::routes())
        .merge(knowledge::routes())
        .merge(notify::routes())
        .merge(visitors::routes());
    let routes = body_limit::limited(limited, MAX_BODY_BYTES)
        .merge(publishing::routes())
        .merge(accounts::routes())
        .route("/openapi.json", get(async || axum::Json(document())))
        .fallback(async || ApiError::NotFound("This path"));
    accounts::guarded(Router::new().nest(ADMIN_BASE, routes), service)
}

/// The description of the API.
#[derive(OpenApi)]
#[openapi(
    info(title = "Admin API", description = "What the operators' console uses. Sign in with `POST /session`."),
    paths(
        sites::list, sites::create, sites::show, sites::change, sites::remove, sites::disable, sites::enable,
        tokens::list, tokens::create, tokens::rotate, tokens::revoke,
        licenses::list, licenses::create, licenses::revoke,
        quota::show, proxy_check::check,
        conversations::list, conversations::counts, conversations::show, conversations::messages,
        conversations::timeline, conversations::actions::send, conversations::actions::add_note,
        conversations::actions::change, conversations::actions::take_over,
        conversations::actions::edit_visitor, conversations::actions::typing,
    ),
    servers((url = "/api/admin/v1"))
)]
struct AdminApi;

/// Returns the OpenAPI document of the whole API.
pub(crate) fn document() -> utoipa::openapi::OpenApi {
    let mut document = AdminApi::openapi();
    document.merge(accounts::AccountsApi::openapi());
    document.merge(inbox::InboxApi::openapi());
    document.merge(knowledge::KnowledgeApi::openapi());
    document.merge(notify::webhooks::WebhooksApi::openapi());
    document.merge(notify::mail::NotificationsApi::openapi());
    document.merge(notify::push::PushApi::openapi());
    document.merge(publishing::PublishingApi::openapi());
    document.merge(visitors::VisitorsApi::openapi());
    document
}
