//! A client for a test mode in the same process.

use std::ops::Deref;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use chat_service::test_mode::{TestMode, TestOptions};
use serde_json::{Value, json};

use crate::support::Caller;
pub use crate::support::{Answer, cases};

pub const TOKEN: &str = "a-token-for-tests";

/// The host of requests to the console.
pub const HOST: &str = "127.0.0.1:8090";

/// A test mode, with a caller of its connector API.
#[derive(Clone)]
pub struct Client {
    pub mode: TestMode,
    caller: Caller,
}

impl Deref for Client {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

impl Client {
    pub async fn new() -> Self {
        Self::with(TestOptions::new(TOKEN.into())).await
    }

    pub async fn with(options: TestOptions) -> Self {
        let mode = TestMode::open(options).await.expect("opened");
        Self { caller: Caller::new(mode.router(), TOKEN), mode }
    }

    /// Calls a path outside the API: the console's or a test path.
    pub async fn local(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", HOST)
            .header("content-type", "application/json");
        let body = body.map_or(Body::empty(), |body| Body::from(body.to_string()));
        self.send(request.body(body).expect("a request")).await
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
