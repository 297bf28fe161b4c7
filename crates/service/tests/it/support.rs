//! A service with one site, and a client of its connector API in the same process.

pub use chat_test_servers::{databases, push};

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use chat_service::{API_BASE, OpenError, Service, ServiceKey, ServiceOptions, Site, SiteChange};
use databases::TestDatabase;
use http_body_util::BodyExt;
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tower::ServiceExt;

/// A complete response.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    /// Returns the `data` of a success.
    #[track_caller]
    pub fn data(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{:?}", self.body);
        self.json()["data"].clone()
    }

    /// Returns the status and `error.code` of a failure.
    pub fn failure(&self) -> (u16, String) {
        let code = self.json()["error"]["code"].as_str().unwrap_or_default().to_owned();
        (self.status.as_u16(), code)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// A caller of the connector API with the token of a site.
#[derive(Clone)]
pub struct Caller {
    pub token: String,
    router: Router,
}

impl Caller {
    pub fn new(router: Router, token: &str) -> Self {
        Self { router, token: token.to_owned() }
    }

    /// Sends a request; `None` when the connection broke.
    pub async fn try_send(&self, request: Request<Body>) -> Option<Answer> {
        let response = self.router.clone().oneshot(request).await.expect("a router does not fail");
        let (parts, body) = response.into_parts();
        let body = body.collect().await.ok()?.to_bytes();
        Some(Answer { status: parts.status, headers: parts.headers, body })
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        self.try_send(request).await.expect("a whole body")
    }

    /// Returns a request to the API with the token.
    pub fn api(&self, method: &str, path: &str, body: Body) -> Request<Body> {
        Request::builder()
            .method(method)
            .uri(format!("{API_BASE}{path}"))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .body(body)
            .expect("a request")
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.api("GET", path, Body::empty())).await
    }

    pub async fn try_post(&self, path: &str, key: Option<&str>, body: &Value) -> Option<Answer> {
        let mut request = self.api("POST", path, Body::from(body.to_string()));
        if let Some(key) = key {
            request.headers_mut().insert("idempotency-key", key.parse().expect("a header value"));
        }
        self.try_send(request).await
    }

    pub async fn post(&self, path: &str, key: Option<&str>, body: &Value) -> Answer {
        self.try_post(path, key, body).await.expect("a whole body")
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
}

/// A site of a service, with a caller of its connector API.
#[derive(Clone)]
pub struct Client {
    pub service: Service,
    pub site: Site,
    caller: Caller,
}

impl Deref for Client {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.caller
    }
}

impl DerefMut for Client {
    fn deref_mut(&mut self) -> &mut Caller {
        &mut self.caller
    }
}

impl Client {
    /// Opens a service on an empty database, with one tenant and one site.
    pub async fn new(database: &TestDatabase) -> Self {
        Self::with(options(database), SiteChange::default()).await
    }

    /// Opens a service with these options, and creates a tenant and a site with these settings.
    pub async fn with(options: ServiceOptions, change: SiteChange) -> Self {
        let service = Service::open(options).await.expect("opened");
        Self::of(service, change).await
    }

    /// Creates a tenant and a site of a service.
    pub async fn of(service: Service, change: SiteChange) -> Self {
        let directory = service.directory();
        let tenant = directory.create_tenant("A tenant").await.expect("a tenant");
        let site = directory.create_site(&tenant.id, "A site", change).await.expect("a site");
        let token = directory.create_token(&site.id, "test", None).await.expect("a token");
        let caller = Caller::new(service.router(), token.secret.expose_secret());
        Self { service, site, caller }
    }

    /// Closes the service, and opens it again with these options. Nobody else may have it.
    pub async fn reopened(self, options: ServiceOptions) -> Self {
        let Self { service, site, caller } = self;
        let token = caller.token.clone();
        drop(caller);
        service.close().await;
        drop(service);
        // The lock of the file is free when the writer has ended.
        let opening = async {
            loop {
                match Service::open(options.clone()).await {
                    Err(OpenError::InUse(_)) => tokio::task::yield_now().await,
                    opened => return opened.expect("opened again"),
                }
            }
        };
        let service = tokio::time::timeout(Duration::from_secs(20), opening).await.expect("in time");
        let caller = Caller::new(service.router(), &token);
        Self { service, site, caller }
    }

    /// Returns this site's client at another node.
    pub fn at(&self, node: &Service) -> Self {
        let caller = Caller::new(node.router(), &self.token);
        Self { service: node.clone(), caller, ..self.clone() }
    }
}

/// Returns the options of a service on a database. All nodes have the same key.
pub fn options(database: &TestDatabase) -> ServiceOptions {
    let key = ServiceKey::new(&[7; chat_service::KEY_BYTES]).expect("a key");
    ServiceOptions::new(&database.address, key)
}

/// Returns the configuration of a property test. `PROPTEST_CASES` scales `count`; its default of 256 leaves
/// it as it is.
pub fn cases(count: u32) -> proptest::test_runner::Config {
    let config = proptest::test_runner::Config::default();
    let cases = count.saturating_mul(config.cases).div_ceil(256).max(1);
    proptest::test_runner::Config { cases, ..config }
}
