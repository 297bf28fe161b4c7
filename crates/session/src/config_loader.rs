//! The chat's config: when to request it, and the last usable one.

use chat_protocol::{ChatConfig, FieldError, Value};

use crate::back_off::wait_ms;
use crate::random::Random;

/// Minimum time before the config is requested again after a failure. Milliseconds.
const MIN_RETRY_INTERVAL_MS: u64 = 20_000;

/// The state of the config.
#[derive(Debug)]
pub(crate) struct ConfigLoader {
    config: Option<ChatConfig>,
    /// The time of the next request, if one is wanted.
    due_ms: Option<u64>,
    failures: u64,
}

impl ConfigLoader {
    /// Returns a loader with a config from the page, or with a stored one, which is requested again.
    pub(crate) fn new(now_ms: u64, given: Option<Value>, stored: Option<Value>) -> Self {
        let due_ms = given.is_none().then_some(now_ms);
        let config = given.or(stored).and_then(|data| ChatConfig::try_from(data).ok());
        Self { config, due_ms, failures: 0 }
    }

    pub(crate) fn config(&self) -> Option<&ChatConfig> {
        self.config.as_ref()
    }

    /// Returns whether the chat is switched on, as far as is known.
    pub(crate) fn is_on(&self) -> bool {
        self.config.as_ref().is_none_or(ChatConfig::shows_widget)
    }

    /// Plans a request for the config at this time.
    pub(crate) fn request(&mut self, at_ms: u64) {
        self.due_ms = Some(at_ms);
    }

    /// Returns the time of the next request.
    pub(crate) fn due_ms(&self) -> Option<u64> {
        self.due_ms
    }

    /// Returns whether to request the config now.
    pub(crate) fn take_due(&mut self, now_ms: u64) -> bool {
        self.due_ms.take_if(|due| now_ms >= *due).is_some()
    }

    /// Applies `data` of the service's response. Unusable data changes nothing.
    pub(crate) fn on_config(&mut self, data: Value) -> Result<(), FieldError> {
        self.config = Some(ChatConfig::try_from(data)?);
        self.failures = 0;
        Ok(())
    }

    /// Plans another request after a failure. The number of requests is unlimited.
    pub(crate) fn on_error(&mut self, now_ms: u64, retry_after_ms: Option<u64>, random: &mut Random) {
        self.failures += 1;
        let wait_ms = wait_ms(self.failures + 4, retry_after_ms, random);
        self.due_ms = Some(now_ms + MIN_RETRY_INTERVAL_MS + wait_ms);
    }

    /// Applies `data` of a config that another tab stored. Returns whether it is usable.
    pub(crate) fn apply_remote(&mut self, data: Value) -> bool {
        let config = ChatConfig::try_from(data);
        let is_usable = config.is_ok();
        if let Ok(config) = config {
            self.config = Some(config);
        }
        is_usable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(is_on: bool) -> Value {
        Value::object([("config", Value::object([("enabled", is_on.into())]))])
    }

    #[test]
    fn a_stored_config_is_used_and_requested_again() {
        let mut loader = ConfigLoader::new(5, None, Some(data(false)));
        assert!(!loader.is_on());
        assert!(!loader.take_due(4) && loader.take_due(5) && !loader.take_due(6));
    }

    #[test]
    fn a_config_from_the_page_is_not_requested() {
        let mut loader = ConfigLoader::new(5, Some(data(true)), Some(data(false)));
        assert!(loader.is_on() && loader.due_ms().is_none());
        loader.request(9);
        assert_eq!(loader.due_ms(), Some(9));
    }

    #[test]
    fn the_chat_is_on_until_a_config_says_otherwise() {
        let mut loader = ConfigLoader::new(5, None, None);
        assert!(loader.is_on() && loader.config().is_none());
        assert!(loader.on_config(data(false)).is_ok());
        assert!(!loader.is_on());
    }

    #[test]
    fn an_unusable_config_changes_nothing() {
        let mut loader = ConfigLoader::new(5, None, Some(data(false)));
        assert!(loader.on_config(7.into()).is_err());
        assert!(!loader.apply_remote(Value::Null));
        assert!(!loader.is_on());
        assert!(loader.apply_remote(data(true)) && loader.is_on());
    }

    #[test]
    fn repeats_a_failed_request_after_at_least_twenty_seconds() {
        let mut loader = ConfigLoader::new(0, None, None);
        loader.take_due(0);
        loader.on_error(1_000, Some(0), &mut Random::new(1));
        assert!(loader.due_ms().is_some_and(|due| (21_000..=21_500).contains(&due)));
        let mut longest = 0;
        for seed in 0..200 {
            loader.on_error(0, None, &mut Random::new(seed));
            longest = loader.due_ms().unwrap_or_default().max(longest);
        }
        assert!((45_000..=50_000).contains(&longest), "half a minute of back-off at most: {longest}");
        assert!(loader.on_config(data(true)).is_ok());
        loader.on_error(0, None, &mut Random::new(1));
        assert!(loader.due_ms().is_some_and(|due| due <= 28_000), "the count of failures starts again");
    }
}
