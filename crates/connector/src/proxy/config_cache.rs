//! The chat's config, kept for a while: most pages of a site ask for it, and it seldom changes.
//!
//! A fresh one is given at once. One that is a little old is given at once, too, while a newer one is fetched for the
//! next page. When the service is out of order, an old one is better than none.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::http::{HeaderValue, header};
use tokio::time::Instant;

use super::answered::Answered;

/// How long a config is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfigCache {
    /// How long it is given without asking again.
    pub fresh: Duration,
    /// How much longer it is given while a newer one is fetched, or cannot be.
    pub stale: Duration,
}

impl Default for ConfigCache {
    /// Fresh for a minute, and good enough for a day.
    fn default() -> Self {
        Self { fresh: Duration::from_secs(60), stale: Duration::from_secs(24 * 60 * 60) }
    }
}

/// Configs kept: one for each locale that is asked for, in the languages of each browser. Past these, the one that was
/// not asked for the longest makes room, so that nobody who asks for locales that do not exist keeps others out.
const MOST: usize = 200;

/// What a config is kept under: the query, and the languages of the browser.
pub(crate) type Asked = (Option<String>, Option<HeaderValue>);

#[derive(Debug)]
pub(crate) struct Configs {
    rules: ConfigCache,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    configs: HashMap<Asked, Config>,
    /// Those that are being fetched in the background.
    fetching: HashSet<Asked>,
}

#[derive(Debug)]
struct Config {
    answered: Answered,
    since: Instant,
    asked_for: Instant,
}

/// What is known of a config.
pub(crate) enum Found {
    Fresh(Answered),
    /// Old, and whether the caller is the one to fetch a newer one.
    Stale(Answered, bool),
    Nothing,
}

impl Configs {
    pub(crate) fn new(rules: ConfigCache) -> Self {
        Self { rules, kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn find(&self, asked: &Asked) -> Found {
        let mut kept = self.kept();
        let Some(config) = kept.configs.get_mut(asked) else { return Found::Nothing };
        config.asked_for = Instant::now();
        let age = config.since.elapsed();
        let mut answered = config.answered.clone();
        answered.headers.insert(header::AGE, age.as_secs().into());
        if age < self.rules.fresh {
            Found::Fresh(answered)
        } else if age < self.rules.fresh + self.rules.stale {
            Found::Stale(answered, kept.fetching.insert(asked.clone()))
        } else {
            kept.configs.remove(asked);
            Found::Nothing
        }
    }

    /// Keeps what the service said, if it was a config.
    pub(crate) fn keep(&self, asked: Asked, answered: &Answered) {
        let mut kept = self.kept();
        kept.fetching.remove(&asked);
        if !answered.status.is_success() {
            return;
        }
        let longest = self.rules.fresh + self.rules.stale;
        kept.configs.retain(|_, config| config.since.elapsed() < longest);
        if kept.configs.len() >= MOST && !kept.configs.contains_key(&asked) {
            let oldest = kept.configs.iter().min_by_key(|(_, config)| config.asked_for);
            if let Some(oldest) = oldest.map(|(asked, _)| asked.clone()) {
                kept.configs.remove(&oldest);
            }
        }
        let now = Instant::now();
        kept.configs.insert(asked, Config { answered: answered.clone(), since: now, asked_for: now });
    }

    /// Lets the next one try to fetch it.
    pub(crate) fn not_fetched(&self, asked: &Asked) {
        self.kept().fetching.remove(asked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::Bytes;
    use axum::http::{HeaderMap, StatusCode};

    #[test]
    fn whoever_asks_for_locales_that_do_not_exist_keeps_nobody_elses_config_out() {
        let configs = Configs::new(ConfigCache::default());
        let asked = |locale: &str| (Some(format!("locale={locale}")), None);
        let config = Answered { status: StatusCode::OK, headers: HeaderMap::new(), body: Bytes::new() };
        configs.keep(asked("en"), &config);
        for number in 0..10 * MOST {
            configs.keep(asked(&number.to_string()), &config);
            assert!(matches!(configs.find(&asked("en")), Found::Fresh(_)), "after {number} others");
        }
        assert_eq!(configs.kept().configs.len(), MOST);
        configs.keep(asked("de"), &config);
        assert!(matches!(configs.find(&asked("de")), Found::Fresh(_)), "a new one is kept");
    }
}
