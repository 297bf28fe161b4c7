//! The owner of the demo: the link that signs in, and what a test does in their name.

use axum::body::Body;
use axum::http::Request;
use serde_json::{Value, json};

use crate::test_mode::client::{Answer, Client, HOST};

async fn presence(client: &Client) -> Value {
    client.get("/chat/presence").await.data()
}

#[tokio::test]
async fn an_operator_writes_to_a_visitor() {
    let client = Client::new().await;
    let id = client.begin("How much is a mug?").await;
    let body = json!({ "conversationId": id, "content": "24.00, Ann." });
    let written = client.local("POST", "/sandbox/operator", Some(&body)).await.json();
    assert_eq!(written["role"], "operator");
    let history = client.history(&id).await;
    assert_eq!(history.last(), Some(&("operator".to_owned(), "24.00, Ann.".to_owned())));
    for (id, content, status) in [(id.as_str(), " ", 400), ("conv_0", "Hi", 404)] {
        let body = json!({ "conversationId": id, "content": content });
        assert_eq!(client.local("POST", "/sandbox/operator", Some(&body)).await.status, status);
    }
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

/// Opens a link, as a browser does after a click in a terminal.
async fn open(client: &Client, link: &str) -> Answer {
    let request = Request::get(link).header("host", HOST).header("sec-fetch-site", "none");
    client.send(request.body(Body::empty()).expect("a request")).await
}

#[tokio::test]
async fn the_link_signs_in_once_and_opens_the_newest_conversation() {
    let client = Client::new().await;
    client.begin("Hello").await;
    let newest = client.begin("How much is a mug?").await;
    let link = client.mode.console_link().await.expect("a link");
    let opened = open(&client, &link).await;
    assert_eq!(opened.status, 303);
    assert_eq!(opened.header("location"), Some(format!("/console/inbox/{newest}").as_str()));
    let cookies = opened.headers.get_all("set-cookie").iter().filter_map(|cookie| cookie.to_str().ok());
    let session = cookies.filter_map(|cookie| cookie.split(';').next());
    let session = session.into_iter().find(|cookie| cookie.starts_with("session=")).expect("a session");
    let request = Request::get("/api/admin/v1/session").header("host", HOST).header("cookie", session);
    let signed_in = client.send(request.body(Body::empty()).expect("a request")).await;
    assert_eq!(signed_in.status, 200, "{:?}", signed_in.body);

    let again = open(&client, &link).await;
    assert_eq!((again.status.as_u16(), again.header("location")), (303, Some("/console/")));
    assert!(again.header("set-cookie").is_none());
    let foreign = Request::get(&*client.mode.console_link().await.expect("a link"))
        .header("host", HOST)
        .header("sec-fetch-site", "cross-site");
    assert_eq!(client.send(foreign.body(Body::empty()).expect("a request")).await.status, 403);
}

#[tokio::test]
async fn the_link_opens_a_conversation_of_the_demo_when_there_is_no_other() {
    let client = Client::new().await;
    let link = client.mode.console_link().await.expect("a link");
    let opened = open(&client, &link).await;
    let everything = client.everything().await;
    let id = everything["conversations"][0]["id"].as_str().expect("an id");
    assert_eq!(opened.header("location"), Some(format!("/console/inbox/{id}").as_str()));
    assert_eq!(client.history(id).await.len(), 2);
}
