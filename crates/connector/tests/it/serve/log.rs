//! The log has none of what people wrote, and none of their secrets, at any level.

use reqwest::RequestBuilder;
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
    let email = |place: &str| format!("{}@example.org", marked(place));
    let calls = [
        ("GET connector", "chat/config".to_owned(), Value::Null),
        ("POST connector", "chat/messages".to_owned(), message()),
        ("GET connector", format!("chat/messages?conversationId={}&after=0", marked("query")), Value::Null),
        ("GET connector", "chat/presence".to_owned(), Value::Null),
        ("POST connector", "events".to_owned(), json!({ "events": [event()] })),
        (
            "POST connector",
            "activate".to_owned(),
            json!({ "licenseCode": marked("license"), "domain": "https://shop.example" }),
        ),
        ("POST connector", "site/activate".to_owned(), json!({ "licenseCode": marked("license") })),
        ("GET connector", "site/status".to_owned(), Value::Null),
        (
            "POST connector",
            "site/content/sync".to_owned(),
            json!({ "snapshotId": marked("snapshot"), "items": [item] }),
        ),
        ("GET connector", format!("site/seo/overlays?path=/{}", marked("overlay")), Value::Null),
        ("POST connector", "site/jobs/claim".to_owned(), json!({})),
        ("POST connector", format!("site/jobs/{id}/complete"), json!({ "claimToken": marked("claim") })),
        ("DELETE connector", format!("{}/nowhere", marked("path")), Value::Null),
        (
            "POST admin",
            "setup".to_owned(),
            json!({
                "token": marked("setup"), "name": marked("name"), "email": "a@example.org",
                "password": marked("password"),
            }),
        ),
        (
            "POST admin",
            "session".to_owned(),
            json!({ "email": email("login"), "password": marked("password") }),
        ),
        ("POST admin", "password/forgot".to_owned(), json!({ "email": email("forgot") })),
        ("GET admin", format!("sites/{id}/conversations?search={}", marked("search")), Value::Null),
        ("GET admin", format!("sites/{id}/visitors/{}", marked("visitor")), Value::Null),
        (
            "POST admin",
            format!("sites/{id}/answers"),
            json!({ "question": marked("question"), "answer": marked("answer") }),
        ),
        ("GET admin", format!("audit?{}", marked("audit")), Value::Null),
    ];
    calls
        .into_iter()
        .map(|(call, path, body)| {
            let (method, api) = call.split_once(' ').expect("a method and an API");
            let method = method.parse().expect("a method");
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
            if body.is_null() { request } else { request.json(&body) }
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
