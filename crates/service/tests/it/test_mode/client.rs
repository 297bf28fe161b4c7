//! A client for a test mode in the same process.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use chat_service::API_BASE;
use chat_service::test_mode::{TestMode, TestOptions};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

pub use crate::support::{Answer, cases};

pub const TOKEN: &str = "a-token-for-tests";

/// The host of requests to the console.
pub const HOST: &str = "127.0.0.1:8090";

#[derive(Clone)]
pub struct Client {
    pub mode: TestMode,
    router: Router,
}

impl Client {
    pub async fn new() -> Self {
        Self::with(TestOptions::new(TOKEN.into())).await
    }

    pub async fn with(options: TestOptions) -> Self {
        let mode = TestMode::open(options).await.expect("opened");
        Self { router: mode.router(), mode }
    }

    /// Sends a request; `None` when the connection broke.
    pub async fn send(&self, request: Request<Body>) -> Option<Answer> {
        let response = self.router.clone().oneshot(request).await.expect("a router does not fail");
        let (parts, body) = response.into_parts();
        let body = body.collect().await.ok()?.to_bytes();
        Some(Answer { status: parts.status, headers: parts.headers, body })
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(api("GET", path, Body::empty())).await.expect("an answer")
    }

    pub async fn try_post(&self, path: &str, key: Option<&str>, body: &Value) -> Option<Answer> {
        let mut request = api("POST", path, Body::from(body.to_string()));
        if let Some(key) = key {
            request.headers_mut().insert("idempotency-key", key.parse().expect("a header value"));
        }
        self.send(request).await
    }

    pub async fn post(&self, path: &str, key: Option<&str>, body: &Value) -> Answer {
        self.try_post(path, key, body).await.expect("an answer")
    }

    /// Begins a conversation, and returns its id.
    pub async fn begin(&self, message: &str) -> String {
        let data = self.post("/chat/messages", None, &json!({ "message": message })).await.data();
        data["conversationId"].as_str().expect("an id").to_owned()
    }

    /// Returns the roles and texts of a conversation.
    pub async fn history(&self, conversation: &str) -> Vec<(String, String)> {
        let data = self.get(&format!("/chat/messages?conversationId={conversation}")).await.data();
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        let messages = data["messages"].as_array().expect("messages");
        messages.iter().map(|message| (text(&message["role"]), text(&message["content"]))).collect()
    }

    /// Calls a path outside the API: the console's or a test path.
    pub async fn local(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", HOST)
            .header("content-type", "application/json");
        let body = body.map_or(Body::empty(), |body| Body::from(body.to_string()));
        self.send(request.body(body).expect("a request")).await.expect("an answer")
    }

    pub async fn inject_faults(&self, faults: Value) {
        let answer = self.local("PUT", "/sandbox/trouble", Some(&faults)).await;
        assert_eq!(answer.status, StatusCode::OK, "{:?}", answer.body);
    }

    /// Returns the response of `GET /sandbox/conversations`.
    pub async fn everything(&self) -> Value {
        self.local("GET", "/sandbox/conversations", None).await.json()
    }

    /// Returns the texts of the visitors' messages in all conversations.
    pub async fn visitor_messages(&self) -> Vec<String> {
        let everything = self.everything().await;
        let conversations = everything["conversations"].as_array().expect("conversations").clone();
        let messages =
            conversations.iter().flat_map(|one| one["messages"].as_array().cloned().unwrap_or_default());
        messages
            .filter(|message| message["role"] == "visitor")
            .map(|message| message["content"].as_str().unwrap_or_default().to_owned())
            .collect()
    }
}

/// Moves the time of the service forward.
pub async fn advance(time: std::time::Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// Lets time pass for a request in progress, in steps that leave its lease time to be renewed.
pub async fn pass(client: &Client, seconds: u64) {
    for _ in 0..seconds {
        advance(std::time::Duration::from_secs(1)).await;
        // A write that follows the renewal.
        client.post("/events", None, &json!({ "events": [{ "eventType": "page_view" }] })).await.data();
    }
}

/// Waits until the first message of a visitor is stored.
pub async fn stored(client: &Client) {
    while client.visitor_messages().await.is_empty() {}
}

/// Returns the service of all cases of property tests, with what earlier cases left in it.
pub fn shared() -> &'static (tokio::runtime::Runtime, Client) {
    static SHARED: std::sync::OnceLock<(tokio::runtime::Runtime, Client)> = std::sync::OnceLock::new();
    SHARED.get_or_init(|| {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let client = runtime.block_on(Client::new());
        (runtime, client)
    })
}

/// Returns a request to the API with the token.
pub fn api(method: &str, path: &str, body: Body) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(format!("{API_BASE}{path}"))
        .header("authorization", format!("Bearer {TOKEN}"))
        .header("content-type", "application/json")
        .body(body)
        .expect("a request")
}
