//! Sections 4.3, 4.9 and 4.10. The contract specifies no fields, so the client of this crate must be able to
//! parse them.

use chat_protocol::{OverlayList, SiteStatus, SyncReceipt, Value as Wire};
use serde_json::{Value, json};

use crate::api::{Answer, Api, Checked, fresh};

sentences! {
    the_site_has_a_status,
    overlays_are_listed,
    public_content_can_be_pushed_page_by_page,
    an_approved_overlay_is_listed_and_applied_by_a_job,
    the_pages_of_a_snapshot_may_arrive_in_any_order,
    a_complete_snapshot_replaces_what_was_there,
    a_page_is_refused_without_its_required_fields,
}

fn read<T: TryFrom<Wire, Error = chat_protocol::FieldError>>(answer: &Answer) -> T {
    let data = serde_json::from_value(answer.data()).expect("JSON");
    T::try_from(data).expect("usable")
}

async fn the_site_has_a_status(api: Api) {
    let _: SiteStatus = read(&api.get("/site/status").await);
}

async fn overlays_are_listed(api: Api) {
    let _: OverlayList = read(&api.get("/seo/overlays").await);
}

async fn public_content_can_be_pushed_page_by_page(api: Api) {
    let snapshot = fresh("snapshot");
    for page in 1..=2 {
        let item = json!({ "externalId": format!("conformance-{page}"), "type": "page", "title": "A page", "path": "/c" });
        let body = json!({ "snapshotId": snapshot, "page": page, "items": [item] });
        let answer = api.post("/content/sync", &format!("content-sync-site-{snapshot}-{page}"), &body).await;
        let _: SyncReceipt = read(&answer);
    }
}

/// Pushes a page of items, and returns the receipt.
async fn push(api: &Api, snapshot: &str, number: u32, ids: &[&str], complete: bool) -> Value {
    let items: Vec<Value> = ids
        .iter()
        .map(|id| json!({ "externalId": id, "type": "page", "title": "A page", "path": format!("/{id}") }))
        .collect();
    let page = json!({ "snapshotId": snapshot, "page": number, "items": items, "complete": complete });
    api.post("/content/sync", &format!("content-sync-site-{snapshot}-{number}"), &page).await.data()
}

/// Returns the number of items that the service has.
async fn stored(api: &Api) -> i64 {
    api.get("/site/status").await.data()["contentItems"].as_i64().expect("a number")
}

async fn an_approved_overlay_is_listed_and_applied_by_a_job(api: Api) -> Checked {
    api.only_built_in("a person would have to approve it")?;
    api.sync_page("about").await;
    assert_eq!(api.get("/seo/overlays").await.data()["overlays"], json!([]));
    api.approve_overlays().await;
    let job = api.claim(&fresh("job-next")).await?;
    assert_eq!((&job["type"], &job["payload"]["path"]), (&json!("apply_seo_overlay"), &json!("/about")));
    api.complete(&job, &fresh("job-complete"), &api.report(&job)).await.data();
    for query in ["", "?path=/about"] {
        let listed = api.get(&format!("/seo/overlays{query}")).await.data();
        assert_eq!(listed["overlays"][0]["path"], "/about", "{listed}");
    }
    assert_eq!(api.get("/seo/overlays?path=/elsewhere").await.data()["overlays"], json!([]));
    Ok(())
}

async fn the_pages_of_a_snapshot_may_arrive_in_any_order(api: Api) -> Checked {
    api.only_built_in("the contract specifies no fields")?;
    let snapshot = fresh("snapshot");
    for (number, ids) in [(3, ["5", "6"]), (1, ["1", "2"]), (2, ["3", "4"])] {
        let receipt = push(&api, &snapshot, number, &ids, false).await;
        assert_eq!((&receipt["accepted"], &receipt["rejected"]), (&json!(2), &json!(0)));
    }
    let last = push(&api, &snapshot, 4, &[], true).await;
    assert_eq!((stored(&api).await, &last["removed"]), (6, &json!(0)));
    Ok(())
}

async fn a_complete_snapshot_replaces_what_was_there(api: Api) -> Checked {
    api.only_built_in("the content of the site would be removed")?;
    push(&api, &fresh("snapshot"), 1, &["1", "2", "3"], true).await;
    let (next, unfinished) = (fresh("snapshot"), fresh("snapshot"));
    push(&api, &unfinished, 1, &["1"], false).await;
    assert_eq!(stored(&api).await, 3, "an unfinished snapshot removes nothing");
    push(&api, &next, 1, &["2"], false).await;
    let receipt = push(&api, &next, 2, &["4"], true).await;
    assert_eq!((&receipt["removed"], stored(&api).await), (&json!(2), 2));
    Ok(())
}

async fn a_page_is_refused_without_its_required_fields(api: Api) {
    let item = json!({ "externalId": "1", "type": "page" });
    for body in [
        json!({}),
        json!([]),
        json!({ "page": 1, "items": [item] }),
        json!({ "snapshotId": "s", "page": 0, "items": [item] }),
        json!({ "snapshotId": "s", "page": 1, "items": "all" }),
        json!({ "snapshotId": "s", "page": 1, "items": [{}] }),
    ] {
        let answer = api.post("/content/sync", &fresh("content-sync"), &body).await;
        answer.is_failure(400, "INVALID_REQUEST");
    }
}
