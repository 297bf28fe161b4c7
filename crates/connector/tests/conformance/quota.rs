//! Sections 4.5 and 7: the quota of AI replies.

use serde_json::json;

use crate::api::{Api, fresh};

sentences! {
    [administered]
    a_message_without_quota_is_402_and_not_stored,
    a_message_without_quota_gets_the_fallback_if_the_site_wants_so,
    a_repeated_message_gets_its_response_after_the_quota_is_used_up,
}

async fn a_message_without_quota_is_402_and_not_stored(api: Api) {
    let conversation = api.conversation().await["conversationId"].as_str().expect("an id").to_owned();
    api.change_settings(json!({ "monthlyAiReplies": 0, "quotaRefuses": true })).await;
    let before = api.read(&conversation, None).await;
    let (key, body) = (fresh("chat"), json!({ "message": "Hello?", "conversationId": conversation }));
    for _ in 0..2 {
        api.post("/chat/messages", &key, &body).await.is_failure(402, "INSUFFICIENT_QUOTA");
    }
    assert_eq!(api.read(&conversation, None).await, before);
    // A refused message leaves its key free.
    api.change_settings(json!({ "monthlyAiReplies": null })).await;
    assert_eq!(api.post("/chat/messages", &key, &body).await.data()["aiStatus"], "ok");
}

async fn a_message_without_quota_gets_the_fallback_if_the_site_wants_so(api: Api) {
    api.change_settings(json!({ "monthlyAiReplies": 1, "quotaRefuses": false })).await;
    let first = api.say("Hello", None).await;
    assert_eq!((&first["aiStatus"], &first["usedFallback"]), (&json!("ok"), &json!(false)));
    for _ in 0..2 {
        let sent = api.say("Hello?", first["conversationId"].as_str()).await;
        assert_eq!((&sent["aiStatus"], &sent["usedFallback"]), (&json!("quota_insufficient"), &json!(true)));
        assert_eq!(sent["message"]["role"], "assistant");
        let text = sent["message"]["content"].as_str().expect("a text");
        assert!(!text.is_empty() && text.chars().count() <= 300, "{text}");
    }
}

async fn a_repeated_message_gets_its_response_after_the_quota_is_used_up(api: Api) {
    api.change_settings(json!({ "monthlyAiReplies": 1, "quotaRefuses": true })).await;
    let (key, body) = (fresh("chat"), json!({ "message": "Hello" }));
    let first = api.post("/chat/messages", &key, &body).await;
    first.data();
    api.post("/chat/messages", &fresh("chat"), &body).await.is_failure(402, "INSUFFICIENT_QUOTA");
    let token = format!("Bearer {}", api.token);
    let without_key = api.ask("POST", "/chat/messages", Some(&token), None, Some(&body)).await;
    without_key.is_failure(402, "INSUFFICIENT_QUOTA");
    for _ in 0..api.nodes() {
        assert_eq!(api.post("/chat/messages", &key, &body).await.text, first.text);
    }
    let other = json!({ "message": "Something else" });
    api.post("/chat/messages", &key, &other).await.is_failure(409, "IDEMPOTENCY_CONFLICT");
}
