//! Tests of the layer around all requests, and of what it knows about clients.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::ConnectInfo;
use axum::http::{Extensions, Request, StatusCode};
use axum::routing::{get, post};
use futures_util::stream;
use tower::ServiceExt;

use super::{get as get_path, open};
use crate::databases::{Kind, TestDatabase};
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
