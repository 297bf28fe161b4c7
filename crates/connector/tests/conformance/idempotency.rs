//! Section 4.1.

use futures_util::future::join_all;
use serde_json::json;

use crate::api::{Api, Checked, fresh, item};

sentences! {
    a_message_sent_again_with_its_key_is_not_stored_again,
    the_same_key_with_a_different_body_is_a_conflict_on_chat_and_events,
    a_retried_claim_returns_the_same_job,
    a_retried_completion_gets_the_same_response,
    a_page_pushed_again_with_its_key_gets_the_same_response,
    the_same_key_with_a_different_page_is_a_conflict,
    the_same_key_with_a_different_body_or_job_is_a_resource_conflict_on_job_endpoints,
    a_key_can_be_omitted,
    a_key_is_bound_to_its_endpoint,
    a_message_sent_many_times_at_once_is_stored_once,
    a_claim_sent_many_times_at_once_claims_one_job,
}

async fn a_message_sent_again_with_its_key_is_not_stored_again(api: Api) {
    let key = fresh("chat");
    let body = json!({ "message": "Once, please." });
    let first = api.post("/chat/messages", &key, &body).await.data();
    let again = api.post("/chat/messages", &key, &body).await.data();
    for name in ["conversationId", "userMessageId"] {
        assert_eq!(first[name], again[name]);
    }
    let id = first["conversationId"].as_str().expect("an id");
    let read = api.get(&format!("/chat/messages?conversationId={id}")).await.data();
    let written = read["messages"].as_array().expect("messages").iter();
    assert_eq!(written.filter(|message| message["content"] == "Once, please.").count(), 1);
}

async fn the_same_key_with_a_different_body_is_a_conflict_on_chat_and_events(api: Api) {
    let key = fresh("chat");
    let sent = api.post("/chat/messages", &key, &json!({ "message": "One" })).await.data();
    let other = api.post("/chat/messages", &key, &json!({ "message": "Something else" })).await;
    other.is_failure(409, "IDEMPOTENCY_CONFLICT");
    let read = api.read(sent["conversationId"].as_str().expect("an id"), None).await;
    assert!(!read.to_string().contains("Something else"), "{read}");
    let key = fresh("events");
    api.post("/events", &key, &json!({ "events": [{ "eventType": "page_view" }] })).await.data();
    let other = api.post("/events", &key, &json!({ "events": [{ "eventType": "chat_opened" }] })).await;
    other.is_failure(409, "IDEMPOTENCY_CONFLICT");
}

async fn a_retried_claim_returns_the_same_job(api: Api) -> Checked {
    api.offer_job().await?;
    let key = fresh("job-next");
    let first = api.claim(&key).await?;
    assert_eq!(api.claim(&key).await?, first);
    if api.is_built_in() {
        // The stored response, with its request id.
        let stored = api.post("/site/jobs/next", &key, &json!({})).await;
        assert_eq!(api.post("/site/jobs/next", &key, &json!({})).await.text, stored.text);
    }
    Ok(())
}

async fn a_retried_completion_gets_the_same_response(api: Api) -> Checked {
    let job = api.claimed_job().await?;
    let (key, report) = (fresh("job-complete"), api.report(&job));
    let first = api.complete(&job, &key, &report).await;
    for _ in 0..2 {
        let again = api.complete(&job, &key, &report).await;
        assert_eq!(again.data(), first.data());
        // The stored response, with its request id.
        assert!(!api.is_built_in() || again.text == first.text, "{again:?}");
    }
    Ok(())
}

async fn a_page_pushed_again_with_its_key_gets_the_same_response(api: Api) {
    let snapshot = fresh("snapshot");
    let page = json!({ "snapshotId": snapshot, "page": 1, "items": [item("A page")] });
    let key = format!("content-sync-site-{snapshot}-1");
    let first = api.post("/content/sync", &key, &page).await.data();
    assert_eq!(api.post("/content/sync", &key, &page).await.data(), first);
}

async fn the_same_key_with_a_different_page_is_a_conflict(api: Api) {
    let key = fresh("content-sync");
    let page = |title: &str| json!({ "snapshotId": "snapshot", "page": 1, "items": [item(title)] });
    api.post("/content/sync", &key, &page("One")).await.data();
    api.post("/content/sync", &key, &page("Two")).await.is_failure(409, "IDEMPOTENCY_CONFLICT");
}

async fn the_same_key_with_a_different_body_or_job_is_a_resource_conflict_on_job_endpoints(
    api: Api,
) -> Checked {
    let (claim_key, key) = (fresh("job-next"), fresh("job-complete"));
    api.offer_job().await?;
    let first = api.claim(&claim_key).await?;
    let other = api.post("/site/jobs/next", &claim_key, &json!({ "something": "else" })).await;
    other.is_failure(409, "RESOURCE_CONFLICT");
    api.complete(&first, &key, &api.report(&first)).await.data();
    let different = json!({ "ok": false, "claimToken": first["claimToken"], "error": "Different." });
    api.complete(&first, &key, &different).await.is_failure(409, "RESOURCE_CONFLICT");
    let second = api.claimed_job().await?;
    api.complete(&second, &key, &api.report(&second)).await.is_failure(409, "RESOURCE_CONFLICT");
    // The refused report has changed nothing.
    api.complete(&second, &fresh("job-complete"), &api.report(&second)).await.data();
    Ok(())
}

async fn a_key_can_be_omitted(api: Api) {
    let token = format!("Bearer {}", api.token);
    for (path, body) in [
        ("/chat/messages", json!({ "message": "Hello" })),
        ("/events", json!({ "events": [{ "eventType": "page_view" }] })),
        ("/content/sync", json!({ "snapshotId": "snapshot", "page": 1, "items": [item("A page")] })),
    ] {
        api.ask("POST", path, Some(&token), None, Some(&body)).await.data();
    }
}

async fn a_key_is_bound_to_its_endpoint(api: Api) -> Checked {
    api.only_built_in("the contract does not specify it")?;
    let key = fresh("one-key-for-all");
    let sent = api.post("/chat/messages", &key, &json!({ "message": "Hello" })).await.data();
    let events = json!({ "events": [{ "eventType": "page_view" }] });
    assert_eq!(api.post("/events", &key, &events).await.data()["accepted"], 1);
    api.offer_job().await?;
    let job = api.claim(&key).await?;
    api.complete(&job, &key, &api.report(&job)).await.data();
    assert_eq!(api.post("/chat/messages", &key, &json!({ "message": "Hello" })).await.data(), sent);
    Ok(())
}

async fn a_message_sent_many_times_at_once_is_stored_once(api: Api) {
    let (key, body) = (fresh("chat"), json!({ "message": "Once, please." }));
    let answers = join_all((0..6).map(|_| api.post("/chat/messages", &key, &body))).await;
    let first = answers[0].data();
    for answer in &answers {
        assert_eq!(answer.data(), first);
    }
    let read = api.read(first["conversationId"].as_str().expect("an id"), None).await;
    let written = read["messages"].as_array().expect("messages").iter();
    assert!(written.filter(|message| message["content"] == "Once, please.").count() <= 1, "{read}");
}

async fn a_claim_sent_many_times_at_once_claims_one_job(api: Api) -> Checked {
    api.offer_job().await?;
    api.offer_job().await?;
    let key = fresh("job-next");
    let claims = join_all((0..6).map(|_| api.claim(&key))).await;
    let claims: Vec<_> = claims.into_iter().collect::<Result<_, _>>()?;
    assert!(claims.iter().all(|job| *job == claims[0]), "{claims:?}");
    Ok(())
}
