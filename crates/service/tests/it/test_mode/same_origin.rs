//! The console and the test paths refuse requests of other websites: DNS rebinding and cross-site requests.

use crate::test_mode::client::{Answer, Client, HOST, TOKEN};
use axum::body::Body;
use axum::http::Request;
use chat_service::test_mode::{LICENSE, TestOptions};
use serde_json::json;
use tower::ServiceExt;

/// Returns a request with exactly these headers.
fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = if method == "GET" { Body::empty() } else { Body::from("{}") };
    request.body(body).expect("a request")
}

async fn ask(client: &Client, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    client.send(request(method, path, headers)).await.expect("an answer")
}

/// Returns the status without reading the body, since a stream has no end.
async fn status(client: &Client, method: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
    let answer = client.mode.router().oneshot(request(method, path, headers)).await;
    answer.expect("an answer").status().as_u16()
}

/// Paths that change nothing, one of each kind.
const READS: [&str; 6] = [
    "/operator",
    "/operator/console.js",
    "/operator/api/conversations",
    "/operator/api/site",
    "/sandbox/conversations",
    "/sandbox/trouble",
];

/// Methods and paths that change something, one of each kind.
const CHANGES: [(&str, &str); 8] = [
    ("PUT", "/sandbox/operator/online"),
    ("PUT", "/sandbox/trouble"),
    ("DELETE", "/sandbox/trouble"),
    ("DELETE", "/sandbox/conversations"),
    ("POST", "/sandbox/jobs"),
    ("POST", "/operator/api/articles"),
    ("POST", "/operator/api/overlays/publish"),
    ("POST", "/operator/api/conversations/conv_0/read"),
];

#[tokio::test]
async fn refuses_a_foreign_host_on_every_path() {
    let client = Client::new().await;
    for host in [
        "evil.example",
        "evil.example:8090",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "",
        "a@localhost",
    ] {
        for path in READS.iter().chain(&["/", "/elsewhere", "/operator/api/changes"]) {
            assert_eq!(status(&client, "GET", path, &[("host", host)]).await, 403, "{host} {path}");
        }
        for (method, path) in CHANGES {
            let headers = [("host", host), ("content-type", "application/json")];
            assert_eq!(status(&client, method, path, &headers).await, 403, "{host} {method} {path}");
        }
    }
    let refused = ask(&client, "GET", "/operator", &[("host", "evil.example")]).await;
    assert_eq!(refused.failure(), (403, "FORBIDDEN".to_owned()));
    assert_eq!(status(&client, "GET", "/operator", &[]).await, 403, "no host at all");
    let two = [("host", HOST), ("host", "evil.example")];
    assert_eq!(status(&client, "GET", "/operator", &two).await, 403, "two hosts");
    let target = "http://evil.example/operator";
    assert_eq!(status(&client, "GET", target, &[("host", HOST)]).await, 403, "another host in the target");
}

#[tokio::test]
async fn accepts_addresses_localhost_and_configured_names() {
    let hosts = vec!["console.example".to_owned()];
    let client = Client::with(TestOptions { hosts, ..TestOptions::new(TOKEN.into()) }).await;
    for host in [
        "127.0.0.1",
        "127.0.0.1:8090",
        "[::1]:8090",
        "192.168.1.7",
        "localhost:8090",
        "LOCALHOST",
        "demo.localhost:8090",
        "console.example",
        "Console.Example:8443",
    ] {
        for path in READS {
            assert_eq!(status(&client, "GET", path, &[("host", host)]).await, 200, "{host} {path}");
        }
    }
}

#[tokio::test]
async fn refuses_a_foreign_origin_for_reads_too() {
    let client = Client::new().await;
    for origin in [
        "https://evil.example",
        "null",
        "",
        "http://127.0.0.1:8080",
        "http://localhost:8090",
        "http://127.0.0.1:8090.evil.example",
        "file://127.0.0.1:8090",
        "127.0.0.1:8090",
    ] {
        for path in READS.iter().chain(&["/operator/api/changes"]) {
            let headers = [("host", HOST), ("origin", origin)];
            assert_eq!(status(&client, "GET", path, &headers).await, 403, "{origin} {path}");
        }
        for (method, path) in CHANGES {
            let headers = [("host", HOST), ("origin", origin), ("content-type", "application/json")];
            assert_eq!(status(&client, method, path, &headers).await, 403, "{origin} {method} {path}");
        }
    }
    let own = [("host", HOST), ("origin", "http://127.0.0.1:8090"), ("content-type", "application/json")];
    assert_eq!(status(&client, "DELETE", "/sandbox/trouble", &own).await, 204);
    let behind_tls =
        [("host", HOST), ("origin", "https://127.0.0.1:8090"), ("content-type", "application/json")];
    assert_eq!(status(&client, "DELETE", "/sandbox/trouble", &behind_tls).await, 204);
}

