//! Every path of the OpenAPI document, with somebody's words in each place: the log has none of them, and
//! each failure has the envelope.

use std::collections::BTreeSet;

use reqwest::{Method, Response, Url};
use serde_json::{Map, Value, json};

use crate::serve::{Running, http};

/// A word that is in each place of each request, and must not be in the log.
const MARKER: &str = "marker-7d30e";
/// Requests that would end the session with which the others are made.
const ENDING: [&str; 3] = ["DELETE /session", "DELETE /sessions", "DELETE /sessions/{session}"];
/// Members of responses that are secret.
const SECRETS: [&str; 7] = ["token", "link", "secret", "licenseCode", "uri", "enrolment", "recoveryCodes"];

/// Names each place, so that a leak says where it comes from.
fn marked(place: &str) -> String {
    format!("{MARKER}-{place}")
}

fn text(name: &str) -> String {
    match name {
        "email" => format!("{MARKER}@example.org"),
        "url" | "avatarUrl" => format!("https://shop.example/{MARKER}"),
        // A private address, which is refused: nothing is sent from here.
        "base" => format!("http://127.0.0.1:9/{MARKER}"),
        name => marked(name),
    }
}

/// Returns a value for a schema, with a marked text in each place.
fn sample(document: &Value, schema: &Value, name: &str) -> Value {
    if let Some(path) = schema["$ref"].as_str() {
        let target = document.pointer(path.trim_start_matches('#')).expect("a schema");
        return sample(document, target, name);
    }
    if let Some(values) = schema["enum"].as_array() {
        return values[0].clone();
    }
    for choice in ["oneOf", "anyOf", "allOf"] {
        let choices = schema[choice].as_array().into_iter().flatten();
        if let Some(one) = choices.rev().find(|one| one["type"] != "null") {
            return sample(document, one, name);
        }
    }
    let types = schema["type"].as_array();
    let named = types.map_or(&schema["type"], |types| types.iter().find(|it| *it != "null").expect("a type"));
    match named.as_str().unwrap_or("string") {
        "object" => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            let mut object: Map<String, Value> =
                properties.map(|(name, schema)| (name.clone(), sample(document, schema, name))).collect();
            if schema["additionalProperties"].is_object() {
                object.insert(text(name), sample(document, &schema["additionalProperties"], name));
            }
            object.into()
        }
        "array" => json!([sample(document, &schema["items"], name)]),
        "integer" | "number" => json!(5),
        "boolean" => json!(true),
        _ => json!(text(name)),
    }
}

/// A described request.
struct Call {
    method: Method,
    path: String,
    body: Option<Value>,
    queries: Vec<(String, String)>,
}

fn calls(document: &Value) -> Vec<Call> {
    let mut calls = Vec::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, call) in methods.as_object().expect("methods") {
            let schema = &call["requestBody"]["content"]["application/json"]["schema"];
            let parameters = call["parameters"].as_array().into_iter().flatten();
            let queries = parameters.filter(|parameter| parameter["in"] == "query").map(|parameter| {
                let name = parameter["name"].as_str().expect("a name");
                let value = sample(document, &parameter["schema"], name);
                (name.to_owned(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
            });
            calls.push(Call {
                method: method.to_uppercase().parse().expect("a method"),
                path: path.clone(),
                body: schema.is_object().then(|| sample(document, schema, "body")),
                queries: queries.collect(),
            });
        }
    }
    calls
}

