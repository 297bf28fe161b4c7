//! The service and the proxy go on when no line of their log can be written.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::serve::{Running, command, get, http};
use crate::site_connector::Process;

/// Returns standard errors that take no line: of a full disk, of a pipe whose reader is gone, and one that is
/// full, because its reader does not read.
fn unwritable() -> [(&'static str, Stdio, Option<UnixStream>); 3] {
    let full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let (reader, closed) = std::io::pipe().expect("a pipe");
    drop(reader);
    let (reader, mut unread) = UnixStream::pair().expect("a pair");
    unread.set_nonblocking(true).expect("set");
    while unread.write(&[b'\n'; 1024]).is_ok() {}
    unread.set_nonblocking(false).expect("set");
    [
        ("a full disk", full.into(), None),
        ("a closed pipe", closed.into(), None),
        ("a reader that does not read", OwnedFd::from(unread).into(), Some(reader)),
    ]
}

/// Sends a message, and returns the messages of its conversation as they are stored then.
async fn converse(base: &str, token: Option<&str>, text: &str) -> Vec<Value> {
    let with_token = |request: reqwest::RequestBuilder| match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    };
    let key = format!("chat-visitor-1-{}", text.len());
    let post = http().post(format!("{base}/chat/messages")).header("idempotency-key", key);
    let message = json!({ "message": text, "visitor": { "visitorId": "visitor-1" } });
    let sent = with_token(post.json(&message)).send().await.expect("an answer");
    assert_eq!(sent.status(), 200);
    let sent: Value = sent.json().await.expect("JSON");
    let id = sent["data"]["conversationId"].as_str().expect("an id").to_owned();
    let read = http().get(format!("{base}/chat/messages?conversationId={id}"));
    let read: Value = with_token(read).send().await.expect("an answer").json().await.expect("JSON");
    read["data"]["messages"].as_array().expect("messages").clone()
}

fn contents(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["content"].as_str().expect("text")).collect()
}

#[tokio::test]
async fn a_service_whose_log_cannot_be_written_answers_and_stores() {
    for (name, stderr, _reader) in unwritable() {
        let folder = tempfile::tempdir().expect("a folder");
        let free = "127.0.0.1:0";
        let flags = ["serve", "--json", "--listen", free, "--metrics-listen", free, "--log", "trace"];
        let running = Running::spawn_logging_to(stderr, folder.path(), command(folder.path(), &flags));
        let site = crate::serve::json(folder.path(), &["admin", "site", "create", "--name", "Shop"]);
        let site = site["site"]["id"].as_str().expect("an id");
        let token = crate::serve::json(folder.path(), &["admin", "token", "create", "--site", site]);
        let token = token["token"].as_str().expect("a token");
        let api = format!("{}/api/connector/v1", running.address());
        let first = converse(&api, Some(token), "Do you ship?").await;
        assert!(contents(&first).contains(&"Do you ship?"), "{name}: {first:?}");
        // A failed sign-in is logged and recorded after its response.
        let wrong = json!({ "email": "nobody@example.org", "password": "a wrong password" });
        let sign_in = http()
            .post(format!("{}/api/admin/v1/session", running.address()))
            .header("origin", running.address())
            .json(&wrong);
        assert_eq!(sign_in.send().await.expect("an answer").status(), 401, "{name}");
        assert_eq!(get(&format!("{}/readyz", running.address())).await, (200, "ok\n".to_owned()), "{name}");
        let later = converse(&api, Some(token), "Do you take cards?").await;
        assert!(contents(&later).contains(&"Do you take cards?"), "{name}: {later:?}");
        running.process.stop();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_whose_log_cannot_be_written_forwards() {
    let service = crate::service::Service::start().await;
    for (name, stderr, _reader) in unwritable() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut process = Process::spawn(
            command(folder.path(), &["proxy", "--listen", "127.0.0.1:0", "--log", "trace"])
                .args(["--origin", &service.origin()])
                .env("CONNECTOR_TOKEN", crate::service::TOKEN)
                .stderr(stderr),
        );
        let line = process.first_lines(1).pop().unwrap_or_default();
        let address = line.trim().trim_start_matches("Proxy").trim();
        let messages = converse(&format!("{address}/connector"), None, &format!("Hello, {name}")).await;
        assert!(!messages.is_empty(), "{name}");
        assert_eq!(get(&format!("{address}/healthz")).await.0, 200, "{name}");
        process.stop();
    }
}
