//! Two nodes on one database are one service.

use std::time::Duration;

use chat_service::Service;
use serde_json::json;

use crate::support::databases::{Kind, TestDatabase};
use crate::support::{Client, options};

async fn two_nodes(database: &TestDatabase) -> (Client, Client) {
    let one = Client::new(database).await;
    let other = Service::open(options(database)).await.expect("a second node");
    let other = one.at(&other);
    (one, other)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_goes_on_at_either_node() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let (one, other) = two_nodes(&database).await;
    let conversation = one.begin("1").await;
    for (number, node) in (2..20).zip([&other, &one].into_iter().cycle()) {
        let body = json!({ "message": number.to_string(), "conversationId": conversation });
        node.post("/chat/messages", None, &body).await.data();
        assert_eq!(one.history(&conversation).await, other.history(&conversation).await);
    }
    assert_eq!(one.history(&conversation).await.len(), 38);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_reaches_both_nodes_is_executed_once() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let (one, other) = two_nodes(&database).await;
    let body = json!({ "message": "Hello" });
    for number in 0..20 {
        let key = format!("chat-key-{number}");
        let (first, second) = tokio::join!(
            one.post("/chat/messages", Some(&key), &body),
            other.post("/chat/messages", Some(&key), &body)
        );
        assert_eq!(first.body, second.body);
        let conversation = first.data()["conversationId"].as_str().expect("an id").to_owned();
        assert_eq!(one.history(&conversation).await.len(), 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_that_one_node_disables_is_refused_by_the_other() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let (one, other) = two_nodes(&database).await;
    other.get("/chat/config").await.data();
    one.service.directory().set_site_disabled(&one.site.id, true).await.expect("disabled");
    let refused = async {
        while other.get("/chat/config").await.status != 401 {
            tokio::task::yield_now().await;
        }
    };
    // Far less than the lifetime of what a node has cached.
    tokio::time::timeout(Duration::from_secs(3), refused).await.expect("announced to the other node");
}
