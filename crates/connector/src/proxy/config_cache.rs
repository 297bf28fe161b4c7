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

/// Configs kept: one for each locale that is asked for. Who asks for more than there are does without.
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
    configs: HashMap<Asked, (Instant, Answered)>,
    /// Those that are being fetched in the background.
    fetching: HashSet<Asked>,
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
        let Some((since, answered)) = kept.configs.get(asked) else { return Found::Nothing };
        let age = since.elapsed();
        let mut answered = answered.clone();
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
        kept.configs.retain(|_, (since, _)| since.elapsed() < longest);
        if kept.configs.len() < MOST || kept.configs.contains_key(&asked) {
            kept.configs.insert(asked, (Instant::now(), answered.clone()));
        }
    }

    /// Lets the next one try to fetch it.
    pub(crate) fn not_fetched(&self, asked: &Asked) {
        self.kept().fetching.remove(asked);
    }
}
