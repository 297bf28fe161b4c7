//! Security headers, rate limits, allowed origins, metrics and shutdown.

use std::num::NonZeroU32;
use std::time::Duration;

use chat_connector::proxy::{self, ClientRate, ConfigCache, ProxyOptions, SetupError};
use serde_json::{Value, json};

use crate::proxy_server::serve;
use crate::service::{Service, TOKEN, header, http};

fn rate(per_minute: u32, burst: u32) -> Option<ClientRate> {
    Some(ClientRate { per_minute: NonZeroU32::new(per_minute)?, burst: NonZeroU32::new(burst)? })
}

#[tokio::test]
async fn every_response_has_security_headers_and_healthz_reports_ok() {
    let service = Service::start().await;
    let proxy = serve(&service, |_| ()).await;
    for path in ["/healthz", "/connector/chat/config", "/elsewhere"] {
        let answer = proxy.get(path).await;
        assert_eq!(
            header(&answer, "content-security-policy"),
            Some("default-src 'none'; frame-ancestors 'none'")
        );
        assert_eq!(header(&answer, "referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(header(&answer, "cross-origin-resource-policy"), Some("same-origin"), "{path}");
    }
    assert_eq!(proxy.get("/healthz").await.text().await.expect("text"), "ok\n");
    assert_eq!(proxy.get("/metrics").await.status(), 404, "metrics are not public");
}

#[tokio::test]
async fn answers_429_with_retry_after_to_the_client_over_its_limit_only() {
    let service = Service::start().await;
    let proxy = serve(&service, |options| {
        options.proxy.client_rate = rate(6, 3);
        options.proxy.trusted_hops = vec!["127.0.0.1/32".parse().expect("a network")];
    })
    .await;
    let ask = |client: &'static str| {
        let request = http().get(proxy.url("/connector/chat/presence")).header("x-forwarded-for", client);
        async { request.send().await.expect("an answer") }
    };
    for _ in 0..3 {
        assert_eq!(ask("198.51.100.1").await.status(), 200);
    }
    let over = ask("198.51.100.1").await;
    assert_eq!(over.status(), 429);
    let wait: u64 = header(&over, "retry-after").and_then(|text| text.parse().ok()).expect("seconds");
    assert!((1..=10).contains(&wait), "{wait}");
    let body: Value = over.json().await.expect("JSON");
    assert_eq!(body["error"]["code"], "RATE_LIMITED");
    assert_eq!(ask("198.51.100.2").await.status(), 200);
}

#[tokio::test]
async fn allows_only_pages_of_the_allowed_origins() {
    let service = Service::start().await;
    let proxy = serve(&service, |options| {
        options.proxy.allowed_origins = vec!["https://www.shop.example/".to_owned()];
    })
    .await;
    let ask = |origin: &'static str, method: &'static str| {
        let request = http()
            .request(method.parse().expect("a method"), proxy.url("/connector/chat/messages"))
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "content-type,idempotency-key");
        async { request.send().await.expect("an answer") }
    };
    let preflight = ask("https://www.shop.example", "OPTIONS").await;
    assert_eq!(header(&preflight, "access-control-allow-origin"), Some("https://www.shop.example"));
    let allowed = header(&preflight, "access-control-allow-headers").expect("headers").to_owned();
    assert!(allowed.contains("idempotency-key") && allowed.contains("content-type"), "{allowed}");
    assert_eq!(header(&preflight, "access-control-allow-credentials"), None);
    let read = ask("https://www.shop.example", "GET").await;
    assert!(header(&read, "access-control-expose-headers").expect("headers").contains("retry-after"));
    for origin in
        ["https://evil.example", "http://www.shop.example", "https://www.shop.example.evil.example", "null"]
    {
        for method in ["OPTIONS", "GET"] {
            let answer = ask(origin, method).await;
            assert_eq!(header(&answer, "access-control-allow-origin"), None, "{method} from {origin}");
        }
    }
}

#[tokio::test]
async fn refuses_an_invalid_allowed_origin_by_name() {
    let mut options = ProxyOptions::new("https://service.example", TOKEN.into());
    for wrong in ["*", "shop.example", "https://shop.example/path"] {
        options.allowed_origins = vec![wrong.to_owned()];
        let error = proxy::router(options.clone()).expect_err("refused").to_string();
        assert!(error.ends_with(&format!("got {wrong}")), "{error}");
    }
}

#[tokio::test]
async fn refuses_null_as_an_allowed_origin() {
    let mut options = ProxyOptions::new("https://service.example", TOKEN.into());
    for null in ["null", "Null", " null "] {
        options.allowed_origins = vec!["https://www.shop.example".to_owned(), null.to_owned()];
        let error = proxy::router(options.clone()).expect_err("refused");
        assert!(matches!(error, SetupError::NullOrigin), "{error}");
        assert!(error.to_string().contains("allow-same-origin"), "{error}");
    }
}

#[tokio::test]
async fn metrics_have_calls_and_statuses_but_no_visitor_data() {
    let service = Service::start().await;
    let proxy = serve(&service, |options| options.proxy.config_cache = Some(ConfigCache::default())).await;
    proxy.assistant().await;
    proxy.assistant().await;
    let body = json!({ "message": "A secret of mine", "visitor": { "email": "ann@example.org" } });
    http().post(proxy.url("/connector/chat/messages")).json(&body).send().await.expect("an answer");
    proxy.get("/connector/chat/messages?conversationId=conv_secret").await;
    let text = http().get(format!("http://{}/metrics", proxy.metrics)).send().await.expect("an answer");
    let text = text.text().await.expect("text");
    for line in [
        "site_connector_proxy_requests_total{call=\"config\",status=\"200\"} 2",
        "site_connector_proxy_requests_total{call=\"send\",status=\"200\"} 1",
        "site_connector_proxy_requests_total{call=\"messages\",status=\"404\"} 1",
        "site_connector_proxy_configs_total{found=\"fresh\"} 1",
        "site_connector_proxy_request_seconds_count{call=\"send\"} 1",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    for secret in ["secret", "ann@", TOKEN] {
        assert!(!text.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn a_stopping_server_finishes_requests_in_progress() {
    let service = Service::start().await;
    service.inject_faults(json!({ "delayMs": 300, "only": "presence" })).await;
    let mut proxy = serve(&service, |_| ()).await;
    let request = http().get(proxy.url("/connector/chat/presence")).send();
    let under_way = tokio::spawn(request);
    while service.arrived("/chat/presence").await.is_empty() {
        tokio::task::yield_now().await;
    }
    proxy.stop.take().expect("running").send(()).expect("running");
    assert_eq!(under_way.await.expect("no panic").expect("an answer").status(), 200);
    proxy.ended.await.expect("no panic").expect("a clean end");
}

#[tokio::test]
async fn a_stopped_server_aborts_requests_after_the_grace_period() {
    let service = Service::start().await;
    service.inject_faults(json!({ "delayMs": 60_000, "only": "presence" })).await;
    let mut proxy = serve(&service, |options| options.grace = Duration::from_millis(50)).await;
    let under_way = tokio::spawn(http().get(proxy.url("/connector/chat/presence")).send());
    while service.arrived("/chat/presence").await.is_empty() {
        tokio::task::yield_now().await;
    }
    proxy.stop.take().expect("running").send(()).expect("running");
    proxy.ended.await.expect("no panic").expect("a clean end");
    under_way.await.expect("no panic").expect_err("no answer");
}
