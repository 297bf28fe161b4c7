//! A website of a test, on a real connection, that remembers its requests.

use std::collections::HashMap;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request, Response, StatusCode, header};
use flate2::Compression;
use flate2::write::GzEncoder;

/// A response of a website.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    delay: Duration,
    /// Whether the body never ends.
    is_endless: bool,
}

impl Reply {
    pub(super) fn of(status: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type", kind.to_owned())];
        Self { status, headers, body: body.into(), delay: Duration::ZERO, is_endless: false }
    }

    /// Returns a page with a text and links.
    pub(super) fn page(text: &str, links: &[&str]) -> Self {
        let links: Vec<String> =
            links.iter().map(|link| format!("<p><a href='{link}'>to {link}</a></p>")).collect();
        let links = links.concat();
        Self::html(&format!("<title>{text}</title><main><p>{text}</p>{links}</main>"))
    }

    pub(super) fn html(html: &str) -> Self {
        Self::of(200, "text/html; charset=utf-8", html)
    }

    pub(super) fn redirect(target: &str) -> Self {
        Self::of(302, "text/plain", "").with("location", target)
    }

    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(super) fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    pub(super) fn endless(self) -> Self {
        Self { is_endless: true, ..self }
    }

    pub(super) fn zipped(self) -> Self {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&self.body).expect("packed");
        let body = encoder.finish().expect("packed");
        Self { body, ..self }.with("content-encoding", "gzip")
    }
}

/// Makes a response for a path.
type Rule = Arc<dyn Fn(&str) -> Option<Reply> + Send + Sync>;

#[derive(Default)]
struct Shared {
    replies: Mutex<HashMap<String, Reply>>,
    rule: Mutex<Option<Rule>>,
    requests: Mutex<Vec<(String, HeaderMap)>>,
    active: AtomicUsize,
    /// The most requests at a time.
    most: AtomicUsize,
}

/// A website.
#[derive(Clone)]
pub(super) struct Website {
    shared: Arc<Shared>,
    pub(super) address: SocketAddr,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no panic")
}

impl Website {
    pub(super) async fn start(pages: &[(&str, Reply)]) -> Self {
        let shared = Arc::new(Shared::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let routes = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let website = Self { shared, address };
        for (path, reply) in pages {
            website.set(path, reply.clone());
        }
        website
    }

    pub(super) fn set(&self, path: &str, reply: Reply) {
        lock(&self.shared.replies).insert(path.to_owned(), reply);
    }

    pub(super) fn remove(&self, path: &str) {
        lock(&self.shared.replies).remove(path);
    }

    /// Answers other paths by a rule.
    pub(super) fn set_rule(&self, rule: impl Fn(&str) -> Option<Reply> + Send + Sync + 'static) {
        *lock(&self.shared.rule) = Some(Arc::new(rule));
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the paths of the requests since the last call, in their order.
    pub(super) fn requested(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.shared.requests)).into_iter().map(|(path, _)| path).collect()
    }

    pub(super) fn request_count(&self) -> usize {
        lock(&self.shared.requests).len()
    }

    /// Returns a header of the last request of a path.
    pub(super) fn header(&self, path: &str, name: &str) -> Option<String> {
        let requests = lock(&self.shared.requests);
        let (_, headers) = requests.iter().rev().find(|(known, _)| known == path)?;
        headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    }

    pub(super) fn most_at_a_time(&self) -> usize {
        self.shared.most.load(Ordering::SeqCst)
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request<Body>) -> Response<Body> {
    let active = shared.active.fetch_add(1, Ordering::SeqCst) + 1;
    shared.most.fetch_max(active, Ordering::SeqCst);
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    lock(&shared.requests).push((path.clone(), request.headers().clone()));
    let reply = lock(&shared.replies).get(&path).cloned();
    let rule = lock(&shared.rule).clone();
    let reply = reply.or_else(|| rule.and_then(|rule| rule(&path)));
    let reply = reply.unwrap_or_else(|| Reply::of(404, "text/html", "<p>Nothing here"));
    tokio::time::sleep(reply.delay).await;
    let has = |name: header::HeaderName, value: &str| {
        request.headers().get(name).is_some_and(|sent| sent.as_bytes() == value.as_bytes())
    };
    let is_known = reply.headers.iter().any(|(name, value)| match *name {
        "etag" => has(header::IF_NONE_MATCH, value),
        "last-modified" => has(header::IF_MODIFIED_SINCE, value),
        _ => false,
    });
    let status = if is_known { StatusCode::NOT_MODIFIED.as_u16() } else { reply.status };
    let mut response = Response::builder().status(status);
    for (name, value) in &reply.headers {
        response = response.header(*name, value);
    }
    let body = if reply.is_endless {
        let first = futures_util::stream::iter([Ok::<_, std::io::Error>(reply.body)]);
        Body::from_stream(futures_util::StreamExt::chain(first, futures_util::stream::pending()))
    } else if is_known {
        Body::empty()
    } else {
        Body::from(reply.body)
    };
    shared.active.fetch_sub(1, Ordering::SeqCst);
    response.body(body).expect("a response")
}
