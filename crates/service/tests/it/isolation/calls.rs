//! The endpoints of both APIs, and random requests to them.

use std::fmt;

use serde_json::{Value, json};

use crate::isolation::tenant::Tenant;
use crate::support::Answer;
use crate::support::push::PushBrowser;

/// Calls that would end the session with which all others are made, or that never end.
const EXCLUDED: [&str; 6] = [
    "DELETE /session",
    "DELETE /sessions",
    "DELETE /sessions/{session}",
    "POST /password",
    "GET /stream",
    "POST /totp/confirm",
];

/// Calls after which the tenant's own site or people are gone: they are made with ids of the other tenant
/// only.
fn is_destructive(method: &str, path: &str) -> bool {
    (method == "DELETE" && !path.starts_with("/invitations"))
        || path.ends_with("/disable")
        || path.ends_with("/rotate")
}

/// An endpoint.
#[derive(Clone, Debug)]
pub struct Call {
    api: Api,
    method: String,
    path: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Api {
    Admin,
    Connector,
}

impl fmt::Display for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.method, self.path)
    }
}

/// Returns the endpoints of the connector API, and those that the admin API describes.
pub async fn calls(tenant: &Tenant) -> Vec<Call> {
    let connector = [
        ("GET", "/chat/config"),
        ("POST", "/chat/messages"),
        ("GET", "/chat/messages?conversationId={conversation}"),
        ("GET", "/chat/presence?conversationId={conversation}"),
        ("POST", "/events"),
        ("POST", "/content/sync"),
        ("GET", "/site/status"),
        ("GET", "/seo/overlays"),
        ("POST", "/site/jobs/next"),
        ("POST", "/site/jobs/{job}/complete"),
    ];
    let mut calls: Vec<Call> = connector
        .map(|(method, path)| Call { api: Api::Connector, method: method.to_owned(), path: path.to_owned() })
        .into();
    let document = tenant.desk.call("GET", "/openapi.json", None).await.json();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for method in methods.as_object().expect("methods").keys() {
            let method = method.to_uppercase();
            if !EXCLUDED.contains(&format!("{method} {path}").as_str()) {
                calls.push(Call { api: Api::Admin, method, path: path.clone() });
            }
        }
    }
    assert!(calls.len() > 40, "{calls:?}");
    calls
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    api: Api,
    method: String,
    path: String,
    key: Option<String>,
    body: Option<Value>,
    /// Whether it contains an id of the other tenant.
    pub names_other: bool,
    /// Whether it must fail, because its path names something of the other tenant.
    pub needs_other: bool,
}

/// The ids that bodies name.
struct Named<'a> {
    conversation: &'a str,
    operator: &'a str,
    site: &'a str,
    label: &'a str,
}

