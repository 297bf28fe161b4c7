//! Operators of a tenant who are signed in, and the streams of their consoles.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use chat_protocol::admin::{Conversation, ConversationSummary, Hello, MessagePage};
use chat_service::Service;
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::databases::TestDatabase;
use crate::support::{Answer, Client};

/// The password of every operator.
const PASSWORD: &str = "seven green kettles";

/// An operator.
#[derive(Clone)]
pub struct Desk {
    pub client: Client,
    pub id: String,
    cookie: String,
}

impl Desk {
    /// Opens a service with one site, and signs its owner in.
    pub async fn new(database: &TestDatabase) -> Self {
        Self::of(Client::new(database).await, "Olga").await
    }

    /// Signs the first owner of a tenant in.
    pub async fn of(client: Client, name: &str) -> Self {
        let link = chat_service::owner_link(&client.service, &client.site.tenant_id).await.expect("a link");
        Self::set_up(client, &link.url, name, Some(&format!("{name}@shop.example"))).await
    }

    async fn set_up(client: Client, link: &str, name: &str, email: Option<&str>) -> Self {
        let (_, token) = link.split_once("#setup=").expect("a secret");
        let body = json!({ "token": token, "name": name, "email": email, "password": PASSWORD });
        let desk = Self { client, id: String::new(), cookie: String::new() };
        desk.enter("/setup", &body).await
    }

    /// Signs in with the password, in a new browser.
    pub async fn sign_in(client: Client, email: &str) -> Self {
        let desk = Self { client, id: String::new(), cookie: String::new() };
        desk.enter("/session", &json!({ "email": email, "password": PASSWORD })).await
    }

    /// Begins a session by a request.
    async fn enter(mut self, path: &str, body: &Value) -> Self {
        let answer = self.call("POST", path, Some(body)).await;
        assert_eq!(answer.status, 200, "{:?}", answer.body);
        let cookies = answer.headers.get_all("set-cookie").iter();
        let pairs = cookies.filter_map(|cookie| cookie.to_str().ok()?.split(';').next().map(str::to_owned));
        self.cookie = pairs.collect::<Vec<_>>().join("; ");
        let session = self.get("/session").await;
        session["operator"]["id"].as_str().expect("an id").clone_into(&mut self.id);
        self
    }

    /// Invites an operator of the same tenant, who signs in.
    pub async fn invite(&self, name: &str, role: &str) -> Self {
        let body = json!({ "email": format!("{name}@shop.example"), "role": role });
        let invitation = self.post("/invitations", &body).await.data();
        let link = invitation["link"].as_str().expect("a link");
        Self::set_up(self.client.clone(), link, name, None).await
    }

    /// Returns this operator's browser at another node.
    pub fn at(&self, node: &Service) -> Self {
        Self { client: self.client.at(node), ..self.clone() }
    }

    fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        Request::builder()
            .method(method)
            .uri(format!("/api/admin/v1{path}"))
            .header("host", "localhost")
            .header("origin", "http://localhost")
            .header("sec-fetch-site", "same-origin")
            .header("content-type", "application/json")
            .header("cookie", &self.cookie)
    }

    pub async fn call(&self, method: &str, path: &str, body: Option<&Value>) -> Answer {
        self.call_with_key(method, path, None, body).await
    }

    /// Calls with an idempotency key, if there is one.
    pub async fn call_with_key(
        &self,
        method: &str,
        path: &str,
        key: Option<&str>,
        body: Option<&Value>,
    ) -> Answer {
        let mut request = self.request(method, path);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        self.client.send(request.body(body).expect("a request")).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.call("POST", path, Some(body)).await
    }

    pub async fn patch(&self, path: &str, body: &Value) -> Answer {
        self.call("PATCH", path, Some(body)).await
    }

    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.call("PUT", path, Some(body)).await
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> impl Future<Output = Value> {
        let (desk, path) = (self.clone(), path.to_owned());
        async move { desk.call("GET", &path, None).await.data() }
    }

    /// Returns the data of a response as the console reads it.
    pub async fn read<T: DeserializeOwned>(&self, path: &str) -> T {
        let data = self.get(path).await;
        serde_json::from_value(data.clone()).unwrap_or_else(|error| panic!("{path}: {error}: {data}"))
    }

    /// Returns the ids in a list.
    pub async fn ids(&self, query: &str) -> Vec<String> {
        let data = self.get(&format!("/conversations?{query}")).await;
        let conversations = data["conversations"].as_array().expect("a list");
        conversations.iter().map(|one| one["id"].as_str().expect("an id").to_owned()).collect()
    }

    pub async fn conversation(&self, id: &str) -> Conversation {
        self.read(&format!("/conversations/{id}")).await
    }

    pub async fn messages(&self, id: &str, query: &str) -> MessagePage {
        self.read(&format!("/conversations/{id}/messages?{query}")).await
    }

    /// Changes a conversation, and returns it.
    pub async fn change(&self, id: &str, change: Value) -> ConversationSummary {
        let data = self.patch(&format!("/conversations/{id}"), &change).await.data();
        serde_json::from_value(data).expect("a conversation")
    }

    /// Answers a visitor.
    pub async fn answer(&self, id: &str, text: &str) -> Value {
        self.post(&format!("/conversations/{id}/messages"), &json!({ "text": text })).await.data()
    }

    /// Opens a console.
    pub async fn open(&self) -> Console {
        self.open_after(None).await
    }

    /// Opens a console, or is refused.
    pub async fn try_open(&self) -> Response {
        self.stream(None).await
    }

    async fn stream(&self, last_id: Option<&str>) -> Response {
        let mut request = self.request("GET", "/stream");
        if let Some(id) = last_id {
            request = request.header("last-event-id", id);
        }
        let request = request.body(Body::empty()).expect("a request");
        self.client.service.router().oneshot(request).await.expect("an answer")
    }

    /// Opens a console again that had received the event with this id.
    pub async fn open_after(&self, last_id: Option<&str>) -> Console {
        let answer = self.stream(last_id).await;
        assert_eq!(answer.status(), 200);
        let mut console = Console { body: answer.into_body(), text: String::new(), id: String::new() };
        let hello = console.next().await.expect("a first event");
        assert_eq!(hello.name, "hello");
        let hello: Hello = serde_json::from_value(hello.data).expect("a greeting");
        console.id = hello.console_id;
        console
    }
}

/// An event of a stream.
#[derive(Clone, Debug)]
pub struct Event {
    pub id: String,
    pub name: String,
    pub data: Value,
}

/// An open console.
pub struct Console {
    body: Body,
    text: String,
    /// The console's id.
    pub id: String,
}

impl Console {
    /// Returns the next event; `None` when the stream has ended.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.text = rest;
                if event.starts_with(':') {
                    continue;
                }
                let field = |name: &str| {
                    let line = event.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
                    line.unwrap_or_default().to_owned()
                };
                let data = serde_json::from_str(&field("data")).expect("JSON");
                return Some(Event { id: field("id"), name: field("event"), data });
            }
            let frame = self.body.frame().await?.expect("a stream that does not break");
            self.text.push_str(&String::from_utf8_lossy(frame.data_ref().expect("data")));
        }
    }

    /// Waits for an event that `wanted` accepts, and skips others.
    #[track_caller]
    pub fn until(&mut self, wanted: impl Fn(&Event) -> bool) -> impl Future<Output = Event> {
        let found = async move {
            loop {
                let event = self.next().await.expect("the stream goes on");
                if wanted(&event) {
                    return event;
                }
            }
        };
        async { tokio::time::timeout(Duration::from_secs(20), found).await.expect("an event in time") }
    }

    /// Waits for an event with a name.
    pub async fn named(&mut self, name: &str) -> Event {
        self.until(|event| event.name == name).await
    }

    /// Waits until a conversation's event shows a message with this text.
    pub async fn message(&mut self, text: &str) -> Event {
        self.until(|event| {
            let messages = event.data["messages"].as_array();
            messages.is_some_and(|messages| messages.iter().any(|message| message["content"] == text))
        })
        .await
    }

    /// Waits until the stream ends.
    pub async fn ends(&mut self) {
        let ended = async { while self.next().await.is_some() {} };
        tokio::time::timeout(Duration::from_secs(20), ended).await.expect("the stream ends in time");
    }
}

/// Waits until a condition holds.
pub async fn eventually<F: Future<Output = bool>>(what: &str, mut holds: impl FnMut() -> F) {
    let waiting = async {
        while !holds().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap_or_else(|_| panic!("{what}"));
}
