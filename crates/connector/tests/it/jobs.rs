//! Jobs are executed and reported once, despite lost responses, expired leases and killed runners.

use std::collections::HashMap;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chat_connector::client::BackOff;
use chat_connector::jobs::{
    JobFailure, JobHandler, JobRunner, Journal, RunSummary, RunnerError, RunnerOptions,
};
use chat_protocol::{Done, Job};
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};

use crate::service::{Service, TOKEN};
use crate::static_site::{job, static_site};

fn options() -> RunnerOptions {
    RunnerOptions {
        interval: Duration::from_millis(5),
        back_off: BackOff {
            initial: Duration::from_millis(5),
            max: Duration::from_millis(50),
            ..RunnerOptions::default().back_off
        },
        ..RunnerOptions::default()
    }
}

fn until_empty() -> RunnerOptions {
    RunnerOptions { until_empty: true, ..options() }
}

/// Counts the executions of each job.
#[derive(Clone, Default)]
struct Counted(Arc<Mutex<HashMap<String, u32>>>);

impl Counted {
    fn of(&self, job: &str) -> u32 {
        self.0.lock().expect("not poisoned").get(job).copied().unwrap_or(0)
    }
}

impl JobHandler for Counted {
    async fn execute(&self, job: &Job) -> Result<Done, JobFailure> {
        for _ in 0..fastrand::u8(0..20) {
            // The runner may be killed here.
            tokio::task::yield_now().await;
        }
        *self.0.lock().expect("not poisoned").entry(job.id.as_str().to_owned()).or_default() += 1;
        Ok(Done { external_id: Some(job.id.as_str().to_owned()), ..Done::default() })
    }
}

async fn run_until_empty(service: &Service, handler: impl JobHandler) -> RunSummary {
    let runner = JobRunner::new(service.client(), handler, Journal::in_memory(), until_empty());
    runner.run(pending()).await.expect("runs")
}

