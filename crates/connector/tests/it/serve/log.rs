//! The log has none of what people wrote, and none of their secrets, at any level.

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::serve::{Running, http};

/// A word that is in every field, header, path and query of every request, and must not be in the log.
const MARKER: &str = "marker-2f81c";

/// Names each place, so that a leak says where it comes from.
fn marked(place: &str) -> String {
    format!("{MARKER}-{place}")
}

fn message() -> Value {
    json!({
        "message": marked("message"),
        "conversationId": marked("conversation"),
        "locale": "en-US",
        "sourcePage": format!("/{}", marked("page")),
        "visitor": {
            "visitorId": marked("visitor"),
            "name": marked("name"),
            "email": format!("{}@example.org", marked("email")),
            "phone": marked("phone"),
            "company": marked("company"),
            "customerId": marked("customer"),
        },
        marked("unknown"): marked("unknown"),
    })
}

fn event() -> Value {
    json!({
        "type": "page_view",
        "path": format!("/{}", marked("event-path")),
        "title": marked("event-title"),
        "visitorId": marked("visitor"),
        "properties": { marked("property"): marked("property-value") },
    })
}

/// The requests, each once with and once without the credentials that it needs.
fn requests(address: &str) -> Vec<RequestBuilder> {
    let item = json!({
        "type": "page",
        "externalId": marked("external"),
        "locale": "en",
        "url": format!("https://shop.example/{}", marked("url")),
        "title": marked("title"),
        "html": format!("<p>{}</p>", marked("html")),
    });
    let id = marked("id");
    let api = [
        (Method::GET, "chat/config".to_owned(), None),
        (Method::POST, "chat/messages".to_owned(), Some(message())),
        (Method::GET, format!("chat/messages?conversationId={}&after=0", marked("query")), None),
        (Method::GET, "chat/presence".to_owned(), None),
        (Method::POST, "events".to_owned(), Some(json!({ "events": [event()] }))),
        (
            Method::POST,
            "activate".to_owned(),
            Some(json!({ "licenseCode": marked("license"), "domain": "https://shop.example" })),
        ),
        (Method::POST, "site/activate".to_owned(), Some(json!({ "licenseCode": marked("license") }))),
        (Method::GET, "site/status".to_owned(), None),
        (
            Method::POST,
            "site/content/sync".to_owned(),
            Some(json!({ "snapshotId": marked("snapshot"), "items": [item] })),
        ),
        (Method::GET, format!("site/seo/overlays?path=/{}", marked("overlay")), None),
        (Method::POST, "site/jobs/claim".to_owned(), Some(json!({}))),
        (Method::POST, format!("site/jobs/{id}/complete"), Some(json!({ "claimToken": marked("claim") }))),
        (Method::DELETE, format!("{}/nowhere", marked("path")), None),
    ];
    let admin = [
        (
            Method::POST,
            "setup".to_owned(),
            Some(
                json!({ "token": marked("setup"), "name": marked("name"), "email": "a@example.org", "password": marked("password") }),
            ),
        ),
        (
            Method::POST,
            "session".to_owned(),
            Some(
                json!({ "email": format!("{}@example.org", marked("login")), "password": marked("password") }),
            ),
        ),
        (
            Method::POST,
            "password/forgot".to_owned(),
            Some(json!({ "email": format!("{}@example.org", marked("forgot")) })),
        ),
        (Method::GET, format!("sites/{id}/conversations?search={}", marked("search")), None),
        (Method::GET, format!("sites/{id}/visitors/{}", marked("visitor")), None),
        (
            Method::POST,
            format!("sites/{id}/answers"),
            Some(json!({ "question": marked("question"), "answer": marked("answer") })),
        ),
        (Method::GET, format!("audit?{}", marked("audit")), None),
    ];
    let api = api.into_iter().map(|call| ("connector", call));
    let admin = admin.into_iter().map(|call| ("admin", call));
    api.chain(admin)
        .map(|(api, (method, path, body))| {
            let mut request = http().request(method, format!("{address}/api/{api}/v1/{path}"));
            for (name, value) in [
                ("idempotency-key", marked("key")),
                ("cookie", format!("session={}", marked("cookie"))),
                ("user-agent", marked("agent")),
                ("accept-language", marked("language")),
                ("referer", format!("https://shop.example/{}", marked("referer"))),
                ("x-forwarded-for", "198.51.100.77".to_owned()),
                ("x-unknown", marked("header")),
            ] {
                request = request.header(name, value);
            }
            match body {
                Some(body) => request.json(&body),
                None => request,
            }
        })
        .collect()
}

#[tokio::test]
async fn the_log_has_nothing_that_people_wrote_at_any_level() {
    let folder = tempfile::tempdir().expect("a folder");
    let flags = ["--log", "trace", "--log-format", "json", "--trusted-hop", "127.0.0.1"];
    let running = Running::start(folder.path(), &flags);
    let site = crate::serve::json(folder.path(), &["admin", "site", "create", "--name", "Shop"]);
    let site = site["site"]["id"].as_str().expect("an id");
    let token = crate::serve::json(folder.path(), &["admin", "token", "create", "--site", site]);
    let token = token["token"].as_str().expect("a token").to_owned();
    let mut succeeded = 0;
    for bearer in [token.clone(), marked("token")] {
        for request in requests(running.address()) {
            let response = request.bearer_auth(&bearer).send().await.expect("an answer");
            assert!(response.status().as_u16() < 500, "{response:?}");
            succeeded += u32::from(response.status().is_success());
        }
    }
    assert!(succeeded >= 5, "with the token, some requests are executed: {succeeded}");
    // Text that is no HTTP, and a body that ends early.
    for raw in [
        format!("{} nonsense\r\n\r\n", marked("raw")),
        format!(
            "POST /api/connector/v1/events?{} HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\n{}",
            marked("query"),
            marked("half")
        ),
    ] {
        use std::io::Write;
        let mut stream = std::net::TcpStream::connect(running.authority()).expect("connected");
        stream.write_all(raw.as_bytes()).expect("written");
        stream.shutdown(std::net::Shutdown::Write).expect("shut down");
        crate::serve::read_all(&mut stream);
    }
    let owner_link = running.text("ownerLink").split_once("#setup=").expect("a secret").1.to_owned();
    let log = running.stop();
    let answered: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .filter(|line| line["message"] == "answered")
        .collect();
    assert!(answered.len() >= 40, "{}", answered.len());
    let sent = answered
        .iter()
        .find(|line| line["route"] == "/api/connector/v1/chat/messages" && line["method"] == "POST");
    let sent = sent.expect("a line for the message");
    assert!(sent["request_id"].as_str().is_some_and(|id| id.starts_with("req_")), "{sent}");
    assert!(sent["took_ms"].is_number() && sent["status"].is_number(), "{sent}");
    for secret in [MARKER, &token, "198.51.100.77", &owner_link] {
        let leaked = log.lines().find(|line| line.contains(secret));
        assert_eq!(leaked, None, "{secret}");
    }
}
