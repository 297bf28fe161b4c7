//! An operator is online while a console is open, and answers the visitors who write.

mod client;

use axum::body::Body;
use axum::http::Request;
use client::Client;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

async fn presence(client: &Client) -> Value {
    client.get("/chat/presence").await.data()
}

/// The body of a console's stream, open until it is dropped.
async fn open_console(client: &Client) -> Body {
    let request = Request::get("/operator/api/changes").body(Body::empty()).expect("a request");
    client.sandbox.router().oneshot(request).await.expect("an answer").into_body()
}

/// The text of the stream's next event.
async fn next_event(console: &mut Body) -> Option<String> {
    let frame = console.frame().await?.expect("a stream that does not break");
    Some(String::from_utf8_lossy(frame.data_ref().expect("data")).into_owned())
}

#[tokio::test]
async fn the_operator_is_online_for_as_long_as_a_console_is_open() {
    let client = Client::new();
    let away = presence(&client).await;
    assert_eq!(
        (&away["operatorOnline"], &away["suggestedMessageIntervalMs"]),
        (&json!(false), &json!(10_000))
    );
    assert_eq!(away["suggestedPresenceIntervalMs"], 15_000);

    let first = open_console(&client).await;
    let second = open_console(&client).await;
    let online = presence(&client).await;
    assert_eq!((&online["operatorOnline"], &online["operatorActiveSessions"]), (&json!(true), &json!(2)));
    assert_eq!(
        (&online["suggestedMessageIntervalMs"], &online["suggestedPresenceIntervalMs"]),
        (&json!(2000), &json!(4000))
    );

    drop(first);
    assert_eq!(presence(&client).await["operatorOnline"], true);
    drop(second);
    let gone = presence(&client).await;
    assert_eq!(gone["operatorOnline"], false);
    assert!(gone["operatorLastSeenAt"].is_string());
}

#[tokio::test]
async fn an_open_console_hears_of_every_message() {
    let client = Client::new();
    let mut console = open_console(&client).await;
    assert!(next_event(&mut console).await.expect("a first look").contains("event: change"));
    client.begin("Hello").await;
    assert!(next_event(&mut console).await.expect("a change").contains("event: change"));
}

#[tokio::test]
async fn closing_the_sandbox_ends_the_streams_of_open_consoles() {
    let client = Client::new();
    let mut console = open_console(&client).await;
    client.sandbox.close();
    while next_event(&mut console).await.is_some() {}
    assert_eq!(presence(&client).await["operatorOnline"], true, "until the connection itself is gone");
    drop(console);
    assert_eq!(presence(&client).await["operatorOnline"], false);
}

#[tokio::test]
async fn an_operator_sees_who_writes_and_answers_them() {
    let client = Client::new();
    let body = json!({
        "message": "How much is a mug?", "sourcePage": "/help.html",
        "visitor": { "visitorId": "v1", "name": "Ann <b>Lee</b>" }
    });
    let id = client.post("/chat/messages", None, &body).await.data()["conversationId"].clone();
    let id = id.as_str().expect("an id");
    let event = json!({ "events": [{ "eventType": "cta_clicked", "visitorId": "v1", "eventData": { "label": "Buy" } }] });
    client.post("/events", None, &event).await.data();

    let list = client.local("GET", "/operator/api/conversations", None).await.json();
    assert_eq!((&list[0]["visitor"]["name"], &list[0]["unread"]), (&json!("Ann <b>Lee</b>"), &json!(1)));
    let whole = client.local("GET", &format!("/operator/api/conversations/{id}"), None).await.json();
    assert_eq!(
        (&whole["events"][0]["eventData"]["label"], &whole["sourcePage"]),
        (&json!("Buy"), &json!("/help.html"))
    );
    assert!(whole["lead"]["score"].as_f64() > Some(0.0));

    let path = format!("/operator/api/conversations/{id}/read");
    assert_eq!(client.local("POST", &path, None).await.status, 204);
    let path = format!("/operator/api/conversations/{id}/messages");
    assert_eq!(
        client.local("POST", &path, Some(&json!({ "content": "24.00, Ann." }))).await.json()["role"],
        "operator"
    );
    let history = client.history(id).await;
    assert_eq!(history.last(), Some(&("operator".to_owned(), "24.00, Ann.".to_owned())));
    let list = client.local("GET", "/operator/api/conversations", None).await.json();
    assert_eq!(list[0]["unread"], 0);
}

#[tokio::test]
async fn who_wrote_last_is_first_in_the_list() {
    let client = Client::new();
    let (first, second) = (client.begin("Hello").await, client.begin("Hello").await);
    let body = json!({ "conversationId": first, "content": "Hi" });
    client.local("POST", "/sandbox/operator", Some(&body)).await;
    let list = client.local("GET", "/operator/api/conversations", None).await.json();
    let ids: Vec<_> =
        list.as_array().expect("a list").iter().map(|one| one["id"].as_str().expect("an id")).collect();
    assert_eq!(ids, [first, second]);
}

#[tokio::test]
async fn an_answer_that_is_empty_or_for_nobody_is_refused() {
    let client = Client::new();
    let id = client.begin("Hello").await;
    let path = format!("/operator/api/conversations/{id}/messages");
    for content in [" ", &"x".repeat(4001)] {
        assert_eq!(client.local("POST", &path, Some(&json!({ "content": content }))).await.status, 400);
    }
    let body = json!({ "conversationId": "conv_0", "content": "Hi" });
    assert_eq!(
        client.local("POST", "/sandbox/operator", Some(&body)).await.failure(),
        (404, "NOT_FOUND".to_owned())
    );
}

#[tokio::test]
async fn a_test_can_hold_the_operator_online_without_a_console() {
    let client = Client::new();
    for online in [true, false] {
        let answer =
            client.local("PUT", "/sandbox/operator/online", Some(&json!({ "online": online }))).await;
        assert_eq!(answer.status, 204);
        assert_eq!(presence(&client).await["operatorOnline"], online);
    }
}

#[tokio::test]
async fn a_reset_forgets_conversations_events_requests_and_keys() {
    let client = Client::new();
    let body = json!({ "message": "Hello" });
    client.post("/chat/messages", Some("chat-v1-0001"), &body).await.data();
    assert_eq!(client.local("DELETE", "/sandbox/conversations", None).await.status, 204);
    assert_eq!(client.everything().await, json!({ "conversations": [], "events": [], "requests": [] }));
    client.post("/chat/messages", Some("chat-v1-0001"), &body).await.data();
    assert_eq!(client.visitor_messages().await, ["Hello"]);
}

#[tokio::test]
async fn the_console_is_a_page_that_needs_nothing_but_itself() {
    let client = Client::new();
    let page = client.local("GET", "/operator", None).await;
    assert!(page.header("content-security-policy").expect("a policy").starts_with("default-src 'self'"));
    let text = String::from_utf8_lossy(&page.body).into_owned();
    for forbidden in ["http://", "https://", "style=", "<style", "onclick"] {
        assert!(!text.contains(forbidden), "{forbidden}");
    }
    for path in text.split('"').filter(|part| part.starts_with("/operator/")) {
        assert_eq!(client.local("GET", path, None).await.status, 200, "{path}");
    }
    for script in ["/operator/console.js", "/operator/publishing.js"] {
        let script = client.local("GET", script, None).await;
        let script = String::from_utf8_lossy(&script.body).into_owned();
        for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!script.contains(forbidden), "{forbidden}");
        }
    }
}
