//! `site-connector proxy`: its settings, and its log.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::service::{Service, TOKEN, http};
use crate::site_connector::{self, Process, command};

/// Starts a proxy whose log goes to the file `log` in a folder. Returns its address.
fn start(command: &mut Command, folder: &Path) -> (Process, String) {
    let mut process = Process::spawn_with_log(command, folder);
    let line = process.first_lines(1).pop().expect("a line");
    (process, line.trim_start_matches("Proxy").trim().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn flags_override_variables_override_the_file_and_no_secret_is_logged() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a file");
    write("token", &format!("{TOKEN}\n"));
    write(
        "proxy.toml",
        "origin = \"http://127.0.0.1:1\"\nlisten = \"127.0.0.1:0\"\nprefix = \"/from-file\"\ntoken_file = \"token\"\n\
         trusted_hops = [\"127.0.0.1/32\"]\nrate_per_minute = 60\n",
    );
    let proxy = ["proxy", "--config", "proxy.toml", "--prefix", "/chat-proxy"];
    let arguments = [&["--log", "trace", "--log-format", "json"][..], &proxy].concat();
    let mut command = command(directory.path(), &service.origin(), &arguments);
    command.env("CONNECTOR_PREFIX", "/from-environment").env_remove("CONNECTOR_TOKEN");
    let (process, address) = start(&mut command, directory.path());
    let body = json!({ "message": "A secret of mine", "visitor": { "email": "ann@example.org" } });
    let url = format!("{address}/chat-proxy/chat/messages");
    let request = http().post(url).header("x-forwarded-for", "198.51.100.77").json(&body);
    let answer = request.send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    assert!(!format!("{answer:?}").contains(TOKEN));
    let read = format!("{address}/chat-proxy/chat/messages?conversationId=conv_secret");
    http().get(read).send().await.expect("an answer");
    if cfg!(unix) {
        process.stop();
    }
    let log = std::fs::read_to_string(directory.path().join("log")).expect("a log");
    let answered: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .filter(|line| line["message"] == "answered")
        .collect();
    assert_eq!((&answered[0]["call"], &answered[0]["status"]), (&json!("send"), &json!(200)));
    assert!(answered[0]["request_id"].as_str().is_some_and(|id| id.starts_with("req_")));
    for secret in [TOKEN, "A secret of mine", "ann@example.org", "conv_secret", "198.51.100.77"] {
        assert!(!log.contains(secret), "{secret}");
    }
}

/// Runs a proxy for the service at an origin. Returns its address and a reader of its log.
fn run(
    directory: &Path,
    origin: &str,
    token: &str,
    flags: &[&str],
) -> (Process, String, impl Fn() -> String + use<>) {
    let log = directory.join("log");
    let arguments = [&["proxy", "--listen", "127.0.0.1:0"], flags].concat();
    let mut command = command(directory, origin, &arguments);
    let (process, address) = start(command.env("CONNECTOR_TOKEN", token), directory);
    (process, address, move || std::fs::read_to_string(&log).expect("a log"))
}

async fn until(condition: impl Fn() -> bool) {
    let held = async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), held).await.expect("the condition holds");
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_a_wrong_token_at_start_and_refusals_once_a_minute() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let (_process, address, log) = run(directory.path(), &service.origin(), "a-wrong-token", &[]);
    until(|| log().contains("the service refuses the site token (401)")).await;
    for _ in 0..20 {
        let answer =
            http().get(format!("{address}/connector/chat/presence")).send().await.expect("an answer");
        assert_eq!(answer.status(), 401);
    }
    until(|| log().contains("the site token is missing or invalid")).await;
    assert_eq!(log().matches("the service refuses requests").count(), 1, "{}", log());
    assert!(!log().contains("a-wrong-token"));
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_at_start_that_the_service_does_not_answer() {
    // The system accepts the connection.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let origin = format!("http://{}", silent.local_addr().expect("an address"));
    let directory = tempfile::tempdir().expect("a directory");
    let (_process, _, log) = run(directory.path(), &origin, TOKEN, &["--timeout", "1"]);
    until(|| log().contains("the service did not answer within 1s")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn warns_once_about_an_untrusted_web_server() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let warned = async |flags: &[&str]| {
        let (_process, address, log) = run(directory.path(), &service.origin(), TOKEN, flags);
        for client in ["198.51.100.1", "198.51.100.2"] {
            let request =
                http().get(format!("{address}/connector/chat/presence")).header("x-forwarded-for", client);
            assert_eq!(request.send().await.expect("an answer").status(), 200);
        }
        assert!(!log().contains("198.51.100"), "the log contains no visitors: {}", log());
        log().matches("--trusted-hop 127.0.0.1").count()
    };
    assert_eq!(warned(&[]).await, 1);
    assert_eq!(warned(&["--trusted-hop", "127.0.0.1"]).await, 0);
}

#[test]
fn refuses_an_invalid_configuration_with_advice() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("token"), TOKEN).expect("a file");
    let error_of = |text: &str| {
        std::fs::write(directory.path().join("proxy.toml"), text).expect("a file");
        let arguments = ["proxy", "--config", "proxy.toml", "--listen", "127.0.0.1:0"];
        let mut command = command(directory.path(), "", &arguments);
        let output = command.env_remove("CONNECTOR_ORIGIN").env_remove("CONNECTOR_TOKEN").output();
        let output = output.expect("runs");
        assert_eq!(output.status.code(), Some(2));
        site_connector::error_of(&output)
    };
    assert!(error_of("").contains("--origin"));
    assert!(error_of("orgin = \"x\"").contains("orgin"));
    assert!(error_of("origin = \"https://service.example\"").contains("--token-file"));
    let complete =
        |rest: &str| format!("origin = \"https://service.example\"\ntoken_file = \"token\"\n{rest}");
    assert!(error_of(&complete("prefix = \"connector/\"")).contains("prefix"));
    assert!(
        error_of(&complete("trusted_hops = [\"10.0.0.0/99\"]")).contains("such as 10.0.0.0/8, or an address")
    );
    assert!(error_of(&complete("timeout = 0")).contains("timeout"));
    assert!(error_of(&complete("allowed_origins = [\"null\"]")).contains("got null"));
}

