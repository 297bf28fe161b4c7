//! What people do at the server under test: publish, answer visitors, change the settings of the site.

use std::time::Duration;

use chat_service::ADMIN_BASE;
use reqwest::header::SET_COOKIE;
use serde_json::{Value, json};

use crate::api::{Api, Checked, Site, Unchecked, fresh, send, until};
use crate::serve::{PAGES, SiteOfServe, text};

/// The lease of the job that a test mode abandons.
const SHORT_LEASE: Duration = Duration::from_secs(1);

/// An operator with an open console, who is offline when this is dropped.
pub struct Online(#[expect(dead_code, reason = "open until it is dropped")] Option<reqwest::Response>);

impl Api {
    /// Returns the site, at `serve`.
    #[track_caller]
    pub fn site(&self) -> &SiteOfServe {
        let Site::Serve(_, site) = &self.site else { panic!("the site is not administered by this suite") };
        site
    }

    /// Returns a client of another site of the same server, at `serve`.
    pub async fn other_site(&self, publishing: &str) -> Self {
        let Site::Serve(server, _) = &self.site else { panic!("the server has one site") };
        Self::of_serve(server, server.serve().await.create_site(publishing)).await
    }

    /// Signs in as the owner of the site's tenant, and returns the cookie.
    async fn sign_in(&self) -> String {
        let Site::Serve(server, site) = &self.site else { panic!("nobody can sign in") };
        let link = server.serve().await.admin(&["owner-link", "--tenant", &site.tenant]);
        let link = text(&link, "/link");
        let (_, token) = link.split_once("#setup=").expect("a link");
        let email = format!("{}@example.com", fresh("owner"));
        let account =
            json!({ "token": token, "name": "Owner", "email": email, "password": fresh("password") });
        let request = self.request("POST", &format!("{ADMIN_BASE}/setup")).json(&account);
        let answer = send(request).await;
        answer.data();
        let cookies = answer.headers.get_all(SET_COOKIE).iter().filter_map(|cookie| cookie.to_str().ok());
        let session = cookies.filter_map(|cookie| cookie.split(';').next());
        session.into_iter().find(|cookie| cookie.starts_with("session=")).expect("a session").to_owned()
    }

    /// Returns a request to the admin API by the owner of the site's tenant.
    async fn as_owner(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let cookie = self.owner.get_or_init(|| self.sign_in()).await;
        self.request(method, &format!("{ADMIN_BASE}{path}")).header("cookie", cookie)
    }

    /// Changes something with the admin API, and returns the `data` of the response.
    pub async fn administer(&self, method: &str, path: &str, body: &Value) -> Value {
        send(self.as_owner(method, path).await.json(body)).await.data()
    }

    /// Changes settings of the site, and waits until all nodes have them.
    pub async fn change_settings(&self, mut settings: Value) {
        let marker = fresh("assistant");
        settings["assistantName"] = json!(marker);
        self.administer("PATCH", &format!("/sites/{}", self.site().id), &settings).await;
        self.until_all_nodes(async || {
            self.get("/chat/config").await.data()["config"]["assistantName"] == marker.as_str()
        })
        .await;
    }

    /// Waits until each node has answered that a condition holds.
    pub async fn until_all_nodes(&self, mut condition: impl AsyncFnMut() -> bool) {
        until(async || {
            for _ in 0..self.nodes() {
                if !condition().await {
                    return false;
                }
            }
            true
        })
        .await;
    }

    /// Creates a license that activates this site, and returns the response with its code.
    pub async fn license(&self, expires_in_s: u32) -> Value {
        let license = json!({ "siteId": self.site().id, "expiresInS": expires_in_s });
        self.administer("POST", "/licenses", &license).await
    }

    /// Sends a request of the test mode's operator.
    async fn as_test_operator(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = send(self.request(method, path).json(body)).await;
        assert!((200..300).contains(&answer.status), "{answer:?}");
        serde_json::from_str(&answer.text).unwrap_or_default()
    }

    /// Publishes an article, so that its job can be claimed.
    pub async fn offer_job(&self) -> Checked {
        // Two articles never share a path.
        let path = format!("/{}", fresh("article"));
        let mut article =
            json!({ "title": "An article", "path": path, "locale": "en-US", "content": "<p>Text</p>" });
        match &self.site {
            // The test mode adds jobs as given; `serve` makes them of articles.
            Site::TestMode => {
                for (name, value) in [("contentId", "content_1"), ("type", "article"), ("action", "publish")]
                {
                    article[name] = json!(value);
                }
                let job = json!({ "type": "publish_article", "title": "An article", "payload": article });
                self.as_test_operator("POST", "/sandbox/jobs", &job).await;
            }
            Site::Serve(_, site) => {
                let reviews = format!("/sites/{}/reviews", site.id);
                let draft = self.administer("POST", &reviews, &article).await;
                let approve = format!("{reviews}/{}/approve", text(&draft, "/id"));
                self.administer("POST", &approve, &json!({})).await;
            }
            Site::Given if std::env::var_os("CONFORMANCE_JOBS").is_none() => {
                return Err(Unchecked("claiming a job needs CONFORMANCE_JOBS=1"));
            }
            Site::Given => {}
        }
        Ok(())
    }

    /// Approves the overlays that were suggested for synced pages.
    pub async fn approve_overlays(&self) {
        if let Site::Serve(_, site) = &self.site {
            let path = format!("/sites/{}/reviews/approve-overlays", site.id);
            self.administer("POST", &path, &json!({})).await;
        } else {
            self.as_test_operator("POST", "/sandbox/overlays", &json!({})).await;
        }
    }

    /// Writes a message as an operator.
    pub async fn write_as_operator(&self, conversation: &str, message: &str) {
        if let Site::Serve(..) = &self.site {
            let path = format!("/conversations/{conversation}/messages");
            self.administer("POST", &path, &json!({ "text": message })).await;
        } else {
            let body = json!({ "conversationId": conversation, "content": message });
            self.as_test_operator("POST", "/sandbox/operator", &body).await;
        }
    }

    /// Opens a console.
    pub async fn go_online(&self) -> Online {
        if let Site::Serve(..) = &self.site {
            let stream = self.as_owner("GET", "/stream").await.send().await.expect("an answer");
            assert_eq!(stream.status(), 200);
            return Online(Some(stream));
        }
        self.as_test_operator("PUT", "/sandbox/operator/online", &json!({ "online": true })).await;
        Online(None)
    }

    /// Closes the console.
    pub async fn go_offline(&self, online: Online) {
        drop(online);
        if matches!(self.site, Site::TestMode) {
            self.as_test_operator("PUT", "/sandbox/operator/online", &json!({ "online": false })).await;
        }
    }

    /// Returns a job that somebody claimed and did not complete, after its lease, with a client of its site.
    pub async fn abandoned_job(&self) -> Result<(Self, Value), Unchecked> {
        match &self.site {
            Site::Given => Err(Unchecked("the lease of a job would have to expire")),
            Site::TestMode => {
                let api = Self::of_test_mode(SHORT_LEASE).await;
                let job = api.claimed_job().await?;
                Ok((api, job))
            }
            Site::Serve(server, _) => {
                let (site, job) = server.serve().await.abandoned_job();
                Ok((Self::of_serve(server, site).await, job))
            }
        }
    }

    /// Returns a request of a page of the site to the proxy paths of the service.
    pub fn of_page(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        let request = self.request(method, &format!("/connector/{}{path}", self.site().id));
        request.header("origin", PAGES).header("sec-fetch-site", "cross-site")
    }
}
