//! Tests of what all routes of the admin API have in common.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::{Extension, Router};
use http_body_util::BodyExt;
use serde_json::{Value as Json, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tower::ServiceExt;

use crate::accounts::Role;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::visitors::fixture::{Story, call, operator, service};
use crate::{Service, accounts, inbox, knowledge_api, publishing, visitors};

fn routes() -> Router<Service> {
    Router::new()
        .merge(super::conversations::routes())
        .merge(inbox::routes())
        .merge(knowledge_api::routes())
        .merge(visitors::routes())
        .merge(publishing::routes())
        .merge(accounts::routes())
}

/// Reads whose time grows with what a tenant has stored.
fn long_reads(site: &str) -> Vec<(&'static str, String, Option<Json>)> {
    let email = json!({ "email": "ada@shop.example" });
    let rules = json!({ "version": 0, "otherwise": "review", "hourlyLimit": 2, "rules": [] });
    let get = |path: &str| ("GET", path.to_owned(), None);
    let post = |path: String, body: Json| ("POST", path, Some(body));
    vec![
        get("/conversations?q=mug"),
        get("/conversations?label=l"),
        get("/conversations?status=closed"),
        get(&format!("/conversations?site={site}")),
        get("/conversations?assignee=me"),
        get("/report?from=2026-11-01&to=2026-11-02"),
        get("/report.csv?from=2026-11-01&to=2026-11-02"),
        get("/audit"),
        get("/audit.csv"),
        get("/questions/unanswered"),
        get(&format!("/sites/{site}/content")),
        get(&format!("/sites/{site}/answers?q=mug")),
        post(format!("/sites/{site}/publishing-rules/dry-run"), rules),
        post(format!("/sites/{site}/knowledge/search"), json!({ "question": "Do you ship?" })),
        post(format!("/sites/{site}/privacy/search"), email.clone()),
        post(format!("/sites/{site}/privacy/export"), email.clone()),
        post(format!("/sites/{site}/privacy/erase"), email),
    ]
}

/// Waits until a condition holds.
async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    timeout(Duration::from_secs(20), waiting).await.unwrap_or_else(|_| panic!("{what}"));
}

on_both_databases! {
    async fn searches_and_reports_take_turns_of_their_tenant_and_other_reads_do_not(database: &TestDatabase) {
        let service = service(database).await;
        let status = async |tenant: &str, method: &str, path: &str, body: Option<Json>| {
            call(&service, routes(), Some(operator(tenant, Role::Owner)), method, path, body).await.0
        };
        let turns = service.0.long_reads.of_tenant("acme");
        turns.close();
        for (method, path, body) in long_reads("shop") {
            let status = status("acme", method, &path, body).await;
            assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR, "{method} {path} needs a turn");
        }
        for path in ["/conversations", "/conversations?view=all", "/conversations/counts", "/sites/shop/answers"] {
            assert_eq!(status("acme", "GET", path, None).await, StatusCode::OK, "{path}");
        }
        for (method, path, body) in long_reads("rival") {
            let status = status("other", method, &path, body).await;
            let nothing_found = path.contains("/privacy/");
            let expected = if nothing_found { StatusCode::NOT_FOUND } else { StatusCode::OK };
            assert_eq!(status, expected, "{method} {path} of another tenant");
        }
    }

    async fn an_export_reads_in_its_turn_and_gives_it_up_while_its_client_is_slow(database: &TestDatabase) {
        let service = service(database).await;
        let story = Story { messages: 1500, ..Story::new("shop", "v-1", "celadon", service.now_ms()) };
        story.store(service.db()).await;
        let turns = service.0.long_reads.of_tenant("acme");
        let (count, all) = (Arc::strong_count(&turns), turns.available_permits());
        let app = routes().with_state(service.clone()).layer(Extension(operator("acme", Role::Owner)));
        let export = || Request::get("/sites/shop/visitors/v-1/export").body(Body::empty()).expect("a request");
        let mut body = app.clone().oneshot(export()).await.expect("a response").into_body();
        // The export has the turns of its tenant for later, and none of them now.
        let waits = || Arc::strong_count(&turns) == count + 1 && turns.available_permits() == all;
        until("the export waits for its client", waits).await;
        let permits = u32::try_from(all).expect("few");
        let taken = Arc::clone(&turns).acquire_many_owned(permits).await.expect("all turns");
        let mut read = body.frame().await.expect("a part").expect("a part").into_data().expect("data").to_vec();
        until("the export waits for a turn", || Arc::strong_count(&turns) == count + 3).await;
        drop(taken);
        read.extend(body.collect().await.expect("the rest").to_bytes());
        let document: Json = serde_json::from_slice(&read).expect("JSON");
        let messages = document["visitors"][0]["conversations"][0]["messages"].as_array().expect("a list");
        assert_eq!(messages.len(), 1500);
        until("the export has ended", || Arc::strong_count(&turns) == count).await;
        // So does one whose client goes.
        drop(app.oneshot(export()).await.expect("a response"));
        until("the export has ended", || Arc::strong_count(&turns) == count).await;
    }

    async fn a_read_ends_when_its_client_has_gone(database: &TestDatabase) {
        let service = service(database).await;
        let turns = service.0.long_reads.of_tenant("acme");
        let all = u32::try_from(turns.available_permits()).expect("few");
        let taken = Arc::clone(&turns).acquire_many_owned(all).await.expect("all turns");
        let app = routes().with_state(service.clone()).layer(Extension(operator("acme", Role::Owner)));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(axum::serve(listener, app).into_future());
        let before = Arc::strong_count(&turns);
        let mut client = TcpStream::connect(address).await.expect("connected");
        client.write_all(b"GET /conversations?q=mug HTTP/1.1\r\nhost: localhost\r\n\r\n").await.expect("sent");
        until("the read waits", || Arc::strong_count(&turns) > before).await;
        drop(client);
        until("the read has ended", || Arc::strong_count(&turns) == before).await;
        drop(taken);
    }
}
