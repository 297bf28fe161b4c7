//! A browser with cookies, in front of the guarded router of a service.

use std::collections::BTreeMap;
use std::net::IpAddr;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tower::ServiceExt;

use crate::accounts::hasher::{Caller, Place};
use crate::accounts::links::{self, Purpose};
use crate::accounts::totp::TotpSecret;
use crate::accounts::{Role, Session, first_owner_link, guarded, owner_link, routes};
use crate::client::Client;
use crate::databases::TestDatabase;
use crate::db::{Arg, DbError, Row, args, transaction};
use crate::email_queue::unseal;
use crate::{Service, ServiceKey, ServiceOptions, SmtpOptions};

pub(super) const HOST: &str = "chat.example";
pub(super) const PASSWORD: &str = "a long and secret phrase";

/// A service at `https://chat.example`, with the owner `owner@example.com`.
pub(super) struct Fixture {
    pub(super) service: Service,
    pub(super) owner: Browser,
    pub(super) owner_id: String,
    pub(super) tenant_id: String,
}

impl Fixture {
    pub(super) async fn new(database: &TestDatabase) -> Self {
        Self::of(open(database, Some("https://chat.example")).await).await
    }

    /// Returns a fixture whose service queues e-mails.
    pub(super) async fn with_smtp(database: &TestDatabase) -> Self {
        let mut options = options(database, Some("https://chat.example"));
        options.smtp = Some(SmtpOptions::new("localhost", "chat@chat.example"));
        Self::of(Service::open(options).await.expect("opened")).await
    }

    async fn of(service: Service) -> Self {
        let link = first_owner_link(&service).await.expect("no operator yet");
        let mut owner = Browser::new(&service);
        let account = owner.set_up(&link, json!({"name": "Owner", "email": "owner@example.com"})).await;
        let text =
            |pointer| account.json.pointer(pointer).expect("a member").as_str().expect("text").to_owned();
        let (owner_id, tenant_id) = (text("/data/operator/id"), text("/data/tenant/id"));
        Self { service, owner, owner_id, tenant_id }
    }

    /// Returns a browser in which an invited operator is signed in, and the operator's id.
    pub(super) async fn invite(&mut self, email: &str, role: Role) -> (Browser, String) {
        let invitation = json!({"email": email, "role": role.as_str()});
        let invited = self.owner.post("/invitations", invitation).await.ok();
        let mut browser = Browser::new(&self.service);
        let link = match invited["link"].as_str() {
            Some(link) => link.to_owned(),
            None => self.mailed_link().await,
        };
        let account = browser.set_up(&link, json!({"name": role.as_str()})).await.ok();
        let id = account["operator"]["id"].as_str().expect("an id").to_owned();
        (browser, id)
    }

    pub(super) async fn execute(&self, sql: &'static str, values: Vec<Arg>) -> u64 {
        let changed: Result<u64, DbError> =
            transaction!(self.service.db(), |tx| tx.execute(sql, values).await).await;
        changed.expect("executed")
    }

    /// Returns the number that a query counts.
    pub(super) async fn count(&self, sql: &'static str, values: Vec<Arg>) -> i64 {
        self.service.db().one(sql, values).await.expect("a row").int(0).expect("a number")
    }

    /// Returns the recipients and the texts of the queued e-mails.
    pub(super) async fn mails(&self) -> Vec<(String, String)> {
        let sql = "SELECT id, recipient, content FROM emails ORDER BY no";
        let rows = self.service.db().all(sql, vec![]).await.expect("read");
        let read = |row: &Row| {
            let (id, sealed) = (row.text(0).expect("an id"), row.bytes(2).expect("a content"));
            let (_, text) = unseal(&self.service.0.options.key, &id, &sealed).expect("the same key");
            (row.text(1).expect("a recipient"), text)
        };
        rows.iter().map(read).collect()
    }

    /// Returns the link of the last e-mail.
    pub(super) async fn mailed_link(&self) -> String {
        let mails = self.mails().await;
        let (_, text) = mails.last().expect("an e-mail");
        let link = text.split_whitespace().find(|word| word.contains("#setup="));
        link.expect("a link").to_owned()
    }

    /// Returns the id of an operator's account.
    pub(super) async fn account_of(&self, operator_id: &str) -> String {
        let sql = "SELECT account_id FROM operators WHERE id = $1";
        let row = self.service.db().one(sql, args![operator_id]).await.expect("a row");
        row.text(0).expect("an id")
    }

    /// Ends the delays of all who were throttled, as if they had waited.
    pub(super) async fn wait_out(&self) {
        self.execute("DELETE FROM rate_counters WHERE key LIKE '% waits'", vec![]).await;
    }

    /// Keeps all threads that hash busy, and fills the places of strangers, until the returned value is
    /// dropped.
    pub(super) async fn flood(&self) -> (OwnedSemaphorePermit, Vec<Place>) {
        let hasher = &self.service.0.accounts.hasher;
        let stalled = hasher.stall().await;
        (stalled, std::iter::from_fn(|| hasher.place(Caller::Stranger).ok()).collect())
    }

