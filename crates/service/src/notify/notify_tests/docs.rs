//! The snippets and the tables of `docs/webhooks.md`.

use std::process::{Command, Stdio};

use axum::http::Method;

use super::receiver::{Received, Receiver};
use super::webhook_routes::call;
use super::webhooks::{create, deliver};
use super::*;
use crate::databases::Kind;
use crate::notify::data::{self, MessageData};

fn page() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/webhooks.md");
    std::fs::read_to_string(path).expect("the page")
}

/// Returns the only snippet in a language.
fn snippet(language: &str) -> String {
    let page = page();
    let (_, rest) = page.split_once(&format!("```{language}\n")).expect("a snippet");
    rest.split_once("```").expect("its end").0.to_owned()
}

/// Verifies a request with the page's code for Node.
fn verify_in_node(secret: &str, request: &Received) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let call = "const { secret, headers, body } = JSON.parse(process.env.REQUEST);\n\
                console.log(verifyWebhook(secret, headers, body));\n";
    let path = folder.path().join("verify.mjs");
    std::fs::write(&path, format!("{}\n{call}", snippet("js"))).expect("written");
    let names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    let headers = Value::object(names.map(|name| (name, request.header(name).into())));
    let request = Value::object([
        ("secret", secret.into()),
        ("headers", headers),
        ("body", request.body.as_str().into()),
    ]);
    let output =
        Command::new("node").arg(path).env("REQUEST", request.to_json()).stderr(Stdio::inherit()).output();
    let output = output.expect("Node.js runs the snippet");
    match String::from_utf8_lossy(&output.stdout).trim() {
        "true" => true,
        "false" => false,
        other => panic!("expected true or false, got {other}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_code_for_node_accepts_what_the_service_sends_and_nothing_else() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let service = open(&database).await;
    let receiver = Receiver::start().await;
    let (_, secret) = create(&service, "a", &receiver.url).await;
    report(&service, "a", EventName::MessageCreated, "Grüße \u{1f600}").await;
    deliver(&service, service.now_ms()).await;
    let request = &receiver.received()[0];
    assert!(verify_in_node(secret.expose(), request));
    let changed = |name: &'static str, value: &str| {
        let mut request = request.clone();
        request.headers.insert(name, value.parse().expect("a header"));
        request
    };
    let signature = request.header("webhook-signature");
    assert!(verify_in_node(secret.expose(), &changed("webhook-signature", &format!("v1,AAAA {signature}"))));
    for other in [
        changed("webhook-id", "evt_other"),
        changed("webhook-timestamp", "1600000000"),
        changed("webhook-timestamp", "soon"),
        changed("webhook-signature", "v1,"),
        changed("webhook-signature", &signature.replace("v1,", "v2,")),
        Received { body: request.body.replace("Gr", "gr"), ..request.clone() },
    ] {
        assert!(!verify_in_node(secret.expose(), &other), "{other:?}");
    }
    assert!(!verify_in_node("whsec_AAAA", request));
}

#[test]
fn the_code_for_rust_is_the_one_that_the_tests_use() {
    assert_eq!(snippet("rust"), include_str!("verify.rs"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_request_that_creates_a_webhook_works() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let service = open(&database).await;
    let request = snippet("http");
    let (head, body) = request.split_once("\n\n").expect("a body");
    let path = head.lines().next().and_then(|line| line.strip_prefix("POST /api/admin/v1")).expect("a path");
    let body = serde_json::from_str(body).expect("JSON");
    let (status, created) = call(&service, &operator("a", Role::Admin), Method::POST, path, Some(body)).await;
    assert!(status.is_success(), "{created:?}");
}

#[test]
fn the_tables_list_all_events_and_their_members() {
    let page = page();
    let id = "conv_1";
    let message = MessageData {
        conversation_id: id,
        seq: 3,
        role: "visitor",
        content: "Where is my order?",
        operator_name: None,
        outcome: None,
        created_ms: 1,
    };
    for name in EventName::ALL.into_iter().chain([EventName::WebhookTest]) {
        let data = match name {
            EventName::ConversationCreated => {
                data::conversation_created(id, Some("v"), &[], Some("en"), Some("/"))
            }
            EventName::MessageCreated => data::message_created(MessageData {
                operator_name: Some("Ada"),
                outcome: Some("answered"),
                ..message
            }),
            EventName::ConversationAssigned => data::conversation_assigned(id, Some(("op_1", "Ada"))),
            EventName::ConversationClosed | EventName::ConversationReopened | EventName::HandoffRequested => {
                data::conversation_changed(id)
            }
            EventName::LeadUpdated => data::lead_updated(id, &[], Value::object([]), 1),
            EventName::JobCompleted => data::job_completed("job_1", "overlay", "completed", "A page"),
            EventName::WebhookTest => Value::object([]),
        };
        let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", name.as_str())));
        let row = row.unwrap_or_else(|| panic!("{} has a row", name.as_str()));
        for member in members(&data) {
            assert!(row.contains(&format!("`{member}`")), "{row} has {member}");
        }
    }
    let example: Value = serde_json::from_str(&snippet("json")).expect("JSON");
    let described = data::message_created(message);
    assert_eq!(members(example.get("data").expect("data")), members(&described));
}

fn members(value: &Value) -> Vec<String> {
    let Value::Object(members) = value else { panic!("expected an object, got {value:?}") };
    members.iter().map(|(name, _)| name.clone()).collect()
}
