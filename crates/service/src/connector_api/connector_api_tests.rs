//! Tests of requests at the same time: messages that people and the AI answer, and bulk writes.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use axum::{Json, Router, routing::post};
use http_body_util::BodyExt;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tower::ServiceExt;

use crate::conversations::Author;
use crate::conversations::desk::{self, OperatorMessage};
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::{args, transaction};
use crate::secrets::new_id;
use crate::visitors::fixture::{add_sites, execute, rows, service, store_operator};
use crate::{API_BASE, Service, ServiceKey, ServiceOptions, presence, sites, tokens};

/// An AI that answers when it is told to.
#[derive(Clone, Default)]
pub(super) struct SlowAi {
    pub(super) asked: Arc<Notify>,
    pub(super) answers: Arc<Notify>,
}

impl SlowAi {
    /// Starts the endpoint, and returns its base address.
    pub(super) async fn start(&self) -> String {
        let ai = self.clone();
        let complete = move || async move {
            ai.asked.notify_one();
            ai.answers.notified().await;
            Json(json!({ "choices": [{ "message": { "content": "In two days." } }] }))
        };
        let router = Router::new().route("/v1/chat/completions", post(complete));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}/v1", listener.local_addr().expect("an address"));
        tokio::spawn(axum::serve(listener, router).into_future());
        base
    }
}

async fn post_to(service: &Service, token: &str, path: &str, body: &Value) -> (StatusCode, Value) {
    let request = Request::builder()
        .method(Method::POST)
        .uri(format!("{API_BASE}{path}"))
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .header("idempotency-key", new_id("key"))
        .body(Body::from(body.to_string()));
    let response = service.router().oneshot(request.expect("a request")).await.expect("a response");
    let status = response.status();
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&body).expect("JSON"))
}

async fn send(service: &Service, token: &str, body: Value) -> Value {
    let (status, mut body) = post_to(service, token, "/chat/messages", &body).await;
    assert_eq!(status, StatusCode::OK);
    body["data"].take()
}

/// Returns a new token of a site.
async fn token_of(service: &Service, site: &str) -> String {
    let site = sites::find(service.db(), site).await.expect("read").expect("a site");
    let now_ms = service.now_ms();
    let token = transaction!(service.db(), |tx| tokens::create(tx, now_ms, &site, "test", None).await);
    token.await.expect("a token").secret.expose_secret().to_owned()
}

on_both_databases! {
    async fn an_answer_of_the_ai_is_dropped_when_a_person_was_faster(database: &TestDatabase) {
        let ai = SlowAi::default();
        let options = ServiceOptions {
            allow_private_ai: true,
            ..ServiceOptions::new(&database.address, ServiceKey::random())
        };
        let service = Service::open(options).await.expect("opened");
        let db = service.db();
        add_sites(db).await;
        let endpoint = "UPDATE sites SET ai_model = 'm', ai_base = $1 WHERE id = 'shop'";
        execute(db, endpoint, args![ai.start().await]).await;
        let shop = sites::find(db, "shop").await.expect("read").expect("a site");
        let now_ms = service.now_ms();
        let tenant = shop.tenant_id.clone();
        transaction!(db, |tx| presence::open_console(tx, now_ms, &tenant, "op").await).await.expect("open");
        let token = token_of(&service, "shop").await;
        let sending = {
            let (service, token) = (service.clone(), token.clone());
            tokio::spawn(async move { send(&service, &token, json!({ "message": "When does it arrive?" })).await })
        };
        ai.asked.notified().await;
        let id = rows(db, "SELECT id FROM conversations", args![]).await[0].text(0).expect("an id");
        let conversation = id.clone().into();
        let answered = transaction!(db, |tx| {
            let author = Author { id: "op".to_owned(), name: "Ada".to_owned() };
            let message =
                OperatorMessage { text: "Tomorrow.".to_owned(), key: None, close: false };
            add_operator(tx).await?;
            desk::answer(tx, now_ms, &shop, &conversation, author, message).await
        });
        answered.await.expect("answered");
        ai.answers.notify_one();
        let data = sending.await.expect("no panic");
        assert_eq!((&data["message"], &data["aiStatus"]), (&Value::Null, &json!("ok")));
        let said = rows(db, "SELECT content FROM messages ORDER BY seq", args![]).await;
        let said: Vec<String> = said.iter().map(|row| row.text(0).expect("text")).collect();
        assert_eq!(said, ["When does it arrive?", "Tomorrow."]);
    }

    async fn events_and_content_take_turns_of_their_tenant_and_messages_do_not(database: &TestDatabase) {
        let service = service(database).await;
        let turns = service.0.bulk_writes.of_tenant("acme");
        turns.close();
        let event = json!({ "eventType": "page_view", "visitorId": "v-1" });
        let item = json!({ "externalId": "a", "type": "page", "url": "https://shop.example/a", "title": "Mugs" });
        let page = json!({ "snapshotId": "s-1", "page": 1, "complete": true, "items": [item] });
        let bulk = [
            ("/events", json!({ "events": [event] })),
            ("/content/sync", page),
        ];
        for (site, expected) in [("shop", StatusCode::INTERNAL_SERVER_ERROR), ("rival", StatusCode::OK)] {
            let token = token_of(&service, site).await;
            for (path, body) in &bulk {
                let (status, answer) = post_to(&service, &token, path, body).await;
                assert_eq!(status, expected, "{path} of {site}: {answer}");
            }
            send(&service, &token, json!({ "message": "Do you ship to Norway?" })).await;
        }
    }
}

/// Adds the operator that the conversation is assigned to.
async fn add_operator(tx: &mut crate::db::Tx) -> Result<(), crate::db::DbError> {
    store_operator(tx, ["op", "acme", "ada@shop.example", "Ada", "agent"]).await
}
