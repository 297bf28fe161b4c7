//! A service that returns the same job for ever does not exhaust time or disk.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::routing::post;
use chat_connector::client::{ClientOptions, ServerConnectorClient};
use chat_connector::jobs::{JobFailure, JobHandler, JobRunner, Journal, RunnerOptions};
use chat_protocol::{Done, Job};
use serde_json::{Value, json};

use crate::service::serve;

/// The response to a report of the job.
#[derive(Clone, Copy)]
enum Report {
    Taken,
    Refused,
}

/// A service whose only job is never completed.
struct Endless {
    origin: String,
    claims: Arc<AtomicU64>,
}

impl Endless {
    async fn start(report: Report, lease: Value) -> Self {
        let claims = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&claims);
        let claim = move || {
            let claim = counted.fetch_add(1, Ordering::Relaxed);
            let mut job = json!({ "id": "j1", "type": "publish_article", "claimToken": format!("c{claim}") });
            job.as_object_mut().expect("an object").extend(lease.as_object().expect("an object").clone());
            let body = json!({ "ok": true, "data": { "job": job }, "requestId": "r" });
            async move { axum::Json(body) }
        };
        let complete = move || async move {
            match report {
                Report::Taken => {
                    let job = json!({ "id": "j1", "type": "publish_article", "status": "succeeded" });
                    (axum::http::StatusCode::OK, axum::Json(json!({ "ok": true, "data": { "job": job } })))
                }
                Report::Refused => {
                    let error = json!({ "code": "RESOURCE_CONFLICT", "message": "another claim's" });
                    (axum::http::StatusCode::CONFLICT, axum::Json(json!({ "ok": false, "error": error })))
                }
            }
        };
        let router = Router::new()
            .route("/api/connector/v1/site/jobs/next", post(claim))
            .route("/api/connector/v1/site/jobs/{id}/complete", post(complete));
        Self { origin: format!("http://{}", serve(router).await), claims }
    }

    fn client(&self) -> ServerConnectorClient {
        ServerConnectorClient::new(ClientOptions::new(&self.origin), &"token".into()).expect("a client")
    }

    fn claims(&self) -> u64 {
        self.claims.load(Ordering::Relaxed)
    }
}

/// Counts executions, and fails if configured to.
struct Handler {
    fails: bool,
    executed: Arc<AtomicU64>,
}

impl JobHandler for Handler {
    async fn execute(&self, _: &Job) -> Result<Done, JobFailure> {
        self.executed.fetch_add(1, Ordering::Relaxed);
        if self.fails { Err(JobFailure::new("It cannot be done.")) } else { Ok(Done::default()) }
    }
}

/// Runs for six hours of paused time. Returns the number of executions and of lines in the journal.
async fn six_hours(service: &Endless, fails: bool) -> (u64, usize) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("journal");
    let executed = Arc::new(AtomicU64::new(0));
    let handler = Handler { fails, executed: Arc::clone(&executed) };
    let journal = Journal::open(&path).expect("a journal");
    let runner = JobRunner::new(service.client(), handler, journal, RunnerOptions::default());
    let over = tokio::time::sleep(Duration::from_hours(6));
    runner.run(over).await.expect("runs");
    let lines = std::fs::read_to_string(&path).expect("text").lines().count();
    (executed.load(Ordering::Relaxed), lines)
}

/// Random delays of up to 5 minutes give about 150 claims in six hours.
const MAX_CLAIMS: u64 = 300;

#[tokio::test(start_paused = true)]
async fn a_repeated_finished_job_is_executed_once_and_claims_back_off() {
    for report in [Report::Taken, Report::Refused] {
        let service = Endless::start(report, json!({})).await;
        let (executed, lines) = six_hours(&service, false).await;
        assert_eq!(executed, 1);
        assert!((50..MAX_CLAIMS).contains(&service.claims()), "{} claims", service.claims());
        assert!(lines < 600, "{lines} lines");
    }
}

#[tokio::test(start_paused = true)]
async fn retries_of_a_failing_job_back_off() {
    let service = Endless::start(Report::Taken, json!({})).await;
    let (executed, lines) = six_hours(&service, true).await;
    assert!(executed == service.claims() && executed < MAX_CLAIMS, "{executed} executions");
    assert!(lines < 600, "{lines} lines");
}

#[tokio::test(start_paused = true)]
async fn a_job_with_an_expired_lease_is_never_executed_and_claims_back_off() {
    let lease = json!({ "leaseUntil": "2020-01-01T00:00:00Z", "updatedAt": "2021-01-01T00:00:00Z" });
    let service = Endless::start(Report::Taken, lease).await;
    let (executed, lines) = six_hours(&service, false).await;
    assert_eq!((executed, lines), (0, 0));
    assert!(service.claims() < MAX_CLAIMS, "{} claims", service.claims());
}

#[tokio::test(start_paused = true)]
async fn a_run_until_empty_ends_despite_a_repeated_job() {
    for fails in [false, true] {
        let service = Endless::start(Report::Taken, json!({})).await;
        let executed = Arc::new(AtomicU64::new(0));
        let handler = Handler { fails, executed: Arc::clone(&executed) };
        let options = RunnerOptions { until_empty: true, ..RunnerOptions::default() };
        let runner = JobRunner::new(service.client(), handler, Journal::in_memory(), options);
        let summary = runner.run(pending()).await.expect("runs");
        assert_eq!((service.claims(), summary.unreported), (6, 0));
        assert_eq!(executed.load(Ordering::Relaxed), if fails { 6 } else { 1 });
    }
}

#[tokio::test(start_paused = true)]
async fn claims_again_after_a_day_despite_a_longer_retry_after() {
    let claims = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&claims);
    let router = Router::new().fallback(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        async { (axum::http::StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "18446744073709551615")]) }
    });
    let origin = format!("http://{}", serve(router).await);
    let client = ServerConnectorClient::new(ClientOptions::new(origin), &"token".into()).expect("a client");
    let handler = Handler { fails: false, executed: Arc::default() };
    let runner = JobRunner::new(client, handler, Journal::in_memory(), RunnerOptions::default());
    runner.run(tokio::time::sleep(Duration::from_hours(60))).await.expect("runs");
    assert_eq!(claims.load(Ordering::Relaxed), 3, "at once, after a day and after two");
}
