//! A tenant with a site, an owner who is signed in, and everything that it has learned of itself.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::support::push::PushBrowser;
use crate::support::{Answer, Client};

pub struct Tenant {
    pub name: String,
    pub client: Client,
    cookie: String,
    /// The ids that responses to this tenant contained.
    ids: BTreeSet<String>,
    /// An open console.
    console: Option<Body>,
}

impl Tenant {
    /// Creates the owner of a tenant, and signs in. All of its texts contain its name.
    pub async fn new(client: Client, name: &str) -> Self {
        let link = chat_service::owner_link(&client.service, &client.site.tenant_id).await.expect("a link");
        let (_, token) = link.url.split_once("#setup=").expect("a secret");
        let password = format!("the password of {name}");
        let body = json!({
            "token": token,
            "name": format!("{name} owner"),
            "email": format!("owner@{name}.example"),
            "password": password,
        });
        let mut tenant = Self {
            name: name.to_owned(),
            client,
            cookie: String::new(),
            ids: BTreeSet::new(),
            console: None,
        };
        let answer = tenant.admin("POST", "/setup", None, Some(&body)).await;
        assert_eq!(answer.status, 200, "{:?}", answer.body);
        let cookies = answer.headers.get_all("set-cookie").iter();
        let pairs = cookies.filter_map(|cookie| cookie.to_str().ok()?.split(';').next().map(str::to_owned));
        tenant.cookie = pairs.collect::<Vec<_>>().join("; ");
        tenant.ids.extend([tenant.client.site.id.clone(), tenant.client.site.tenant_id.clone()]);
        let hello = json!({
            "message": format!("Hello from {name}"),
            "visitor": { "visitorId": format!("{name}-visitor"), "email": format!("visitor@{name}.example") },
        });
        let begun = tenant.client.post("/chat/messages", None, &hello).await;
        tenant.learn(&begun);
        let label = json!({ "name": format!("{name} label"), "color": "red" });
        let device = PushBrowser::new(1, format!("https://push.example/{name}")).subscription();
        let reply = json!({ "shortcut": format!("{name}-reply"), "text": format!("{name} replies") });
        for (path, body) in [("/labels", label), ("/replies", reply), ("/push/devices", device)] {
            let answer = tenant.admin("POST", path, None, Some(&body)).await;
            assert_eq!(answer.status, 200, "{path}: {:?}", answer.body);
            tenant.learn(&answer);
        }
        tenant.open_console().await;
        for path in ["/session", "/sites", "/operators", "/sessions", "/conversations"] {
            let answer = tenant.admin("GET", path, None, None).await;
            assert_eq!(answer.status, 200, "{path}: {:?}", answer.body);
            tenant.learn(&answer);
        }
        tenant
    }

    /// Opens a console, which stays open, and learns its id.
    async fn open_console(&mut self) {
        let request = self.request("GET", "/stream").body(Body::empty()).expect("a request");
        let mut console = self.client.service.router().oneshot(request).await.expect("an answer").into_body();
        let frame = console.frame().await.expect("a first event").expect("an event");
        let text = String::from_utf8_lossy(frame.data_ref().expect("data")).into_owned();
        let (_, hello) = text.split_once("data: ").expect("data");
        let hello: Value = serde_json::from_str(hello.trim()).expect("JSON");
        self.learn_from(&hello);
        self.console = Some(console);
    }

    /// Calls the admin API as this tenant's owner.
    pub async fn admin(&self, method: &str, path: &str, key: Option<&str>, body: Option<&Value>) -> Answer {
        let mut request = self.request(method, path);
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        self.client.send(request.body(body).expect("a request")).await
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

    /// Remembers the ids in a response.
    pub fn learn(&mut self, answer: &Answer) {
        if let Ok(body) = serde_json::from_slice::<Value>(&answer.body) {
            self.learn_from(&body["data"]);
        }
    }

    fn learn_from(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.learn_from(item)),
            Value::Object(members) => {
                for (name, member) in members {
                    match member {
                        Value::String(text) if name == "id" || name.ends_with("Id") => {
                            self.ids.insert(text.clone());
                        }
                        other => self.learn_from(other),
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the ids of a kind, such as `site`; all ids for an unknown kind.
    pub fn ids(&self, kind: &str) -> Vec<String> {
        let prefix = match kind {
            "site" => "site_",
            "conversation" => "conv_",
            "operator" => "operator_",
            "session" => "session_",
            "license" => "license_",
            "invitation" => "invitation_",
            "webhook" => "wh_",
            "label" => "label_",
            "reply" => "reply_",
            "console" => "console_",
            "device" => "push_",
            "review" => "overlay_",
            "visitor" => self.name.as_str(),
            _ => "",
        };
        let found: Vec<String> = self.ids.iter().filter(|id| id.starts_with(prefix)).cloned().collect();
        if found.is_empty() { self.ids.iter().cloned().collect() } else { found }
    }

    /// Returns what no other tenant may see: its name, which is in all of its texts, and its ids, except
    /// those of visitors that both have.
    pub fn secrets(&self) -> Vec<String> {
        let mut secrets: Vec<String> =
            self.ids.iter().filter(|id| id.len() > 12 && !id.starts_with("shared-")).cloned().collect();
        secrets.push(self.name.clone());
        secrets.push(self.client.token.clone());
        secrets
    }
}
