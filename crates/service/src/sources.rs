//! Content that no connector sends: websites that the service reads itself ([decision 0057]).
//!
//! A run reads a website page by page, politely, and makes content of it at its end. All of its state is in
//! the database. Workers take turns with the sources of all tenants, so that a slow website delays no other
//! one for longer than a turn.
//!
//! [decision 0057]: ../../../docs/decisions/0057-sources-beside-the-sync.md

mod claim;
mod discover;
pub mod fetch;
mod host_turns;
mod outdated;
mod queue;
mod read_page;
mod reader;
mod records;
mod run;
mod scope;
mod sources_routes;
#[cfg(test)]
mod sources_tests;
mod store;
mod stored_page;
mod visit;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use chat_page::Robots;
use chat_protocol::admin::settings::SkipReason;

use crate::Service;
use fetch::Fetcher;
pub(crate) use reader::run;
pub(crate) use sources_routes::{SourcesApi, routes};

/// Maximum websites whose rules are remembered.
const MAX_ROBOTS: usize = 100;
/// Maximum bytes of these rules.
const MAX_ROBOTS_BYTES: usize = 8 * 1024 * 1024;

/// The rules of a website in a run: the source, the run and the host.
type RobotsKey = (String, i64, String);
/// The rules of a website, or why they cannot be read.
type KnownRobots = Result<Arc<Robots>, SkipReason>;

/// The state of a node that reads sources.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    fetcher: OnceLock<Result<Fetcher, String>>,
    robots: Mutex<HashMap<RobotsKey, KnownRobots>>,
}

impl Sources {
    /// Returns the client; an error if the machine has no certificates or the like.
    fn fetcher(service: &Service) -> Result<&Fetcher, &str> {
        let (sources, options) = (&service.0.sources, &service.0.options);
        let made = sources.fetcher.get_or_init(|| {
            let origin = options.public_origin.as_deref();
            Fetcher::new(options.allow_private_webhooks, origin, options.crawl.timeout)
                .map_err(|error| error.to_string())
        });
        made.as_ref().map_err(String::as_str)
    }

    fn known_robots(&self) -> MutexGuard<'_, HashMap<RobotsKey, KnownRobots>> {
        self.robots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn robots(&self, key: &RobotsKey) -> Option<KnownRobots> {
        self.known_robots().get(key).cloned()
    }

    /// Remembers rules for the rest of a run. They are read again if there were too many.
    fn keep_robots(&self, key: RobotsKey, robots: KnownRobots) {
        let mut known = self.known_robots();
        let bytes: usize = known.values().chain([&robots]).flatten().map(|robots| robots.bytes()).sum();
        if known.len() >= MAX_ROBOTS || bytes > MAX_ROBOTS_BYTES {
            known.clear();
        }
        known.insert(key, robots);
    }

    fn forget_robots(&self, source_id: &str) {
        self.known_robots().retain(|(known, ..), _| known != source_id);
    }
}
