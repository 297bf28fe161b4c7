//! Two nodes on one database are one inbox.

use chat_service::Service;
use serde_json::json;

use crate::inbox::desk::{Desk, eventually};
use crate::support::databases::{Kind, TestDatabase};
use crate::support::options;

async fn two_nodes(database: &TestDatabase) -> (Desk, Desk) {
    let one = Desk::new(database).await;
    let node = Service::open(options(database)).await.expect("a second node");
    let other = one.invite("Ben", "agent").await.at(&node);
    (one, other)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_and_typing_reach_the_consoles_of_the_other_node() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let (one, other) = two_nodes(&database).await;
    let mut console = other.open().await;
    let id = one.client.begin("Hello").await;
    console.message("Hello").await;
    one.post(&format!("/conversations/{id}/typing"), &json!({})).await.data();
    assert_eq!(console.named("typing").await.data["name"], "Olga");
    let path = format!("/chat/messages?conversationId={id}");
    let is_told = async || other.client.get(&path).await.data()["operatorTyping"]["name"] == "Olga";
    eventually("the visitor at the other node is told", is_told).await;
    one.answer(&id, "Olga here.").await;
    console.message("Olga here.").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_operators_at_two_nodes_one_takes_over() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let (one, other) = two_nodes(&database).await;
    for _ in 0..10 {
        let id = one.client.begin("Hello").await;
        let (path, body) = (format!("/conversations/{id}/take-over"), json!({}));
        let (first, second) = tokio::join!(one.post(&path, &body), other.post(&path, &body));
        let mut statuses = [first.status.as_u16(), second.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
        let winner = if first.status == 200 { &one.id } else { &other.id };
        assert_eq!(other.conversation(&id).await.summary.assignee_id.as_ref(), Some(winner));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn presence_is_that_of_all_nodes() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let (one, other) = two_nodes(&database).await;
    let online = async || one.client.get("/chat/presence").await.data()["operatorOnline"] == true;
    let console = other.open().await;
    eventually("online", online).await;
    other.put(&format!("/stream/{}", console.id), &json!({ "idle": true })).await.data();
    eventually("away", async || !online().await).await;
}