impl Call {
    fn name(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// Returns the path with these ids, and with marked texts in the place of all others.
    fn path_with(&self, ids: &[(&str, &str)]) -> String {
        let known =
            ids.iter().fold(self.path.clone(), |path, (kind, id)| path.replace(&format!("{{{kind}}}"), id));
        known.replace('{', &format!("{MARKER}-")).replace('}', "")
    }

    async fn send(&self, address: &str, cookie: &str, ids: &[(&str, &str)]) -> Response {
        let url = format!("{address}/api/admin/v1{}", self.path_with(ids));
        let url = Url::parse_with_params(&url, &self.queries).expect("a URL");
        let request = http().request(self.method.clone(), url).header("cookie", cookie);
        let request = request.header("content-type", "application/json").header("referer", marked("referer"));
        let body = self.body.as_ref().map(Value::to_string).unwrap_or_default();
        request.body(body).send().await.expect("an answer")
    }
}

/// Asserts that a failure has the envelope. Returns the secrets that a success shows.
async fn secrets(response: Response, name: &str) -> Vec<String> {
    let status = response.status();
    assert!(status.as_u16() < 500, "{name}: {status}");
    let content_type =
        response.headers().get("content-type").map(|value| value.to_str().expect("text").to_owned());
    if content_type.as_deref() != Some("application/json") {
        assert!(status.is_success(), "{name}: {status} is no envelope but {content_type:?}");
        return Vec::new();
    }
    let body: Value = response.json().await.expect("JSON");
    if !status.is_success() {
        assert_eq!(body["ok"], false, "{name}: {body}");
        assert!(body["requestId"].is_string() && body["error"]["code"].is_string(), "{name}: {body}");
    }
    let mut found = Vec::new();
    for member in SECRETS {
        let values = match &body["data"][member] {
            Value::Array(values) => values.clone(),
            value => vec![value.clone()],
        };
        let texts = values.iter().filter_map(Value::as_str);
        found.extend(texts.map(|text| text.rsplit(['=', '#']).next().unwrap_or(text).to_owned()));
    }
    found.retain(|text| text.len() > 8);
    found
}

/// Uses a one-time link, and returns the session's cookie and the operator's id.
async fn set_up(running: &Running, link: &str, email: &str) -> (String, String) {
    let token = link.split_once("#setup=").expect("a secret").1;
    let account =
        json!({ "token": token, "name": "Somebody", "email": email, "password": "a long and secret phrase" });
    let setup = format!("{}/api/admin/v1/setup", running.address());
    let response = http().post(setup).json(&account).send().await.expect("an answer");
    let cookies = response.headers().get_all("set-cookie").iter().map(|value| value.to_str().expect("text"));
    let mut sessions =
        cookies.filter(|cookie| cookie.starts_with("session=")).map(|cookie| cookie.split(';').next());
    let session = sessions.next_back().flatten().expect("a session").to_owned();
    let body: Value = response.json().await.expect("JSON");
    (session, body["data"]["operator"]["id"].as_str().expect("an id").to_owned())
}

/// A running service with a site, an owner and a conversation.
struct Shop {
    running: Running,
    owner: String,
    calls: Vec<Call>,
    ids: Vec<(&'static str, String)>,
    _folder: tempfile::TempDir,
}

impl Shop {
    async fn new(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let running = Running::start(folder.path(), flags);
        let (owner, operator) = set_up(&running, running.text("ownerLink"), "owner@example.org").await;
        let site = crate::serve::json(folder.path(), &["admin", "site", "create", "--name", "Shop"]);
        let site = site["site"]["id"].as_str().expect("an id").to_owned();
        let address = running.address();
        let message = json!({ "message": marked("message"), "visitor": { "visitorId": marked("visitor") } });
        let request = http().post(format!("{address}/connector/{site}/chat/messages")).json(&message);
        let sent: Value = request.send().await.expect("an answer").json().await.expect("JSON");
        let conversation = sent["data"]["conversationId"].as_str().expect("an id").to_owned();
        let document = http().get(format!("{address}/api/admin/v1/openapi.json")).send().await;
        let document: Value = document.expect("an answer").json().await.expect("JSON");
        let ids = [
            ("site", site),
            ("conversation", conversation),
            ("operator", operator),
            ("id", marked("visitor")),
        ];
        Self { calls: calls(&document), owner, ids: ids.into(), running, _folder: folder }
    }

