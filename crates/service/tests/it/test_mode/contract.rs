//! The five chat endpoints follow the contract (2, 4, 5, 7, 8).

use std::time::Duration;

use crate::test_mode::client::{Answer, Client, TOKEN, api};
use axum::body::Body;
use axum::http::Request;
use chat_protocol::{ChatConfig, Endpoint, History, Method, Presence, SendResult, Tracking, Value as Wire};
use chat_service::test_mode::TestOptions;
use chat_service::{API_BASE, RateLimit};
use serde_json::json;

fn wire(answer: &Answer) -> Wire {
    let body = serde_json::from_slice(&answer.body).expect("JSON");
    chat_protocol::open_envelope(answer.status.as_u16(), body).expect("a success")
}

fn assert_is_failure(answer: &Answer, status: u16, code: &str) {
    assert_eq!(answer.failure(), (status, code.to_owned()));
    assert_eq!(answer.json()["ok"], false);
    assert_eq!(answer.json()["requestId"].as_str(), answer.header("x-request-id"));
    assert!(answer.header("x-service-api-version").is_some());
}

#[tokio::test]
async fn every_endpoint_answers_401_without_the_right_token() {
    let client = Client::new().await;
    for endpoint in Endpoint::ALL {
        let method = if endpoint.method() == Method::Get { "GET" } else { "POST" };
        for token in [None, Some("Bearer wrong"), Some("Bearer"), Some(TOKEN), Some("Basic eDp5")] {
            let mut request = Request::builder().method(method).uri(format!("{API_BASE}{}", endpoint.path()));
            if let Some(token) = token {
                request = request.header("authorization", token);
            }
            let answer =
                client.send(request.body(Body::empty()).expect("a request")).await.expect("an answer");
            assert_is_failure(&answer, 401, "INVALID_TOKEN");
            assert_eq!(answer.json()["error"]["message"], "Missing or invalid API token.");
        }
    }
}

