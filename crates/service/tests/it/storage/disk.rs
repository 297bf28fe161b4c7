//! The reserve of the disk with an SQLite file.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use chat_service::{ServiceOptions, SiteChange, StorageBudgets};
use serde_json::json;

use super::flood::{accepted_soon, batch, fill, metrics};
use crate::inbox::desk::Desk;
use crate::support::databases::{Kind, TestDatabase};
use crate::support::{Client, options};

/// The time after which somebody who was refused tries again.
const PAUSE: Duration = Duration::from_millis(300);

fn disk_full() -> (u16, String) {
    (507, "STORAGE_FULL".to_owned())
}

async fn ready(client: &Client) -> (u16, String) {
    let request = Request::get("/readyz").body(Body::empty()).expect("a request");
    let answer = client.send(request).await;
    (answer.status.as_u16(), String::from_utf8_lossy(&answer.body).into_owned())
}

async fn says(client: &Client, text: &str) -> (u16, String) {
    let answer = client.post("/chat/messages", None, &json!({ "message": text })).await;
    if answer.status == 200 { (200, String::new()) } else { answer.failure() }
}

/// Returns the options of a service on a database whose disk seems to have `parts` times its free space as
/// the reserve.
fn with_reserve(database: &TestDatabase, parts: u64) -> ServiceOptions {
    let folder = Path::new(&database.address).parent().expect("a folder");
    let found = rustix::fs::statvfs(folder).expect("measured");
    let free = found.f_bavail * found.f_frsize;
    let storage = StorageBudgets { disk_reserve: Some(free * parts), ..StorageBudgets::default() };
    ServiceOptions { storage, ..options(database) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn below_the_reserve_events_and_content_are_refused_and_messages_are_not() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = Client::with(with_reserve(&database, 2), SiteChange::default()).await;
    assert_eq!(client.post("/events", None, &batch("v-1")).await.failure(), disk_full());
    let item = json!({ "externalId": "1", "type": "page", "path": "/", "content": "text" });
    let page = json!({ "snapshotId": "s", "page": 1, "items": [item] });
    let refused = client.post("/content/sync", None, &page).await;
    assert_eq!(refused.failure(), disk_full());
    assert_eq!(refused.header("retry-after"), Some("10"));
    assert_eq!(says(&client, "Hello").await.0, 200);
    let (status, text) = ready(&client).await;
    assert_eq!(status, 200);
    assert!(text.starts_with("ok\n") && text.contains("events and content are refused"), "{text}");
    let metrics = metrics(&client).await;
    assert!(metrics.contains("storage_state 1"), "{metrics}");
    assert!(metrics.contains("storage_refused_total{limit=\"disk\"} 2"), "{metrics}");
    let desk = Desk::of(client, "Olga").await;
    assert_eq!(desk.get("/quota").await["diskRefuses"], "bulk");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn below_a_quarter_of_the_reserve_operators_still_sign_in_answer_and_delete() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    // Before the disk was full.
    let client = Client::new(&database).await;
    Desk::of(client.clone(), "Olga").await;
    let visitor = json!({ "message": "Do you ship?", "visitor": { "visitorId": "v-1" } });
    let erased = client.post("/chat/messages", None, &visitor).await.data();
    let asked = client.begin("Do you take cards?").await;

    let client = client.reopened(with_reserve(&database, 8)).await;
    assert_eq!(says(&client, "Hello").await, disk_full());
    let desk = Desk::sign_in(client.clone(), "Olga@shop.example").await;
    assert_eq!(desk.get("/quota").await["diskRefuses"], "messages");
    assert_eq!(desk.answer(&asked, "We do.").await["content"], "We do.");
    let history = client.history(&asked).await;
    assert!(history.contains(&("operator".to_owned(), "We do.".to_owned())), "{history:?}");
    let path = format!("/sites/{}/visitors/v-1", client.site.id);
    assert_eq!(desk.call("DELETE", &path, None).await.data()["erased"]["conversations"], 1);
    let erased = erased["conversationId"].as_str().expect("an id");
    assert_eq!(desk.call("GET", &format!("/conversations/{erased}"), None).await.status, 404);
    let (status, text) = ready(&client).await;
    assert_eq!(status, 200, "the owner could not delete");
    assert!(text.contains("messages, events and content are refused"), "{text}");
}

/// Runs a test once more in a mount namespace of its own, in which everybody may mount, with a small disk as
/// the folder of temporary files. Returns whether this process is that one.
fn has_small_disk(test: &str) -> bool {
    const IN_NAMESPACE: &str = "CHAT_SERVICE_TEST_NAMESPACE";
    let is_in_namespace = std::env::var_os(IN_NAMESPACE).is_some();
    let mut command = Command::new(if is_in_namespace { "mount" } else { "unshare" });
    if is_in_namespace {
        command.args(["-t", "tmpfs", "-o", "size=64m", "tmpfs"]).arg(std::env::temp_dir());
    } else {
        let program = std::env::current_exe().expect("a path");
        command.args(["--map-root-user", "--mount"]).arg(program).args(["--exact", test, "--nocapture"]);
        command.env(IN_NAMESPACE, "1");
    }
    assert!(command.status().expect("util-linux is installed").success(), "{command:?} failed");
    is_in_namespace
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_volume_that_events_fill_others_go_on_and_an_owner_frees_space() {
    const NAME: &str = "storage::disk::on_a_volume_that_events_fill_others_go_on_and_an_owner_frees_space";
    if !has_small_disk(NAME) {
        return;
    }
    let database = TestDatabase::new(Kind::Sqlite).await;
    let attacker = Client::new(&database).await;
    let other = Client::of(attacker.service.clone(), SiteChange::default()).await;
    let mut batches = 0;
    // Again after each refusal, until nothing is left: what a checkpoint frees is filled as well.
    for visitor in 0.. {
        let (accepted, answer) = fill(&attacker, &format!("v-{}", visitor % 4)).await;
        assert_eq!(answer.failure(), disk_full());
        batches += accepted;
        if accepted == 0 && visitor >= 4 {
            break;
        }
        tokio::time::sleep(PAUSE).await;
    }
    assert!(batches > 100, "{batches} batches");
    let begun = other.begin("Do you ship?").await;
    for number in 0..50 {
        let body = json!({ "message": format!("Message {number}"), "conversationId": begun });
        assert_eq!(other.post("/chat/messages", None, &body).await.status, 200, "{number}");
    }

    let desk = Desk::of(attacker.clone(), "Olga").await;
    for visitor in 0..4 {
        let path = format!("/sites/{}/visitors/v-{visitor}", attacker.site.id);
        let answer = desk.call("DELETE", &path, None).await;
        // A visitor of whom nothing was accepted does not exist.
        assert!(answer.status == 200 || answer.status == 404, "{:?}", answer.body);
    }
    // It goes on by itself.
    accepted_soon(async || other.post("/events", None, &batch("v-1")).await).await;
    assert_eq!(ready(&other).await, (200, "ok\n".to_owned()));
    assert!(other.history(&begun).await.iter().any(|(_, text)| text == "Message 49"));
}
