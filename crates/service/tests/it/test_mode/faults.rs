//! Each fault has its documented effect and no other.

use std::time::Duration;

use crate::test_mode::client::{Client, advance, pass, stored};
use serde_json::json;

const KEY: &str = "chat-v1-0001";
const SEND: &str = "/chat/messages";

#[tokio::test]
async fn a_retry_with_the_same_key_recovers_a_lost_response() {
    let client = Client::new().await;
    client.inject_faults(json!({ "loseAnswers": 1, "only": "send" })).await;
    let body = json!({ "message": "Hello" });
    assert!(client.try_post(SEND, Some(KEY), &body).await.is_none(), "the connection breaks");
    assert_eq!(client.visitor_messages().await, ["Hello"]);
    client.post(SEND, Some(KEY), &body).await.data();
    assert_eq!(client.visitor_messages().await, ["Hello"]);
    assert_eq!(client.everything().await["requests"][0]["status"], json!(null));
}

#[tokio::test]
async fn a_dropped_request_is_not_executed() {
    let client = Client::new().await;
    client.inject_faults(json!({ "dropRequests": 2 })).await;
    let body = json!({ "message": "Hello" });
    for _ in 0..2 {
        assert!(client.try_post(SEND, Some(KEY), &body).await.is_none());
    }
    assert_eq!(client.visitor_messages().await, Vec::<String>::new());
    client.post(SEND, Some(KEY), &body).await.data();
}

#[tokio::test]
async fn injects_every_error_of_the_contract_by_its_status() {
    let client = Client::new().await;
    for (status, code) in [
        (400, "INVALID_REQUEST"),
        (401, "INVALID_TOKEN"),
        (402, "INSUFFICIENT_QUOTA"),
        (404, "NOT_FOUND"),
        (409, "RESOURCE_CONFLICT"),
        (429, "RATE_LIMITED"),
        (500, "INTERNAL_ERROR"),
    ] {
        client.inject_faults(json!({ "status": status })).await;
        assert_eq!(client.get("/chat/config").await.failure(), (status, code.to_owned()));
    }
    client.inject_faults(json!({ "status": 409, "code": "IDEMPOTENCY_CONFLICT", "retryAfter": 7 })).await;
    let answer = client.get("/chat/config").await;
    assert_eq!(answer.failure(), (409, "IDEMPOTENCY_CONFLICT".to_owned()));
    assert_eq!(answer.header("retry-after"), Some("7"));
}

#[tokio::test]
async fn reports_the_remaining_count_of_times() {
    let client = Client::new().await;
    client.inject_faults(json!({ "status": 503, "times": 2, "loseAnswers": 3, "only": "config" })).await;
    assert_eq!(client.get("/chat/config").await.status, 503);
    let left = client.local("GET", "/sandbox/trouble", None).await.json();
    assert_eq!((&left["times"], &left["loseAnswers"]), (&json!(1), &json!(3.0)));
}

#[tokio::test]
async fn delays_every_response() {
    let client = Client::new().await;
    client.inject_faults(json!({ "delayMs": 60_000, "only": "config" })).await;
    let delayed = client.get("/chat/config");
    tokio::pin!(delayed);
    for _ in 0..30 {
        tokio::select! {
            biased;
            _ = &mut delayed => panic!("answered early"),
            _ = client.get("/chat/presence") => advance(Duration::from_secs(1)).await,
        }
    }
    tokio::join!(delayed, advance(Duration::from_secs(30))).0.data();
}

#[tokio::test]
async fn a_slow_ai_stores_the_message_at_once_and_answers_later() {
    let client = Client::new().await;
    client.inject_faults(json!({ "ai": "slow", "slowMs": 20_000 })).await;
    let begun = client.begin("How much is a mug?");
    tokio::pin!(begun);
    let early = async {
        stored(&client).await;
        pass(&client, 10).await;
    };
    tokio::select! {
        biased;
        _ = &mut begun => panic!("answered early"),
        () = early => {}
    }
    let (conversation, ()) = tokio::join!(begun, pass(&client, 11));
    assert_eq!(client.history(&conversation).await.len(), 2);
}

#[tokio::test]
async fn a_concurrent_duplicate_waits_for_the_first_response() {
    let client = Client::new().await;
    client.inject_faults(json!({ "ai": "slow", "slowMs": 60_000 })).await;
    let body = json!({ "message": "Hello" });
    let time = async {
        stored(&client).await;
        pass(&client, 61).await;
    };
    let (first, second, ()) =
        tokio::join!(client.post(SEND, Some(KEY), &body), client.post(SEND, Some(KEY), &body), time);
    assert_eq!(first.body, second.body);
    first.data();
    assert_eq!(client.visitor_messages().await, ["Hello"]);
}