#[tokio::test]
async fn every_success_has_an_envelope_and_headers() {
    let client = Client::new().await;
    let conversation = client.begin("Hello").await;
    for path in [
        "/chat/config?locale=en-US".to_owned(),
        format!("/chat/messages?conversationId={conversation}"),
        format!("/chat/presence?conversationId={conversation}"),
    ] {
        let answer = client.get(&path).await;
        assert_eq!(answer.json()["ok"], true, "{path}");
        assert_eq!(answer.json()["requestId"].as_str(), answer.header("x-request-id"), "{path}");
        assert!(answer.header("x-service-api-version").is_some(), "{path}");
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn the_protocol_crate_reads_every_response() {
    let client = Client::new().await;
    let config =
        ChatConfig::try_from(wire(&client.get("/chat/config?locale=en-GB").await)).expect("a config");
    assert!(config.shows_widget());
    assert_eq!(config.locale.as_deref(), Some("en-GB"));

    let body = json!({ "message": "How long does delivery take?", "locale": "en-GB" });
    let sent =
        SendResult::try_from(wire(&client.post("/chat/messages", None, &body).await)).expect("a result");
    let reply = sent.message.expect("a reply");
    assert!(reply.content.contains("working days"));

    let path = format!("/chat/messages?conversationId={}", sent.conversation_id);
    let history = History::try_from(wire(&client.get(&path).await)).expect("a history");
    let ids: Vec<_> = history.messages.iter().map(|message| message.id.clone()).collect();
    assert_eq!(ids, [sent.user_message_id, reply.id.clone()]);
    assert_eq!(history.next_after, reply.id);

    let path = format!("/chat/presence?conversationId={}", sent.conversation_id);
    let presence = Presence::try_from(wire(&client.get(&path).await)).expect("a presence");
    assert!(presence.should_poll_messages && !presence.operator_online);

    let body = json!({ "events": [{ "eventType": "page_view" }] });
    let tracking = Tracking::try_from(wire(&client.post("/events", None, &body).await)).expect("a tracking");
    assert_eq!(tracking, Tracking { accepted: 1, rejected: 0, enabled: true });
}

#[tokio::test]
async fn refuses_unknown_paths_and_methods_with_an_envelope() {
    let client = Client::new().await;
    assert_is_failure(&client.get("/chat/nothing").await, 404, "NOT_FOUND");
    assert_is_failure(&client.get("/chat/config/").await, 404, "NOT_FOUND");
    // The path that a connector requests if its origin is set to the base URL.
    assert_is_failure(&client.get(&format!("{API_BASE}/chat/config")).await, 404, "NOT_FOUND");
    for (method, path, allow) in [
        ("DELETE", "/chat/messages", "GET, POST"),
        ("GET", "/events", "POST"),
        ("POST", "/chat/config", "GET"),
    ] {
        let answer = client.send(api(method, path, Body::empty())).await.expect("an answer");
        assert_is_failure(&answer, 405, "METHOD_NOT_ALLOWED");
        assert_eq!(answer.header("allow"), Some(allow));
    }
    let elsewhere = client.local("GET", "/elsewhere", None).await;
    assert_is_failure(&elsewhere, 404, "NOT_FOUND");
}

#[tokio::test]
async fn refuses_malformed_and_oversized_bodies_with_an_envelope() {
    let client = Client::new().await;
    let post = |body: String| {
        let client = client.clone();
        async move { client.send(api("POST", "/chat/messages", body.into())).await.expect("an answer") }
    };
    assert_is_failure(&post("{".to_owned()).await, 400, "INVALID_REQUEST");
    assert_is_failure(&post(String::new()).await, 400, "INVALID_REQUEST");
    assert_is_failure(&post("[]".to_owned()).await, 400, "INVALID_REQUEST");
    assert_is_failure(&post("{\"message\":7}".to_owned()).await, 400, "INVALID_REQUEST");
    assert_is_failure(&post(" ".repeat(70_000)).await, 413, "INVALID_REQUEST");
    assert_is_failure(&post("[".repeat(60_000)).await, 400, "INVALID_REQUEST");

    let mut form = api("POST", "/chat/messages", "{\"message\":\"Hello\"}".into());
    form.headers_mut().insert("content-type", "text/plain".parse().expect("a value"));
    assert_is_failure(&client.send(form).await.expect("an answer"), 400, "INVALID_REQUEST");
    assert_eq!(client.visitor_messages().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_message_has_1_to_4000_characters() {
    let client = Client::new().await;
    let send = |length: usize| {
        let client = client.clone();
        async move { client.post("/chat/messages", None, &json!({ "message": "\u{1F33F}".repeat(length) })).await }
    };
    assert_is_failure(&send(0).await, 400, "INVALID_REQUEST");
    send(4000).await.data();
    let refused = send(4001).await;
    assert_is_failure(&refused, 400, "INVALID_REQUEST");
    assert!(refused.json()["error"]["message"].as_str().expect("text").contains("4000"));
}

#[tokio::test]
async fn continues_a_conversation_in_order() {
    let client = Client::new().await;
    let conversation = client.begin("Hello").await;
    let body = json!({ "conversationId": conversation, "message": "How much is a mug?" });
    let second = client.post("/chat/messages", None, &body).await.data();
    assert_eq!(second["conversationId"], conversation.as_str());
    let roles: Vec<_> = client.history(&conversation).await.into_iter().map(|(role, _)| role).collect();
    assert_eq!(roles, ["visitor", "assistant", "visitor", "assistant"]);
}

#[tokio::test]
async fn after_returns_newer_messages_and_an_unknown_id_returns_all() {
    let client = Client::new().await;
    let conversation = client.begin("Hello").await;
    let read = |after: &str| {
        let (client, path) =
            (client.clone(), format!("/chat/messages?conversationId={conversation}&after={after}"));
        async move { client.get(&path).await.data() }
    };
    let all = read("").await;
    let first = all["messages"][0]["id"].as_str().expect("an id").to_owned();
    let newer = read(&first).await;
    assert_eq!(newer["messages"].as_array().map(Vec::len), Some(1));
    let nothing = read(newer["nextAfter"].as_str().expect("an id")).await;
    assert_eq!(nothing["messages"], json!([]));
    assert_eq!(nothing["nextAfter"], newer["nextAfter"]);
    assert_eq!(read("msg_unknown").await["messages"], all["messages"]);
}

#[tokio::test]
async fn answers_404_for_an_unknown_conversation() {
    let client = Client::new().await;
    assert_is_failure(&client.get("/chat/messages?conversationId=conv_0").await, 404, "NOT_FOUND");
    assert_is_failure(&client.get("/chat/messages").await, 400, "INVALID_REQUEST");
    let body = json!({ "conversationId": "conv_0", "message": "Hello" });
    assert_is_failure(&client.post("/chat/messages", None, &body).await, 404, "NOT_FOUND");
    let presence = client.get("/chat/presence?conversationId=conv_0").await.data();
    assert_eq!(presence["shouldPollMessages"], false);
}

#[tokio::test]
async fn accepts_batches_of_1_to_50_events_and_counts_rejected_ones() {
    let client = Client::new().await;
    let post = |events: serde_json::Value| {
        let client = client.clone();
        async move { client.post("/events", None, &json!({ "events": events })).await }
    };
    assert_is_failure(&post(json!([])).await, 400, "INVALID_REQUEST");
    assert_is_failure(&post(json!(vec![json!({ "eventType": "a" }); 51])).await, 400, "INVALID_REQUEST");
    let mixed =
        post(json!([{ "eventType": "page_view", "visitorId": "v1" }, { "eventType": 3 }])).await.data();
    assert_eq!(mixed, json!({ "accepted": 1, "rejected": 1, "tracking": "enabled" }));
    assert_eq!(client.everything().await["events"][0]["eventType"], "page_view");
}

#[tokio::test]
async fn contact_details_and_handoff_requests_appear_in_the_lead() {
    let client = Client::new().await;
    let conversation = client.begin("How much is a mug?").await;
    let say = |message: &'static str| {
        let client = client.clone();
        let body = json!({ "conversationId": conversation, "message": message });
        async move { client.post("/chat/messages", None, &body).await.data() }
    };
    let handoff = say("Can I talk to a person?").await;
    assert_eq!(
        (&handoff["lead"]["needsHandoff"], &handoff["lead"]["hasContact"]),
        (&json!(true), &json!(false))
    );
    assert!(handoff["message"]["content"].as_str().expect("text").contains("e-mail"));
    let contact = say("ann@example.org").await;
    assert_eq!(contact["lead"]["hasContact"], true);
    assert_eq!(contact["lead"]["needsHandoff"], false, "this message does not ask for a person");
    assert!(contact["lead"]["score"].as_f64() > handoff["lead"]["score"].as_f64());
    assert_eq!(client.everything().await["conversations"][0]["visitor"]["email"], "ann@example.org");
    let again = say("I would still like to speak to somebody").await;
    assert_eq!(again["lead"]["needsHandoff"], true, "every request for a person is reported");
}

#[tokio::test]
async fn answers_429_past_the_limit_until_the_window_ends() {
    let rate_limit = RateLimit { requests: 2, window: Duration::from_secs(10) };
    let client = Client::with(TestOptions { rate_limit, ..TestOptions::new(TOKEN.into()) }).await;
    let first = client.get("/chat/config").await;
    assert_eq!(first.header("x-ratelimit-limit"), Some("2"));
    assert_eq!(first.header("x-ratelimit-remaining"), Some("1"));
    client.get("/chat/config").await.data();
    let over = client.get("/chat/config").await;
    assert_is_failure(&over, 429, "RATE_LIMITED");
    assert_eq!(over.header("retry-after"), Some("10"));
    assert_eq!(over.header("x-ratelimit-remaining"), Some("0"));
    assert_eq!(over.header("x-ratelimit-reset"), Some("10"));

    let mut other = api("GET", "/chat/config", Body::empty());
    other.headers_mut().insert("x-forwarded-for", "192.0.2.7, 10.0.0.1".parse().expect("a value"));
    assert_eq!(
        client.send(other).await.expect("an answer").status,
        200,
        "another visitor has a share of their own"
    );

    crate::test_mode::client::advance(Duration::from_secs(10)).await;
    client.get("/chat/config").await.data();
}
