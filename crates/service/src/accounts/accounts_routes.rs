//! The routes of accounts.

mod audit;
mod invitations;
mod operators;
mod password;
mod sessions;
mod setup;
mod sign_in;
mod totp;

use axum::Router;

use crate::Service;
use crate::body_limit::limited;

/// Maximum size of a request's body, in bytes. A password of the maximum length fits.
const MAX_BODY_BYTES: usize = 32 * 1024;

/// Returns the routes, relative to the admin API's path. They must be guarded.
pub(crate) fn routes() -> Router<Service> {
    let routes = Router::new()
        .merge(setup::routes())
        .merge(sign_in::routes())
        .merge(sessions::routes())
        .merge(password::routes())
        .merge(totp::routes())
        .merge(operators::routes())
        .merge(invitations::routes())
        .merge(audit::routes());
    limited(routes, MAX_BODY_BYTES)
}

/// The OpenAPI description of the routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    setup::check,
    setup::finish,
    setup::join,
    sign_in::sign_in,
    sign_in::who,
    sign_in::switch,
    sign_in::sign_out,
    sessions::list,
    sessions::end_others,
    sessions::end,
    sessions::list_of,
    sessions::end_of,
    password::change,
    password::forgot,
    totp::enrol,
    totp::confirm,
    totp::disable,
    totp::renew_codes,
    operators::list,
    operators::change,
    operators::remove,
    operators::password_link,
    operators::remove_totp,
    invitations::list,
    invitations::create,
    invitations::revoke,
    audit::list,
    audit::export,
))]
pub(crate) struct AccountsApi;
