//! Sections 2.2, 3, 4.11, 4.12 and 7.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::api::{Answer, Api, Checked, fresh, has, is_integer, is_time, time};

sentences! {
    a_claimed_job_is_running_with_claim_token_lease_and_payload,
    a_completion_with_ok_true_sets_succeeded_and_the_times,
    a_failed_execution_can_be_reported,
    an_unknown_job_is_404,
    a_claim_token_that_does_not_match_is_a_resource_conflict_and_changes_nothing,
    a_job_already_completed_is_a_resource_conflict,
    a_completion_without_claim_token_or_with_a_malformed_body_is_400,
    the_job_is_null_when_nothing_can_be_claimed,
    a_lease_is_in_the_future_and_the_attempt_within_the_maximum,
    a_publish_article_job_has_the_payload_of_2_2,
    a_claimed_job_is_not_claimed_again_during_its_lease,
    claims_at_the_same_time_get_different_jobs,
    a_failed_job_is_attempted_again_up_to_its_maximum,
    a_job_completed_many_times_at_once_is_completed_once,
    a_completion_accepts_all_fields_of_4_12,
    [administered]
    synced_content_becomes_a_job_at_once_in_automatic_mode,
}

async fn complete(api: &Api, job: &Value, body: &Value) -> Answer {
    api.complete(job, &fresh("job-complete"), body).await
}

async fn a_claimed_job_is_running_with_claim_token_lease_and_payload(api: Api) -> Checked {
    let job = api.claimed_job().await?;
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

async fn a_completion_with_ok_true_sets_succeeded_and_the_times(api: Api) -> Checked {
    api.only_built_in("the job was not executed")?;
    let job = api.claimed_job().await?;
    let completed = complete(&api, &job, &api.report(&job)).await.data()["job"].clone();
    assert_eq!((&completed["id"], &completed["type"]), (&job["id"], &job["type"]));
    assert_eq!(completed["status"], "succeeded");
    has(&completed, &[("/updatedAt", is_time), ("/completedAt", is_time)]);
    Ok(())
}

async fn a_failed_execution_can_be_reported(api: Api) -> Checked {
    let job = api.claimed_job().await?;
    let report = json!({ "ok": false, "claimToken": job["claimToken"], "error": "The disk is full." });
    let completed = complete(&api, &job, &report).await.data()["job"].clone();
    assert_ne!(completed["status"], "succeeded");
    Ok(())
}

async fn an_unknown_job_is_404(api: Api) {
    let report = json!({ "ok": true, "claimToken": "claim_none" });
    complete(&api, &json!({ "id": "job_that_does_not_exist" }), &report).await.is_failure(404, "NOT_FOUND");
}

async fn a_claim_token_that_does_not_match_is_a_resource_conflict_and_changes_nothing(api: Api) -> Checked {
    let job = api.claimed_job().await?;
    let wrong = json!({ "ok": true, "claimToken": "claim_of_somebody_else" });
    complete(&api, &job, &wrong).await.is_failure(409, "RESOURCE_CONFLICT");
    complete(&api, &job, &api.report(&job)).await.data();
    Ok(())
}

async fn a_job_already_completed_is_a_resource_conflict(api: Api) -> Checked {
    let job = api.claimed_job().await?;
    complete(&api, &job, &api.report(&job)).await.data();
    complete(&api, &job, &api.report(&job)).await.is_failure(409, "RESOURCE_CONFLICT");
    Ok(())
}

async fn a_completion_without_claim_token_or_with_a_malformed_body_is_400(api: Api) {
    let job = api.claimed_job().await.unwrap_or_else(|_| json!({ "id": "job_none" }));
    for body in [json!({ "ok": true }), json!({ "claimToken": job["claimToken"] }), json!([]), json!("done")]
    {
        complete(&api, &job, &body).await.is_failure(400, "INVALID_REQUEST");
    }
}

async fn the_job_is_null_when_nothing_can_be_claimed(api: Api) -> Checked {
    api.only_built_in("the queue may contain jobs of others")?;
    let data = api.post("/site/jobs/next", &fresh("job-next"), &json!({})).await.data();
    has(&data, &[("/siteId", Value::is_string), ("/job", Value::is_null)]);
    assert_eq!(data["siteId"], api.get("/chat/config").await.data()["siteId"]);
    Ok(())
}

async fn a_lease_is_in_the_future_and_the_attempt_within_the_maximum(api: Api) -> Checked {
    let job = api.claimed_job().await?;
    assert!(time(&job["leaseUntil"]) > Some(jiff::Timestamp::now()), "{job}");
    let (attempts, max) = (job["attempts"].as_i64(), job["maxAttempts"].as_i64());
    assert!(attempts >= Some(1) && attempts <= max, "{job}");
    Ok(())
}

async fn a_publish_article_job_has_the_payload_of_2_2(api: Api) -> Checked {
    api.only_built_in("the type of the next job is not known")?;
    let job = api.claimed_job().await?;
    assert_eq!(job["type"], "publish_article");
    // `externalId` is known once the site has published the article.
    for name in ["contentId", "type", "locale", "path", "title", "content", "action"] {
        has(&job["payload"], &[(&format!("/{name}"), Value::is_string)]);
    }
    let path = job["payload"]["path"].as_str().unwrap_or_default();
    assert!(path.starts_with("/article-") && job["payload"]["action"] == "publish", "{job}");
    Ok(())
}

async fn a_claimed_job_is_not_claimed_again_during_its_lease(api: Api) -> Checked {
    api.only_built_in("the queue may contain jobs of others")?;
    let first = api.claimed_job().await?;
    for _ in 0..4 {
        let data = api.post("/site/jobs/next", &fresh("job-next"), &json!({})).await.data();
        assert_eq!(data["job"], json!(null));
    }
    let second = api.claimed_job().await?;
    assert_ne!((&first["id"], &first["claimToken"]), (&second["id"], &second["claimToken"]));
    assert_ne!(first["id"], second["id"]);
    complete(&api, &first, &api.report(&second)).await.is_failure(409, "RESOURCE_CONFLICT");
    for job in [first, second] {
        complete(&api, &job, &api.report(&job)).await.data();
    }
    Ok(())
}

async fn claims_at_the_same_time_get_different_jobs(api: Api) -> Checked {
    api.only_built_in("the queue may contain jobs of others")?;
    for _ in 0..4 {
        api.offer_job().await?;
    }
    let keys: Vec<String> = (0..8).map(|_| fresh("job-next")).collect();
    let body = json!({});
    let claims = join_all(keys.iter().map(|key| api.post("/site/jobs/next", key, &body))).await;
    let mut ids: Vec<String> = Vec::new();
    for claim in claims {
        ids.extend(claim.data()["job"]["id"].as_str().map(str::to_owned));
    }
    // A claim may miss a job that another one is about to claim, but no job is lost.
    while let Ok(job) = api.claim(&fresh("job-next")).await {
        ids.push(job["id"].as_str().expect("an id").to_owned());
    }
    let claimed = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), claimed), (4, 4));
    Ok(())
}

