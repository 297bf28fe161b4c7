//! Operators: presence by open consoles, the list of conversations, and answers to visitors.

use crate::test_mode::client::{Client, HOST};
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

async fn presence(client: &Client) -> Value {
    client.get("/chat/presence").await.data()
}

/// Waits until no operator is online, and returns the presence.
async fn offline(client: &Client) -> Value {
    let gone = async {
        loop {
            let presence = presence(client).await;
            if presence["operatorOnline"] == false {
                return presence;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(5), gone).await.expect("offline within 5 s")
}

/// Opens a console's event stream, which ends when the body is dropped.
async fn open_console(client: &Client) -> Body {
    let request =
        Request::get("/operator/api/changes").header("host", HOST).body(Body::empty()).expect("a request");
    client.mode.router().oneshot(request).await.expect("an answer").into_body()
}

/// Returns the text of the stream's next event.
async fn next_event(console: &mut Body) -> Option<String> {
    let frame = console.frame().await?.expect("a stream that does not break");
    Some(String::from_utf8_lossy(frame.data_ref().expect("data")).into_owned())
}

#[tokio::test]
async fn the_operator_is_online_while_a_console_is_open() {
    let client = Client::new().await;
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
    let gone = offline(&client).await;
    assert!(gone["operatorLastSeenAt"].is_string());
}

#[tokio::test]
async fn notifies_an_open_console_of_every_message() {
    let client = Client::new().await;
    let mut console = open_console(&client).await;
    assert!(next_event(&mut console).await.expect("a first look").contains("event: change"));
    client.begin("Hello").await;
    assert!(next_event(&mut console).await.expect("a change").contains("event: change"));
}

#[tokio::test]
async fn closing_the_sandbox_ends_the_streams_of_open_consoles() {
    let client = Client::new().await;
    let mut console = open_console(&client).await;
    client.mode.stop();
    while next_event(&mut console).await.is_some() {}
    offline(&client).await;
}

#[tokio::test]
async fn an_operator_sees_the_visitor_and_answers() {
    let client = Client::new().await;
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
async fn lists_the_latest_conversation_first() {
    let client = Client::new().await;
    let (first, second) = (client.begin("Hello").await, client.begin("Hello").await);
    let body = json!({ "conversationId": first, "content": "Hi" });
    client.local("POST", "/sandbox/operator", Some(&body)).await;
    let list = client.local("GET", "/operator/api/conversations", None).await.json();
    let ids: Vec<_> =
        list.as_array().expect("a list").iter().map(|one| one["id"].as_str().expect("an id")).collect();
    assert_eq!(ids, [first, second]);
}

#[tokio::test]
async fn lists_the_visitors_last_message_and_the_last_message() {
    let client = Client::new().await;
    let id = client.begin("How much is a mug?").await;
    let body = json!({ "conversationId": id, "content": "24.00." });
    client.local("POST", "/sandbox/operator", Some(&body)).await;
    let list = client.local("GET", "/operator/api/conversations", None).await.json();
    let words = &list[0]["lastVisitorMessage"];
    assert_eq!((&words["content"], &words["role"]), (&json!("How much is a mug?"), &json!("visitor")));
    assert!(words["createdAt"].is_string());
    assert_eq!(list[0]["lastMessage"]["content"], "24.00.");
}

/// Returns the visitor's last message and `wantsPerson` of each conversation in the console's list.
async fn visitors(client: &Client) -> Vec<(String, bool)> {
    let list = client.local("GET", "/operator/api/conversations", None).await.json();
    let wish = |one: &Value| {
        let words = one["lastVisitorMessage"]["content"].as_str().expect("words").to_owned();
        assert_eq!(one["wantsPerson"], one["lead"]["needsHandoff"]);
        (words, one["wantsPerson"].as_bool().expect("a boolean"))
    };
    list.as_array().expect("a list").iter().map(wish).collect()
}

#[tokio::test]
async fn lists_waiting_visitors_first_until_an_operator_answers() {
    let client = Client::new().await;
    let shown = |words: &str, wants_person: bool| (words.to_owned(), wants_person);
    let first = client.begin("Can I talk to a person?").await;
    client.begin("Hello").await;
    assert_eq!(visitors(&client).await, [shown("Can I talk to a person?", true), shown("Hello", false)]);

    // Neither the assistant's answers nor further questions withdraw the request.
    let more = json!({ "conversationId": first, "message": "It is about a mug" });
    client.post("/chat/messages", None, &more).await.data();
    client.begin("Good morning").await;
    let waiting = visitors(&client).await;
    assert_eq!(waiting.first(), Some(&shown("It is about a mug", true)));

    // Reading alone does not answer it.
    client.local("POST", &format!("/operator/api/conversations/{first}/read"), None).await;
    assert_eq!(visitors(&client).await, waiting);

    let answer = json!({ "content": "Maren here." });
    client.local("POST", &format!("/operator/api/conversations/{first}/messages"), Some(&answer)).await;
    client.begin("Good evening").await;
    let answered = ["Good evening", "It is about a mug", "Good morning", "Hello"];
    assert_eq!(visitors(&client).await, answered.map(|words| shown(words, false)));

    let again = json!({ "conversationId": first, "message": "Can somebody call me?" });
    client.post("/chat/messages", None, &again).await.data();
    client.begin("Hi").await;
    assert_eq!(visitors(&client).await.first(), Some(&shown("Can somebody call me?", true)));
}

#[tokio::test]
async fn refuses_an_empty_answer_and_an_unknown_conversation() {
    let client = Client::new().await;
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
async fn tests_can_force_the_operator_online() {
    let client = Client::new().await;
    for online in [true, false] {
        let answer =
            client.local("PUT", "/sandbox/operator/online", Some(&json!({ "online": online }))).await;
        assert_eq!(answer.status, 204);
        assert_eq!(presence(&client).await["operatorOnline"], online);
    }
}

#[tokio::test]
async fn reset_deletes_conversations_events_requests_and_keys() {
    let client = Client::new().await;
    let body = json!({ "message": "Hello" });
    client.post("/chat/messages", Some("chat-v1-0001"), &body).await.data();
    assert_eq!(client.local("DELETE", "/sandbox/conversations", None).await.status, 204);
    let empty = json!({ "conversations": [], "events": [], "requests": [] });
    assert_eq!(client.everything().await, empty);
    client.post("/chat/messages", Some("chat-v1-0001"), &body).await.data();
    assert_eq!(client.visitor_messages().await, ["Hello"]);
}

#[tokio::test]
async fn the_console_needs_no_external_resources() {
    let client = Client::new().await;
    let page = client.local("GET", "/operator", None).await;
    assert!(page.header("content-security-policy").expect("a policy").starts_with("default-src 'self'"));
    let text = String::from_utf8_lossy(&page.body).into_owned();
    for forbidden in ["http://", "https://", "style=", "<style", "onclick"] {
        assert!(!text.contains(forbidden), "{forbidden}");
    }
    for path in text.split('"').filter(|part| part.starts_with("/operator/")) {
        assert_eq!(client.local("GET", path, None).await.status, 200, "{path}");
    }
    for name in ["console", "publishing", "page", "dates", "markdown", "inline", "log"] {
        let script = client.local("GET", &format!("/operator/{name}.js"), None).await;
        assert_eq!(script.header("content-type"), Some("text/javascript; charset=utf-8"), "{name}");
        let script = String::from_utf8_lossy(&script.body).into_owned();
        for import in script.split("from \"./").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert_eq!(
                client.local("GET", &format!("/operator/{import}"), None).await.status,
                200,
                "{import}"
            );
        }
        for forbidden in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("] {
            assert!(!script.contains(forbidden), "{forbidden}");
        }
    }
}
