//! The proxy as a router: forwarding and failures.

mod connections;
mod failures;
mod forwarding;
mod visitor;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request as Incoming;
use axum::http::{HeaderMap, Request, Response, StatusCode};
use axum::response::IntoResponse;
use chat_connector::proxy::{self, ProxyOptions, SetupError};
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tower::ServiceExt;

use crate::service::{TOKEN, serve};

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn failure(&self) -> (u16, String) {
        let body: Value = serde_json::from_str(&self.body).expect("an envelope");
        assert_eq!(body["ok"], false);
        assert_eq!(body["requestId"].as_str(), self.header("x-request-id"));
        assert_eq!(self.header("content-type"), Some("application/json"));
        assert_eq!(self.header("cache-control"), Some("no-store"));
        (self.status.as_u16(), body["error"]["code"].as_str().unwrap_or_default().to_owned())
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// The requests that arrived at a service: their lines, headers and bodies.
pub type Seen = Arc<Mutex<Vec<(String, HeaderMap, String)>>>;

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

/// Starts a service that records its requests, and responds with the result of `answer`.
pub async fn service<R: IntoResponse>(
    answer: impl Fn() -> R + Clone + Send + Sync + 'static,
) -> (SocketAddr, Seen) {
    let seen = Seen::default();
    let recorded = Arc::clone(&seen);
    let router = Router::new().fallback(move |request: Incoming| {
        let (recorded, answer) = (Arc::clone(&recorded), answer.clone());
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await.expect("a body").to_bytes();
            let line = format!("{} {}", parts.method, parts.uri);
            let body = String::from_utf8_lossy(&body).into_owned();
            recorded.lock().expect("not poisoned").push((line, parts.headers, body));
            answer().into_response()
        }
    });
    (serve(router).await, seen)
}

fn options(address: SocketAddr) -> ProxyOptions {
    ProxyOptions::new(format!("http://{address}"), TOKEN.into())
}

async fn ask(options: ProxyOptions, request: Request<Body>) -> Answer {
    let site = Router::new().nest("/connector", proxy::router(options).expect("a proxy"));
    let response = site.oneshot(request).await.expect("an answer");
    let (parts, body) = response.into_parts();
    let body = body.collect().await.expect("a whole body").to_bytes();
    let answer = Answer {
        status: parts.status,
        headers: parts.headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    assert!(!format!("{:?} {}", answer.headers, answer.body).contains(TOKEN));
    answer
}

fn get(path: &str) -> Request<Body> {
    Request::get(path).body(Body::empty()).expect("a request")
}

fn post(path: &str, body: impl Into<Body>) -> Request<Body> {
    Request::post(path).header("content-type", "application/json").body(body.into()).expect("a request")
}
