//! Requests of other websites: cross-site requests, and DNS rebinding.

use axum::body::Body;
use axum::http::header;
use serde_json::json;

use super::browser::{Answer, Browser, Fixture, PASSWORD, open};
use crate::accounts::first_owner_link;
use crate::databases::{Kind, TestDatabase, on_both_databases};

/// Sends a request with exactly these headers besides the cookies, which `SameSite` is not trusted to
/// withhold.
async fn attack(browser: &Browser, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut request = browser.request(method, path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = if method == "GET" { Body::empty() } else { Body::from("{}") };
    browser.clone().send(request.body(body).expect("a request")).await
}

const READS: [&str; 5] = ["/session", "/sessions", "/operators", "/invitations", "/audit"];
const CHANGES: [(&str, &str); 8] = [
    ("DELETE", "/session"),
    ("DELETE", "/sessions"),
    ("POST", "/session"),
    ("POST", "/password"),
    ("POST", "/totp"),
    ("POST", "/invitations"),
    ("PATCH", "/operators/operator_1"),
    ("POST", "/setup"),
];

on_both_databases! {
    async fn refuses_forms_fetches_and_navigations_of_other_sites(database: &TestDatabase) {
        let fixture = Fixture::new(database).await;
        let owner = &fixture.owner;
        for (method, path) in CHANGES {
            for content_type in
                ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", ""]
            {
                let form = [(header::CONTENT_TYPE.as_str(), content_type)];
                let answer = attack(owner, method, path, &form).await;
                assert_eq!(
                    answer.failure(),
                    (400, "INVALID_REQUEST"),
                    "a form of an old browser: {method} {path}"
                );
            }
            let json = ("content-type", "application/json");
            for (name, value) in [
                ("origin", "https://evil.example"),
                ("origin", "null"),
                ("origin", "http://chat.example"),
                ("origin", "https://chat.example:8443"),
                ("origin", "https://chat.example.evil.example"),
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-site", "same-site"),
                ("sec-fetch-site", "same-origin, cross-site"),
            ] {
                let answer = attack(owner, method, path, &[json, (name, value)]).await;
                assert_eq!(answer.failure(), (403, "FORBIDDEN"), "{method} {path} {name}: {value}");
            }
            let two = [json, ("origin", "https://chat.example"), ("origin", "https://evil.example")];
            assert_eq!(attack(owner, method, path, &two).await.status, 403, "two origins");
        }
        for path in READS {
            let link = [
                ("sec-fetch-site", "cross-site"),
                ("sec-fetch-mode", "navigate"),
                ("sec-fetch-dest", "document"),
            ];
            assert_eq!(attack(owner, "GET", path, &link).await.status, 403, "a link to {path}");
            let embedded = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")];
            assert_eq!(attack(owner, "GET", path, &embedded).await.status, 403, "an image of {path}");
            assert_eq!(
                attack(owner, "GET", path, &[("sec-fetch-site", "none")]).await.status,
                200,
                "typed in"
            );
            assert_eq!(attack(owner, "GET", path, &[]).await.status, 200, "an old browser");
        }
        let browser = &mut owner.clone();
        assert!(browser.is_signed_in().await, "none of it signed out");
    }

    async fn refuses_names_that_dns_rebinding_can_use(database: &TestDatabase) {
        let mut fixture = Fixture::new(database).await;
        for host in [
            "evil.example",
            "chat.example.evil.example",
            "localhost",
            "127.0.0.1",
            "192.0.2.1",
            "[::1]",
            "",
            "a@chat.example",
            "chat.example@evil.example",
            ":443",
        ] {
            let mut browser = fixture.owner.clone();
            host.clone_into(&mut browser.host);
            for path in READS {
                // To the browser, the rebound name is the page's own: reads have no Origin.
                let own = [("sec-fetch-site", "same-origin")];
                let answer = attack(&browser, "GET", path, &own).await;
                assert_eq!(answer.failure(), (403, "FORBIDDEN"), "{host} {path}");
            }
            assert_eq!(browser.sign_in("owner@example.com", PASSWORD).await.failure().0, 403, "{host}");
        }
        for host in ["chat.example", "Chat.Example", "chat.example:8443"] {
            let request = fixture.owner.request("GET", "/session");
            let mut request = request.body(Body::empty()).expect("a request");
            request.headers_mut().insert("host", host.parse().expect("a value"));
            assert_eq!(fixture.owner.send(request).await.status, 200, "{host}");
        }
        let two = attack(&fixture.owner, "GET", "/session", &[("host", "evil.example")]).await;
        assert_eq!(two.status, 403, "two hosts");
        let target = attack(&fixture.owner, "GET", "http://evil.example/session", &[]).await;
        assert_eq!(target.status, 403, "another host in the target");
    }

    async fn a_service_without_a_public_origin_is_reached_by_address_only(database: &TestDatabase) {
        let service = open(database, None).await;
        for (host, status) in [
            ("localhost:8090", 401),
            ("demo.localhost", 401),
            ("127.0.0.1:8090", 401),
            ("[::1]:8090", 401),
            ("192.168.1.7", 401),
            ("evil.example", 403),
            ("localhost.evil.example", 403),
            ("127.0.0.1.evil.example", 403),
            ("chat.example", 403),
            ("0x7f.1", 403),
        ] {
            let mut browser = Browser::new(&service);
            (browser.host, browser.https) = (host.to_owned(), false);
            assert_eq!(browser.get("/session").await.status, status, "{host}");
            let other = attack(&browser, "GET", "/session", &[("origin", "http://localhost:9999")]).await;
            assert_eq!(other.status, 403, "another port of this machine is another site: {host}");
        }
    }

    async fn responses_cannot_be_embedded_stored_or_sniffed(database: &TestDatabase) {
        let fixture = Fixture::new(database).await;
        let good = attack(&fixture.owner, "GET", "/session", &[]).await;
        let bad = attack(&fixture.owner, "GET", "/session", &[("origin", "null")]).await;
        let unknown = attack(&fixture.owner, "GET", "/nowhere", &[]).await;
        for answer in [good, bad, unknown] {
            let get = |name: &str| {
                answer.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
            };
            assert_eq!(get("cross-origin-resource-policy"), "same-origin", "{}", answer.status);
            assert_eq!(get("cache-control"), "no-store");
            assert_eq!(get("x-content-type-options"), "nosniff");
            assert_eq!(get("referrer-policy"), "no-referrer");
            assert!(get("content-security-policy").starts_with("default-src 'none'"));
            assert_eq!(get("access-control-allow-origin"), "");
        }
    }

    /// The link in an e-mail would lead to a forged host, if it were taken from the request.
    async fn links_never_name_the_host_of_a_request(database: &TestDatabase) {
        let service = open(database, None).await;
        let link = first_owner_link(&service).await.expect("a link");
        let mut browser = Browser::new(&service);
        (browser.host, browser.https) = ("198.51.100.6".to_owned(), true);
        browser.set_up(&link, json!({"name": "Owner", "email": "owner@example.com"})).await.ok();
        let invited =
            browser.post("/invitations", json!({"email": "a@example.com", "role": "agent"})).await.ok();
        assert!(invited["link"].as_str().expect("a link").starts_with("/console/#setup="));
        assert_eq!(invited["mailed"], false);
    }
}
