//! Whatever a client sends, the service stores, shows and does only a bounded amount.

use crate::test_mode::client::{Answer, Client, TOKEN};
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use chat_service::API_BASE;
use chat_service::test_mode::{LICENSE, TestOptions};
use serde_json::{Value, json};
use sqlx::ConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use std::net::SocketAddr;

async fn send(client: &Client, conversation: &str, message: &str) -> Value {
    let body = json!({ "conversationId": conversation, "message": message });
    client.post("/chat/messages", None, &body).await.data()
}

/// Returns the ids of a conversation's messages, read page by page, and the number of pages.
async fn read_all(client: &Client, conversation: &str) -> (Vec<String>, usize) {
    let (mut ids, mut pages, mut after) = (Vec::new(), 0, String::new());
    loop {
        let path = format!("/chat/messages?conversationId={conversation}&after={after}");
        let answer = client.get(&path).await;
        assert!(answer.body.len() < 1024 * 1024, "{}", answer.body.len());
        let data = answer.data();
        let messages = data["messages"].as_array().expect("messages").clone();
        let next = data["nextAfter"].as_str().expect("an id").to_owned();
        if messages.is_empty() {
            assert_eq!(next, after, "no message is skipped");
            return (ids, pages);
        }
        assert_eq!(
            next,
            messages[messages.len() - 1]["id"],
            "the next read continues after the last message"
        );
        ids.extend(messages.iter().map(|message| message["id"].as_str().expect("an id").to_owned()));
        (pages, after) = (pages + 1, next);
    }
}

#[tokio::test]
async fn reads_a_history_of_many_megabytes_in_pages_without_a_gap() {
    let client = Client::new().await;
    let conversation = client.begin("Hello").await;
    // Each of these characters takes six bytes in JSON.
    let long = "\u{1}".repeat(4000);
    for _ in 0..60 {
        send(&client, &conversation, &long).await;
    }
    let (ids, pages) = read_all(&client, &conversation).await;
    assert_eq!(ids.len(), 2 * 61);
    assert!(pages > 1);
}

#[tokio::test]
async fn reads_a_history_of_many_messages_in_pages_without_a_gap() {
    let client = Client::new().await;
    let conversation = client.begin("Hello").await;
    for _ in 0..300 {
        send(&client, &conversation, "Hi").await;
    }
    let (ids, pages) = read_all(&client, &conversation).await;
    assert_eq!((ids.len(), pages), (2 * 301, 2));
}

#[tokio::test]
async fn truncates_profile_fields() {
    let client = Client::new().await;
    let long = "x".repeat(7000);
    let visitor = json!({
        "visitorId": long, "name": long, "email": long, "phone": long, "company": long, "country": long
    });
    let body = json!({ "message": "Hello", "sourcePage": long, "visitor": visitor });
    client.post("/chat/messages", None, &body).await.data();
    let event = json!({ "events": [{ "eventType": "page_view", "visitorId": long }] });
    client.post("/events", None, &event).await.data();
    let conversation = client.everything().await["conversations"][0].clone();
    for field in ["visitorId", "name", "email", "phone", "company", "country"] {
        assert_eq!(conversation["visitor"][field].as_str().map(str::len), Some(500), "{field}");
    }
    assert_eq!(conversation["sourcePage"].as_str().map(str::len), Some(500));
    assert_eq!(conversation["events"].as_array().map(Vec::len), Some(1), "found by the truncated id");
}

/// Returns the ids on each page of `GET /sandbox/conversations`.
async fn conversation_pages(client: &Client) -> Vec<Vec<String>> {
    let (mut pages, mut after) = (Vec::new(), String::new());
    loop {
        let page = client.local("GET", &format!("/sandbox/conversations?after={after}"), None).await.json();
        let conversations = page["conversations"].as_array().expect("conversations");
        let ids: Vec<String> =
            conversations.iter().map(|one| one["id"].as_str().expect("an id").to_owned()).collect();
        let next = page["nextAfter"].as_str().expect("an id");
        let Some(last) = ids.last() else {
            assert_eq!(next, after, "no conversation is skipped");
            return pages;
        };
        assert_eq!(next, last);
        next.clone_into(&mut after);
        pages.push(ids);
    }
}

#[tokio::test]
async fn pages_through_many_conversations_without_a_gap() {
    let client = Client::new().await;
    let mut created = Vec::new();
    for _ in 0..210 {
        created.push(client.begin("Hello").await);
    }
    let pages = conversation_pages(&client).await;
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [100, 100, 10]);
    assert_eq!(pages.concat(), created);
}

#[tokio::test]
async fn pages_through_large_conversations_without_a_gap() {
    let client = Client::new().await;
    // Each of these characters takes six bytes in JSON.
    let long = "\u{1}".repeat(4000);
    let mut created = Vec::new();
    for _ in 0..3 {
        let conversation = client.begin("Hello").await;
        for _ in 0..100 {
            send(&client, &conversation, &long).await;
        }
        created.push(conversation);
    }
    let pages = conversation_pages(&client).await;
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1]);
    assert_eq!(pages.concat(), created);
}

#[tokio::test]
async fn a_page_of_conversations_has_the_latest_events() {
    let client = Client::new().await;
    for number in 0..1010 {
        let event = json!({ "eventType": "page_view", "path": format!("/{number}") });
        client.post("/events", None, &json!({ "events": [event] })).await.data();
    }
    let page = client.everything().await;
    let events = page["events"].as_array().expect("events");
    assert_eq!((events.len(), &events[999]["path"]), (1000, &json!("/1009")));
}

