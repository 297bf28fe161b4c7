//! Caches the chat's config, which most pages of a site request and which seldom changes.
//!
//! A cached config is used only while it is fresh, so that a chat that is switched off disappears for every
//! visitor within that time. A config past half of that time is refreshed in the background. A stale config
//! is used while the service is unavailable, and is marked as `stale` (2.3).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use chat_protocol::is_language_tag;
use serde_json::Value;
use tokio::time::Instant;

use super::response::{ProxyResponse, own_request_id};

/// The lifetimes of a cached config.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigCache {
    /// The time for which a config is used without a request to the service. This is also the maximum delay
    /// until a disabled chat disappears.
    pub fresh: Duration,
    /// The further time for which a config is used, marked as `stale` (2.3), while the service is
    /// unavailable.
    pub stale: Duration,
}

impl Default for ConfigCache {
    /// Fresh for a minute, usable for a day without the service.
    fn default() -> Self {
        Self { fresh: Duration::from_mins(1), stale: Duration::from_hours(24) }
    }
}

/// Maximum cached configs: one for each combination of locale and browser languages. The least recently used
/// one is evicted, so that requests for unknown locales do not push out those in use.
const MAX_CONFIGS: usize = 200;

/// Maximum size of a cached config, in bytes. Together with [`MAX_CONFIGS`] it limits the memory of the
/// cache.
const MAX_CONFIG_BYTES: usize = 64 * 1024;

/// Maximum length of `Accept-Language` in a key, in bytes. Browsers send far less.
const MAX_LANGUAGES_BYTES: usize = 256;

/// The interval after a failed refresh in which a stale config is used without asking the service again.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// The key of a cached config: the locale, and the languages of the browser.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey {
    locale: Option<String>,
    languages: Option<HeaderValue>,
}

impl CacheKey {
    /// Returns the key of a request, or `None` if its response is not to be cached: the query has more than a
    /// locale, the locale is not a language tag, or the languages are too long.
    pub(crate) fn of(query: Option<&str>, languages: Option<&HeaderValue>) -> Option<Self> {
        let locale = match query {
            None | Some("") => None,
            Some(query) => {
                Some(query.strip_prefix("locale=").filter(|tag| is_language_tag(tag))?.to_ascii_lowercase())
            }
        };
        if languages.is_some_and(|languages| languages.len() > MAX_LANGUAGES_BYTES) {
            return None;
        }
        Some(Self { locale, languages: languages.cloned() })
    }
}

#[derive(Debug)]
pub(crate) struct ConfigStore {
    rules: ConfigCache,
    slots: Mutex<HashMap<CacheKey, Arc<Slot>>>,
}

/// The entry of one config. A refresh holds its lock, so that requests to the service do not overlap.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub(crate) refreshing: tokio::sync::Mutex<()>,
    content: Mutex<Content>,
}

#[derive(Debug, Default)]
struct Content {
    config: Option<CachedConfig>,
    failed_at: Option<Instant>,
    last_used: Option<Instant>,
}

#[derive(Debug)]
struct CachedConfig {
    envelope: Value,
    headers: HeaderMap,
    requested_at: Instant,
}

/// The result of a lookup.
pub(crate) enum Lookup {
    /// A config that is used as it is.
    Fresh(ProxyResponse),
    /// A fresh config past half of its time, to be refreshed in the background.
    Expiring(ProxyResponse),
    /// No usable config: the service must be requested first.
    Miss,
}

/// Headers of the service that remain valid for a cached config.
const CACHED_HEADERS: [HeaderName; 2] =
    [header::CONTENT_TYPE, HeaderName::from_static("x-service-api-version")];

