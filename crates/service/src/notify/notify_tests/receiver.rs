//! Receivers of webhooks: one that answers as it is told, and sockets that do not speak HTTP.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::verify::verify_webhook;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(super) struct Received {
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Received {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).expect("a header").to_str().expect("text")
    }

    pub(super) fn id(&self) -> &str {
        self.header("webhook-id")
    }

    /// Checks the signatures with the code of `docs/webhooks.md`, at the time of the request.
    pub(super) fn is_signed_with(&self, secret: &str) -> bool {
        let [time, signatures] = ["webhook-timestamp", "webhook-signature"].map(|name| self.header(name));
        verify_webhook(secret, self.id(), time, signatures, &self.body, time.parse().expect("seconds"))
    }
}

/// A receiver that remembers what arrived. It answers what is queued, and 200 after that.
#[derive(Clone)]
pub(super) struct Receiver {
    pub(super) url: String,
    state: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    received: Mutex<Vec<Received>>,
    answers: Mutex<VecDeque<(u16, Option<&'static str>)>>,
    arrived: Notify,
}

impl Receiver {
    pub(super) async fn start() -> Self {
        let state = Arc::new(Shared::default());
        let router = Router::new().fallback(receive).with_state(Arc::clone(&state));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, state }
    }

    /// Queues an answer: a status, with the header `Retry-After` or `Location`.
    pub(super) fn answer(&self, status: u16, header: Option<&'static str>) {
        self.state.answers.lock().expect("no panic").push_back((status, header));
    }

    pub(super) fn received(&self) -> Vec<Received> {
        self.state.received.lock().expect("no panic").clone()
    }

    /// Waits until a number of requests has arrived.
    pub(super) async fn wait_for(&self, count: usize) {
        let arrived = async {
            loop {
                let next = self.state.arrived.notified();
                if self.received().len() >= count {
                    return;
                }
                next.await;
            }
        };
        super::in_time(arrived).await;
    }
}

async fn receive(State(state): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let body = String::from_utf8(body.to_vec()).expect("UTF-8");
    state.received.lock().expect("no panic").push(Received { headers, body });
    state.arrived.notify_waiters();
    let (status, header) = state.answers.lock().expect("no panic").pop_front().unwrap_or((200, None));
    let status = StatusCode::from_u16(status).expect("a status");
    match header {
        Some(value) if status.is_redirection() => (status, [("location", value)], "").into_response(),
        Some(value) => (status, [("retry-after", value)], "wait").into_response(),
        None => (status, "no words\0").into_response(),
    }
}

/// A socket whose connections a test answers by itself.
pub(super) struct Socket {
    pub(super) port: u16,
    listener: TcpListener,
}

impl Socket {
    pub(super) async fn bind() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        Self { port: listener.local_addr().expect("an address").port(), listener }
    }

    pub(super) async fn accept(&self) -> TcpStream {
        super::in_time(self.listener.accept()).await.expect("a connection").0
    }
}
