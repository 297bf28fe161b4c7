//! Tests of the layer around all requests, and of what it knows about clients.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use axum::http::{Extensions, Request, StatusCode};
use axum::routing::{get, post};
use chat_protocol::AiStatus;
use futures_util::stream;
use tower::ServiceExt;

use super::{add_tenant, get as get_path, open};
use crate::ai::{Answer, Outcome};
use crate::databases::{Kind, TestDatabase};
use crate::db::{DbError, args, transaction};
use crate::ops::Client;
use crate::{Service, ServiceKey};

async fn service() -> (TestDatabase, Service) {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let service = open(&database, &ServiceKey::random()).await.expect("opened");
    (database, service)
}

#[tokio::test]
async fn counts_requests_by_route_and_never_by_path() {
    let (_database, service) = service().await;
    let router = Router::new()
        .route("/sites/{site}", get(|| async { "ok" }))
        .route("/broken", get(|| async { StatusCode::BAD_GATEWAY }));
    let router = service.observed(router);
    for path in ["/sites/one?token=secret", "/sites/two", "/broken", "/nowhere/secret"] {
        get_path(&router, path).await;
    }
    let (_, metrics) = get_path(&service.metrics_router(), "/metrics").await;
    for line in [
        r#"requests_total{method="GET",route="/sites/{site}",status="2xx"} 2"#,
        r#"requests_total{method="GET",route="/broken",status="5xx"} 1"#,
        r#"requests_total{method="GET",route="none",status="4xx"} 1"#,
        r#"request_seconds_count{method="GET",route="/sites/{site}"} 2"#,
        "requests_in_flight 0",
        "consoles 0",
        r#"queue_length{queue="webhooks"} 0"#,
    ] {
        assert!(metrics.contains(&format!("site_connector_service_{line}")), "{line}\n{metrics}");
    }
    assert!(!metrics.contains("secret") && metrics.ends_with("# EOF\n"));
}