    fn ids(&self) -> Vec<(&str, &str)> {
        self.ids.iter().map(|(kind, id)| (*kind, id.as_str())).collect()
    }
}

/// Returns whether a path is not for agents.
fn is_for_admins(call: &Call) -> bool {
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| call.path.starts_with(prefix));
    let contains = |parts: &[&str]| parts.iter().any(|part| call.path.contains(part));
    begins(&["/licenses", "/webhooks", "/audit", "/invitations"])
        || contains(&["/tokens", "/privacy", "/export", "/password-link", "/totp/remove"])
        || (begins(&["/sites"]) && call.method != Method::GET && !call.path.ends_with("/search"))
}

#[tokio::test]
async fn agents_change_no_settings_and_see_no_secrets() {
    let shop = Shop::new(&[]).await;
    let address = shop.running.address();
    let invitation = json!({ "email": "agent@example.org", "role": "agent" });
    let invite = http().post(format!("{address}/api/admin/v1/invitations")).json(&invitation);
    let invited = invite.header("cookie", &shop.owner).send().await.expect("an answer");
    let invited: Value = invited.json().await.expect("JSON");
    let link = format!("{address}{}", invited["data"]["link"].as_str().expect("a link"));
    let (agent, _) = set_up(&shop.running, &link, "agent@example.org").await;
    let mut refused = 0;
    for call in shop.calls.iter().filter(|call| is_for_admins(call)) {
        let status = call.send(address, &agent, &shop.ids()).await.status().as_u16();
        // A body may be refused before the role.
        assert!(status == 403 || status == 400 && call.body.is_some(), "{}: {status}", call.name());
        refused += u32::from(status == 403);
    }
    assert!(refused >= 25, "{refused}");
}

/// Each placeholder of a path is described, and no other parameter is said to be in the path.
#[tokio::test]
async fn the_description_names_the_parameters_of_each_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let running = Running::start(folder.path(), &[]);
    let (_, document) = crate::serve::get(&format!("{}/api/admin/v1/openapi.json", running.address())).await;
    let document: Value = serde_json::from_str(&document).expect("JSON");
    for (path, methods) in document["paths"].as_object().expect("paths") {
        let placeholders: BTreeSet<&str> =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        for (method, call) in methods.as_object().expect("methods") {
            let parameters = call["parameters"].as_array().into_iter().flatten();
            let in_path = parameters.filter(|parameter| parameter["in"] == "path");
            let described: BTreeSet<&str> =
                in_path.filter_map(|parameter| parameter["name"].as_str()).collect();
            assert_eq!(described, placeholders, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn no_described_path_logs_what_it_is_sent_or_fails_without_an_envelope() {
    let shop = Shop::new(&["--log", "trace", "--log-format", "json"]).await;
    let (address, cookie, calls, ids) = (shop.running.address(), &shop.owner, &shop.calls, &shop.ids());
    let (mut found, mut succeeded) =
        (vec![cookie.split_once('=').expect("a pair").1.to_owned()], BTreeSet::new());
    for call in calls {
        // Nobody, the owner with invented ids, and the owner with ids that exist.
        found.extend(secrets(call.send(address, "", ids).await, &call.name()).await);
        if ENDING.contains(&call.name().as_str()) {
            continue;
        }
        found.extend(secrets(call.send(address, cookie, &[]).await, &call.name()).await);
        if call.method == Method::DELETE || call.path.ends_with("/disable") {
            continue;
        }
        let response = call.send(address, cookie, ids).await;
        if response.status().is_success() {
            succeeded.insert(call.name());
        }
        found.extend(secrets(response, &call.name()).await);
    }
    assert!(
        calls.len() >= 60 && succeeded.len() >= 20,
        "{} of {}: {succeeded:?}",
        succeeded.len(),
        calls.len()
    );
    assert!(found.len() >= 3, "the cookie, a token, a license code");

    // What the router and the extractors refuse by themselves.
    let large = Some(json!({ "email": "x".repeat(40_000), "password": "x" }));
    for (method, path, body, status) in [
        (Method::PUT, "/session", None, 405_u16),
        // A path that is no text.
        (Method::GET, "/conversations/%ff", None, 400),
        (Method::POST, "/session", large, 413),
    ] {
        let call = Call { method, path: path.to_owned(), body, queries: Vec::new() };
        let refused = call.send(address, cookie, &[]).await;
        assert_eq!(refused.status(), status, "{}", call.name());
        let allowed = refused.headers().get("allow").map(|methods| methods.to_str().expect("text"));
        assert!(status != 405 || allowed.is_some_and(|methods| methods.contains("POST")), "{allowed:?}");
        secrets(refused, &call.name()).await;
    }

    let (log, count) = (shop.running.stop(), shop.calls.len());
    assert!(log.lines().count() > count && log.lines().all(|line| line.starts_with('{')));
    found.push(MARKER.to_owned());
    for secret in found {
        let leaked = log.lines().find(|line| line.contains(&secret));
        assert_eq!(leaked, None, "{secret}");
    }
}
