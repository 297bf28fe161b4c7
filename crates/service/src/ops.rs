//! Operations: health, metrics, the request log, backups and checks.

mod backup;
mod body_timeout;
mod check_disk;
mod doctor;
mod health;
mod key_check;
mod key_text;
mod metrics;
#[cfg(test)]
mod ops_tests;
mod requests;

pub use crate::client::Client;
pub use backup::{Backup, BackupError, backup, restore};
pub use check_disk::check_disk;
pub use doctor::{Finding, Level, check_database, check_service};
pub use key_check::has_key;
pub use key_text::{generate_key, parse_key};

pub(crate) use body_timeout::is_body_timeout;
pub(crate) use health::Health;
pub(crate) use key_check::check_key;
pub(crate) use metrics::Metrics;
pub(crate) use requests::RouteLabel;

use axum::Router;

use crate::Service;
use crate::protect::protected;

/// Returns `GET /livez` and `GET /readyz`.
pub(crate) fn routes() -> Router<Service> {
    health::routes()
}

impl Service {
    /// Wraps the service's whole router: counts and logs each request, and limits how long its body may take.
    pub(crate) fn observed(&self, router: Router) -> Router {
        requests::observed(router, self)
    }

    /// Returns the router of the metrics, for the operator's own port: `GET /metrics`, `GET /livez` and
    /// `GET /readyz`.
    pub fn metrics_router(&self) -> Router {
        let routes =
            Router::new().route("/metrics", axum::routing::get(metrics::render)).merge(health::routes());
        protected(routes.with_state(self.clone()))
    }

    /// Begins the end: `/readyz` answers 503, event streams end, and background tasks finish. Requests are
    /// still answered, until [`Service::close`].
    pub fn stop(&self) {
        self.0.closing.cancel();
    }
}
