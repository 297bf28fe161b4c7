//! Sections 2.3 to 2.6 and 4.4 to 4.7.

use serde_json::{Value, json};

use crate::api::{Api, fresh, has, is_integer, is_time};

sentences! {
    a_config_has_the_fields_of_2_3,
    the_result_of_sending_has_the_fields_of_4_5,
    the_reply_is_a_message_by_the_assistant,
    a_lead_has_a_score_contact_handoff_and_a_summary,
    a_conversation_id_that_is_null_or_omitted_starts_a_new_conversation,
    an_existing_conversation_id_continues_the_conversation,
    a_message_is_required_and_has_1_to_4000_characters,
    a_read_returns_the_messages_and_next_after,
    after_returns_only_later_messages,
    a_presence_has_the_fields_of_2_6,
}

async fn a_config_has_the_fields_of_2_3() {
    let config = Api::connect().await.get("/chat/config?locale=en-US").await.data();
    has(
        &config,
        &[
            ("/tenantId", Value::is_string),
            ("/siteId", Value::is_string),
            ("/config/enabled", Value::is_boolean),
            ("/config/widgetEnabled", Value::is_boolean),
            ("/config/assistantName", Value::is_string),
            ("/config/welcomeMessage", Value::is_string),
            ("/config/avatarUrl", |url| url.is_string() || url.is_null()),
            ("/config/locale", Value::is_string),
            ("/locale", Value::is_string),
            ("/supportedLocales", |tags| {
                tags.as_array().is_some_and(|tags| tags.iter().all(Value::is_string))
            }),
            ("/stale", Value::is_boolean),
        ],
    );
}

async fn the_result_of_sending_has_the_fields_of_4_5() {
    let sent = Api::connect().await.conversation().await;
    has(
        &sent,
        &[
            ("/conversationId", Value::is_string),
            ("/userMessageId", Value::is_string),
            ("/provider", Value::is_string),
            ("/usedFallback", Value::is_boolean),
            ("/aiStatus", Value::is_string),
            ("/blocked", Value::is_boolean),
            ("/lead", Value::is_object),
        ],
    );
}

async fn the_reply_is_a_message_by_the_assistant() {
    let sent = Api::connect().await.conversation().await;
    has(
        &sent["message"],
        &[("/id", Value::is_string), ("/content", Value::is_string), ("/createdAt", is_time)],
    );
    assert_eq!(sent["message"]["role"], "assistant");
}

async fn a_lead_has_a_score_contact_handoff_and_a_summary() {
    let sent = Api::connect().await.conversation().await;
    has(
        &sent["lead"],
        &[
            ("/score", Value::is_number),
            ("/hasContact", Value::is_boolean),
            ("/needsHandoff", Value::is_boolean),
            ("/summary", Value::is_string),
        ],
    );
}

async fn a_conversation_id_that_is_null_or_omitted_starts_a_new_conversation() {
    let api = Api::connect().await;
    let mut ids = Vec::new();
    for body in [json!({ "message": "Hello" }), json!({ "message": "Hello", "conversationId": null })] {
        let sent = api.post("/chat/messages", &fresh("chat"), &body).await.data();
        ids.push(sent["conversationId"].as_str().expect("an id").to_owned());
    }
    assert_ne!(ids[0], ids[1]);
}

async fn an_existing_conversation_id_continues_the_conversation() {
    let api = Api::connect().await;
    let id = api.conversation().await["conversationId"].clone();
    let body = json!({ "message": "Hello again", "conversationId": id });
    assert_eq!(api.post("/chat/messages", &fresh("chat"), &body).await.data()["conversationId"], id);
}

async fn a_message_is_required_and_has_1_to_4000_characters() {
    let api = Api::connect().await;
    for body in
        [json!({}), json!({ "message": "" }), json!({ "message": "x".repeat(4001) }), json!({ "message": 7 })]
    {
        api.post("/chat/messages", &fresh("chat"), &body).await.is_failure(400, "INVALID_REQUEST");
    }
    api.post("/chat/messages", &fresh("chat"), &json!({ "message": "x".repeat(4000) })).await.data();
}

async fn a_read_returns_the_messages_and_next_after() {
    let api = Api::connect().await;
    let sent = api.conversation().await;
    let id = sent["conversationId"].as_str().expect("an id");
    let read = api.get(&format!("/chat/messages?conversationId={id}")).await.data();
    assert_eq!(read["conversationId"], id);
    has(&read, &[("/messages", Value::is_array), ("/nextAfter", Value::is_string)]);
    let ids: Vec<_> =
        read["messages"].as_array().expect("messages").iter().map(|message| &message["id"]).collect();
    assert!(ids.contains(&&sent["message"]["id"]), "{read}");
    for message in read["messages"].as_array().expect("messages") {
        has(
            message,
            &[
                ("/id", Value::is_string),
                ("/role", Value::is_string),
                ("/content", Value::is_string),
                ("/createdAt", is_time),
            ],
        );
    }
}

async fn after_returns_only_later_messages() {
    let api = Api::connect().await;
    let id = api.conversation().await["conversationId"].as_str().expect("an id").to_owned();
    let first = api.get(&format!("/chat/messages?conversationId={id}")).await.data();
    let after = first["nextAfter"].as_str().expect("an id");
    let path = format!("/chat/messages?conversationId={id}&after={after}");
    assert_eq!(api.get(&path).await.data()["messages"], json!([]));
    let body = json!({ "message": "And then?", "conversationId": id });
    let sent = api.post("/chat/messages", &fresh("chat"), &body).await.data();
    let read = api.get(&path).await.data();
    let messages = read["messages"].as_array().expect("messages");
    assert!(messages.iter().any(|message| message["id"] == sent["message"]["id"]), "{read}");
    let known = first["messages"].as_array().expect("messages");
    assert!(messages.iter().all(|message| known.iter().all(|old| old["id"] != message["id"])), "{read}");
}

async fn a_presence_has_the_fields_of_2_6() {
    let api = Api::connect().await;
    let id = api.conversation().await["conversationId"].as_str().expect("an id").to_owned();
    let presence = api.get(&format!("/chat/presence?conversationId={id}")).await.data();
    has(
        &presence,
        &[
            ("/tenantId", Value::is_string),
            ("/siteId", Value::is_string),
            ("/operatorOnline", Value::is_boolean),
            ("/operatorActiveSessions", is_integer),
            ("/shouldPollMessages", Value::is_boolean),
            ("/suggestedPresenceIntervalMs", is_integer),
            ("/suggestedMessageIntervalMs", is_integer),
        ],
    );
}
