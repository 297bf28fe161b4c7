//! Jobs are claimed, leased, recovered and completed according to section 3.

use std::time::Duration;

use crate::test_mode::client::{Answer, Client, TOKEN};
use chat_service::test_mode::TestOptions;
use serde_json::{Value, json};

const NEXT: &str = "/site/jobs/next";

async fn add(client: &Client, title: &str) -> String {
    let body = json!({ "type": "publish_article", "title": title, "payload": { "path": "/a" } });
    let added = client.local("POST", "/sandbox/jobs", Some(&body)).await.json();
    added["id"].as_str().expect("an id").to_owned()
}

async fn claim(client: &Client) -> Value {
    client.post(NEXT, None, &json!({})).await.data()["job"].clone()
}

async fn complete(client: &Client, job: &Value, key: Option<&str>, body: &Value) -> Answer {
    let path = format!("/site/jobs/{}/complete", job["id"].as_str().expect("an id"));
    client.post(&path, key, body).await
}

fn done(job: &Value) -> Value {
    json!({ "ok": true, "claimToken": job["claimToken"], "result": { "externalId": "42", "path": "/a" } })
}

fn failed(job: &Value) -> Value {
    json!({ "ok": false, "claimToken": job["claimToken"], "error": "The disk is full." })
}

/// Returns a job as the console shows it.
async fn shown(client: &Client, id: &str) -> Value {
    let site = client.local("GET", "/sandbox/site", None).await.json();
    let jobs = site["jobs"].as_array().expect("jobs").clone();
    jobs.into_iter().find(|job| job["id"] == id).expect("the job")
}

#[tokio::test]
async fn claims_the_oldest_job_with_a_token_and_a_lease() {
    let client = Client::new().await;
    let first = add(&client, "First").await;
    add(&client, "Second").await;
    let data = client.post(NEXT, None, &json!({})).await.data();
    assert!(data["siteId"].is_string());
    let job = &data["job"];
    assert_eq!((&job["id"], &job["status"], &job["attempts"]), (&json!(first), &json!("running"), &json!(1)));
    assert!(job["claimToken"].is_string() && job["leaseUntil"].is_string());
    assert_eq!(job["payload"]["path"], "/a");
    assert_eq!(claim(&client).await["title"], "Second");
}

#[tokio::test]
async fn the_job_is_null_when_nothing_can_be_claimed() {
    let data = Client::new().await.post(NEXT, None, &json!({})).await.data();
    assert_eq!(data.get("job"), Some(&Value::Null));
}

#[tokio::test]
async fn completes_a_job_with_the_claim_token() {
    let client = Client::new().await;
    let id = add(&client, "A").await;
    let job = claim(&client).await;
    let completed = complete(&client, &job, None, &done(&job)).await.data()["job"].clone();
    assert_eq!((&completed["id"], &completed["status"]), (&json!(id), &json!("succeeded")));
    assert!(completed["completedAt"].is_string() && completed["updatedAt"].is_string());
    assert_eq!(shown(&client, &id).await["result"]["externalId"], "42");
    assert_eq!(claim(&client).await, Value::Null);
}

#[tokio::test]
async fn records_a_failure_and_retries_up_to_the_maximum_attempts() {
    let client = Client::new().await;
    let id = add(&client, "A").await;
    for attempt in 1..=3 {
        let job = claim(&client).await;
        assert_eq!((&job["attempts"], &job["maxAttempts"]), (&json!(attempt), &json!(3)));
        complete(&client, &job, None, &failed(&job)).await.data();
        assert_eq!(shown(&client, &id).await["error"], "The disk is full.");
    }
    assert_eq!(claim(&client).await, Value::Null);
    assert_eq!(shown(&client, &id).await["status"], "failed");
}

#[tokio::test]
async fn recovers_an_expired_lease_and_invalidates_its_token() {
    let lease = Duration::from_secs(30);
    let client = Client::with(TestOptions { lease, ..TestOptions::new(TOKEN.into()) }).await;
    let job = json!({ "type": "publish_article", "maxAttempts": 2 });
    let id = client.local("POST", "/sandbox/jobs", Some(&job)).await.json()["id"].clone();
    let id = id.as_str().expect("an id");
    let first = claim(&client).await;
    assert_eq!(claim(&client).await, Value::Null, "the lease excludes other claims");
    crate::test_mode::client::advance(Duration::from_secs(31)).await;
    let second = claim(&client).await;
    assert_eq!((&second["id"], &second["attempts"]), (&json!(id), &json!(2)));
    let late = complete(&client, &first, None, &done(&first)).await;
    assert_eq!(late.failure(), (409, "RESOURCE_CONFLICT".to_owned()));
    crate::test_mode::client::advance(Duration::from_secs(31)).await;
    assert_eq!(claim(&client).await, Value::Null, "that was the last attempt");
    assert_eq!(shown(&client, id).await["status"], "failed");
}

