//! The operators' inbox: presence, the stream of changes, labels, canned replies, preferences, reports and
//! unanswered questions.

mod frames;
mod hub;
mod labels;
mod preferences;
mod replies;
mod report;
mod shared_list;
mod stream;
mod team;
mod unanswered;

use axum::Router;

pub(crate) use hub::Hubs;

use crate::Service;

/// Returns the routes, relative to the admin API's path. They must be guarded.
pub(crate) fn routes() -> Router<Service> {
    Router::new()
        .merge(labels::routes())
        .merge(replies::routes())
        .merge(preferences::routes())
        .merge(team::routes())
        .merge(stream::routes())
        .merge(report::routes())
        .merge(unanswered::routes())
}

/// The OpenAPI description of the routes.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    labels::list,
    labels::create,
    labels::change,
    labels::remove,
    replies::list,
    replies::create,
    replies::change,
    replies::remove,
    preferences::show,
    preferences::change,
    team::list,
    stream::open,
    stream::set_idle,
    report::show,
    report::csv,
    unanswered::list
))]
pub(crate) struct InboxApi;
