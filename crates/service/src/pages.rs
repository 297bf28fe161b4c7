//! The files that browsers load.

mod widget;

use axum::Router;

use crate::Service;

/// Returns the routes of the widget's files.
pub(crate) fn routes(service: &Service) -> Router<Service> {
    widget::routes(service.0.options.widget_dir.as_deref())
}
