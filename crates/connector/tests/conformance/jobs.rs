//! Sections 2.2, 3, 4.11, 4.12 and 7.

use serde_json::{Value, json};

use crate::api::{Answer, Api, Checked, fresh, has, is_integer, is_time};

sentences! {
    a_claimed_job_is_running_with_claim_token_lease_and_payload,
    a_completion_with_ok_true_sets_succeeded_and_the_times,
    a_failed_execution_can_be_reported,
    an_unknown_job_is_404,
    a_claim_token_that_does_not_match_is_a_resource_conflict_and_changes_nothing,
    a_job_already_completed_is_a_resource_conflict,
    a_completion_without_claim_token_or_with_a_malformed_body_is_400,
    the_job_is_null_when_nothing_can_be_claimed,
}

async fn complete(api: &Api, job: &Value, body: &Value) -> Answer {
    let path = format!("/site/jobs/{}/complete", job["id"].as_str().expect("an id"));
    api.post(&path, &fresh("job-complete"), body).await
}

async fn a_claimed_job_is_running_with_claim_token_lease_and_payload() -> Checked {
    let job = Api::connect().await.claimed_job().await?;
    assert_eq!(job["status"], "running");
    has(
        &job,
        &[
            ("/id", Value::is_string),
            ("/type", Value::is_string),
            ("/title", Value::is_string),
            ("/attempts", is_integer),
            ("/maxAttempts", is_integer),
            ("/claimToken", Value::is_string),
            ("/leaseUntil", is_time),
            ("/payload", Value::is_object),
            ("/createdAt", is_time),
            ("/updatedAt", is_time),
        ],
    );
    Ok(())
}

async fn a_completion_with_ok_true_sets_succeeded_and_the_times() -> Checked {
    let api = Api::connect().await;
    api.may_claim_success()?;
    let job = api.claimed_job().await?;
    let completed = complete(&api, &job, &api.report(&job)).await.data()["job"].clone();
    assert_eq!((&completed["id"], &completed["type"]), (&job["id"], &job["type"]));
    assert_eq!(completed["status"], "succeeded");
    has(&completed, &[("/updatedAt", is_time), ("/completedAt", is_time)]);
    Ok(())
}

async fn a_failed_execution_can_be_reported() -> Checked {
    let api = Api::connect().await;
    let job = api.claimed_job().await?;
    let report = json!({ "ok": false, "claimToken": job["claimToken"], "error": "The disk is full." });
    let completed = complete(&api, &job, &report).await.data()["job"].clone();
    assert_ne!(completed["status"], "succeeded");
    Ok(())
}

async fn an_unknown_job_is_404() {
    let api = Api::connect().await;
    let report = json!({ "ok": true, "claimToken": "claim_none" });
    complete(&api, &json!({ "id": "job_that_does_not_exist" }), &report).await.is_failure(404, "NOT_FOUND");
}

async fn a_claim_token_that_does_not_match_is_a_resource_conflict_and_changes_nothing() -> Checked {
    let api = Api::connect().await;
    let job = api.claimed_job().await?;
    let wrong = json!({ "ok": true, "claimToken": "claim_of_somebody_else" });
    complete(&api, &job, &wrong).await.is_failure(409, "RESOURCE_CONFLICT");
    complete(&api, &job, &api.report(&job)).await.data();
    Ok(())
}

async fn a_job_already_completed_is_a_resource_conflict() -> Checked {
    let api = Api::connect().await;
    let job = api.claimed_job().await?;
    complete(&api, &job, &api.report(&job)).await.data();
    complete(&api, &job, &api.report(&job)).await.is_failure(409, "RESOURCE_CONFLICT");
    Ok(())
}

async fn a_completion_without_claim_token_or_with_a_malformed_body_is_400() {
    let api = Api::connect().await;
    let job = api.claimed_job().await.unwrap_or_else(|_| json!({ "id": "job_none" }));
    for body in [json!({ "ok": true }), json!([]), json!("done")] {
        complete(&api, &job, &body).await.is_failure(400, "INVALID_REQUEST");
    }
}

async fn the_job_is_null_when_nothing_can_be_claimed() -> Checked {
    let api = Api::connect().await;
    api.has_no_jobs()?;
    let data = api.post("/site/jobs/next", &fresh("job-next"), &json!({})).await.data();
    has(&data, &[("/siteId", Value::is_string), ("/job", Value::is_null)]);
    Ok(())
}
