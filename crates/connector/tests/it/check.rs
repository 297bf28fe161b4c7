//! The checks pass for the proxy of this crate, and find the problems of others.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::any;
use chat_connector::check::{CheckOptions, CheckResult, check};
use chat_connector::proxy::{self, ClientRate, ProxyMetrics, ProxyOptions};
use chat_service::API_BASE;
use tokio::net::TcpListener;

use crate::service::{self, Service, TOKEN};

async fn serve(router: Router) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let prefix = format!("http://{}/connector", listener.local_addr().expect("an address"));
    let site = Router::new().nest("/connector", router).into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(axum::serve(listener, site).into_future());
    prefix
}

async fn problems(prefix: &str) -> Vec<String> {
    let all = check(&CheckOptions::new(prefix), |_| ()).await.expect("an address");
    assert!(all.len() > 20);
    let failed =
        |result: CheckResult| result.problem.map(|problem| format!("{}: {problem}", result.requirement));
    all.into_iter().filter_map(failed).collect()
}

#[tokio::test]
async fn all_checks_pass_for_the_proxy_of_this_crate() {
    let service = Service::start().await;
    let options = ProxyOptions::new(service.origin(), TOKEN.into());
    let prefix = serve(proxy::router(options).expect("a proxy")).await;
    assert_eq!(problems(&prefix).await, Vec::<String>::new());
}

#[tokio::test]
async fn finds_the_problems_of_a_careless_proxy() {
    let service = Service::start().await;
    let origin = service.origin();
    let careless = any(move |request: Request| {
        let origin = origin.clone();
        async move {
            let (parts, body) = request.into_parts();
            let path = parts.uri.path_and_query().map_or("", |path| path.as_str());
            let body = axum::body::to_bytes(body, usize::MAX).await.expect("a body");
            let url = format!("{origin}{API_BASE}{path}");
            let mut request = service::http().request(parts.method, url).bearer_auth(TOKEN).body(body);
            if let Some(kind) = parts.headers.get("content-type") {
                request = request.header("content-type", kind);
            }
            let answer = request.send().await.expect("an answer");
            let status = answer.status();
            let body = answer.bytes().await.expect("a body");
            Response::builder()
                .status(status)
                .header("set-cookie", "a=b")
                .body(Body::from(body))
                .expect("a response")
        }
    });
    let prefix = serve(Router::new().fallback_service(careless)).await;
    let problems = problems(&prefix).await.join("\n");
    for found in [
        "X-Request-Id",
        "content type JSON",
        "responses are not cached",
        "neither cookies",
        "GET /site/status is not forwarded",
        "the same key and body give the same response",
        "IDEMPOTENCY_CONFLICT",
    ] {
        assert!(problems.contains(found), "{found} in\n{problems}");
    }
}

#[tokio::test]
async fn a_read_only_check_writes_nothing() {
    let service = Service::start().await;
    let options = ProxyOptions::new(service.origin(), TOKEN.into());
    let prefix = serve(proxy::router(options).expect("a proxy")).await;
    let reading = CheckOptions { read_only: true, ..CheckOptions::new(&prefix) };
    assert!(check(&reading, |_| ()).await.expect("an address").iter().all(|result| result.problem.is_none()));
    let everything = service.local("GET", "/sandbox/conversations", None).await;
    assert_eq!(
        (&everything["conversations"], &everything["events"]),
        (&serde_json::json!([]), &serde_json::json!([]))
    );
    assert!(check(&CheckOptions::new("shop.example"), |_| ()).await.is_err());
}

#[tokio::test]
async fn the_check_waits_for_retry_after() {
    let service = Service::start().await;
    let rate = |per_minute, burst| {
        Some(ClientRate { per_minute: NonZeroU32::new(per_minute)?, burst: NonZeroU32::new(burst)? })
    };
    let metrics = ProxyMetrics::default();
    let options = ProxyOptions {
        client_rate: rate(60, 10),
        metrics: Some(metrics.clone()),
        ..ProxyOptions::new(service.origin(), TOKEN.into())
    };
    let prefix = serve(proxy::router(options.clone()).expect("a proxy")).await;
    assert_eq!(problems(&prefix).await, Vec::<String>::new());
    assert!(metrics.render().contains("status=\"429\""), "the check exceeded the rate limit");

    let prefix =
        serve(proxy::router(ProxyOptions { client_rate: rate(1, 2), ..options }).expect("a proxy")).await;
    let impatient =
        CheckOptions { timeout: Duration::from_secs(1), read_only: true, ..CheckOptions::new(prefix) };
    let results = check(&impatient, |_| ()).await.expect("an address");
    let problem = results.into_iter().find_map(|result| result.problem).expect("a problem");
    assert!(problem.contains("429") && problem.contains("Retry-After"), "{problem}");
}
