//! Requests to the connector API of the server under test, for one site.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chat_service::API_BASE;
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use uuid::Uuid;

use crate::serve::SiteOfServe;
use crate::servers::{Kind, RATE_PER_MINUTE, Server, TOKEN, test_mode};

/// The time within which a change reaches all nodes.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The lease of jobs in a test mode, as that of the service.
pub const LEASE: Duration = Duration::from_mins(1);

/// The reason why a requirement cannot be checked with this server.
#[derive(Debug)]
pub struct Unchecked(pub &'static str);

/// The result of a check that not every server supports.
pub type Checked = Result<(), Unchecked>;

/// A client of one site. Consecutive requests go to different nodes of the server.
pub struct Api {
    pub client: Client,
    origins: Vec<String>,
    turn: AtomicUsize,
    pub token: String,
    pub site: Site,
    /// The cookie of the owner of the site's tenant, once it is needed.
    pub owner: OnceCell<String>,
}

/// The site that a trial uses.
pub enum Site {
    TestMode,
    Serve(Arc<Server>, SiteOfServe),
    /// A site of a server that this suite did not start.
    Given,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Returns the `data` of a success.
    #[track_caller]
    pub fn data(&self) -> Value {
        let body = self.json();
        assert!((200..300).contains(&self.status) && body["ok"] == true, "{} {}", self.status, self.text);
        body["data"].clone()
    }

    /// Asserts a failure with this status and code.
    #[track_caller]
    pub fn is_failure(&self, status: u16, code: &str) {
        let body = self.json();
        assert_eq!((self.status, &body["ok"], &body["error"]["code"]), (status, &json!(false), &json!(code)));
    }

    /// Asserts that the request was refused, with a code that the contract does not specify.
    #[track_caller]
    pub fn is_refused(&self) {
        let body = self.json();
        assert!((400..500).contains(&self.status) && body["ok"] == false, "{} {body}", self.status);
        has(&body, &[("/error/code", Value::is_string)]);
    }
}

/// Returns a new key.
pub fn fresh(what: &str) -> String {
    format!("{what}-{}", Uuid::new_v4().simple())
}

/// Returns an item of content.
pub fn item(title: &str) -> Value {
    json!({ "externalId": "conformance", "type": "page", "title": title, "path": "/conformance" })
}

/// Waits until a condition holds, as a change of the settings takes a moment to reach all nodes.
pub async fn until(mut condition: impl AsyncFnMut() -> bool) {
    let held = async {
        while !condition().await {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    tokio::time::timeout(CHANGE_TIMEOUT, held).await.expect("the condition holds in time");
}

impl Api {
    /// Returns a client of a new site of the server, or of the only site that it has.
    pub async fn connect(server: &Arc<Server>) -> Self {
        match server.kind {
            Kind::TestMode => Self::of_test_mode(LEASE).await,
            Kind::Serve { .. } => {
                let serve = server.serve().await;
                Self::of_serve(server, serve.create_site("semi_automatic")).await
            }
            Kind::Address => {
                let origin = std::env::var("CONFORMANCE_ORIGIN").expect("the origin");
                let file = std::env::var("CONFORMANCE_TOKEN_FILE")
                    .expect("CONFORMANCE_TOKEN_FILE names the token's file");
                let token = std::fs::read_to_string(file).expect("the token's file").trim().to_owned();
                let is_local = origin.starts_with("http:");
                Self::new(vec![origin], &token, Site::Given, is_local)
            }
        }
    }

    /// Returns a client of a test mode of its own, whose claims have this lease.
    pub async fn of_test_mode(lease: Duration) -> Self {
        Self::new(vec![test_mode(lease, RATE_PER_MINUTE).await], TOKEN, Site::TestMode, true)
    }

    /// Returns a client of a site of `serve`.
    pub async fn of_serve(server: &Arc<Server>, site: SiteOfServe) -> Self {
        let (origins, token) = (server.serve().await.origins(), site.token.clone());
        Self::new(origins, &token, Site::Serve(Arc::clone(server), site), true)
    }

    /// Returns a client of the connector API alone.
    pub fn of_site(origins: Vec<String>, site: &SiteOfServe) -> Self {
        Self::new(origins, &site.token, Site::Given, true)
    }

    fn new(origins: Vec<String>, token: &str, site: Site, is_local: bool) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder();
        if is_local {
            client = client.no_proxy().tls_certs_only([]);
        }
        let client = client.build().expect("a client");
        let token = token.to_owned();
        Self { client, origins, turn: AtomicUsize::new(0), token, site, owner: OnceCell::new() }
    }

    /// Returns a client with another token, and without rights beyond it.
    pub fn with_token(&self, token: &str) -> Self {
        let (client, origins, token) = (self.client.clone(), self.origins.clone(), token.to_owned());
        Self { client, origins, turn: AtomicUsize::new(0), token, site: Site::Given, owner: OnceCell::new() }
    }

    /// Returns the number of nodes.
    pub fn nodes(&self) -> usize {
        self.origins.len()
    }

    /// Returns a request to the node whose turn it is.
    pub fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        let method: Method = method.parse().expect("a method");
        self.client.request(method, format!("{}{path}", self.origins[turn % self.origins.len()]))
    }

    pub async fn ask(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        key: Option<&str>,
        body: Option<&Value>,
    ) -> Answer {
        let mut request = self.request(method, &format!("{API_BASE}{path}"));
        if let Some(token) = token {
            request = request.header("authorization", token);
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        send(request).await
    }

    pub async fn get(&self, path: &str) -> Answer {
        let token = format!("Bearer {}", self.token);
        self.ask("GET", path, Some(&token), None, None).await
    }

    pub async fn post(&self, path: &str, key: &str, body: &Value) -> Answer {
        let token = format!("Bearer {}", self.token);
        self.ask("POST", path, Some(&token), Some(key), Some(body)).await
    }

    /// Sends a message, and returns the result.
    pub async fn say(&self, message: &str, conversation: Option<&str>) -> Value {
        let body = json!({ "message": message, "conversationId": conversation });
        self.post("/chat/messages", &fresh("chat"), &body).await.data()
    }

    /// Begins a conversation, and returns the result of its first message.
    pub async fn conversation(&self) -> Value {
        let body = json!({ "message": "Hello", "visitor": { "visitorId": fresh("visitor") } });
        self.post("/chat/messages", &fresh("chat"), &body).await.data()
    }

    /// Returns the `data` of a read of a conversation.
    pub async fn read(&self, conversation: &str, after: Option<&str>) -> Value {
        let after = after.map(|id| format!("&after={id}")).unwrap_or_default();
        self.get(&format!("/chat/messages?conversationId={conversation}{after}")).await.data()
    }

    /// Pushes a page of content, and returns the receipt.
    pub async fn sync_page(&self, name: &str) -> Value {
        let item = json!({
            "externalId": name, "type": "page", "title": "A page", "path": format!("/{name}"),
            "content": "The text of a page.",
            // A preview in social networks is missing, and all of its texts are there.
            "data": { "head": { "title": "A page", "description": format!("The description of the page {name}, as the site has it.") } }
        });
        let page = json!({ "snapshotId": fresh("snapshot"), "page": 1, "items": [item] });
        self.post("/content/sync", &fresh("content-sync"), &page).await.data()
    }

    /// Claims a job with this key.
    pub async fn claim(&self, key: &str) -> Result<Value, Unchecked> {
        let job = self.post("/site/jobs/next", key, &json!({})).await.data()["job"].clone();
        if job.is_null() { Err(Unchecked("the server has no job to claim")) } else { Ok(job) }
    }

    /// Claims a job.
    pub async fn claimed_job(&self) -> Result<Value, Unchecked> {
        self.offer_job().await?;
        self.claim(&fresh("job-next")).await
    }

    /// Reports a job.
    pub async fn complete(&self, job: &Value, key: &str, body: &Value) -> Answer {
        let path = format!("/site/jobs/{}/complete", job["id"].as_str().expect("an id"));
        self.post(&path, key, body).await
    }

    /// Returns the report of a job: as succeeded to a server that this suite started, as failed to any other.
    pub fn report(&self, job: &Value) -> Value {
        let token = &job["claimToken"];
        if self.is_built_in() {
            json!({ "ok": true, "claimToken": token, "result": { "externalId": "1", "url": "https://shop.example/a" } })
        } else {
            json!({ "ok": false, "claimToken": token, "error": "Conformance tests execute no jobs." })
        }
    }

    /// Returns whether this suite started the server, and may do anything with it.
    pub fn is_built_in(&self) -> bool {
        !matches!(self.site, Site::Given)
    }

    /// Leaves a requirement unchecked, for a reason, unless this suite started the server.
    pub fn only_built_in(&self, otherwise: &'static str) -> Checked {
        if self.is_built_in() { Ok(()) } else { Err(Unchecked(otherwise)) }
    }
}

pub async fn send(request: RequestBuilder) -> Answer {
    let answer = request.send().await.expect("an answer");
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    Answer { status, headers, text: answer.text().await.expect("a whole answer") }
}

/// The path of a member, and its required type.
pub type Member<'a> = (&'a str, fn(&Value) -> bool);

/// Asserts that the members exist and have the required types.
#[track_caller]
pub fn has(object: &Value, members: &[Member<'_>]) {
    for (pointer, is_right) in members {
        let member = object.pointer(pointer).unwrap_or_else(|| panic!("{pointer} is missing in {object}"));
        assert!(is_right(member), "{pointer} is {member}");
    }
}

pub fn time(value: &Value) -> Option<jiff::Timestamp> {
    value.as_str()?.parse().ok()
}

pub fn is_time(value: &Value) -> bool {
    time(value).is_some()
}

pub fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}
