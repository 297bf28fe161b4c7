//! Visitors whom the site proves, and pages that claim to be somebody else.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Body;
use axum::routing::post;
use axum::{Json, Router};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chat_service::{ServiceOptions, SiteChange};
use ring::hmac;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::inbox::desk::Desk;
use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::{Answer, Client, options};

/// Returns a token that proves a visitor for ten minutes.
fn token(secret: &str, visitor: &str) -> String {
    let now =
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("after 1970").as_secs();
    let claims = json!({ "sub": visitor, "exp": now + 600, "email": format!("{visitor}@shop.example") });
    let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let message = format!("{}.{}", encode(br#"{"alg":"HS256"}"#), encode(claims.to_string().as_bytes()));
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    format!("{message}.{}", encode(hmac::sign(&key, message.as_bytes()).as_ref()))
}

async fn secret(desk: &Desk) -> String {
    let path = format!("/sites/{}/visitor-secret/rotate", desk.client.site.id);
    desk.post(&path, &json!({})).await.data()["secret"].as_str().expect("a secret").to_owned()
}

/// Sends a request with a token and a key.
async fn send(
    desk: &Desk,
    method: &str,
    path: &str,
    token: Option<&str>,
    key: Option<&str>,
    body: &Value,
) -> Answer {
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let mut request = desk.client.api(method, path, body);
    for (name, value) in [("visitor-token", token), ("idempotency-key", key)] {
        if let Some(value) = value {
            request.headers_mut().insert(name, value.parse().expect("a header value"));
        }
    }
    desk.client.send(request).await
}

fn page_view(visitor: &str, path: &str) -> Value {
    json!({ "eventType": "page_view", "visitorId": visitor, "path": path, "title": "A page" })
}

/// An AI that records what it is asked.
#[derive(Clone, Default)]
struct Asked(Arc<Mutex<Vec<String>>>);

impl Asked {
    /// Starts the endpoint, and returns its base address.
    async fn serve(&self) -> String {
        let asked = self.clone();
        let complete = move |prompt: String| async move {
            asked.0.lock().unwrap_or_else(PoisonError::into_inner).push(prompt);
            Json(json!({ "choices": [{ "message": { "content": "In two days." } }] }))
        };
        let router = Router::new().route("/v1/chat/completions", post(complete));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}/v1", listener.local_addr().expect("an address"));
        tokio::spawn(axum::serve(listener, router).into_future());
        base
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns what it was asked last.
    fn last(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last().expect("a question").clone()
    }
}

async fn say(desk: &Desk, token: Option<&str>, body: &Value) -> String {
    let data = send(desk, "POST", "/chat/messages", token, None, body).await.data();
    data["conversationId"].as_str().expect("an id").to_owned()
}

on_both_databases! {
    async fn a_verified_visitor_sees_their_conversation_on_every_device_and_nobody_else_does(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let secret = secret(&desk).await;
        let (ada, eve) = (token(&secret, "ada"), token(&secret, "eve"));
        let read = async |token: Option<&str>, query: &str| {
            send(&desk, "GET", &format!("/chat/messages{query}"), token, None, &Value::Null).await
        };
        let none = read(Some(&ada), "").await.data();
        assert!(none["conversationId"].is_null() && none["messages"] == json!([]), "{none}");
        let id = say(&desk, Some(&ada), &json!({ "message": "Where is my order?" })).await;
        let found = read(Some(&ada), "").await.data();
        assert_eq!((&found["conversationId"], &found["messages"][0]["content"]), (&json!(id), &json!("Where is my order?")));
        let query = format!("?conversationId={id}");
        assert_eq!(read(Some(&ada), &query).await.status, 200);
        assert_eq!(read(Some(&eve), &query).await.failure(), (404, "NOT_FOUND".to_owned()));
        assert!(read(Some(&eve), "").await.data()["conversationId"].is_null());
        assert_eq!(read(None, "").await.failure(), (400, "INVALID_REQUEST".to_owned()));
        let body = json!({ "message": "x", "conversationId": id });
        let refused = send(&desk, "POST", "/chat/messages", Some(&eve), None, &body).await;
        assert_eq!(refused.failure(), (404, "NOT_FOUND".to_owned()));
        let visitor = desk.conversation(&id).await.summary.visitor;
        assert_eq!(visitor.visitor_id.as_deref(), Some("verified:ada"));
        assert_eq!(visitor.verified_fields, ["visitorId", "email"]);
        // Claims without the proof change none of it, and a claimed prefix names nobody.
        let claims = json!({ "visitorId": "eve", "email": "eve@evil.example", "phone": "+49 30 901820" });
        say(&desk, None, &json!({ "message": "x", "conversationId": id, "visitor": claims })).await;
        let visitor = desk.conversation(&id).await.summary.visitor;
        assert_eq!((visitor.visitor_id.as_deref(), visitor.email.as_deref()), (Some("verified:ada"), Some("ada@shop.example")));
        assert_eq!((visitor.phone.as_deref(), visitor.verified_fields.len()), (Some("+49 30 901820"), 2));
        let forged = json!({ "message": "x", "visitor": { "visitorId": "verified:ada" } });
        let forged = say(&desk, None, &forged).await;
        assert_eq!(desk.conversation(&forged).await.summary.visitor.visitor_id, None);
        // Nor does it in an event.
        let event = page_view("verified:ada", "/forged");
        assert_eq!(desk.client.post("/events", None, &json!({ "events": [event] })).await.data()["accepted"], 1);
        let stored = desk.get(&format!("/sites/{}/visitors/verified:ada", desk.client.site.id)).await;
        assert!(!stored.to_string().contains("/forged"), "{stored}");
    }

    async fn a_message_keeps_its_key_when_the_visitor_signs_in_or_out_between_two_attempts(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let secret = secret(&desk).await;
        let body = json!({ "message": "Hello", "visitor": { "visitorId": "v-1" } });
        let key = Some("chat-v-1-0001");
        let first = send(&desk, "POST", "/chat/messages", None, key, &body).await.data();
        let invalid = send(&desk, "POST", "/chat/messages", Some("a.b.c"), key, &body).await;
        assert_eq!(invalid.failure(), (401, "INVALID_VISITOR_TOKEN".to_owned()));
        let again = send(&desk, "POST", "/chat/messages", Some(&token(&secret, "ada")), key, &body).await.data();
        assert_eq!(first["userMessageId"], again["userMessageId"]);
        // The next message with the proof makes the conversation hers.
        let next = json!({ "message": "Again", "conversationId": first["conversationId"] });
        let id = say(&desk, Some(&token(&secret, "ada")), &next).await;
        let visitor = desk.conversation(&id).await.summary.visitor;
        assert_eq!(visitor.visitor_id.as_deref(), Some("verified:ada"));
        // The same bytes, first with the proof and then without it.
        let (key, body) = (Some("chat-v-1-0002"), json!({ "message": "Bye", "visitor": { "visitorId": "v-1" } }));
        let first = send(&desk, "POST", "/chat/messages", Some(&token(&secret, "ada")), key, &body).await.data();
        let again = send(&desk, "POST", "/chat/messages", None, key, &body).await.data();
        assert_eq!(first["userMessageId"], again["userMessageId"]);
        assert_eq!(first["conversationId"], again["conversationId"]);
    }

    async fn the_first_claimed_id_of_a_conversation_stays(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let victim = json!({ "visitorId": "crm-4711", "name": "Vera" });
        say(&desk, None, &json!({ "message": "Hello", "visitor": victim })).await;
        let ada = json!({ "visitorId": "v-1", "name": "Ada", "email": "ada@shop.example" });
        let id = say(&desk, None, &json!({ "message": "Hello", "visitor": ada })).await;
        let stored = async || {
            let visitor = desk.conversation(&id).await.summary.visitor;
            [visitor.visitor_id, visitor.name, visitor.email, visitor.phone].map(Option::unwrap_or_default)
        };
        // Somebody who knows the id of the conversation, but not that of its visitor.
        for eve in [
            json!({ "visitorId": "crm-4711", "name": "Eve", "email": "eve@evil.example" }),
            json!({ "name": "Eve", "email": "eve@evil.example" }),
        ] {
            say(&desk, None, &json!({ "message": "x", "conversationId": id, "visitor": eve })).await;
            assert_eq!(stored().await, ["v-1", "Ada", "ada@shop.example", ""], "{eve}");
        }
        let site = format!("/sites/{}", desk.client.site.id);
        let export = desk.call("GET", &format!("{site}/visitors/crm-4711/export"), None).await.json().to_string();
        assert!(export.contains("Vera") && !export.contains(&id), "{export}");
        assert_eq!(desk.call("DELETE", &format!("{site}/visitors/crm-4711"), None).await.status, 200);
        assert_eq!(desk.client.history(&id).await[0].1, "Hello");
        // Another tab's id adds what is missing. The visitor's own id changes what there is.
        let tab = json!({ "visitorId": "v-2", "phone": "+49 30 901820" });
        say(&desk, None, &json!({ "message": "x", "conversationId": id, "visitor": tab })).await;
        let own = json!({ "visitorId": "v-1", "email": "ada@home.example" });
        say(&desk, None, &json!({ "message": "x", "conversationId": id, "visitor": own })).await;
        assert_eq!(stored().await, ["v-1", "Ada", "ada@home.example", "+49 30 901820"]);
    }

    async fn a_claimed_id_gives_the_ai_no_context(database: &TestDatabase) {
        let asked = Asked::default();
        let options = ServiceOptions { allow_private_ai: true, ..options(database) };
        let desk = Desk::of(Client::with(options, SiteChange::default()).await, "Olga").await;
        let ai = json!({ "ai": { "base": asked.serve().await, "model": "m" } });
        desk.patch(&format!("/sites/{}", desk.client.site.id), &ai).await.data();
        let secret = secret(&desk).await;
        let ada = token(&secret, "ada");
        let visit = async |token: Option<&str>, event: Value| {
            let answer = send(&desk, "POST", "/events", token, None, &json!({ "events": [event] })).await;
            assert_eq!(answer.data()["accepted"], 1);
        };
        visit(None, page_view("crm-4711", "/of-the-victim")).await;
        visit(Some(&ada), page_view("any", "/of-ada")).await;
        let question = |visitor: &str, conversation: Option<&str>| {
            json!({ "message": "How long does delivery to Norway take?", "conversationId": conversation,
                    "visitor": { "visitorId": visitor } })
        };
        let known = |prompt: &str| {
            ["/of-the-victim", "/of-ada", "/of-the-conversation"].map(|path| prompt.contains(path))
        };
        let id = say(&desk, None, &question("crm-4711", None)).await;
        assert_eq!(known(&asked.last()), [false, false, false]);
        for claimed in ["ada", "verified:ada"] {
            say(&desk, None, &question(claimed, None)).await;
            assert_eq!(known(&asked.last()), [false, false, false], "{claimed}");
        }
        let mut own = page_view("crm-4711", "/of-the-conversation");
        own["eventData"] = json!({ "conversationId": id });
        visit(None, own).await;
        say(&desk, None, &question("crm-4711", Some(&id))).await;
        assert_eq!(known(&asked.last()), [false, false, true]);
        let proved = say(&desk, Some(&ada), &question("crm-4711", None)).await;
        assert_eq!(known(&asked.last()), [false, true, false]);
        // A client that knows the id of that conversation, without the proof.
        say(&desk, None, &question("ada", Some(&proved))).await;
        assert_eq!(known(&asked.last()), [false, false, false]);
        assert_eq!(asked.count(), 6);
    }

    async fn the_secret_is_shown_once_and_admins_alone_change_it(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let secret = secret(&desk).await;
        assert!(secret.starts_with("svs_"), "{secret}");
        let site = format!("/sites/{}", desk.client.site.id);
        for path in ["/sites", &site, "/audit", "/session", "/quota"] {
            let shown = desk.get(path).await.to_string();
            assert!(!shown.contains("svs_"), "{path}: {shown}");
        }
        assert!(desk.get(&site).await["visitorSecretCreatedAt"].is_string());
        let (rotation, removal) = (format!("{site}/visitor-secret/rotate"), format!("{site}/visitor-secret"));
        let (agent, admin) = (desk.invite("Ann", "agent").await, desk.invite("Ben", "admin").await);
        for (method, path) in [("POST", &rotation), ("DELETE", &removal)] {
            let refused = agent.call(method, path, Some(&json!({}))).await;
            assert_eq!(refused.failure(), (403, "FORBIDDEN".to_owned()), "{method}");
        }
        let message = json!({ "message": "Hello" });
        say(&desk, Some(&token(&secret, "ada")), &message).await;
        let next = admin.post(&rotation, &json!({})).await.data()["secret"].as_str().expect("a secret").to_owned();
        assert_ne!(next, secret);
        say(&desk, Some(&token(&next, "ada")), &message).await;
        assert_eq!(admin.call("DELETE", &removal, Some(&json!({}))).await.status, 200);
        assert!(desk.get(&site).await["visitorSecretCreatedAt"].is_null());
    }

    async fn a_claimed_id_shows_and_changes_nothing_of_the_visitor_who_has_it(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let victim = json!({ "visitorId": "crm-4711", "name": "Ada", "email": "ada@shop.example" });
        let id = say(&desk, None, &json!({ "message": "Hello", "visitor": victim })).await;
        let pages: Vec<Value> = (0..10)
            .map(|page| json!({ "eventType": "page_view", "visitorId": "crm-4711", "path": format!("/prices/{page}"), "title": "Prices" }))
            .collect();
        desk.client.post("/events", None, &json!({ "events": pages })).await.data();
        let attacker = json!({ "visitorId": "crm-4711", "name": "Eve", "email": "eve@evil.example" });
        let body = json!({ "message": "Hello", "visitor": attacker });
        let data = desk.client.post("/chat/messages", None, &body).await.data();
        let stranger = desk.client.post("/chat/messages", None, &json!({ "message": "Hello",
            "visitor": { "visitorId": "nobody", "name": "Eve", "email": "eve@evil.example" } })).await.data();
        assert_eq!(data["lead"], stranger["lead"], "the lead tells nothing of the victim's pages");
        let other = data["conversationId"].as_str().expect("an id");
        let reasons = desk.conversation(other).await.lead_reasons;
        assert!(reasons.iter().all(|reason| !reason.reason.starts_with("viewed")), "{reasons:?}");

        let visitor = desk.conversation(&id).await.summary.visitor;
        assert_eq!((visitor.name.as_deref(), visitor.email.as_deref()), (Some("Ada"), Some("ada@shop.example")));
        assert!(visitor.verified_fields.is_empty());
        desk.change(other, json!({ "blocked": true })).await;
        assert!(!desk.conversation(&id).await.summary.blocked);
        let site = format!("/sites/{}", desk.client.site.id);
        let export = desk.call("GET", &format!("{site}/conversations/{other}/export"), None).await;
        let export = export.json().to_string();
        assert!(export.contains("eve@evil.example") && !export.contains("ada@shop.example"), "{export}");
        assert!(!export.contains("/prices/"), "{export}");
        // Both conversations of the attacker, and nothing of the victim whose id one of them claims.
        let path = format!("{site}/privacy/erase");
        let erased = desk.post(&path, &json!({ "email": "eve@evil.example" })).await.data();
        assert_eq!((&erased["erased"]["conversations"], &erased["erased"]["visitors"]), (&json!(2), &json!(0)));
        let claim = json!({ "message": "Hello", "visitor": { "visitorId": "crm-4711" } });
        let other = say(&desk, None, &claim).await;
        let gone = desk.call("DELETE", &format!("{site}/conversations/{other}"), None).await.data();
        assert_eq!(gone["erased"]["conversations"], 1);
        let stored = desk.get(&format!("{site}/visitors/crm-4711")).await.to_string();
        assert!(stored.contains("/prices/9"), "{stored}");
        assert_eq!(desk.client.history(&id).await[0].1, "Hello");
    }

    async fn operators_change_and_block_all_conversations_of_a_verified_visitor(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let secret = secret(&desk).await;
        let ada = token(&secret, "ada");
        let message = json!({ "message": "Hello" });
        let (first, second) = (say(&desk, Some(&ada), &message).await, say(&desk, Some(&ada), &message).await);
        desk.patch(&format!("/conversations/{first}/visitor"), &json!({ "name": "Ada" })).await.data();
        assert_eq!(desk.conversation(&second).await.summary.visitor.name.as_deref(), Some("Ada"));
        desk.change(&first, json!({ "blocked": true })).await;
        assert!(desk.conversation(&second).await.summary.blocked);
        let refused = send(&desk, "POST", "/chat/messages", Some(&ada), None, &message).await;
        assert_eq!(refused.failure(), (403, "FORBIDDEN".to_owned()));
        let secret_path = format!("/sites/{}/visitor-secret", desk.client.site.id);
        desk.call("DELETE", &secret_path, Some(&json!({}))).await.data();
        let refused = send(&desk, "POST", "/chat/messages", Some(&ada), None, &message).await;
        assert_eq!(refused.failure(), (401, "INVALID_VISITOR_TOKEN".to_owned()));
    }
}
