//! The files that browsers load: the operators' console, and the widget.

mod caching;
mod console;
mod preview;
mod widget;

use axum::Router;
use axum::response::Redirect;
use axum::routing::get;

use crate::{Service, accounts};

/// Returns the routes of the console and of the widget's files.
pub(crate) fn routes(service: &Service) -> Router<Service> {
    let console = console::routes()
        .route("/", get(async || Redirect::temporary(console::PATH)))
        .route("/console", get(async || Redirect::temporary(console::PATH)));
    accounts::guarded_pages(console, service)
        .merge(preview::routes())
        .merge(widget::routes(service.0.options.widget_dir.as_deref()))
}
