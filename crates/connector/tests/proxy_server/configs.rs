//! The chat's config, kept for a while.

use std::time::Duration;

use chat_connector::proxy::ConfigCache;
use serde_json::json;

use crate::serve;
use crate::service::Service;

#[tokio::test]
async fn a_fresh_config_is_given_without_asking_and_an_old_one_while_a_newer_one_is_fetched() {
    let service = Service::start().await;
    let fresh = serve(&service, |options| options.proxy.config_cache = Some(ConfigCache::default())).await;
    let always_old = ConfigCache { fresh: Duration::ZERO, stale: Duration::from_secs(60) };
    let old = serve(&service, |options| options.proxy.config_cache = Some(always_old)).await;
    assert_eq!((fresh.assistant().await, old.assistant().await), (json!("Clover"), json!("Clover")));
    service.trouble(json!({ "config": { "assistantName": "Otto" } })).await;
    assert_eq!(fresh.assistant().await, "Clover");
    assert_eq!(old.assistant().await, "Clover", "at once, and a newer one is on its way");
    let newer = async { while old.assistant().await != "Otto" {} };
    tokio::time::timeout(Duration::from_secs(5), newer).await.expect("it arrives");
    let asked = service.arrived("/chat/config?locale=en").await.len();
    assert_eq!(fresh.assistant().await, "Clover");
    assert_eq!(service.arrived("/chat/config?locale=en").await.len(), asked);
}

#[tokio::test]
async fn an_old_config_is_better_than_none_when_the_service_is_out_of_order() {
    let service = Service::start().await;
    let always_old = ConfigCache { fresh: Duration::ZERO, stale: Duration::from_secs(60) };
    let proxy = serve(&service, |options| options.proxy.config_cache = Some(always_old)).await;
    proxy.assistant().await;
    service.trouble(json!({ "status": 500 })).await;
    for _ in 0..5 {
        assert_eq!(proxy.assistant().await, "Clover");
    }
    let never_asked = proxy.get("/connector/chat/config?locale=de").await;
    assert_eq!(never_asked.status(), 500);
}
