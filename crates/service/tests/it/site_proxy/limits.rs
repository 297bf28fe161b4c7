//! The limits of what a page sends.

use std::net::SocketAddr;
use std::time::Duration;

use axum::body::Body;
use axum::extract::ConnectInfo;
use chat_service::{RateLimit, ServiceOptions};
use serde_json::{Value, json};

use crate::site_proxy::page::{SERVICE, SHOP, get, of_page, of_page_of, post, shop, shop_with, site_of};
use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::{Answer, Client, options};

async fn post_as(client: &Client, path: &str, content_type: Option<&str>, body: Body) -> Answer {
    let mut request = of_page(client, "POST", path, SHOP);
    if let Some(content_type) = content_type {
        request = request.header("content-type", content_type);
    }
    client.send(request.body(body).expect("a request")).await
}

#[tokio::test]
async fn only_json_within_the_size_limit_is_read() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = shop(&database).await;
    let hello = || Body::from(json!({ "message": "Hello" }).to_string());
    for content_type in [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("")] {
        let answer = post_as(&client, "/chat/messages", content_type, hello()).await;
        assert_eq!(answer.failure(), (400, "INVALID_REQUEST".to_owned()), "{content_type:?}");
        assert_eq!(answer.header("connection"), Some("close"), "the body is left unread");
    }
    let json = Some("application/json; charset=utf-8");
    assert_eq!(post_as(&client, "/chat/messages", json, hello()).await.status, 200);
    for (path, limit) in [("/chat/messages", 64 * 1024), ("/events", 256 * 1024)] {
        let declared = Body::from(vec![b' '; limit + 1]);
        assert_eq!(post_as(&client, path, json, declared).await.status, 413, "{path}");
        // The size that the client declares is enough: it has sent nothing yet.
        let declared = of_page(&client, "POST", path, SHOP)
            .header("content-type", "application/json")
            .header("content-length", limit + 1)
            .body(Body::from_stream(futures_util::stream::pending::<std::io::Result<Vec<u8>>>()));
        assert_eq!(client.send(declared.expect("a request")).await.status, 413, "{path}");
        let chunks = (0..=limit / 1024).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1024]));
        let streamed = Body::from_stream(futures_util::stream::iter(chunks));
        assert_eq!(post_as(&client, path, json, streamed).await.status, 413, "{path}");
    }
    for body in ["", "{", "[]", "null", "{\"message\":5}", "\u{feff}{}"] {
        let answer = post_as(&client, "/chat/messages", json, Body::from(body)).await;
        assert_eq!(answer.failure(), (400, "INVALID_REQUEST".to_owned()), "{body}");
    }
}

/// Reads the config from an address, with a claim of another one.
async fn read_from(client: &Client, address: &str, claim: &str) -> Answer {
    let mut request = of_page(client, "GET", "/chat/config", SHOP)
        .header("x-forwarded-for", claim)
        .header("forwarded", format!("for={claim}"))
        .body(Body::empty())
        .expect("a request");
    let peer: SocketAddr = format!("{address}:4000").parse().expect("an address");
    request.extensions_mut().insert(ConnectInfo(peer));
    client.send(request).await
}

on_both_databases! {
    async fn each_address_has_a_limit_that_a_header_does_not_escape(database: &TestDatabase) {
        let rate_limit = RateLimit { requests: 20, window: Duration::from_mins(10) };
        let public_origin = Some(SERVICE.to_owned());
        let client = shop_with(ServiceOptions { rate_limit, public_origin, ..options(database) }).await;
        for attempt in 0..20 {
            let answer = read_from(&client, "192.0.2.1", &format!("198.51.100.{attempt}")).await;
            assert_eq!(answer.status, 200, "{attempt}");
        }
        let refused = read_from(&client, "192.0.2.1", "198.51.100.99").await;
        assert_eq!(refused.failure(), (429, "RATE_LIMITED".to_owned()));
        assert!(refused.header("retry-after").is_some());
        // The page can read when it may go on.
        assert_eq!(refused.header("access-control-allow-origin"), Some(SHOP));
        assert_eq!(read_from(&client, "192.0.2.2", "192.0.2.1").await.status, 200);
    }

    async fn requests_for_unknown_paths_and_sites_count_for_nobody(database: &TestDatabase) {
        let rate_limit = RateLimit { requests: 20, window: Duration::from_mins(10) };
        let public_origin = Some(SERVICE.to_owned());
        let client = shop_with(ServiceOptions { rate_limit, public_origin, ..options(database) }).await;
        for attempt in 0..60 {
            assert_eq!(get(&client, &format!("/unknown/{attempt}")).await.status, 404, "{attempt}");
            let unknown = of_page_of(&format!("site_{attempt}"), "POST", "/events", SHOP).body(Body::empty());
            let answer = client.send(unknown.expect("a request")).await;
            assert_eq!(answer.status, 403, "{attempt}");
            assert_eq!(answer.header("x-ratelimit-limit"), None, "{attempt}");
        }
        for attempt in 0..20 {
            assert_eq!(get(&client, "/chat/config").await.status, 200, "{attempt}");
        }
        assert_eq!(get(&client, "/chat/config").await.status, 429);
    }

    async fn a_flood_of_invented_sites_hides_no_site(database: &TestDatabase) {
        let client = shop(database).await;
        for number in 0..1000 {
            let unknown = of_page_of(&format!("site_{number}"), "GET", "/chat/presence", SHOP).body(Body::empty());
            let answer = client.send(unknown.expect("a request")).await;
            assert_eq!(answer.failure(), (403, "FORBIDDEN".to_owned()), "{number}");
        }
        assert_eq!(get(&client, "/chat/config").await.data()["siteId"], client.site.id);
        assert_eq!(get(&client, "/unknown/1").await.status, 404);
        // It is created during the flood.
        let new = site_of(&client.service, &[SHOP]).await;
        let found = async || while get(&new, "/chat/presence").await.status != 200 {};
        tokio::time::timeout(Duration::from_secs(20), found()).await.expect("found");
    }

    async fn each_visitor_has_a_limit_from_any_address(database: &TestDatabase) {
        let client = shop(database).await;
        let batch = |visitor: &str| -> Value {
            json!({ "events": [{ "eventType": "page_view", "path": "/", "visitorId": visitor }] })
        };
        let mut accepted = 0;
        while post(&client, "/events", &batch("busy")).await.status == 200 {
            accepted += 1;
            assert!(accepted <= 120, "the limit of a visitor");
        }
        assert_eq!(accepted, 120);
        assert_eq!(post(&client, "/events", &batch("busy")).await.status, 429);
        let message = json!({ "message": "Hello", "visitor": { "visitorId": "busy" } });
        assert_eq!(post(&client, "/chat/messages", &message).await.status, 429);
        assert_eq!(post(&client, "/events", &batch("calm")).await.status, 200);
    }
}
