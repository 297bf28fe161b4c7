//! Health: `/livez` says whether the process answers, `/readyz` whether it can serve.

use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::Service;
use crate::db::args;

/// The time limit of the database's answer to a health check.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/livez", get(livez)).route("/readyz", get(readyz))
}

async fn livez() -> Response {
    plain(StatusCode::OK, "ok\n")
}

async fn readyz(State(service): State<Service>) -> Response {
    if service.0.closing.is_cancelled() {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "stopping\n");
    }
    if service.is_database_up().await {
        plain(StatusCode::OK, "ok\n")
    } else {
        plain(StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n")
    }
}

impl Service {
    /// Returns whether the database answers in time.
    pub(super) async fn is_database_up(&self) -> bool {
        let answer = self.db().one("SELECT CAST(1 AS BIGINT)", args![]);
        matches!(tokio::time::timeout(DATABASE_TIMEOUT, answer).await, Ok(Ok(_)))
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (status, headers, text).into_response()
}
