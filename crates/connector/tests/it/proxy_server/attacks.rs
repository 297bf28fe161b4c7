//! Attacks that try to reach more than the five paths.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::proxy::{self, Seen};
use crate::proxy_server::{Running, serve};
use crate::service::{Service, TOKEN};

/// A proxy for a service that records its requests.
async fn watched() -> (Running, Seen) {
    let (service, arrived) = proxy::service(|| "{}").await;
    let sandbox = Service::start().await;
    let proxy = serve(&sandbox, |options| options.proxy.origin = format!("http://{service}")).await;
    (proxy, arrived)
}

fn lines(arrived: &Seen) -> Vec<String> {
    arrived.lock().expect("not poisoned").iter().map(|(line, _, _)| line.clone()).collect()
}

/// Sends bytes on a new connection, and returns everything received until it ends.
async fn say(proxy: &Running, text: impl AsRef<[u8]>) -> String {
    let mut connection = proxy.connect().await;
    let mut read = Vec::new();
    // The proxy may close or reset the connection before everything is sent.
    let _ = connection.write_all(text.as_ref()).await;
    let to_its_end = tokio::time::timeout(Duration::from_secs(30), connection.read_to_end(&mut read));
    let _ = to_its_end.await.expect("an end");
    let read = String::from_utf8_lossy(&read).into_owned();
    assert!(!read.contains(TOKEN));
    read
}

fn statuses(answers: &str) -> Vec<&str> {
    let starts = answers.split("HTTP/1.1 ").skip(1);
    starts.map(|answer| answer.get(..3).unwrap_or_default()).collect()
}

const JSON: &str = "host: shop.example\r\ncontent-type: application/json\r\n";
/// Returns a request that is hidden in the body of another one.
const HIDDEN: &str = "GET /site/status HTTP/1.1\r\nhost: shop.example\r\nconnection: close\r\n\r\n";

#[tokio::test]
async fn never_forwards_a_smuggled_request() {
    let (proxy, arrived) = watched().await;
    for (headers, begin) in [
        ("content-length: 3\r\ntransfer-encoding: chunked\r\n", "0\r\n\r\n"),
        ("transfer-encoding: chunked\r\ncontent-length: 3\r\n", "0\r\n\r\n"),
        ("content-length: 0\r\ncontent-length: 3\r\n", ""),
        ("content-length: 0, 3\r\n", ""),
        ("content-length: +2\r\n", "{}"),
        ("content-length : 2\r\n", "{}"),
        ("transfer-encoding: xchunked\r\n", "0\r\n\r\n"),
        ("transfer-encoding: chunked, identity\r\n", "0\r\n\r\n"),
        ("transfer-encoding : chunked\r\n", "0\r\n\r\n"),
        ("x: y\r\n transfer-encoding: chunked\r\n", "0\r\n\r\n"),
        ("content-length: 2\r\n", "{}"),
        ("transfer-encoding: chunked\r\n", "2;x=\"\r\n{}\r\n0\r\n\r\n"),
    ] {
        let answers =
            say(&proxy, format!("POST /connector/events HTTP/1.1\r\n{JSON}{headers}\r\n{begin}{HIDDEN}"))
                .await;
        let statuses = statuses(&answers);
        // Refused, or the last request of its connection, or two requests, the second of them with an unknown
        // path.
        assert!(matches!(statuses[..], [] | ["400" | "200"] | ["200", "404"]), "{headers}: {answers}");
    }
    for (line, headers, body) in arrived.lock().expect("not poisoned").iter() {
        assert_eq!(line, "POST /api/connector/v1/events");
        let length = headers.get("content-length").map_or("0", |length| length.to_str().expect("text"));
        assert_eq!(length, body.len().to_string());
        assert!(!headers.contains_key("transfer-encoding") && !body.contains("site/status"), "{body}");
    }
}