#[tokio::test]
async fn answers_404_for_an_unknown_job_and_409_for_a_second_completion() {
    let client = Client::new().await;
    add(&client, "A").await;
    let job = claim(&client).await;
    let unknown = json!({ "id": "job_0", "claimToken": "x" });
    let answer = complete(&client, &unknown, None, &done(&unknown)).await;
    assert_eq!(answer.failure(), (404, "NOT_FOUND".to_owned()));
    complete(&client, &job, None, &done(&job)).await.data();
    let again = complete(&client, &job, None, &done(&job)).await;
    assert_eq!(again.failure(), (409, "RESOURCE_CONFLICT".to_owned()));
}

#[tokio::test]
async fn answers_400_to_a_completion_without_claim_token_or_with_a_malformed_body() {
    let client = Client::new().await;
    add(&client, "A").await;
    let job = claim(&client).await;
    for body in [json!({ "ok": true }), json!({ "claimToken": job["claimToken"] }), json!([])] {
        let answer = complete(&client, &job, None, &body).await;
        assert_eq!(answer.failure(), (400, "INVALID_REQUEST".to_owned()), "{body}");
    }
    complete(&client, &job, None, &done(&job)).await.data();
}

#[tokio::test]
async fn replays_retried_claims_and_completions() {
    let client = Client::new().await;
    add(&client, "A").await;
    add(&client, "B").await;
    let first = client.post(NEXT, Some("job-next-run-1"), &json!({})).await;
    let again = client.post(NEXT, Some("job-next-run-1"), &json!({})).await;
    assert_eq!(first.body, again.body);
    let job = first.data()["job"].clone();
    let key = format!("job-complete-{}", job["id"].as_str().expect("an id"));
    let done_once = complete(&client, &job, Some(&key), &done(&job)).await;
    let done_twice = complete(&client, &job, Some(&key), &done(&job)).await;
    assert_eq!(done_once.body, done_twice.body);
    done_twice.data();
}

#[tokio::test]
async fn using_one_jobs_key_for_another_is_a_resource_conflict() {
    let client = Client::new().await;
    add(&client, "A").await;
    add(&client, "B").await;
    let (first, second) = (claim(&client).await, claim(&client).await);
    complete(&client, &first, Some("job-complete-x"), &done(&first)).await.data();
    let conflict = complete(&client, &second, Some("job-complete-x"), &done(&second)).await;
    assert_eq!(conflict.failure(), (409, "RESOURCE_CONFLICT".to_owned()));
}

#[tokio::test]
async fn keys_expire_after_a_day() {
    let client = Client::new().await;
    let hello = json!({ "message": "Hello" });
    let first = client.post("/chat/messages", Some("chat-v1-0001"), &hello).await;
    crate::test_mode::client::advance(Duration::from_hours(23)).await;
    let within = client.post("/chat/messages", Some("chat-v1-0001"), &hello).await;
    assert_eq!(first.body, within.body);
    crate::test_mode::client::advance(Duration::from_hours(2)).await;
    let later = client.post("/chat/messages", Some("chat-v1-0001"), &hello).await;
    assert_ne!(first.body, later.body);
}

#[tokio::test]
async fn faults_shorten_leases_and_fail_single_calls() {
    let client = Client::new().await;
    add(&client, "A").await;
    client.inject_faults(json!({ "leaseMs": 0 })).await;
    let (first, second) = (claim(&client).await, claim(&client).await);
    assert_eq!(first["id"], second["id"]);
    assert_ne!(first["claimToken"], second["claimToken"]);
    for (only, path) in [("status", "/site/status"), ("overlays", "/seo/overlays")] {
        client.inject_faults(json!({ "only": only, "status": 503 })).await;
        assert_eq!(client.get(path).await.status, 503);
        client.get("/chat/config").await.data();
    }
    for (only, path) in [("claim", NEXT), ("sync", "/content/sync"), ("complete", "/site/jobs/x/complete")] {
        client.inject_faults(json!({ "only": only, "status": 503 })).await;
        assert_eq!(client.post(path, None, &json!({})).await.status, 503, "{path}");
    }
}
