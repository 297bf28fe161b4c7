//! A sandbox on a free port, with the calls that tests need besides the API.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};

use chat_connector::client::{BackOff, ClientOptions, ServerConnectorClient};
use chat_service::test_mode::{TestMode, TestOptions};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

pub const TOKEN: &str = "a-token-that-nobody-may-see";

pub struct Service {
    pub address: SocketAddr,
    /// The number of steps: each request that arrives and each response.
    steps: watch::Receiver<u64>,
}

impl Service {
    pub async fn start() -> Self {
        Self::with(TestOptions::new(TOKEN.into())).await
    }

    pub async fn with(options: TestOptions) -> Self {
        let (counted, steps) = watch::channel(0);
        let counted = Arc::new(counted);
        let count = from_fn(move |request: Request, next: Next| {
            let counted = Arc::clone(&counted);
            async move {
                counted.send_modify(|steps| *steps += 1);
                let answer = next.run(request).await;
                counted.send_modify(|steps| *steps += 1);
                answer
            }
        });
        let router = TestMode::open(options).await.expect("a sandbox").router().layer(count);
        Self { address: serve(router).await, steps }
    }

    /// Waits for a number of steps, or until `is_over`, and then for a number of turns of the runtime, so
    /// that the caller stops at an arbitrary point.
    pub async fn steps(&self, steps: u64, turns: u64, mut is_over: impl FnMut() -> bool) {
        let mut counted = self.steps.clone();
        let until = *counted.borrow_and_update() + steps;
        let reached = async {
            while *counted.borrow_and_update() < until && !is_over() {
                let _ = tokio::time::timeout(Duration::from_millis(10), counted.changed()).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), reached).await.expect("the service is called");
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns options with many attempts and short delays.
    pub fn options(&self) -> ClientOptions {
        ClientOptions {
            timeout: Duration::from_secs(5),
            back_off: BackOff {
                attempts: 12,
                initial: Duration::from_millis(1),
                max: Duration::from_millis(5),
                max_retry_after: Duration::from_secs(2),
            },
            ..ClientOptions::new(self.origin())
        }
    }

    pub fn client(&self) -> ServerConnectorClient {
        ServerConnectorClient::new(self.options(), &TOKEN.into()).expect("a client")
    }

    /// Calls a path outside of the API: the console's or a test path.
    pub async fn local(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let method = method.parse().expect("a method");
        let request = http().request(method, format!("{}{path}", self.origin()));
        let mut request = request.header("content-type", "application/json");
        if let Some(body) = body {
            request = request.json(body);
        }
        let answer = request.send().await.expect("an answer");
        assert!(answer.status().is_success(), "{path}: {}", answer.status());
        answer.json().await.unwrap_or_default()
    }

    pub async fn inject_faults(&self, faults: Value) {
        self.local("PUT", "/sandbox/trouble", Some(&faults)).await;
    }

    /// Enqueues a job, and returns its id.
    pub async fn add_job(&self, job_type: &str, payload: Value) -> String {
        let job = json!({ "type": job_type, "title": "A job", "payload": payload, "maxAttempts": 1000 });
        let added = self.local("POST", "/sandbox/jobs", Some(&job)).await;
        added["id"].as_str().expect("an id").to_owned()
    }

    pub async fn jobs(&self) -> Vec<Value> {
        self.local("GET", "/sandbox/site", None).await["jobs"].as_array().expect("jobs").clone()
    }

    /// Returns the key and the status of each request for a path, oldest first.
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

/// Serves a router on a free port, and returns its address.
pub async fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(axum::serve(listener, router).into_future());
    address
}

/// Returns a port that is free now.
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port()
}

/// Returns a header of a response.
pub fn header<'a>(response: &'a reqwest::Response, name: &str) -> Option<&'a str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
}

/// Returns a client for this machine, which needs neither certificates nor the system's proxy.
pub fn http() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("a client")
}
