//! Section 4.6: reading messages.

use serde_json::{Value, json};

use crate::api::{Api, Checked, fresh, has, is_time, time};

sentences! {
    a_read_returns_the_messages_and_next_after,
    after_returns_only_later_messages,
    messages_have_the_order_in_which_they_were_sent,
    next_after_leads_through_all_messages_once,
    next_after_stays_the_same_without_new_messages,
    an_unknown_after_shows_nothing_of_another_conversation,
    a_read_needs_a_conversation,
    a_message_of_an_operator_has_that_role_and_pauses_nothing_else,
}

fn ids(read: &Value) -> Vec<&str> {
    let messages = read["messages"].as_array().expect("messages").iter();
    messages.map(|message| message["id"].as_str().expect("an id")).collect()
}

/// Begins a conversation of several messages, and returns its id and the visitor's words.
async fn conversation_of(api: &Api, count: usize) -> (String, Vec<String>) {
    let words: Vec<String> = (1..=count).map(|number| format!("Message number {number}")).collect();
    let mut conversation: Option<String> = None;
    for text in &words {
        let sent = api.say(text, conversation.as_deref()).await;
        conversation = sent["conversationId"].as_str().map(str::to_owned);
    }
    (conversation.expect("an id"), words)
}

async fn a_read_returns_the_messages_and_next_after(api: Api) {
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

async fn after_returns_only_later_messages(api: Api) {
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

async fn messages_have_the_order_in_which_they_were_sent(api: Api) {
    let (conversation, words) = conversation_of(&api, 4).await;
    let read = api.read(&conversation, None).await;
    let messages = read["messages"].as_array().expect("messages");
    let written = messages.iter().filter_map(|message| message["content"].as_str());
    let written: Vec<&str> = written.filter(|text| words.iter().any(|word| word == text)).collect();
    assert!(written.is_empty() || written == words, "{written:?}");
    let times: Vec<_> = messages.iter().map(|message| time(&message["createdAt"])).collect();
    assert!(times.is_sorted(), "{times:?}");
    let mut unique = ids(&read);
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), messages.len());
}

async fn next_after_leads_through_all_messages_once(api: Api) {
    let (mut seen, mut after, mut conversation) = (Vec::new(), None, None);
    for number in 1..=4 {
        let sent = api.say(&format!("Message number {number}"), conversation.as_deref()).await;
        let id = sent["conversationId"].as_str().expect("an id").to_owned();
        let read = api.read(&id, after.as_deref()).await;
        seen.extend(ids(&read).into_iter().map(str::to_owned));
        after = read["nextAfter"].as_str().map(str::to_owned);
        conversation = Some(id);
    }
    let all = api.read(&conversation.expect("an id"), None).await;
    assert_eq!(seen, ids(&all));
}

async fn next_after_stays_the_same_without_new_messages(api: Api) {
    let (conversation, _) = conversation_of(&api, 2).await;
    let mut after = api.read(&conversation, None).await["nextAfter"].clone();
    for _ in 0..3 {
        let read = api.read(&conversation, after.as_str()).await;
        assert_eq!((&read["messages"], &read["nextAfter"]), (&json!([]), &after));
        after = read["nextAfter"].clone();
    }
}

/// The contract does not say what is returned. It must not be of another conversation.
async fn an_unknown_after_shows_nothing_of_another_conversation(api: Api) {
    let (one, _) = conversation_of(&api, 2).await;
    let (other, _) = conversation_of(&api, 2).await;
    let own = api.read(&one, None).await;
    let foreign = api.read(&other, None).await["nextAfter"].as_str().expect("an id").to_owned();
    for after in
        [foreign.as_str(), "msg_that_does_not_exist", "-1", "9999999999999999999999", "%00", "%F0%9F%A7%B6"]
    {
        let answer = api.get(&format!("/chat/messages?conversationId={one}&after={after}")).await;
        if answer.status == 200 {
            let read = answer.data();
            assert!(ids(&read).iter().all(|id| ids(&own).contains(id)), "{after}: {read}");
        } else {
            answer.is_refused();
        }
    }
}

async fn a_read_needs_a_conversation(api: Api) {
    api.get("/chat/messages").await.is_failure(400, "INVALID_REQUEST");
    api.get(&format!("/chat/messages?conversationId={}", fresh("conv"))).await.is_refused();
}

async fn a_message_of_an_operator_has_that_role_and_pauses_nothing_else(api: Api) -> Checked {
    api.only_built_in("an operator would have to answer")?;
    let (conversation, _) = conversation_of(&api, 1).await;
    let (other, _) = conversation_of(&api, 1).await;
    let before = api.read(&conversation, None).await;
    let online = api.go_online().await;
    api.write_as_operator(&conversation, "Ann here. How can I help?").await;
    let read = api.read(&conversation, before["nextAfter"].as_str()).await;
    let by_operator: Vec<_> =
        read["messages"].as_array().expect("messages").iter().filter(|it| it["role"] == "operator").collect();
    assert_eq!(by_operator.len(), 1, "{read}");
    assert_eq!(by_operator[0]["content"], "Ann here. How can I help?");
    // While a person answers, the AI is silent in this conversation only.
    assert_eq!(api.say("Thank you", Some(&conversation)).await["message"], json!(null));
    assert_eq!(api.say("And here?", Some(&other)).await["message"]["role"], "assistant");
    api.go_offline(online).await;
    Ok(())
}
