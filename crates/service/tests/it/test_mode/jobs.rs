//! Jobs are claimed, leased, recovered and completed according to section 3.

use crate::test_mode::client::{Answer, Client};
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

async fn complete(client: &Client, job: &Value, body: &Value) -> Answer {
    let path = format!("/site/jobs/{}/complete", job["id"].as_str().expect("an id"));
    client.post(&path, None, body).await
}

fn done(job: &Value) -> Value {
    json!({ "ok": true, "claimToken": job["claimToken"], "result": { "externalId": "42", "path": "/a" } })
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
async fn shows_the_results_and_the_errors_of_jobs() {
    let client = Client::new().await;
    let (published, broken) = (add(&client, "A").await, add(&client, "B").await);
    let job = claim(&client).await;
    complete(&client, &job, &done(&job)).await.data();
    assert_eq!(shown(&client, &published).await["result"]["externalId"], "42");
    for attempt in 1..=8 {
        let job = claim(&client).await;
        assert_eq!((&job["attempts"], &job["maxAttempts"]), (&json!(attempt), &json!(8)));
        let failed = json!({ "ok": false, "claimToken": job["claimToken"], "error": "The disk is full." });
        complete(&client, &job, &failed).await.data();
        assert_eq!(shown(&client, &broken).await["error"], "The disk is full.");
    }
    assert_eq!(shown(&client, &broken).await["status"], "failed");
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