impl ConfigStore {
    pub(crate) fn new(rules: ConfigCache) -> Self {
        Self { rules, slots: Mutex::default() }
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<CacheKey, Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the entry of a key, created if missing.
    pub(crate) fn slot(&self, key: &CacheKey) -> Arc<Slot> {
        let mut slots = self.slots();
        if slots.len() >= MAX_CONFIGS && !slots.contains_key(key) {
            let oldest = slots.iter().min_by_key(|(_, slot)| slot.content().last_used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                slots.remove(&oldest);
            }
        }
        let slot = slots.entry(key.clone()).or_default();
        slot.content().last_used = Some(Instant::now());
        Arc::clone(slot)
    }

    /// Looks up a config. With `not_before`, only a config that was requested from the service since then
    /// counts.
    pub(crate) fn lookup(&self, slot: &Slot, not_before: Option<Instant>) -> Lookup {
        let content = slot.content();
        let Some(config) = &content.config else { return Lookup::Miss };
        if not_before.is_some_and(|earliest| config.requested_at < earliest) {
            return Lookup::Miss;
        }
        let age = config.requested_at.elapsed();
        if age >= self.rules.fresh {
            Lookup::Miss
        } else if age >= self.rules.fresh / 2 {
            Lookup::Expiring(config.response(false))
        } else {
            Lookup::Fresh(config.response(false))
        }
    }

    /// Returns a stale config to use while the service is unavailable, if there is one.
    pub(crate) fn stale(&self, slot: &Slot) -> Option<ProxyResponse> {
        let content = slot.content();
        let config = content.config.as_ref()?;
        let age = config.requested_at.elapsed();
        (age < self.rules.fresh.saturating_add(self.rules.stale)).then(|| config.response(true))
    }

    /// Returns a stale config if the service failed within [`RETRY_INTERVAL`].
    pub(crate) fn stale_since_failure(&self, slot: &Slot) -> Option<ProxyResponse> {
        let failed_at = slot.content().failed_at?;
        if failed_at.elapsed() < RETRY_INTERVAL { self.stale(slot) } else { None }
    }

    /// Updates an entry with the service's response to a request of `requested_at`.
    ///
    /// A config is cached; one that switches the chat off evicts all others. A refusal removes the entry's
    /// config. A transient failure, or a response without a config, changes nothing.
    pub(crate) fn update(
        &self,
        slot: &Arc<Slot>,
        response: &ProxyResponse,
        requested_at: Instant,
    ) -> Outcome {
        if !response.status.is_success() {
            if is_transient(response.status) {
                slot.note_failure();
                return Outcome::Unavailable;
            }
            *slot.content() = Content { last_used: Some(Instant::now()), ..Content::default() };
            return Outcome::Usable;
        }
        let Some(envelope) = config_envelope(&response.body) else {
            slot.note_failure();
            return Outcome::Unavailable;
        };
        if is_switched_off(&envelope) {
            self.slots().retain(|_, other| Arc::ptr_eq(other, slot));
        }
        let cached = CACHED_HEADERS.into_iter().filter_map(|name| {
            let value = response.headers.get(&name)?.clone();
            Some((name, value))
        });
        let headers = cached.collect();
        let mut content = slot.content();
        content.failed_at = None;
        content.config = (response.body.len() <= MAX_CONFIG_BYTES).then_some(CachedConfig {
            envelope,
            headers,
            requested_at,
        });
        Outcome::Usable
    }
}

/// The usability of the service's response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The response is returned to the browser.
    Usable,
    /// A stale config is preferred to the response.
    Unavailable,
}

impl Slot {
    /// Returns whether the service failed after `earliest`.
    pub(crate) fn has_failed_since(&self, earliest: Instant) -> bool {
        self.content().failed_at.is_some_and(|failed_at| failed_at >= earliest)
    }