#[tokio::test]
async fn a_disconnected_client_gets_the_response_on_retry() {
    let client = Client::new().await;
    client.inject_faults(json!({ "ai": "slow", "slowMs": 60_000 })).await;
    let body = json!({ "message": "How much is a mug?" });
    tokio::select! {
        biased;
        _ = client.post(SEND, Some(KEY), &body) => panic!("answered early"),
        () = stored(&client) => {}
    }

    let everything = client.everything().await;
    let conversation = everything["conversations"][0]["id"].as_str().expect("an id");
    assert_eq!(client.history(conversation).await.len(), 1, "the message is stored at once");

    let (retried, ()) = tokio::join!(client.post(SEND, Some(KEY), &body), pass(&client, 61));
    let retried = retried.data();
    let history = client.history(conversation).await;
    assert_eq!(history.len(), 2);
    assert_eq!(retried["message"]["content"], history[1].1.as_str());
}

#[tokio::test]
async fn stored_data_names_its_idempotency_key() {
    let client = Client::new().await;
    client.post(SEND, Some(KEY), &json!({ "message": "Hello" })).await.data();
    let everything = client.everything().await;
    assert_eq!(everything["conversations"][0]["messages"][0]["idempotencyKey"], KEY);
    assert_eq!(
        everything["requests"][0],
        json!({ "method": "POST", "path": SEND, "idempotencyKey": KEY, "status": 200 })
    );
}

#[tokio::test]
async fn a_failing_ai_reports_its_status_and_a_fallback() {
    let client = Client::new().await;
    for ai in ["provider_error", "quota_insufficient"] {
        client.inject_faults(json!({ "ai": ai })).await;
        let data = client.post(SEND, None, &json!({ "message": "How much is a mug?" })).await.data();
        assert_eq!(
            (&data["aiStatus"], &data["usedFallback"], &data["blocked"]),
            (&json!(ai), &json!(true), &json!(false))
        );
        let text = data["message"]["content"].as_str().expect("text");
        assert!(
            text.contains("cannot answer") && !text.contains("24.00"),
            "the fallback contains no knowledge: {text}"
        );
    }
    client.inject_faults(json!({ "ai": "provider_error", "fallbackText": "" })).await;
    let data = client.post(SEND, None, &json!({ "message": "Hello" })).await.data();
    assert_eq!(data["message"]["content"], "");
    assert_eq!(client.history(data["conversationId"].as_str().expect("an id")).await.len(), 1);
}

#[tokio::test]
async fn a_blocked_visitor_gets_no_reply() {
    let client = Client::new().await;
    client.inject_faults(json!({ "ai": "blocked" })).await;
    let data = client.post(SEND, None, &json!({ "message": "Hello" })).await.data();
    assert_eq!(
        (&data["aiStatus"], &data["blocked"], &data["message"]),
        (&json!("blocked"), &json!(true), &json!(null))
    );
}

#[tokio::test]
async fn overrides_config_and_presence() {
    let client = Client::new().await;
    client
        .inject_faults(json!({
            "config": { "enabled": false, "widgetEnabled": false, "stale": true, "assistantName": "Otto" },
            "presence": { "suggestedMessageIntervalMs": -5, "shouldPollMessages": true },
            "trackingDisabled": true
        }))
        .await;
    let config = client.get("/chat/config").await.data();
    assert_eq!(
        (&config["config"]["enabled"], &config["config"]["widgetEnabled"]),
        (&json!(false), &json!(false))
    );
    assert_eq!((&config["stale"], &config["config"]["assistantName"]), (&json!(true), &json!("Otto")));
    let presence = client.get("/chat/presence").await.data();
    assert_eq!(
        (&presence["suggestedMessageIntervalMs"], &presence["shouldPollMessages"]),
        (&json!(-5), &json!(true))
    );
    let events =
        client.post("/events", None, &json!({ "events": [{ "eventType": "page_view" }] })).await.data();
    assert_eq!(events["tracking"], "disabled");
}

#[tokio::test]
async fn clearing_removes_all_faults() {
    let client = Client::new().await;
    client.inject_faults(json!({ "status": 500, "config": { "enabled": false } })).await;
    assert_eq!(client.local("DELETE", "/sandbox/trouble", None).await.status, 204);
    assert_eq!(client.get("/chat/config").await.data()["config"]["enabled"], true);
}

#[tokio::test]
async fn refuses_unknown_and_invalid_faults_by_name() {
    let client = Client::new().await;
    for (faults, named) in [
        (json!({ "delay": 5 }), "delay"),
        (json!({ "only": "everything" }), "everything"),
        (json!({ "status": 200 }), "status"),
        (json!({ "loseAnswers": 1.5 }), "loseAnswers"),
        (json!({ "config": { "name": "x" } }), "name"),
    ] {
        let answer = client.local("PUT", "/sandbox/trouble", Some(&faults)).await;
        assert_eq!(answer.status, 400, "{faults}");
        assert!(
            answer.json()["error"]["message"].as_str().expect("text").contains(named),
            "{:?}",
            answer.body
        );
    }
}
