//! The times at which a page with a site's chat was seen.

use std::time::Duration;

use tracing::warn;

use crate::Service;
use crate::cache::Cache;
use crate::db::{DbError, args, work};

/// Minimum time between two records of a site.
const INTERVAL: Duration = Duration::from_mins(5);
const INTERVAL_MS: i64 = 5 * 60 * 1000;
/// Maximum sites that are remembered as recorded.
const MAX_SITES: usize = 10_000;

/// The sites that this node has recorded within [`INTERVAL`].
#[derive(Debug)]
pub(super) struct SeenSites(Cache<String, ()>);

impl Default for SeenSites {
    fn default() -> Self {
        Self(Cache::new(MAX_SITES, INTERVAL))
    }
}

/// Records that a page of a site has asked for the chat. The request does not wait for it, and a record that
/// fails is not repeated: a later request makes another one.
pub(crate) fn record_seen(service: &Service, site_id: &str) {
    let id = site_id.to_owned();
    let Err(version) = service.0.onboarding.seen.0.get(&id) else { return };
    service.0.onboarding.seen.0.put(version, id.clone(), ());
    let (node, now_ms) = (service.clone(), service.now_ms());
    service.0.tasks.spawn(async move {
        let sql = "UPDATE sites
                   SET page_first_seen_ms = coalesce(page_first_seen_ms, $1), page_last_seen_ms = $1
                   WHERE id = $2 AND coalesce(page_last_seen_ms, 0) <= $3";
        let written: Result<u64, DbError> = node
            .db()
            .write_unflushed(work!(|tx| tx.execute(sql, args![now_ms, &id, now_ms - INTERVAL_MS]).await))
            .await;
        if let Err(error) = written {
            warn!("it was not stored that a page of a site was seen: {error}");
        }
    });
}
