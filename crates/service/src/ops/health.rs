//! Health: `/livez` says whether the process answers, `/readyz` whether it can serve.

use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::Service;
use crate::db::{DbError, args, transaction};
use crate::storage::{self, DiskState};

/// The time limit of the database's answer to a health check.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);
/// The time for which `/readyz` repeats an answer, so that anybody's requests cost few transactions.
const ANSWER_LIFETIME: Duration = Duration::from_millis(500);

/// The last answer of the database to `/readyz`. Requests at the same time wait for one answer.
#[derive(Debug, Default)]
pub(crate) struct Health(Mutex<Option<(Instant, bool)>>);

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
    if !service.is_ready().await {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n");
    }
    // Still ready: a load balancer that took the node away would keep out those who can free space.
    let text = match storage::disk_state(&service).await.map(|space| space.state) {
        None | Some(DiskState::Ample) => "ok\n",
        Some(DiskState::BulkRefused) => "ok\nThe disk is nearly full: events and content are refused.\n",
        Some(DiskState::MessagesRefused) => {
            "ok\nThe disk is full: messages, events and content are refused.\n"
        }
    };
    plain(StatusCode::OK, text)
}

impl Service {
    /// Returns whether the database answers, or did a moment ago.
    async fn is_ready(&self) -> bool {
        let mut last = self.0.health.0.lock().await;
        if let Some((asked, is_up)) = *last
            && asked.elapsed() < ANSWER_LIFETIME
        {
            return is_up;
        }
        let is_up = self.is_database_up().await;
        *last = Some((Instant::now(), is_up));
        is_up
    }

    /// Returns whether the database answers in time: to a query, and to a transaction, which the writer has
    /// to execute.
    pub(super) async fn is_database_up(&self) -> bool {
        let answers = async {
            self.db().one("SELECT CAST(1 AS BIGINT)", args![]).await?;
            transaction!(self.db(), |tx| tx.one("SELECT CAST(1 AS BIGINT)", args![]).await).await
        };
        let answered: Result<Result<_, DbError>, _> = tokio::time::timeout(DATABASE_TIMEOUT, answers).await;
        matches!(answered, Ok(Ok(_)))
    }
}

fn plain(status: StatusCode, text: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (status, headers, text).into_response()
}
