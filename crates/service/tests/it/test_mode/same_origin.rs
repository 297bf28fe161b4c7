//! The test control refuses requests of other websites, as the admin API does: it has the same guard.

use axum::body::Body;
use axum::http::Request;

use crate::test_mode::client::{Client, HOST};

/// Returns the status of a request with exactly these headers.
async fn status(client: &Client, method: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    client.send(request.body(Body::from("{}")).expect("a request")).await.status.as_u16()
}

#[tokio::test]
async fn every_path_of_the_test_control_refuses_other_websites() {
    const JSON: (&str, &str) = ("content-type", "application/json");
    let client = Client::new().await;
    let conversation = client.begin("Hello").await;
    for (method, path) in [
        ("GET", "/sandbox/trouble"),
        ("PUT", "/sandbox/trouble"),
        ("DELETE", "/sandbox/trouble"),
        ("GET", "/sandbox/conversations"),
        ("DELETE", "/sandbox/conversations"),
        ("GET", "/sandbox/site"),
        ("DELETE", "/sandbox/site"),
        ("POST", "/sandbox/jobs"),
        ("POST", "/sandbox/overlays"),
        ("POST", "/sandbox/operator"),
        ("PUT", "/sandbox/operator/online"),
    ] {
        let ask = async |headers: &[(&str, &str)]| status(&client, method, path, headers).await;
        assert_eq!(ask(&[("host", "evil.example"), JSON]).await, 403, "DNS rebinding: {method} {path}");
        assert_eq!(
            ask(&[("host", HOST), ("origin", "http://evil.example"), JSON]).await,
            403,
            "{method} {path}"
        );
        assert_eq!(
            ask(&[("host", HOST), ("sec-fetch-site", "cross-site"), JSON]).await,
            403,
            "{method} {path}"
        );
        if method != "GET" {
            assert_eq!(ask(&[("host", HOST), ("content-type", "text/plain")]).await, 400, "{method} {path}");
        }
    }
    assert_eq!(client.history(&conversation).await.len(), 2, "nothing was changed");
}