#[tokio::test]
async fn executes_and_reports_each_of_1000_jobs_once_despite_kills() {
    let service = Service::start().await;
    let mut ids = Vec::new();
    for number in 0..1000 {
        ids.push(service.add_job("publish_article", json!({ "number": number })).await);
    }
    let faults = json!({ "status": 503, "rate": 0.05, "loseAnswers": 0.05, "dropRequests": 0.05, "leaseMs": 300, "seed": 9 });
    service.inject_faults(faults).await;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("journal");
    let counted = Counted::default();
    let mut kills = 0;
    loop {
        let journal = Journal::open(&path).expect("the last runner has released it");
        let runner = JobRunner::new(service.client(), counted.clone(), journal, options());
        let running = tokio::spawn(runner.run(pending()));
        service.steps(fastrand::u64(1..200), fastrand::u64(0..40), || false).await;
        running.abort();
        let _ = running.await;
        kills += 1;
        if kills % 10 == 0 && service.jobs().await.iter().all(|job| job["status"] == "succeeded") {
            break;
        }
    }
    assert!(kills >= 10, "{kills} kills");
    for id in &ids {
        assert_eq!(counted.of(id), 1, "{id}");
    }
    for job in service.jobs().await {
        assert_eq!((&job["status"], &job["result"]["externalId"]), (&json!("succeeded"), &job["id"]));
    }
    let everything = service.local("GET", "/sandbox/conversations", None).await;
    let mut taken: HashMap<String, Vec<String>> = HashMap::new();
    for request in everything["requests"].as_array().expect("requests") {
        let path = request["path"].as_str().unwrap_or_default();
        if path.ends_with("/complete") && request["status"] == 200 {
            let keys = taken.entry(path.to_owned()).or_default();
            let key = request["idempotencyKey"].as_str().unwrap_or_default().to_owned();
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    assert!(taken.values().all(|keys| keys.len() == 1), "one report of each job was accepted");
}

#[tokio::test]
async fn reports_a_finished_job_again_under_a_new_claim() {
    let service = Service::start().await;
    let id = service.add_job("publish_article", json!({})).await;
    let counted = Counted::default();
    // The first report does not arrive before the lease expires, which is long enough for a job on a busy
    // machine.
    service.inject_faults(json!({ "leaseMs": 1000, "only": "complete", "status": 503 })).await;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("journal");
    let runner = JobRunner::new(
        service.client(),
        counted.clone(),
        Journal::open(&path).expect("a journal"),
        options(),
    );
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(runner.run(async {
        let _ = stopped.await;
    }));
    while service.arrived(&format!("/site/jobs/{id}/complete")).await.is_empty() {
        tokio::task::yield_now().await;
    }
    let _ = stop.send(());
    let summary = running.await.expect("no panic").expect("runs");
    assert_eq!((summary.succeeded, summary.unreported), (1, 1));

    service.local("DELETE", "/sandbox/trouble", None).await;
    let journal = Journal::open(&path).expect("a journal");
    let again = JobRunner::new(service.client(), counted.clone(), journal, options());
    let running = tokio::spawn(again.run(pending()));
    while service.jobs().await[0]["status"] != "succeeded" {
        tokio::task::yield_now().await;
    }
    running.abort();
    assert_eq!(counted.of(&id), 1);
}

#[tokio::test]
async fn reports_a_failure_with_its_reason() {
    struct Failing;
    impl JobHandler for Failing {
        async fn execute(&self, job: &Job) -> Result<Done, JobFailure> {
            assert!(job.payload.get("panic").is_none(), "asked to");
            Err(JobFailure::new("The disk is full."))
        }
    }
    let service = Service::start().await;
    for payload in [json!({}), json!({ "panic": true })] {
        let job = json!({ "type": "publish_article", "payload": payload, "maxAttempts": 1 });
        service.local("POST", "/sandbox/jobs", Some(&job)).await;
    }
    let summary = run_until_empty(&service, Failing).await;
    assert_eq!(summary.failed, 2);
    let jobs = service.jobs().await;
    assert_eq!((&jobs[0]["status"], &jobs[0]["error"]), (&json!("failed"), &json!("The disk is full.")));
    assert!(jobs[1]["error"].as_str().expect("a reason").contains("panicked"));
}

#[tokio::test]
async fn drops_a_job_before_its_lease_expires_and_reports_the_failure() {
    struct Endless;
    impl JobHandler for Endless {
        async fn execute(&self, _: &Job) -> Result<Done, JobFailure> {
            pending().await
        }
    }
    let service = Service::start().await;
    let job = json!({ "type": "publish_article", "maxAttempts": 1 });
    service.local("POST", "/sandbox/jobs", Some(&job)).await;
    service.inject_faults(json!({ "leaseMs": 1000 })).await;
    run_until_empty(&service, Endless).await;
    assert_eq!(service.jobs().await[0]["error"], "The job took longer than its lease.");
}

#[tokio::test]
async fn finishes_and_reports_the_current_job_on_shutdown() {
    struct Waiting(Arc<Notify>, Arc<Notify>);
    impl JobHandler for Waiting {
        async fn execute(&self, _: &Job) -> Result<Done, JobFailure> {
            self.0.notify_one();
            self.1.notified().await;
            Ok(Done::default())
        }
    }
    let service = Service::start().await;
    service.add_job("publish_article", json!({})).await;
    service.add_job("publish_article", json!({})).await;
    let (started, resume) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let handler = Waiting(Arc::clone(&started), Arc::clone(&resume));
    let runner = JobRunner::new(service.client(), handler, Journal::in_memory(), options());
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(runner.run(async {
        let _ = stopped.await;
    }));
    started.notified().await;
    stop.send(()).expect("still running");
    resume.notify_one();
    let summary = running.await.expect("no panic").expect("runs");
    assert_eq!(summary, RunSummary { succeeded: 1, failed: 0, unreported: 0 });
    let jobs = service.jobs().await;
    assert_eq!((&jobs[0]["status"], &jobs[1]["status"]), (&json!("succeeded"), &json!("pending")));
}

#[tokio::test]
async fn a_refused_runner_stops_with_an_error() {
    let service = Service::start().await;
    service.inject_faults(json!({ "status": 401 })).await;
    let runner = JobRunner::new(service.client(), Counted::default(), Journal::in_memory(), options());
    let error = runner.run(pending()).await.expect_err("refused");
    assert!(matches!(error, RunnerError::Refused(_)));
    assert!(!error.to_string().contains(TOKEN));
}

#[tokio::test]
async fn claims_again_after_a_conflict() {
    let service = Service::start().await;
    let id = service.add_job("publish_article", json!({})).await;
    service.inject_faults(json!({ "status": 409, "times": 2, "only": "claim" })).await;
    let counted = Counted::default();
    assert_eq!(run_until_empty(&service, counted.clone()).await.succeeded, 1);
    assert_eq!(counted.of(&id), 1);
    let claims = service.arrived("/site/jobs/next").await;
    assert_ne!(claims[0].0, claims[1].0, "with another key");
}

fn article(action: &str, content: Option<&str>) -> Value {
    json!({ "contentId": "c1", "path": "/news", "title": "News & more", "locale": "en-GB", "content": content, "action": action })
}

#[tokio::test]
async fn publishes_changes_rolls_back_and_deletes_an_article() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let page = directory.path().join("www/news/index.html");
    let read = || std::fs::read_to_string(&page).ok();
    for (job_type, payload, expected) in [
        ("publish_article", article("publish", Some("<p>One</p>")), Some("<p>One</p>")),
        ("publish_article", article("publish", Some("<p>Two</p>")), Some("<p>Two</p>")),
        ("rollback_article", article("rollback", None), Some("<p>One</p>")),
        ("delete_article", article("delete", None), None),
        ("rollback_article", article("rollback", None), Some("<p>One</p>")),
    ] {
        service.add_job(job_type, payload).await;
        run_until_empty(&service, static_site(directory.path())).await;
        match expected {
            Some(text) => assert!(read().is_some_and(|page| page.contains(text)), "{job_type}: {:?}", read()),
            None => assert_eq!(read(), None),
        }
    }
    assert!(read().expect("a page").contains("<title>News &amp; more</title>"));
    let jobs = service.jobs().await;
    assert_eq!(jobs[0]["result"]["url"], "https://shop.example/news");
    assert_eq!(jobs[0]["result"]["externalId"], "c1");
}

#[tokio::test]
async fn executing_a_job_again_changes_nothing() {
    let directory = tempfile::tempdir().expect("a directory");
    let site = static_site(directory.path());
    let page = || std::fs::read_to_string(directory.path().join("www/news/index.html")).expect("a page");
    for (id, text) in [("j1", "One"), ("j2", "Two"), ("j3", "Three")] {
        site.execute(&job(id, "publish_article", &article("publish", Some(text)))).await.expect("done");
    }
    let back = job("j4", "rollback_article", &article("rollback", None));
    for _ in 0..2 {
        site.execute(&back).await.expect("done");
        assert!(page().contains("Two"), "back by one version, not by two");
    }
    site.execute(&job("j1", "publish_article", &article("publish", Some("One")))).await.expect("done");
    assert!(page().contains("Two"), "what was published since is not undone");
}

#[tokio::test]
async fn an_overlay_stays_in_the_head_when_the_article_changes() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let own = directory.path().join("www/about.html");
    std::fs::create_dir_all(own.parent().expect("a parent")).expect("a directory");
    std::fs::write(&own, "<html><head><title>Old</title></head><body>About</body></html>").expect("a page");
    service.add_job("publish_article", article("publish", Some("<p>One</p>"))).await;
    let overlay =
        |path: &str| json!({ "path": path, "title": "Better", "description": "What it is <about>" });
    service.add_job("apply_seo_overlay", overlay("/news")).await;
    service.add_job("apply_seo_overlay", overlay("/about.html")).await;
    service.add_job("publish_article", article("publish", Some("<p>Two</p>"))).await;
    let summary = run_until_empty(&service, static_site(directory.path())).await;
    assert_eq!((summary.succeeded, summary.failed), (4, 0));
    let news = std::fs::read_to_string(directory.path().join("www/news/index.html")).expect("a page");
    assert!(news.contains(">Better</title>") && news.contains("<p>Two</p>"), "{news}");
    let about = std::fs::read_to_string(&own).expect("a page");
    assert!(about.contains(">Better</title>") && !about.contains("Old"), "{about}");
}