#[test]
fn tells_where_certificates_come_from_if_the_system_has_none() {
    let directory = tempfile::tempdir().expect("a directory");
    let none = directory.path().join("none.pem");
    std::fs::write(&none, "").expect("a file");
    let arguments = ["proxy", "--listen", "127.0.0.1:0"];
    let output = command(directory.path(), "https://service.example", &arguments)
        .env_remove("CONNECTOR_CONFIG")
        .env("SSL_CERT_FILE", &none)
        .env("SSL_CERT_DIR", directory.path().join("nowhere"))
        .output()
        .expect("runs");
    let error = site_connector::error_of(&output);
    assert!(!output.status.success(), "{error}");
    assert!(error.contains("No CA certificates were loaded from the system"), "{error}");
    assert!(error.contains("ca-certificates") && error.contains("SSL_CERT_FILE"), "{error}");
}

/// Starts with the settings of docs/server.md, except addresses and paths.
#[test]
fn accepts_the_documented_settings() {
    let document = include_str!("../../../../../docs/server.md");
    let (_, settings) = document.split_once("```toml\n").expect("settings");
    let (settings, _) = settings.split_once("```").expect("an end");
    let directory = tempfile::tempdir().expect("a directory");
    let settings = settings
        .replace("127.0.0.1:8081", "127.0.0.1:0")
        .replace("127.0.0.1:9464", "127.0.0.1:0")
        .replace("/run/secrets/site-token", "token");
    std::fs::write(directory.path().join("proxy.toml"), settings).expect("a file");
    std::fs::write(directory.path().join("token"), TOKEN).expect("a file");
    let mut command = command(directory.path(), "", &["proxy", "--config", "proxy.toml"]);
    command.env_remove("CONNECTOR_ORIGIN").env_remove("CONNECTOR_TOKEN");
    let lines = Process::spawn(&mut command).first_lines(1);
    assert!(lines[0].starts_with("Proxy    http://127.0.0.1:"), "{lines:?}");
}