#[tokio::test]
async fn encoded_paths_reach_no_other_endpoint() {
    let (proxy, arrived) = watched().await;
    for path in [
        "/connector/../site/status",
        "/connector/chat/../../site/status",
        "/connector/chat/config/../../site/status",
        "/connector/chat%2f..%2f..%2fsite%2fstatus",
        "/connector/%63hat/config",
        "/connector/chat/config%00",
        "/connector/chat/config;a=b",
        "/connector//chat/config",
        "//connector/chat/config",
        "/connector/chat/config/",
        "/connector\\chat\\config",
        "/CONNECTOR/chat/config",
        "*",
        "http://shop.example/site/status",
        "http://user:secret@shop.example/connector/../site/status",
    ] {
        let answer =
            say(&proxy, format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")).await;
        assert!(matches!(statuses(&answer)[..], ["404" | "400"]), "{path}: {answer}");
    }
    let answer =
        say(&proxy, "CONNECT service.example:443 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    assert!(matches!(statuses(&answer)[..], ["404" | "400" | "405"]), "{answer}");
    assert_eq!(lines(&arrived), Vec::<String>::new());
}

#[tokio::test]
async fn an_absolute_url_of_another_host_goes_to_the_service() {
    let (proxy, arrived) = watched().await;
    let request =
        "GET http://evil.example/connector/chat/config?locale=en HTTP/1.1\r\nhost: evil.example\r\n";
    let answer = say(&proxy, format!("{request}connection: close\r\n\r\n")).await;
    assert_eq!(statuses(&answer), ["200"]);
    assert_eq!(lines(&arrived), ["GET /api/connector/v1/chat/config?locale=en"]);
    let host = arrived.lock().expect("not poisoned")[0].1["host"].clone();
    assert!(host.to_str().expect("text").starts_with("127.0.0.1:"), "{host:?}");
}

#[tokio::test]
async fn never_forwards_proxy_control_headers() {
    let (proxy, arrived) = watched().await;
    let steering = "x-forwarded-for: 127.0.0.1\r\nx-forwarded-host: evil.example\r\nforwarded: for=127.0.0.1\r\n\
                    x-real-ip: 127.0.0.1\r\nx-original-url: /site/status\r\nx-http-method-override: DELETE\r\n\
                    authorization: Bearer mine\r\nproxy-authorization: Basic eDp5\r\ncookie: a=b\r\nte: trailers\r\n\
                    upgrade: websocket\r\nconnection: upgrade, authorization, close\r\nrange: bytes=0-1\r\n";
    let answer = say(&proxy, format!("GET /connector/chat/config HTTP/1.1\r\n{JSON}{steering}\r\n")).await;
    assert_eq!(statuses(&answer), ["200"]);
    let arrived = arrived.lock().expect("not poisoned");
    let mut names: Vec<_> = arrived[0].1.keys().map(axum::http::HeaderName::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["accept", "accept-encoding", "authorization", "host", "user-agent"]);
    assert_eq!(arrived[0].1["authorization"], format!("Bearer {TOKEN}"));
}

#[tokio::test]
async fn a_header_value_cannot_inject_another_header() {
    let (proxy, arrived) = watched().await;
    for value in ["a\rx-evil: 1", "a\r\r\nx-evil: 1", "a\0b", "a\x7fb", "a\n x-evil: 1"] {
        let request =
            format!("idempotency-key: {value}\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}");
        say(&proxy, format!("POST /connector/events HTTP/1.1\r\n{JSON}{request}")).await;
    }
    for (_, headers, _) in arrived.lock().expect("not poisoned").iter() {
        assert!(!headers.contains_key("x-evil"), "{headers:?}");
    }
    let twice = "idempotency-key: key-number-one\r\nidempotency-key: key-number-two\r\n";
    let rest = "connection: close\r\ncontent-length: 2\r\n\r\n{}";
    say(&proxy, format!("POST /connector/events HTTP/1.1\r\n{JSON}{twice}{rest}")).await;
    let arrived = arrived.lock().expect("not poisoned");
    let (_, headers, _) = arrived.last().expect("a request");
    assert_eq!(headers.get_all("idempotency-key").iter().collect::<Vec<_>>(), ["key-number-one"]);
}

#[tokio::test]
async fn refuses_an_oversized_head_or_body_before_its_end() {
    let (proxy, arrived) = watched().await;
    let get = "GET /connector/chat/config HTTP/1.1\r\nhost: x\r\n";
    let large = say(&proxy, format!("{get}x-large: {}\r\n\r\n", "a".repeat(200_000))).await;
    let many = say(&proxy, format!("{get}{}\r\n", "x-many: a\r\n".repeat(500))).await;
    let long =
        say(&proxy, format!("GET /connector/chat/config?{} HTTP/1.1\r\n\r\n", "a".repeat(100_000))).await;
    for answer in [large, many, long] {
        // A reset may arrive before the response.
        assert!(matches!(statuses(&answer)[..], [] | ["431" | "414"]), "{answer}");
    }
    let post = format!("POST /connector/events HTTP/1.1\r\n{JSON}");
    let response = say(&proxy, format!("{post}content-length: 99999999999\r\n\r\n")).await;
    assert_eq!(statuses(&response), ["413"], "before the body");
    let broken = say(&proxy, format!("{post}transfer-encoding: chunked\r\n\r\nnonsense\r\n")).await;
    assert_eq!(statuses(&broken), ["400"]);
    assert!(broken.contains("INVALID_REQUEST") && broken.contains("connection: close"), "{broken}");
    assert_eq!(lines(&arrived), Vec::<String>::new());
}
