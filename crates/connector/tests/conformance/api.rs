//! The server under test, and the requests to it.

use chat_service::API_BASE;
use chat_service::test_mode::{TestMode, TestOptions};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use uuid::Uuid;

pub const TOKEN: &str = "a-token-for-tests";

/// The reason why a requirement cannot be checked with this server.
pub struct Unchecked(pub &'static str);

/// The result of a check that not every server supports.
pub type Checked = Result<(), Unchecked>;

pub struct Api {
    client: Client,
    origin: String,
    pub token: String,
    is_sandbox: bool,
}

#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub text: String,
}

impl Answer {
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
}

/// Returns a new key.
pub fn fresh(what: &str) -> String {
    format!("{what}-{}", Uuid::new_v4().simple())
}

/// Starts a sandbox with [`TOKEN`], and returns its origin.
pub async fn sandbox() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let origin = format!("http://{}", listener.local_addr().expect("an address"));
    let sandbox = TestMode::open(TestOptions::new(TOKEN.into())).await.expect("a sandbox");
    tokio::spawn(axum::serve(listener, sandbox.router()).into_future());
    origin
}

impl Api {
    pub async fn connect() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        if let Ok(origin) = std::env::var("CONFORMANCE_ORIGIN") {
            let file = std::env::var("CONFORMANCE_TOKEN_FILE")
                .expect("CONFORMANCE_TOKEN_FILE names the token's file");
            let token = std::fs::read_to_string(file).expect("the token's file").trim().to_owned();
            let mut client = Client::builder();
            if origin.starts_with("http:") {
                client = client.no_proxy().tls_certs_only([]);
            }
            return Self { client: client.build().expect("a client"), origin, token, is_sandbox: false };
        }
        let client = Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
        Self { client, origin: sandbox().await, token: TOKEN.to_owned(), is_sandbox: true }
    }

    pub async fn ask(
        &self,
        method: &str,
        path: &str,
        token: Option<&str>,
        key: Option<&str>,
        body: Option<&Value>,
    ) -> Answer {
        let method: Method = method.parse().expect("a method");
        let mut request = self.client.request(method, format!("{}{API_BASE}{path}", self.origin));
        if let Some(token) = token {
            request = request.header("authorization", token);
        }
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.expect("an answer");
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Answer { status, headers, text: answer.text().await.expect("a whole answer") }
    }

    pub async fn get(&self, path: &str) -> Answer {
        let token = format!("Bearer {}", self.token);
        self.ask("GET", path, Some(&token), None, None).await
    }

    pub async fn post(&self, path: &str, key: &str, body: &Value) -> Answer {
        let token = format!("Bearer {}", self.token);
        self.ask("POST", path, Some(&token), Some(key), Some(body)).await
    }

    /// Begins a conversation, and returns the result of its first message.
    pub async fn conversation(&self) -> Value {
        let body = json!({ "message": "Hello", "visitor": { "visitorId": fresh("visitor") } });
        self.post("/chat/messages", &fresh("chat"), &body).await.data()
    }

    /// Adds a job, if the server is a sandbox.
    pub async fn offer_job(&self) -> Checked {
        if self.is_sandbox {
            let job = json!({ "type": "publish_article", "title": "A job", "payload": { "path": "/a" } });
            let url = format!("{}/sandbox/jobs", self.origin);
            self.client.post(url).json(&job).send().await.expect("an answer");
        } else if std::env::var("CONFORMANCE_JOBS").is_err() {
            return Err(Unchecked("claiming a job needs CONFORMANCE_JOBS=1"));
        }
        Ok(())
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

    /// Reports a job: as succeeded to a sandbox, as failed to any other server.
    pub fn report(&self, job: &Value) -> Value {
        let token = &job["claimToken"];
        if self.is_sandbox {
            json!({ "ok": true, "claimToken": token, "result": { "externalId": "1", "url": "https://shop.example/a" } })
        } else {
            json!({ "ok": false, "claimToken": token, "error": "Conformance tests execute no jobs." })
        }
    }

    /// Returns whether a job may be reported as succeeded without being executed.
    pub fn may_claim_success(&self) -> Checked {
        self.only_in_a_sandbox("the job was not executed")
    }

    /// Returns whether the queue is known to be empty.
    pub fn has_no_jobs(&self) -> Checked {
        self.only_in_a_sandbox("the queue may contain jobs of others")
    }

    fn only_in_a_sandbox(&self, otherwise: &'static str) -> Checked {
        if self.is_sandbox { Ok(()) } else { Err(Unchecked(otherwise)) }
    }
}

/// The path of a member, and its required type.
type Member<'a> = (&'a str, fn(&Value) -> bool);

/// Asserts that the members exist and have the required types.
#[track_caller]
pub fn has(object: &Value, members: &[Member<'_>]) {
    for (pointer, is_right) in members {
        let member = object.pointer(pointer).unwrap_or_else(|| panic!("{pointer} is missing in {object}"));
        assert!(is_right(member), "{pointer} is {member}");
    }
}

pub fn is_time(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.parse::<jiff::Timestamp>().is_ok())
}

pub fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}