impl Call {
    /// Returns a request with ids of the own or of the other tenant.
    pub fn request(&self, random: &mut fastrand::Rng, own: &Tenant, other: &Tenant) -> Request {
        let is_destructive = is_destructive(&self.method, &self.path);
        let id = |kind: &str, random: &mut fastrand::Rng| {
            let of_other = is_destructive || random.u8(..10) < 6;
            let ids = if of_other { other.ids(kind) } else { own.ids(kind) };
            random.choice(ids).expect("an id")
        };
        let mut path = String::new();
        let mut rest = self.path.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let (kind, after) = after.split_once('}').expect("a closing brace");
            path.push_str(before);
            path.push_str(&id(kind, random));
            rest = after;
        }
        path.push_str(rest);
        let queried = id("site", random);
        path.push_str(&self.query(random, &queried));
        let conversation = id("conversation", random);
        let operator = id("operator", random);
        let site = id("site", random);
        let label = id("label", random);
        let ids = Named { conversation: &conversation, operator: &operator, site: &site, label: &label };
        let body = (self.method != "GET").then(|| self.body(&own.name, &ids, random));
        let key = random.bool().then(|| format!("shared-key-{}", random.u8(..20)));
        let mut request = Request {
            api: self.api,
            method: self.method.clone(),
            path,
            key,
            body,
            names_other: false,
            needs_other: false,
        };
        let secrets = other.secrets();
        request.names_other = secrets.iter().any(|secret| request.contains(secret));
        request.needs_other = secrets.iter().any(|secret| request.path.contains(secret.as_str()))
            && (self.api == Api::Admin || self.path.contains("/messages?"));
        request
    }

    /// Returns a query, for the endpoints that need or take one.
    fn query(&self, random: &mut fastrand::Rng, site: &str) -> String {
        let site = if random.bool() { format!("&site={site}") } else { String::new() };
        match self.path.as_str() {
            "/report" | "/report.csv" => format!("?from=2026-01-01&to=2026-12-31{site}"),
            "/conversations" if self.method == "GET" => {
                let view = random.choice(["mine", "unassigned", "open", "waiting", "closed", "all"]);
                let words = if random.bool() { "&q=says" } else { "" };
                format!("?view={}{words}", view.unwrap_or("all"))
            }
            _ => String::new(),
        }
    }

    fn body(&self, name: &str, ids: &Named<'_>, random: &mut fastrand::Rng) -> Value {
        let Named { conversation, operator, site, label } = ids;
        let text = format!("{name} says {}", random.u32(..));
        match (self.method.as_str(), self.path.as_str()) {
            ("POST", "/chat/messages") => json!({
                "message": text,
                "conversationId": random.bool().then_some(conversation),
                "visitor": { "visitorId": format!("{name}-visitor") },
            }),
            ("POST", "/events") => json!({
                "events": [{ "eventType": "page_view", "visitorId": "shared-visitor", "path": format!("/{name}") }],
            }),
            ("POST", "/content/sync") => json!({
                "snapshotId": "s", "page": 1, "complete": random.bool(),
                "items": [{ "externalId": "shared", "type": "page", "title": text, "path": "/shared", "content": text }],
            }),
            ("POST", "/site/jobs/{job}/complete") => json!({ "ok": true, "claimToken": "claim_shared" }),
            ("POST", "/sites") => json!({ "name": format!("{name} site") }),
            ("PATCH", "/sites/{site}") => json!({ "assistantName": text }),
            ("POST", "/licenses") => json!({ "siteId": random.bool().then_some(site) }),
            ("POST", "/invitations") => {
                json!({ "email": format!("{}@{name}.example", random.u32(..)), "role": "agent" })
            }
            (_, "/sites/{site}/answers" | "/sites/{site}/answers/{answer}") => {
                json!({ "question": format!("{text}?"), "answer": text, "locale": "en" })
            }
            (_, "/sites/{site}/test-questions/{question}") | ("POST", "/sites/{site}/test-questions") => {
                json!({ "question": format!("{text}?"), "expects": "words", "expected": text })
            }
            ("PUT", "/sites/{site}/test-questions") => {
                json!({ "questions": [{ "question": format!("{text}?"), "expects": "no_answer" }] })
            }
            ("POST", "/sites/{site}/sources") => json!({ "address": format!("https://{name}.example/") }),
            ("PATCH", "/sites/{site}/sources/{source}") => json!({ "maxPages": random.i64(1..500) }),
            (_, "/labels" | "/labels/{label}") => {
                json!({ "name": format!("{name} {}", random.u32(..)), "color": "red" })
            }
            (_, "/replies" | "/replies/{reply}") => {
                json!({ "shortcut": format!("{name}-{}", random.u32(..)), "text": text })
            }
            ("POST", "/session/switch") => json!({ "operatorId": operator }),
            // Both tenants have the same browser at times.
            ("POST", "/push/devices") => PushBrowser::new(1, "https://push.example/shared").subscription(),
            ("PUT", "/preferences") => json!({ "availability": random.choice(["automatic", "away"]) }),
            ("PUT", "/stream/{console}") => json!({ "idle": random.bool() }),
            ("POST", "/conversations/{conversation}/take-over") => json!({ "from": operator }),
            ("POST", "/conversations/{conversation}/typing") => json!({ "note": random.bool() }),
            ("PATCH", "/conversations/{conversation}/visitor") => json!({ "name": text }),
            (_, path) if path.contains("/privacy/") => json!({ "email": format!("nobody@{name}.example") }),
            (_, path) if path.contains("/publishing-rules") => json!({
                "version": random.i64(0..3), "hourlyLimit": 100, "rules": [{ "name": text, "action": "publish" }],
            }),
            ("POST", "/sites/{site}/reviews") => json!({ "title": text, "path": "/shared", "content": text }),
            ("PATCH", "/operators/{operator}") => json!({ "name": text }),
            ("PATCH", "/conversations/{conversation}") => match random.u8(..7) {
                0 => json!({ "assigneeId": operator }),
                1 => json!({ "status": random.choice(["open", "waiting", "closed"]) }),
                2 => json!({ "aiPaused": random.bool() }),
                3 => json!({ "labels": [label] }),
                4 => json!({ "blocked": random.u8(..4) == 0 }),
                5 => json!({ "snoozedUntil": "" }),
                _ => json!({ "read": true }),
            },
            (_, path) if path.ends_with("/messages") || path.ends_with("/notes") => json!({ "text": text }),
            _ => json!({}),
        }
    }
}

impl Request {
    pub async fn send(&self, own: &Tenant) -> Answer {
        match self.api {
            Api::Admin => {
                let (key, body) = (self.key.as_deref(), self.body.as_ref());
                own.desk.call_with_key(&self.method, &self.path, key, body).await
            }
            Api::Connector if self.method == "GET" => own.desk.client.get(&self.path).await,
            Api::Connector => {
                let body = self.body.clone().unwrap_or_default();
                own.desk.client.post(&self.path, self.key.as_deref(), &body).await
            }
        }
    }

    /// Returns the request as an error message shows it.
    pub fn what(&self) -> String {
        let body = self.body.as_ref().map(Value::to_string).unwrap_or_default();
        format!("{} {} {body}", self.method, self.path)
    }

    /// Returns whether the caller itself wrote a text.
    pub fn contains(&self, text: &str) -> bool {
        self.what().contains(text)
    }
}
