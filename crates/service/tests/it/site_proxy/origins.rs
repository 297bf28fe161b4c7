//! Only pages of the site's allowed origins, and of the service's own, use the proxy paths.

use axum::body::Body;
use axum::http::HeaderValue;
use chat_service::SiteChange;
use serde_json::json;

use crate::site_proxy::page::{
    SERVICE, SHOP, get, of_page, post, preflight, request, shop, shop_with, site_of,
};
use crate::support::databases::{Kind, TestDatabase};
use crate::support::{Client, options};

const ALLOW_ORIGIN: &str = "access-control-allow-origin";

/// Asserts that neither a request nor its preflight is allowed for a page of this origin.
async fn assert_refused(client: &Client, origin: &str) {
    let request = of_page(client, "GET", "/chat/config", origin).body(Body::empty()).expect("a request");
    let answer = client.send(request).await;
    assert_eq!(answer.failure(), (403, "FORBIDDEN".to_owned()), "{origin}");
    assert_eq!(answer.header(ALLOW_ORIGIN), None, "{origin}");
    let answer = preflight(client, "/chat/messages", origin).await;
    assert_eq!(answer.status, 403, "{origin}");
    assert_eq!(answer.header(ALLOW_ORIGIN), None, "{origin}");
}

#[tokio::test]
async fn an_allowed_page_may_read_the_response_and_its_headers() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = shop(&database).await;
    let answer = get(&client, "/chat/config").await;
    assert_eq!(answer.header(ALLOW_ORIGIN), Some(SHOP));
    assert_eq!(answer.header("vary"), Some("origin"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert!(
        answer.header("content-security-policy").is_some_and(|policy| policy.contains("default-src 'none'"))
    );
    let exposed = answer.header("access-control-expose-headers").expect("exposed headers");
    for name in ["x-request-id", "x-ratelimit-remaining", "retry-after"] {
        assert!(exposed.contains(name), "{exposed}");
    }
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    assert_eq!(answer.header("set-cookie"), None);
    // A failure can be read as well.
    let failure = get(&client, "/chat/messages").await;
    assert_eq!((failure.status.as_u16(), failure.header(ALLOW_ORIGIN)), (400, Some(SHOP)));
}

#[tokio::test]
async fn a_preflight_allows_the_methods_and_headers_of_the_widget() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = shop(&database).await;
    let answer = preflight(&client, "/chat/messages", SHOP).await;
    assert_eq!((answer.status.as_u16(), answer.body.len()), (204, 0));
    assert_eq!(answer.header(ALLOW_ORIGIN), Some(SHOP));
    assert_eq!(answer.header("access-control-allow-methods"), Some("GET,POST"));
    let headers = "content-type,accept-language,idempotency-key,visitor-token";
    assert_eq!(answer.header("access-control-allow-headers"), Some(headers));
    assert_eq!(answer.header("access-control-allow-credentials"), None);
}

#[tokio::test]
async fn pages_of_other_origins_are_refused() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = shop(&database).await;
    for origin in [
        "https://shop.example.evil.example",
        "https://evil.example",
        "https://evilshop.example",
        "https://www.shop.example",
        "http://shop.example",
        "https://shop.example:8443",
        "https://shop.example:443",
        "https://shop.example/",
        "HTTPS://SHOP.EXAMPLE",
        "https://shop.example,https://evil.example",
        "https://shop.example https://evil.example",
        "https://evil.example#https://shop.example",
        "null",
        "NULL",
        "*",
        "",
        "file://",
        "https://chat.example.evil.example",
        "http://chat.example",
    ] {
        assert_refused(&client, origin).await;
    }
}

#[tokio::test]
async fn two_origin_headers_are_refused() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = shop(&database).await;
    for origins in [[SHOP, SHOP], [SHOP, "https://evil.example"], ["https://evil.example", SHOP]] {
        let mut request = request(&client, "GET", "/chat/config").body(Body::empty()).expect("a request");
        for origin in origins {
            request.headers_mut().append("origin", HeaderValue::from_static(origin));
        }
        assert_eq!(client.send(request).await.status, 403, "{origins:?}");
    }
}

#[tokio::test]
async fn a_refused_page_stores_nothing() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = shop(&database).await;
    let first = client.begin("Hello").await;
    let body = json!({ "message": "From elsewhere", "conversationId": first });
    let request = of_page(&client, "POST", "/chat/messages", "https://evil.example")
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .expect("a request");
    assert_eq!(client.send(request).await.status, 403);
    assert_eq!(client.history(&first).await.len(), 2);
}

#[tokio::test]
async fn requests_without_an_origin_are_those_of_the_service_itself() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = shop(&database).await;
    let status = async |site: Option<&str>, host: &str| {
        let mut request = request(&client, "GET", "/chat/config").body(Body::empty()).expect("a request");
        request.headers_mut().insert("host", host.parse().expect("a host"));
        if let Some(site) = site {
            request.headers_mut().insert("sec-fetch-site", site.parse().expect("a value"));
        }
        client.send(request).await.status.as_u16()
    };
    for site in [None, Some("same-origin"), Some("none")] {
        assert_eq!(status(site, "chat.example").await, 200, "{site:?}");
        // A name that was made to point here belongs to somebody else.
        assert_eq!(status(site, "evil.example").await, 403, "{site:?}");
    }
    for site in ["cross-site", "same-site", "other"] {
        assert_eq!(status(Some(site), "chat.example").await, 403, "{site}");
    }
}

#[tokio::test]
async fn a_site_without_origins_serves_the_service_alone() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let shop = shop(&database).await;
    let client = site_of(&shop.service, &[]).await;
    for origin in [SHOP, "null", "http://localhost:8090"] {
        assert_refused(&client, origin).await;
    }
    let own = request(&client, "GET", "/chat/config").header("origin", SERVICE);
    let own = own.header("sec-fetch-site", "same-origin").body(Body::empty()).expect("a request");
    let answer = client.send(own).await;
    assert_eq!((answer.status.as_u16(), answer.header(ALLOW_ORIGIN)), (200, Some(SERVICE)));
}

#[tokio::test]
async fn a_service_without_a_public_origin_is_its_own_only_on_this_machine() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = shop_with(options(&database)).await;
    let status = async |host: &str, origin: &str| {
        let mut request = request(&client, "GET", "/chat/config").header("origin", origin);
        request.headers_mut().expect("headers").insert("host", host.parse().expect("a host"));
        client.send(request.body(Body::empty()).expect("a request")).await.status.as_u16()
    };
    assert_eq!(status("127.0.0.1:8090", "http://127.0.0.1:8090").await, 200);
    assert_eq!(status("localhost:8090", "http://localhost:8090").await, 200);
    assert_eq!(status("127.0.0.1:8090", "http://127.0.0.1:9999").await, 403);
    assert_eq!(status("evil.example:8090", "http://evil.example:8090").await, 403);
    assert_eq!(status("127.0.0.1:8090", SHOP).await, 200);
}

#[tokio::test]
async fn a_removed_origin_is_refused_at_once() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = shop(&database).await;
    post(&client, "/chat/messages", &json!({ "message": "Hello" })).await.data();
    let change: SiteChange =
        serde_json::from_value(json!({ "allowedOrigins": ["https://new.example"] })).expect("a change");
    client.service.directory().change_site(&client.site.id, change).await.expect("changed");
    assert_refused(&client, SHOP).await;
}