    /// Returns the number of hashes that were computed so far.
    pub(super) fn hashes(&self) -> u64 {
        self.service.0.accounts.hasher.computed()
    }
}

fn options(database: &TestDatabase, public_origin: Option<&str>) -> ServiceOptions {
    let mut options = ServiceOptions::new(database.address.clone(), ServiceKey::random());
    options.public_origin = public_origin.map(str::to_owned);
    options
}

pub(super) async fn open(database: &TestDatabase, public_origin: Option<&str>) -> Service {
    Service::open(options(database, public_origin)).await.expect("opened")
}

/// A browser, which stores cookies, and sends the headers that a browser sends for the console's requests.
#[derive(Clone)]
pub(super) struct Browser {
    router: Router,
    pub(super) cookies: BTreeMap<String, String>,
    pub(super) host: String,
    pub(super) address: IpAddr,
    pub(super) https: bool,
}

/// A response, with its body.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// The body; a text if it is not JSON.
    pub(super) json: Value,
}

impl Answer {
    /// Returns the data of a success.
    pub(super) fn ok(self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{}", self.json);
        self.json["data"].clone()
    }

    /// Returns the status and the code of a failure.
    pub(super) fn failure(&self) -> (u16, &str) {
        (self.status.as_u16(), self.json["error"]["code"].as_str().unwrap_or_default())
    }

    pub(super) fn set_cookies(&self) -> Vec<&str> {
        self.headers.get_all(header::SET_COOKIE).iter().map(|value| value.to_str().expect("text")).collect()
    }
}

impl Browser {
    pub(super) fn new(service: &Service) -> Self {
        Self {
            router: guarded(routes(), service).with_state(service.clone()),
            cookies: BTreeMap::new(),
            host: HOST.to_owned(),
            address: "192.0.2.1".parse().expect("an address"),
            https: true,
        }
    }

    /// Returns a copy of this browser, of which each session ends after the guard has found it, as by a new
    /// password while the body of a request arrives.
    pub(super) fn interrupted(&self, service: &Service) -> Self {
        let routes = routes().layer(middleware::from_fn_with_state(service.clone(), end_session));
        Self { router: guarded(routes, service).with_state(service.clone()), ..self.clone() }
    }

    /// Returns a browser at another address.
    pub(super) fn at(service: &Service, address: &str) -> Self {
        Self { address: address.parse().expect("an address"), ..Self::new(service) }
    }

    pub(super) async fn get(&mut self, path: &str) -> Answer {
        self.call("GET", path, None).await
    }

    pub(super) async fn post(&mut self, path: &str, body: Value) -> Answer {
        self.call("POST", path, Some(body)).await
    }

    pub(super) async fn patch(&mut self, path: &str, body: Value) -> Answer {
        self.call("PATCH", path, Some(body)).await
    }

    pub(super) async fn delete(&mut self, path: &str) -> Answer {
        self.call("DELETE", path, None).await
    }

    pub(super) async fn sign_in(&mut self, email: &str, password: &str) -> Answer {
        self.post("/session", json!({"email": email, "password": password})).await
    }

    /// Uses a one-time link, with [`PASSWORD`].
    pub(super) async fn set_up(&mut self, link: &str, mut account: Value) -> Answer {
        let (_, token) = link.split_once("#setup=").expect("a secret in the fragment");
        account["token"] = token.into();
        if account.get("password").is_none() {
            account["password"] = PASSWORD.into();
        }
        self.post("/setup", account).await
    }

    pub(super) async fn call(&mut self, method: &str, path: &str, body: Option<Value>) -> Answer {
        self.call_as(None, method, path, body).await
    }

    /// Sends a request of a console that shows the workspace of an operator.
    pub(super) async fn call_as(
        &mut self,
        operator_id: Option<&str>,
        method: &str,
        path: &str,
        body: Option<Value>,
    ) -> Answer {
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let scheme = if self.https { "https" } else { "http" };
        let mut request = self.request(method, path);
        if let Some(id) = operator_id {
            request = request.header("operator-id", id);
        }
        let request = request
            .header(header::ORIGIN, format!("{scheme}://{}", self.host))
            .header("sec-fetch-site", "same-origin")
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body))
            .expect("a request");
        self.send(request).await
    }

    /// Begins a request with the browser's cookies, and nothing that says where it comes from.
    pub(super) fn request(&self, method: &str, path: &str) -> axum::http::request::Builder {
        let client = Client { address: self.address, https: self.https };
        let mut request =
            Request::builder().method(method).uri(path).header(header::HOST, &self.host).extension(client);
        if !self.cookies.is_empty() {
            let cookies: Vec<String> =
                self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request = request.header(header::COOKIE, cookies.join("; "));
        }
        request
    }

    /// Sends a request, and stores the cookies of the response.
    pub(super) async fn send(&mut self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.expect("an answer");
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        let text = || Value::String(String::from_utf8_lossy(&body).into_owned());
        let json = serde_json::from_slice(&body).unwrap_or_else(|_| text());
        let answer = Answer { status: parts.status, headers: parts.headers, json };
        for cookie in answer.set_cookies() {
            let (name, value) =
                cookie.split(';').next().and_then(|pair| pair.split_once('=')).expect("a pair");
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
        answer
    }

    pub(super) fn session(&self) -> Option<String> {
        self.cookies.get("__Host-session").cloned()
    }

    /// Returns whether the browser's session is valid.
    pub(super) async fn is_signed_in(&mut self) -> bool {
        let answer = self.get("/session").await;
        match answer.failure() {
            (200, _) => true,
            (401, "SIGNED_OUT") => false,
            other => panic!("{other:?}"),
        }
    }
}

