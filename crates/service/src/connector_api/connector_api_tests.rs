//! Tests of messages that people and the AI answer at the same time.

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
use crate::visitors::fixture::{add_sites, execute, rows, store_operator};
use crate::{API_BASE, Service, ServiceKey, ServiceOptions, presence, sites, tokens};

/// An AI that answers when it is told to.
#[derive(Clone, Default)]
struct SlowAi {
    asked: Arc<Notify>,
    answers: Arc<Notify>,
}

impl SlowAi {
    /// Starts the endpoint, and returns its base address.
    async fn start(&self) -> String {
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

async fn send(service: &Service, token: &str, body: Value) -> Value {
    let request = Request::builder()
        .method(Method::POST)
        .uri(format!("{API_BASE}/chat/messages"))
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()));
    let response = service.router().oneshot(request.expect("a request")).await.expect("a response");
    assert_eq!(response.status(), StatusCode::OK);
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    serde_json::from_slice::<Value>(&body).expect("JSON")["data"].take()
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
        let site = shop.clone();
        let token = transaction!(db, |tx| {
            presence::open_console(tx, now_ms, &site.tenant_id, "op").await?;
            tokens::create(tx, now_ms, &site, "test", None).await
        });
        let token = token.await.expect("a token").secret.expose_secret().to_owned();
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
}

/// Adds the operator that the conversation is assigned to.
async fn add_operator(tx: &mut crate::db::Tx) -> Result<(), crate::db::DbError> {
    store_operator(tx, ["op", "acme", "ada@shop.example", "Ada", "agent"]).await
}
