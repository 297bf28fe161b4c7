//! A sandbox on a port of its own, and what tests ask of it besides the API.

#![allow(dead_code, reason = "each test file uses the calls that it is about")]

use std::net::SocketAddr;
use std::time::Duration;

use chat_connector::client::{BackOff, ClientOptions, ServerConnectorClient};
use chat_sandbox::{Sandbox, SandboxOptions};
use serde_json::{Value, json};
use tokio::net::TcpListener;

pub const TOKEN: &str = "a-token-that-nobody-may-see";

pub struct Service {
    pub address: SocketAddr,
}

impl Service {
    pub async fn start() -> Self {
        Self::with(SandboxOptions::new(TOKEN.into())).await
    }

    pub async fn with(options: SandboxOptions) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(axum::serve(listener, Sandbox::new(options).router()).into_future());
        Self { address }
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Options that try often and wait little.
    pub fn options(&self) -> ClientOptions {
        ClientOptions {
            timeout: Duration::from_secs(5),
            back_off: BackOff {
                attempts: 12,
                first: Duration::from_millis(1),
                most: Duration::from_millis(5),
                patience: Duration::from_secs(2),
            },
            ..ClientOptions::new(self.origin())
        }
    }

    pub fn client(&self) -> ServerConnectorClient {
        ServerConnectorClient::new(self.options(), &TOKEN.into()).expect("a client")
    }

    /// Calls a path outside of the API, as tests and the console do.
    pub async fn local(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let method = method.parse().expect("a method");
        let mut request = http().request(method, format!("{}{path}", self.origin()));
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.expect("an answer");
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        answer.json().await.unwrap_or_default()
    }

    pub async fn trouble(&self, trouble: Value) {
        self.local("PUT", "/sandbox/trouble", Some(&trouble)).await;
    }

    /// Puts a job into the queue, and gives its id.
    pub async fn add_job(&self, job_type: &str, payload: Value) -> String {
        let job = json!({ "type": job_type, "title": "A job", "payload": payload, "maxAttempts": 1000 });
        let added = self.local("POST", "/sandbox/jobs", Some(&job)).await;
        added["id"].as_str().expect("an id").to_owned()
    }

    pub async fn jobs(&self) -> Vec<Value> {
        self.local("GET", "/sandbox/site", None).await["jobs"].as_array().expect("jobs").clone()
    }

    /// The requests that arrived for a path: key and status, oldest first.
    pub async fn arrived(&self, path: &str) -> Vec<(String, Option<u64>)> {
        let everything = self.local("GET", "/sandbox/conversations", None).await;
        let requests = everything["requests"].as_array().expect("requests").clone();
        let here = requests.iter().filter(|request| request["path"].as_str() == Some(path));
        here.map(|request| {
            let key = request["idempotencyKey"].as_str().unwrap_or_default().to_owned();
            (key, request["status"].as_u64())
        })
        .collect()
    }
}

/// A client for what is on this machine: it needs neither certificates nor the system's proxy.
pub fn http() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("a client")
}