/// Ends the session of a request, which the guard has found.
async fn end_session(State(service): State<Service>, request: Request<Body>, next: Next) -> Response {
    let session = request.extensions().get::<Session>().cloned().expect("a session");
    let sql = "DELETE FROM operator_sessions WHERE id = $1";
    let ended: Result<u64, DbError> =
        transaction!(service.db(), |tx| tx.execute(sql, args![session.id]).await).await;
    assert_eq!(ended.expect("executed"), 1);
    next.run(request).await
}

/// A second tenant, beside that of the fixture.
pub(super) const OTHER: &str = "tenant_other";

impl Fixture {
    /// Adds a second tenant, and returns the browser of its owner, `eve@example.com`.
    pub(super) async fn other_owner(&self) -> Browser {
        let sql = "INSERT INTO tenants (id, name, created_ms) VALUES ($1, 'Other', 1)";
        self.execute(sql, args![OTHER]).await;
        let link = owner_link(&self.service, OTHER).await.expect("a link");
        let mut eve = Browser::at(&self.service, "198.51.100.1");
        eve.set_up(&link.url, json!({"name": "Eve", "email": "eve@example.com"})).await.ok();
        eve
    }

    /// Returns the link of an invitation that the admin passes on, or uses instead of the invited person.
    pub(super) async fn shown_link(&self, tenant_id: &str, email: &str) -> String {
        let (now, tenant) = (self.service.now_ms(), tenant_id.to_owned());
        let purpose = Purpose::Invitation { email: email.to_owned(), role: Role::Agent };
        let link: Result<_, DbError> =
            transaction!(self.service.db(), |tx| links::create(tx, now, &tenant, &purpose, "operator_0")
                .await)
            .await;
        links::url(&self.service, &link.expect("created").secret)
    }

    /// Returns the link of an invitation that was mailed to its address.
    pub(super) async fn mailed_invitation(&self, owner: &mut Browser, email: &str) -> String {
        owner.post("/invitations", json!({"email": email, "role": "agent"})).await.ok();
        self.mailed_link().await
    }

    /// Creates an account with a link of the fixture's tenant that was shown, so that it is not confirmed.
    pub(super) async fn squat(&self, tenant_id: &str, email: &str, password: &str) -> Browser {
        let link = self.shown_link(tenant_id, email).await;
        let mut squatter = Browser::at(&self.service, "198.51.100.66");
        squatter.set_up(&link, json!({"name": "Squatter", "password": password})).await.ok();
        squatter
    }

    /// Waits until everything that follows an answer is done.
    pub(super) async fn settle(&self) {
        self.service.0.tasks.close();
        self.service.0.tasks.wait().await;
        self.service.0.tasks.reopen();
    }
}

impl Browser {
    /// Returns what the link of an invitation says.
    pub(super) async fn check_link(&mut self, link: &str) -> Answer {
        self.with_link("/setup/check", link).await
    }

    /// Joins by a link, with the account that is signed in.
    pub(super) async fn join(&mut self, link: &str) -> Answer {
        self.with_link("/setup/join", link).await
    }

    async fn with_link(&mut self, path: &str, link: &str) -> Answer {
        let (_, token) = link.split_once("#setup=").expect("a secret in the fragment");
        self.post(path, json!({"token": token})).await
    }

    /// Enables the second factor. Returns what an authenticator app needs.
    pub(super) async fn enable_totp(&mut self, fixture: &Fixture, password: &str) -> TotpSecret {
        let begun = self.post("/totp", json!({"password": password})).await.ok();
        let who = self.get("/session").await.ok();
        let account_id = fixture.account_of(who["operator"]["id"].as_str().expect("an id")).await;
        let (now, key) = (fixture.service.now_ms(), &fixture.service.0.options.key);
        let enrolment = begun["enrolment"].as_str().expect("text");
        let secret = TotpSecret::from_enrolment(key, &account_id, enrolment, now).expect("valid");
        // The step before the current one, so that the current one is left for the test.
        let body = json!({"enrolment": enrolment, "code": secret.code_at(now - 30_000)});
        self.post("/totp/confirm", body).await.ok();
        secret
    }
}
