//! Answers requests for the chat's config, from the cache where possible.

use std::sync::Arc;
use std::time::Duration;

use axum::http::header;
use tokio::time::{Instant, timeout};

use super::config_cache::{CacheKey, ConfigStore, Lookup, Outcome, Slot};
use super::failure::Failure;
use super::handler::Proxy;
use super::response::ProxyResponse;
use super::upstream::UpstreamRequest;

/// The time limit of the service when a stale config is available.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(5);

impl Proxy {
    /// Answers a request for the config. With `reload`, only a config requested from now on is used.
    pub(super) async fn config(
        self: &Arc<Self>,
        configs: &ConfigStore,
        request: UpstreamRequest,
        reload: bool,
    ) -> Result<ProxyResponse, Failure> {
        let languages = request.headers.get(header::ACCEPT_LANGUAGE);
        let Some(key) = CacheKey::of(request.query.as_deref(), languages) else {
            return self.count_config("fetched", self.upstream.forward(request).await);
        };
        let arrived_at = Instant::now();
        let not_before = reload.then_some(arrived_at);
        let slot = configs.slot(&key);
        match configs.lookup(&slot, not_before) {
            Lookup::Fresh(response) => return self.count_config("fresh", Ok(response)),
            Lookup::Expiring(response) => {
                self.refresh_in_background(slot, request);
                return self.count_config("fresh", Ok(response));
            }
            Lookup::Miss => {}
        }
        if !reload && let Some(response) = configs.stale_since_failure(&slot) {
            return self.count_config("stale", Ok(response));
        }
        // Concurrent requests wait here for the first one, and then use its result.
        let _refreshing = slot.refreshing.lock().await;
        if let Lookup::Fresh(response) | Lookup::Expiring(response) = configs.lookup(&slot, not_before) {
            return self.count_config("fresh", Ok(response));
        }
        if slot.has_failed_since(arrived_at) {
            // After a failure they do not ask the service one after the other.
            return match configs.stale(&slot) {
                Some(stale) => self.count_config("stale", Ok(stale)),
                None => self.count_config("fetched", Err(Failure::Unavailable)),
            };
        }
        let (found, response) = self.fetch_config(configs, &slot, request).await;
        self.count_config(found, response)
    }

    fn refresh_in_background(self: &Arc<Self>, slot: Arc<Slot>, request: UpstreamRequest) {
        let proxy = Arc::clone(self);
        tokio::spawn(async move {
            // Another refresh is in progress.
            let Ok(_refreshing) = slot.refreshing.try_lock() else { return };
            if let Some(configs) = &proxy.configs {
                // The result is for the next request.
                let _ = proxy.fetch_config(configs, &slot, request).await;
            }
        });
    }

    /// Requests the config from the service, and falls back to a stale one if the service is unavailable.
    async fn fetch_config(
        &self,
        configs: &ConfigStore,
        slot: &Arc<Slot>,
        request: UpstreamRequest,
    ) -> (&'static str, Result<ProxyResponse, Failure>) {
        let requested_at = Instant::now();
        let fetched = match configs.stale(slot) {
            Some(_) => timeout(REFRESH_TIMEOUT, self.upstream.forward(request)).await,
            None => Ok(self.upstream.forward(request).await),
        };
        let response = fetched.unwrap_or(Err(Failure::Timeout));
        let outcome = if let Ok(response) = &response {
            configs.update(slot, response, requested_at)
        } else {
            slot.note_failure();
            Outcome::Unavailable
        };
        match configs.stale(slot) {
            Some(stale) if outcome == Outcome::Unavailable => ("stale", Ok(stale)),
            _ => ("fetched", response),
        }
    }

    fn count_config(
        &self,
        found: &'static str,
        response: Result<ProxyResponse, Failure>,
    ) -> Result<ProxyResponse, Failure> {
        if let Some(metrics) = &self.metrics {
            metrics.record_config(found);
        }
        response
    }
}