#[tokio::test]
async fn refuses_an_unknown_parameter_of_the_page() {
    let answer = Client::new().await.local("GET", "/sandbox/conversations?before=conv_1", None).await;
    assert_eq!(answer.failure(), (400, "INVALID_REQUEST".to_owned()));
}

#[tokio::test]
async fn limits_the_view_of_the_site() {
    let client = Client::new().await;
    let page = |number: u32| {
        let items: Vec<Value> = (0..100)
            .map(|item| {
                let id = format!("{number}-{item}");
                json!({ "externalId": id, "type": "page", "path": format!("/{id}"), "title": id,
                        "data": { "head": { "title": id, "description": format!("The page {id}.") } } })
            })
            .collect();
        json!({ "snapshotId": "s", "page": number, "items": items })
    };
    for number in 1..=11 {
        client.post("/content/sync", None, &page(number)).await.data();
    }
    let large = json!({ "externalId": "large", "type": "page", "content": "x".repeat(2_000_000) });
    client
        .post("/content/sync", None, &json!({ "snapshotId": "s", "page": 12, "items": [large] }))
        .await
        .data();
    client.local("POST", "/sandbox/overlays", None).await;
    client.post("/content/sync", None, &page(13)).await.data();
    let shown = client.local("GET", "/sandbox/site", None).await;
    assert!(shown.body.len() < 2_000_000, "{}", shown.body.len());
    let shown = shown.json();
    let length = |name: &str| shown[name].as_array().map(Vec::len);
    assert_eq!((length("reviews"), length("jobs"), length("content")), (Some(1000), Some(1000), Some(200)));
    assert_eq!(shown["contentItems"], 1201);
}

/// Sends an activation from an address.
async fn activate(client: &Client, from: Option<&str>, license: &str) -> Answer {
    let body = json!({ "licenseCode": license, "domain": "https://shop.example" });
    let mut request = Request::post(format!("{API_BASE}/auth/activate"))
        .header("content-type", "application/json")
        // Ignored in requests without a token.
        .header("x-forwarded-for", format!("192.0.2.{}", fastrand::u8(..)))
        .body(Body::from(body.to_string()))
        .expect("a request");
    if let Some(from) = from {
        let from: SocketAddr = from.parse().expect("an address");
        request.extensions_mut().insert(ConnectInfo(from));
    }
    client.send(request).await
}

#[tokio::test]
async fn blocks_a_peer_after_too_many_wrong_license_codes() {
    let client = Client::new().await;
    for port in 1000..1010 {
        let refused = activate(&client, Some(&format!("192.0.2.1:{port}")), "wrong").await;
        assert_eq!(refused.failure(), (400, "INVALID_REQUEST".to_owned()));
    }
    for license in ["wrong", LICENSE] {
        let refused = activate(&client, Some("192.0.2.1:2000"), license).await;
        assert_eq!(refused.failure(), (429, "RATE_LIMITED".to_owned()));
        assert_eq!(refused.header("retry-after"), Some("600"));
    }
    activate(&client, Some("192.0.2.2:1000"), LICENSE).await.data();
    crate::test_mode::client::advance(std::time::Duration::from_mins(10)).await;
    activate(&client, Some("192.0.2.1:1000"), LICENSE).await.data();
}

#[tokio::test]
async fn does_not_count_right_license_codes() {
    let client = Client::new().await;
    for _ in 0..30 {
        activate(&client, None, LICENSE).await.data();
    }
    for _ in 0..10 {
        assert_eq!(activate(&client, None, "wrong").await.status, 400);
    }
    assert_eq!(activate(&client, None, "wrong").await.status, 429, "unknown peers share one limit");
}

/// Returns the number of idempotency keys in the data file, and the bytes of their requests.
async fn keys(file: &std::path::Path) -> (i64, i64) {
    let mut db = SqliteConnectOptions::new().filename(file).connect().await.expect("a database");
    let sql = "SELECT count(*), coalesce(sum(length(request)), 0) FROM idempotency";
    sqlx::query_as(sql).fetch_one(&mut db).await.expect("a row")
}

#[tokio::test]
async fn binds_a_key_to_the_hash_of_a_valid_request() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("data.sqlite");
    let client =
        Client::with(TestOptions { data: Some(file.clone()), ..TestOptions::new(TOKEN.into()) }).await;
    let key = Some("chat-v1-0001");
    for refused in [json!({ "message": "" }), json!([]), json!({ "message": "x".repeat(5000) })] {
        assert_eq!(client.post("/chat/messages", key, &refused).await.status, 400);
        assert_eq!(client.post("/events", key, &refused).await.status, 400);
        assert_eq!(client.post("/content/sync", key, &refused).await.status, 400);
    }
    assert_eq!(keys(&file).await, (0, 0), "refused requests are not stored");
    let long = json!({ "message": "x".repeat(4000) });
    client.post("/chat/messages", key, &long).await.data();
    assert_eq!(keys(&file).await, (1, 32));
    let other = client.post("/chat/messages", key, &json!({ "message": "y" })).await;
    assert_eq!(other.failure(), (409, "IDEMPOTENCY_CONFLICT".to_owned()));
    client.post("/chat/messages", key, &long).await.data();
    assert_eq!(client.visitor_messages().await.len(), 1);
}