#[tokio::test]
async fn counts_replies_deliveries_and_what_waits() {
    let (_database, service) = service().await;
    add_tenant(service.db(), "t").await;
    let now_ms = service.now_ms();
    let added: Result<(), DbError> = transaction!(service.db(), |tx| {
        // Only the first console is open.
        let sql = "INSERT INTO consoles (id, tenant_id, operator_id, seen_ms, open)
                   VALUES ('a', 't', 'o', $1, 1), ('b', 't', 'o', $1, 0), ('c', 't', 'o', 1, 1)";
        tx.execute(sql, args![now_ms]).await?;
        let sql = "INSERT INTO webhooks (id, tenant_id, url, secret, events, created_ms)
                   VALUES ('w', 't', 'https://hooks.example', $1, '[]', 1)";
        tx.execute(sql, args![b"sealed".to_vec()]).await?;
        let sql = "INSERT INTO deliveries (id, webhook_id, event, body, status, next_ms, created_ms)
                   VALUES ('1', 'w', 'e', '{}', 'pending', 1, 1), ('2', 'w', 'e', '{}', 'pending', 1, 1),
                          ('3', 'w', 'e', '{}', 'delivered', 1, 1), ('4', 'w', 'e', '{}', 'failed', 1, 1)";
        tx.execute(sql, args![]).await?;
        let sql = "INSERT INTO emails (id, tenant_id, recipient, status, next_ms, created_ms)
                   VALUES ('1', 't', 'a@example.com', 'pending', 1, 1),
                          ('2', 't', 'a@example.com', 'failed', 1, 1)";
        tx.execute(sql, args![]).await?;
        Ok(())
    })
    .await;
    added.expect("stored");
    let metrics = &service.0.metrics;
    let answer = |status, outcome| Answer { status, outcome: Some(outcome), ..Answer::silent() };
    metrics.ai_reply(&answer(AiStatus::Ok, Outcome::Answered), Duration::from_millis(200));
    metrics.ai_reply(&answer(AiStatus::ProviderError, Outcome::Failed), Duration::from_secs(40));
    metrics.webhook("delivered");
    metrics.mail("sent");
    metrics.push("sent");
    metrics.storage_refused("site");
    metrics.request("GET", "/livez", 200, Duration::from_millis(1));
    let (_, text) = get_path(&service.metrics_router(), "/metrics").await;
    for line in [
        r#"ai_replies_total{outcome="ok"} 1"#,
        r#"ai_replies_total{outcome="provider_error"} 1"#,
        r#"answers_total{outcome="answered"} 1"#,
        r#"answers_total{outcome="failed"} 1"#,
        r#"ai_reply_seconds_bucket{le="0.1"} 0"#,
        r#"ai_reply_seconds_bucket{le="0.25"} 1"#,
        r#"ai_reply_seconds_bucket{le="+Inf"} 2"#,
        r#"webhook_attempts_total{outcome="delivered"} 1"#,
        r#"mails_total{outcome="sent"} 1"#,
        r#"pushes_total{outcome="sent"} 1"#,
        r#"storage_refused_total{limit="site"} 1"#,
        r#"queue_length{queue="webhooks"} 2"#,
        r#"queue_length{queue="mails"} 1"#,
        "consoles 1",
        "database_up 1",
        "database_writes_waiting 0",
        r#"database_connections{state="used"} 0"#,
        concat!(r#"build_info{version=""#, env!("CARGO_PKG_VERSION"), r#""} 1"#),
    ] {
        assert!(text.contains(&format!("site_connector_service_{line}\n")), "{line}\n{text}");
    }
    let value = |name: &str| -> f64 {
        let prefix = format!("site_connector_service_{name} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&prefix));
        line.unwrap_or_else(|| panic!("{name}\n{text}")).parse().expect("a number")
    };
    assert!(value("memory_bytes") > 1_000_000.0);
    assert!(value(r#"database_connections{state="idle"}"#) >= 1.0);
    assert_eq!(documented(), exported(&text));
}

/// Returns the metrics of the table in docs/self-host.md.
fn documented() -> BTreeSet<&'static str> {
    let document = include_str!("../../../../../docs/self-host.md");
    let (_, table) = document.split_once("| metric, after `site_connector_service_` |").expect("the table");
    let (table, _) = table.split_once("\n\n").expect("an end");
    let names = table.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let names =
        names.flat_map(|names| names.split('`')).filter(|name| !name.starts_with(',') && !name.is_empty());
    let names = names.map(|name| name.split('{').next().unwrap_or(name));
    names.map(|name| name.trim_end_matches("_total").trim_end_matches("_info")).collect()
}

fn exported(text: &str) -> BTreeSet<&str> {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE site_connector_service_"));
    types.filter_map(|line| line.split(' ').next()).collect()
}

#[tokio::test]
async fn a_body_that_never_ends_is_given_up() {
    let (_database, service) = service().await;
    tokio::time::pause();
    let read = |body: Result<Bytes, axum::extract::rejection::BytesRejection>| async move {
        if body.is_ok() { StatusCode::OK } else { StatusCode::REQUEST_TIMEOUT }
    };
    let router = service.observed(Router::new().route("/", post(read)));
    let send = |body| {
        let request = Request::post("/").body(body).expect("a request");
        let router = router.clone();
        async move { router.oneshot(request).await.expect("infallible").status() }
    };
    assert_eq!(send(Body::from("whole")).await, StatusCode::OK);
    let drip = stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        Some((Ok::<_, Infallible>("x"), ()))
    });
    assert_eq!(send(Body::from_stream(drip)).await, StatusCode::REQUEST_TIMEOUT);
}

#[test]
fn the_client_is_what_the_server_says_or_the_peer() {
    let mut extensions = Extensions::new();
    assert_eq!(Client::of(&extensions).address.to_string(), "0.0.0.0");
    let peer: SocketAddr = "[::ffff:192.0.2.1]:80".parse().expect("an address");
    extensions.insert(ConnectInfo(peer));
    assert_eq!(Client::of(&extensions).address.to_string(), "192.0.2.1");
    assert!(!Client::of(&extensions).https);
    let client = Client { address: "198.51.100.7".parse().expect("an address"), https: true };
    extensions.insert(client);
    assert_eq!(Client::of(&extensions), client);
}
