//! Section 3: a lease that passes without a completion.

use serde_json::json;

use crate::api::{Api, Checked, fresh, time};

sentences! {
    a_job_is_claimed_again_after_its_lease_and_the_late_report_is_a_conflict,
}

/// The interval between claims, once the lease is over.
const POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(200);

async fn a_job_is_claimed_again_after_its_lease_and_the_late_report_is_a_conflict(api: Api) -> Checked {
    let (api, abandoned) = api.abandoned_job().await?;
    let lease_until = time(&abandoned["leaseUntil"]).expect("a time");
    let claim =
        async || api.post("/site/jobs/next", &fresh("job-next"), &json!({})).await.data()["job"].clone();
    let claimed = loop {
        let now = jiff::Timestamp::now();
        let job = claim().await;
        if !job.is_null() {
            break job;
        }
        let rest = std::time::Duration::try_from(now.duration_until(lease_until)).unwrap_or_default();
        tokio::time::sleep(rest.max(POLL_INTERVAL)).await;
    };
    assert!(jiff::Timestamp::now() >= lease_until, "claimed during the lease");
    assert_eq!((&claimed["id"], &claimed["type"]), (&abandoned["id"], &abandoned["type"]));
    assert_ne!(claimed["claimToken"], abandoned["claimToken"]);
    assert_eq!(claimed["attempts"].as_i64(), abandoned["attempts"].as_i64().map(|attempts| attempts + 1));
    assert!(time(&claimed["leaseUntil"]) > Some(lease_until));
    for ok in [true, false] {
        let late = json!({ "ok": ok, "claimToken": abandoned["claimToken"], "error": "late" });
        let answer = api.complete(&abandoned, &fresh("job-complete"), &late).await;
        answer.is_failure(409, "RESOURCE_CONFLICT");
    }
    let report = json!({ "ok": true, "claimToken": claimed["claimToken"] });
    let completed = api.complete(&claimed, &fresh("job-complete"), &report).await.data();
    assert_eq!(completed["job"]["status"], "succeeded");
    Ok(())
}