#[tokio::test]
async fn refuses_cross_site_requests_except_links_to_the_page() {
    let client = Client::new().await;
    for site in ["cross-site", "same-site", "nonsense"] {
        for path in READS.iter().chain(&["/operator/api/changes"]) {
            let headers = [("host", HOST), ("sec-fetch-site", site), ("sec-fetch-mode", "no-cors")];
            assert_eq!(status(&client, "GET", path, &headers).await, 403, "{site} {path}");
        }
        for (method, path) in CHANGES {
            let headers = [("host", HOST), ("sec-fetch-site", site), ("content-type", "application/json")];
            assert_eq!(status(&client, method, path, &headers).await, 403, "{site} {method} {path}");
        }
        let link = |destination| {
            [
                ("host", HOST),
                ("sec-fetch-site", site),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", destination),
            ]
        };
        assert_eq!(status(&client, "GET", "/operator", &link("document")).await, 200, "{site}");
        assert_eq!(status(&client, "GET", "/", &link("document")).await, 307, "{site}");
        assert_eq!(status(&client, "GET", "/operator", &link("iframe")).await, 403, "{site}");
        assert_eq!(status(&client, "GET", "/sandbox/conversations", &link("document")).await, 403, "{site}");
        assert_eq!(status(&client, "POST", "/operator", &link("document")).await, 403, "{site}");
    }
    for site in ["same-origin", "none"] {
        let headers = [("host", HOST), ("sec-fetch-site", site)];
        assert_eq!(status(&client, "GET", "/operator/api/site", &headers).await, 200, "{site}");
    }
}

#[tokio::test]
async fn a_change_needs_the_json_content_type_even_without_a_body() {
    let client = Client::new().await;
    client.begin("Hello").await;
    for (method, path) in CHANGES {
        for kind in
            [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/jsonp")]
        {
            let mut headers = vec![("host", HOST)];
            headers.extend(kind.map(|kind| ("content-type", kind)));
            let answer = ask(&client, method, path, &headers).await;
            assert_eq!(answer.failure(), (400, "INVALID_REQUEST".to_owned()), "{kind:?} {method} {path}");
        }
    }
    assert_eq!(client.visitor_messages().await, ["Hello"], "no message was deleted");
    let json = [("host", HOST), ("content-type", "application/json; charset=utf-8")];
    assert_eq!(status(&client, "DELETE", "/sandbox/conversations", &json).await, 204);
}

#[tokio::test]
async fn a_foreign_page_can_neither_open_nor_embed_a_console() {
    let client = Client::new().await;
    let foreign = [("host", HOST), ("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")];
    assert_eq!(status(&client, "GET", "/operator/api/changes", &foreign).await, 403);
    assert_eq!(client.get("/chat/presence").await.data()["operatorOnline"], false);
    let page = ask(&client, "GET", "/operator", &[("host", HOST)]).await;
    assert!(page.header("content-security-policy").expect("a policy").contains("frame-ancestors 'none'"));
    for path in READS {
        let answer = ask(&client, "GET", path, &[("host", HOST)]).await;
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{path}");
    }
}

#[tokio::test]
async fn a_browser_cannot_activate_a_site() {
    let client = Client::new().await;
    let activate = |extra: Option<(&'static str, &'static str)>| {
        let client = client.clone();
        let body = json!({ "licenseCode": LICENSE, "domain": "https://evil.example" });
        let mut request = Request::post("/api/connector/v1/auth/activate")
            .header("host", "evil.example")
            .header("content-type", "application/json");
        if let Some((name, value)) = extra {
            request = request.header(name, value);
        }
        let request = request.body(Body::from(body.to_string())).expect("a request");
        async move { client.send(request).await.expect("an answer") }
    };
    for header in [("origin", "http://evil.example"), ("sec-fetch-site", "same-origin")] {
        assert_eq!(activate(Some(header)).await.failure(), (403, "FORBIDDEN".to_owned()));
    }
    activate(None).await.data();
}

#[tokio::test]
async fn the_api_accepts_any_host() {
    let client = Client::new().await;
    let mut request = crate::test_mode::client::api("GET", "/site/status", Body::empty());
    request.headers_mut().insert("host", "sandbox:8090".parse().expect("a value"));
    client.send(request).await.expect("an answer").data();
}