async fn a_failed_job_is_attempted_again_up_to_its_maximum(api: Api) -> Checked {
    api.only_built_in("the queue may contain jobs of others")?;
    let first = api.claimed_job().await?;
    let max = first["maxAttempts"].as_i64().expect("a number");
    let mut job = first.clone();
    let mut tokens = vec![];
    for attempt in 1..=max {
        assert_eq!((&job["id"], job["attempts"].as_i64()), (&first["id"], Some(attempt)));
        assert!(!tokens.contains(&job["claimToken"]), "{job}");
        tokens.push(job["claimToken"].clone());
        let report = json!({ "ok": false, "claimToken": job["claimToken"], "error": "The disk is full." });
        let completed = complete(&api, &job, &report).await.data()["job"].clone();
        assert_ne!(completed["status"], "succeeded");
        assert_ne!(completed["status"], "running");
        if attempt < max {
            // The claim before is over.
            complete(&api, &job, &api.report(&job)).await.is_failure(409, "RESOURCE_CONFLICT");
            job = api.claim(&fresh("job-next")).await?;
        }
    }
    let data = api.post("/site/jobs/next", &fresh("job-next"), &json!({})).await.data();
    assert_eq!(data["job"], json!(null));
    complete(&api, &job, &api.report(&job)).await.is_failure(409, "RESOURCE_CONFLICT");
    Ok(())
}

async fn a_job_completed_many_times_at_once_is_completed_once(api: Api) -> Checked {
    let job = api.claimed_job().await?;
    let report = api.report(&job);
    let answers = join_all((0..6).map(|_| complete(&api, &job, &report))).await;
    let completed = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(completed, 1, "{answers:?}");
    for refused in answers.iter().filter(|answer| answer.status != 200) {
        refused.is_failure(409, "RESOURCE_CONFLICT");
    }
    Ok(())
}

async fn a_completion_accepts_all_fields_of_4_12(api: Api) -> Checked {
    api.only_built_in("the job was not executed")?;
    let job = api.claimed_job().await?;
    let result = json!({
        "externalId": "7", "url": "https://shop.example/a", "path": "/a", "status": "publish",
        "message": "Published", "data": { "revision": 3 }
    });
    let report = json!({ "ok": true, "claimToken": job["claimToken"], "result": result });
    let completed = complete(&api, &job, &report).await.data()["job"].clone();
    assert_eq!(completed["status"], "succeeded");
    assert!(time(&completed["completedAt"]) >= time(&job["createdAt"]), "{completed}");
    assert!(time(&completed["updatedAt"]) >= time(&job["updatedAt"]), "{completed}");
    Ok(())
}

async fn synced_content_becomes_a_job_at_once_in_automatic_mode(api: Api) -> Checked {
    api.sync_page("reviewed").await;
    let data = api.post("/site/jobs/next", &fresh("job-next"), &json!({})).await.data();
    assert_eq!(data["job"], json!(null), "a person approves first");
    let automatic = api.other_site("automatic").await;
    automatic.sync_page("automatic").await;
    let job = automatic.claim(&fresh("job-next")).await?;
    assert_eq!((&job["type"], &job["payload"]["path"]), (&json!("apply_seo_overlay"), &json!("/automatic")));
    complete(&automatic, &job, &automatic.report(&job)).await.data();
    Ok(())
}
