//! A tenant with a site, an owner who is signed in, and everything that it has learned of itself.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::inbox::desk::{Console, Desk, eventually};
use crate::support::push::PushBrowser;
use crate::support::{Answer, Client};

pub struct Tenant {
    pub name: String,
    /// The owner's browser.
    pub desk: Desk,
    /// The ids that responses to this tenant contained.
    ids: BTreeSet<String>,
    /// A console that stays open.
    _console: Console,
}

impl Tenant {
    /// Creates the owner of a tenant, and signs in. All of its texts contain its name.
    pub async fn new(client: Client, name: &str) -> Self {
        let desk = Desk::of(client, name).await;
        let console = desk.open().await;
        let ids = [&desk.client.site.id, &desk.client.site.tenant_id, &console.id].map(String::clone).into();
        let mut tenant = Self { name: name.to_owned(), desk, ids, _console: console };
        let hello = json!({
            "message": format!("Hello from {name}"),
            "visitor": { "visitorId": format!("{name}-visitor"), "email": format!("visitor@{name}.example") },
        });
        let begun = tenant.desk.client.post("/chat/messages", None, &hello).await;
        // That the page was seen is stored in the background, once in a while: not during the calls.
        tenant.desk.client.get("/chat/config?locale=en").await.data();
        let setup = format!("/sites/{}/setup", tenant.desk.client.site.id);
        eventually("seen", async || tenant.desk.get(&setup).await["pageFirstSeenAt"].is_string()).await;
        tenant.learn(&begun);
        let label = json!({ "name": format!("{name} label"), "color": "red" });
        let device = PushBrowser::new(1, format!("https://push.example/{name}")).subscription();
        let reply = json!({ "shortcut": format!("{name}-reply"), "text": format!("{name} replies") });
        for (path, body) in [("/labels", label), ("/replies", reply), ("/push/devices", device)] {
            let created = tenant.desk.post(path, &body).await.data();
            tenant.learn_from(&created);
        }
        for path in ["/session", "/sites", "/operators", "/sessions", "/conversations"] {
            let seen = tenant.desk.get(path).await;
            tenant.learn_from(&seen);
        }
        tenant
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
            "source" => "source_",
            "question" => "test_",
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
        secrets.push(self.desk.client.token.clone());
        secrets
    }
}
