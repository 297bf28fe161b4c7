//! The cache of the chat's config.

use std::time::Duration;

use chat_connector::proxy::ConfigCache;
use serde_json::{Value, json};

use crate::proxy_server::{Running, serve};
use crate::service::{Service, header, http};

const MINUTE: Duration = Duration::from_mins(1);

async fn caching(service: &Service, fresh: Duration) -> Running {
    serve(service, |options| options.proxy.config_cache = Some(ConfigCache { fresh, stale: MINUTE })).await
}

async fn config(proxy: &Running, locale: &str) -> Value {
    let path = format!("/connector/chat/config?locale={locale}");
    proxy.get(&path).await.json().await.expect("JSON")
}

/// Requests the config as a page does on reload.
async fn reload(proxy: &Running) -> reqwest::Response {
    let request = http().get(proxy.url("/connector/chat/config?locale=en"));
    request.header("cache-control", "no-cache").send().await.expect("an answer")
}

#[tokio::test]
async fn serves_a_fresh_config_from_the_cache_and_requests_an_expired_one() {
    let service = Service::start().await;
    let fresh = caching(&service, MINUTE).await;
    let expired = caching(&service, Duration::ZERO).await;
    assert_eq!((fresh.assistant().await, expired.assistant().await), (json!("Clover"), json!("Clover")));
    service.inject_faults(json!({ "config": { "assistantName": "Otto" } })).await;
    let requests = service.arrived("/chat/config?locale=en").await.len();
    assert_eq!(fresh.assistant().await, "Clover");
    assert_eq!(service.arrived("/chat/config?locale=en").await.len(), requests);
    assert_eq!(expired.assistant().await, "Otto", "an expired config is not served");
}

#[tokio::test]
async fn a_reload_request_bypasses_and_updates_the_cache() {
    let service = Service::start().await;
    let proxy = caching(&service, MINUTE).await;
    assert_eq!(proxy.assistant().await, "Clover");
    service.inject_faults(json!({ "config": { "assistantName": "Otto" } })).await;
    assert_eq!(proxy.assistant().await, "Clover");
    let reloaded = reload(&proxy).await;
    assert!(header(&reloaded, "x-request-id").is_some_and(|id| id.starts_with("req_")));
    let reloaded: Value = reloaded.json().await.expect("JSON");
    assert_eq!(reloaded["data"]["config"]["assistantName"], "Otto");
    assert_eq!(proxy.assistant().await, "Otto");
}

#[tokio::test]
async fn concurrent_requests_share_one_request_to_the_service() {
    let service = Service::start().await;
    service.inject_faults(json!({ "delayMs": 200 })).await;
    let proxy = caching(&service, MINUTE).await;
    let together = (0..20).map(|_| proxy.assistant());
    for assistant in futures_util::future::join_all(together).await {
        assert_eq!(assistant, "Clover");
    }
    assert_eq!(service.arrived("/chat/config?locale=en").await.len(), 1);
}

#[tokio::test]
async fn concurrent_requests_do_not_wait_for_a_silent_service_in_turn() {
    let service = Service::start().await;
    service.inject_faults(json!({ "delayMs": 60_000 })).await;
    let proxy = serve(&service, |options| {
        options.proxy.config_cache = Some(ConfigCache::default());
        options.proxy.timeout = Duration::from_millis(300);
    })
    .await;
    let together = (0..20).map(|_| config(&proxy, "en"));
    for config in futures_util::future::join_all(together).await {
        assert_eq!(config["ok"], false);
    }
    assert_eq!(service.arrived("/chat/config?locale=en").await.len(), 1);
}

#[tokio::test]
async fn serves_a_config_marked_stale_while_the_service_fails() {
    let service = Service::start().await;
    let proxy = caching(&service, Duration::ZERO).await;
    assert_eq!(config(&proxy, "en").await["data"]["stale"], false);
    service.inject_faults(json!({ "status": 500 })).await;
    for _ in 0..5 {
        let config = config(&proxy, "en").await;
        assert_eq!((&config["ok"], &config["data"]["stale"]), (&json!(true), &json!(true)));
    }
    let requests = service.arrived("/chat/config?locale=en").await.len();
    assert_eq!(requests, 2, "not every visitor causes a request to a failing service");
    let never_asked = proxy.get("/connector/chat/config?locale=de").await;
    assert_eq!(never_asked.status(), 500);
}

#[tokio::test]
async fn a_refusal_of_the_site_is_not_hidden_by_the_cache() {
    let service = Service::start().await;
    let proxy = caching(&service, Duration::ZERO).await;
    config(&proxy, "en").await;
    service.inject_faults(json!({ "status": 401 })).await;
    assert_eq!(proxy.get("/connector/chat/config?locale=en").await.status(), 401);
    service.inject_faults(json!({ "status": 500 })).await;
    assert_eq!(proxy.get("/connector/chat/config?locale=en").await.status(), 500);
}

#[tokio::test]
async fn forwards_invalid_locales_without_caching() {
    let service = Service::start().await;
    let proxy = caching(&service, MINUTE).await;
    for _ in 0..2 {
        proxy.get("/connector/chat/config?locale=en&x=1").await;
    }
    assert_eq!(service.arrived("/chat/config?locale=en&x=1").await.len(), 2);
}