    /// Records that the service failed.
    pub(crate) fn note_failure(&self) {
        self.content().failed_at = Some(Instant::now());
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CachedConfig {
    /// Returns the config as the response to another request, with a new request id.
    fn response(&self, stale: bool) -> ProxyResponse {
        let request_id = own_request_id();
        let mut envelope = self.envelope.clone();
        if stale {
            envelope["data"]["stale"] = Value::Bool(true);
        }
        envelope["requestId"] = Value::String(request_id.clone());
        let mut headers = self.headers.clone();
        headers.insert(header::AGE, self.requested_at.elapsed().as_secs().into());
        if let Ok(request_id) = HeaderValue::try_from(request_id) {
            headers.insert(HeaderName::from_static("x-request-id"), request_id);
        }
        ProxyResponse { status: StatusCode::OK, headers, body: envelope.to_string().into() }
    }
}

/// Returns the envelope (2.1) of a config, or `None` if the body is something else, such as a load balancer's
/// page.
fn config_envelope(body: &[u8]) -> Option<Value> {
    let envelope: Value = serde_json::from_slice(body).ok()?;
    (envelope["ok"] == true && envelope["data"].is_object()).then_some(envelope)
}

fn is_switched_off(envelope: &Value) -> bool {
    let config = &envelope["data"]["config"];
    config["enabled"] == false || config["widgetEnabled"] == false
}

/// Returns whether a failure is transient and says nothing about the site.
fn is_transient(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status.as_u16(), 408 | 425 | 429)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(locale: &str) -> CacheKey {
        CacheKey::of(Some(&format!("locale={locale}")), None).expect("a key")
    }

    fn answer(status: u16, body: &Value) -> ProxyResponse {
        let status = StatusCode::from_u16(status).expect("a status");
        let mut headers = HeaderMap::new();
        headers.insert("x-request-id", HeaderValue::from_static("req_1"));
        headers.insert("x-ratelimit-remaining", HeaderValue::from_static("3"));
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        ProxyResponse { status, headers, body: body.to_string().into() }
    }

    fn config(enabled: bool) -> ProxyResponse {
        let data = json!({ "config": { "enabled": enabled }, "stale": false });
        answer(200, &json!({ "ok": true, "data": data, "requestId": "req_1" }))
    }

    fn json_of(response: &ProxyResponse) -> Value {
        serde_json::from_slice(&response.body).expect("JSON")
    }

    #[test]
    fn caches_by_language_tags_only() {
        assert_eq!(key("en-US"), key("EN-us"));
        assert!(CacheKey::of(None, None).is_some());
        for query in ["locale=", "locale=en&x=1", "x=1", "locale=en%2DUS", "locale=en. New rule"] {
            assert_eq!(CacheKey::of(Some(query), None), None, "{query}");
        }
        let languages = HeaderValue::from_str(&"en,".repeat(100)).expect("a value");
        assert_eq!(CacheKey::of(None, Some(&languages)), None);
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_locales_do_not_evict_a_config_in_use() {
        let configs = ConfigStore::new(ConfigCache::default());
        let english = configs.slot(&key("en"));
        configs.update(&english, &config(true), Instant::now());
        for number in 0..10 * MAX_CONFIGS {
            tokio::time::advance(Duration::from_millis(1)).await;
            configs.slot(&key(&format!("en-{number}")));
            let slot = configs.slot(&key("en"));
            assert!(matches!(configs.lookup(&slot, None), Lookup::Fresh(_)), "after {number} others");
        }
        assert_eq!(configs.slots().len(), MAX_CONFIGS);
    }

    #[test]
    fn does_not_cache_an_oversized_config() {
        let configs = ConfigStore::new(ConfigCache::default());
        let slot = configs.slot(&key("en"));
        let large =
            json!({ "ok": true, "data": { "text": "x".repeat(MAX_CONFIG_BYTES) }, "requestId": "req_1" });
        assert_eq!(configs.update(&slot, &answer(200, &large), Instant::now()), Outcome::Usable);
        assert!(matches!(configs.lookup(&slot, None), Lookup::Miss));
    }

    #[tokio::test(start_paused = true)]
    async fn serves_a_fresh_config_and_a_stale_one_only_without_the_service() {
        let configs = ConfigStore::new(ConfigCache::default());
        let slot = configs.slot(&key("en"));
        configs.update(&slot, &config(true), Instant::now());
        let Lookup::Fresh(cached) = configs.lookup(&slot, None) else { panic!("fresh") };
        assert_eq!(json_of(&cached)["data"]["stale"], false);
        tokio::time::advance(Duration::from_secs(31)).await;
        assert!(matches!(configs.lookup(&slot, None), Lookup::Expiring(_)));
        tokio::time::advance(Duration::from_secs(29)).await;
        assert!(matches!(configs.lookup(&slot, None), Lookup::Miss));
        let stale = configs.stale(&slot).expect("an old one");
        assert_eq!(json_of(&stale)["data"]["stale"], true);
        tokio::time::advance(Duration::from_hours(24)).await;
        assert!(configs.stale(&slot).is_none());
    }

    #[test]
    fn a_cached_config_has_its_own_request_id_and_no_rate_limit_headers() {
        let configs = ConfigStore::new(ConfigCache::default());
        let slot = configs.slot(&key("en"));
        configs.update(&slot, &config(true), Instant::now());
        let Lookup::Fresh(cached) = configs.lookup(&slot, None) else { panic!("fresh") };
        let request_id = cached.headers.get("x-request-id").and_then(|id| id.to_str().ok()).expect("an id");
        assert!(request_id.starts_with("proxy_"), "{request_id}");
        assert_eq!(json_of(&cached)["requestId"], request_id);
        assert!(cached.headers.get("x-ratelimit-remaining").is_none());
        let Lookup::Fresh(again) = configs.lookup(&slot, None) else { panic!("fresh") };
        assert_ne!(again.headers["x-request-id"], request_id);
    }

    #[test]
    fn disabling_the_chat_in_one_locale_evicts_all_configs() {
        let configs = ConfigStore::new(ConfigCache::default());
        let (english, german) = (configs.slot(&key("en")), configs.slot(&key("de")));
        configs.update(&english, &config(true), Instant::now());
        configs.update(&german, &config(false), Instant::now());
        assert!(configs.stale(&configs.slot(&key("en"))).is_none(), "not even while the service is away");
        assert!(matches!(configs.lookup(&configs.slot(&key("de")), None), Lookup::Fresh(_)));
    }

    #[test]
    fn a_refusal_evicts_the_config_but_a_failure_does_not() {
        let configs = ConfigStore::new(ConfigCache::default());
        let slot = configs.slot(&key("en"));
        configs.update(&slot, &config(true), Instant::now());
        for status in [500, 503, 429, 408] {
            assert_eq!(
                configs.update(&slot, &answer(status, &Value::Null), Instant::now()),
                Outcome::Unavailable
            );
            assert!(configs.stale(&slot).is_some(), "{status}");
        }
        assert_eq!(
            configs.update(&slot, &answer(200, &json!("a page")), Instant::now()),
            Outcome::Unavailable
        );
        assert!(configs.stale_since_failure(&slot).is_some());
        assert_eq!(configs.update(&slot, &answer(401, &Value::Null), Instant::now()), Outcome::Usable);
        assert!(configs.stale(&slot).is_none());
    }
}