#[tokio::test]
async fn an_invalid_payload_fails_and_writes_nothing() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    for payload in [
        json!({ "path": "/../secret", "title": "x", "content": "x" }),
        json!({ "path": "/.htaccess", "title": "x", "content": "x" }),
        json!({ "path": "/a", "title": "x" }),
        json!({ "title": "x" }),
    ] {
        let job = json!({ "type": "publish_article", "payload": payload, "maxAttempts": 1 });
        service.local("POST", "/sandbox/jobs", Some(&job)).await;
    }
    let unknown = json!({ "type": "translate_article", "maxAttempts": 1 });
    service.local("POST", "/sandbox/jobs", Some(&unknown)).await;
    let summary = run_until_empty(&service, static_site(directory.path())).await;
    assert_eq!(summary.failed, 5);
    assert!(!directory.path().join("secret").exists() && !directory.path().join("www").exists());
    let last = service.jobs().await.pop().expect("a job");
    assert!(last["error"].as_str().expect("a reason").contains("translate_article"));
}

#[tokio::test]
async fn a_sync_job_pushes_the_folders_pages() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    service
        .add_job("publish_article", article("publish", Some("<p>Celadon is fired at 1280 degrees.</p>")))
        .await;
    service.add_job("sync_content", json!({})).await;
    let summary = run_until_empty(&service, static_site(directory.path()).syncing(service.client())).await;
    assert_eq!((summary.succeeded, summary.failed), (2, 0));
    let site = service.local("GET", "/sandbox/site", None).await;
    assert_eq!((&site["contentItems"], &site["content"][0]["path"]), (&json!(1), &json!("/news")));
}
