//! Section 4.5: sending messages.

use serde_json::{Value, json};

use crate::api::{Api, fresh, has, is_time};

sentences! {
    the_result_of_sending_has_the_fields_of_4_5,
    the_reply_is_a_message_by_the_assistant,
    a_lead_has_a_score_contact_handoff_and_a_summary,
    a_visitor_with_an_email_address_is_a_lead_with_contact,
    a_conversation_id_that_is_null_or_omitted_starts_a_new_conversation,
    an_existing_conversation_id_continues_the_conversation,
    an_unknown_conversation_id_is_refused,
    a_message_is_required_and_has_1_to_4000_characters,
    the_length_of_a_message_is_counted_in_characters,
    members_of_the_wrong_type_are_refused,
    a_message_is_stored_as_it_was_written,
    the_user_message_id_is_that_of_the_visitors_message,
}

async fn the_result_of_sending_has_the_fields_of_4_5(api: Api) {
    let sent = api.conversation().await;
    has(
        &sent,
        &[
            ("/conversationId", Value::is_string),
            ("/userMessageId", Value::is_string),
            ("/provider", Value::is_string),
            ("/usedFallback", Value::is_boolean),
            ("/aiStatus", Value::is_string),
            ("/aiStatusMessage", Value::is_string),
            ("/locale", Value::is_string),
            ("/blocked", Value::is_boolean),
            ("/lead", Value::is_object),
        ],
    );
}

async fn the_reply_is_a_message_by_the_assistant(api: Api) {
    let sent = api.conversation().await;
    has(
        &sent["message"],
        &[("/id", Value::is_string), ("/content", Value::is_string), ("/createdAt", is_time)],
    );
    assert_eq!(sent["message"]["role"], "assistant");
}

async fn a_lead_has_a_score_contact_handoff_and_a_summary(api: Api) {
    let sent = api.conversation().await;
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

async fn a_visitor_with_an_email_address_is_a_lead_with_contact(api: Api) {
    let visitor = json!({
        "visitorId": fresh("visitor"), "name": "Ann", "email": "ann@example.com", "phone": "+49 30 1234567",
        "company": "Example", "wechat": "ann", "whatsapp": "+49 30 1234567", "country": "Germany"
    });
    let body = json!({ "message": "Hello", "locale": "en-US", "sourcePage": "/shop", "visitor": visitor });
    let sent = api.post("/chat/messages", &fresh("chat"), &body).await.data();
    assert_eq!(sent["lead"]["hasContact"], true, "{sent}");
}

async fn a_conversation_id_that_is_null_or_omitted_starts_a_new_conversation(api: Api) {
    let mut ids = Vec::new();
    for body in [json!({ "message": "Hello" }), json!({ "message": "Hello", "conversationId": null })] {
        let sent = api.post("/chat/messages", &fresh("chat"), &body).await.data();
        ids.push(sent["conversationId"].as_str().expect("an id").to_owned());
    }
    assert_ne!(ids[0], ids[1]);
}

async fn an_existing_conversation_id_continues_the_conversation(api: Api) {
    let id = api.conversation().await["conversationId"].clone();
    let body = json!({ "message": "Hello again", "conversationId": id });
    assert_eq!(api.post("/chat/messages", &fresh("chat"), &body).await.data()["conversationId"], id);
}

async fn an_unknown_conversation_id_is_refused(api: Api) {
    let body = json!({ "message": "Hello", "conversationId": fresh("conv") });
    api.post("/chat/messages", &fresh("chat"), &body).await.is_refused();
}

async fn a_message_is_required_and_has_1_to_4000_characters(api: Api) {
    for body in
        [json!({}), json!({ "message": "" }), json!({ "message": "x".repeat(4001) }), json!({ "message": 7 })]
    {
        api.post("/chat/messages", &fresh("chat"), &body).await.is_failure(400, "INVALID_REQUEST");
    }
    api.post("/chat/messages", &fresh("chat"), &json!({ "message": "x".repeat(4000) })).await.data();
}

async fn the_length_of_a_message_is_counted_in_characters(api: Api) {
    api.say(&"é".repeat(4000), None).await;
    let body = json!({ "message": "é".repeat(4001) });
    api.post("/chat/messages", &fresh("chat"), &body).await.is_failure(400, "INVALID_REQUEST");
}

async fn members_of_the_wrong_type_are_refused(api: Api) {
    for body in [
        json!([]),
        json!("Hello"),
        json!(null),
        json!({ "message": ["Hello"] }),
        json!({ "message": "Hello", "conversationId": 7 }),
        json!({ "message": "Hello", "visitor": "Ann" }),
    ] {
        api.post("/chat/messages", &fresh("chat"), &body).await.is_failure(400, "INVALID_REQUEST");
    }
}

async fn a_message_is_stored_as_it_was_written(api: Api) {
    let written =
        " <b>Zwölf</b> & \"Ärger\"\r\n\t'); DROP TABLE x; -- \u{1f9f6} \u{202e}שלום {{name}} \\u0041 ";
    let sent = api.say(written, None).await;
    let read = api.read(sent["conversationId"].as_str().expect("an id"), None).await;
    assert!(contents(&read).contains(&written), "{read}");
}

fn contents(read: &Value) -> Vec<&str> {
    let messages = read["messages"].as_array().expect("messages").iter();
    messages.map(|message| message["content"].as_str().expect("text")).collect()
}

async fn the_user_message_id_is_that_of_the_visitors_message(api: Api) {
    let sent = api.say("My words", None).await;
    let read = api.read(sent["conversationId"].as_str().expect("an id"), None).await;
    let messages = read["messages"].as_array().expect("messages");
    let mine = messages.iter().find(|message| message["id"] == sent["userMessageId"]);
    if let Some(message) = mine {
        assert_eq!(message["content"], "My words");
    }
    // A service may leave the visitor's own words out of a read, but not name them by another id.
    assert!(mine.is_some() || !contents(&read).contains(&"My words"), "{sent} {read}");
}
