//! Sections 4.3, 4.9 and 4.10. The contract specifies no fields, so the client of this crate must be able to
//! parse them.

use chat_protocol::{OverlayList, SiteStatus, SyncReceipt, Value as Wire};
use serde_json::json;

use crate::api::{Answer, Api, fresh};

sentences! {
    the_site_has_a_status,
    overlays_are_listed,
    public_content_can_be_pushed_page_by_page,
    an_unknown_path_gets_a_failure_envelope,
}

fn read<T: TryFrom<Wire, Error = chat_protocol::FieldError>>(answer: &Answer) -> T {
    let data = serde_json::from_value(answer.data()).expect("JSON");
    T::try_from(data).expect("usable")
}

async fn the_site_has_a_status() {
    let _: SiteStatus = read(&Api::connect().await.get("/site/status").await);
}

async fn overlays_are_listed() {
    let _: OverlayList = read(&Api::connect().await.get("/seo/overlays").await);
}

async fn public_content_can_be_pushed_page_by_page() {
    let api = Api::connect().await;
    let snapshot = fresh("snapshot");
    for page in 1..=2 {
        let item = json!({ "externalId": format!("conformance-{page}"), "type": "page", "title": "A page", "path": "/c" });
        let body = json!({ "snapshotId": snapshot, "page": page, "items": [item] });
        let answer = api.post("/content/sync", &format!("content-sync-site-{snapshot}-{page}"), &body).await;
        let _: SyncReceipt = read(&answer);
    }
}

async fn an_unknown_path_gets_a_failure_envelope() {
    let answer = Api::connect().await.get("/no/such/path").await;
    answer.is_failure(404, "NOT_FOUND");
}
