//! The ids of all sites, by which invented ones are told apart without a query for each.
//!
//! A page names its site in the path, so that anybody can invent ids. A few of them in a second are looked
//! for: a site that another process has created a moment ago is found at once. During a flood, only the ids
//! are believed that were read within the last second.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Maximum queries in [`INTERVAL`] for sites that do not exist.
const MAX_MISSES: u32 = 100;
/// The time in which those are counted, and for which the ids are believed.
const INTERVAL: Duration = Duration::from_secs(1);

/// The ids of all sites. They are read only during a flood.
#[derive(Debug, Default)]
pub(crate) struct SiteIds {
    misses: Mutex<Misses>,
    /// Held while the ids are read, so that only one request reads them.
    read: tokio::sync::Mutex<Option<(Instant, Arc<HashSet<String>>)>>,
}

/// The queries that found no site.
#[derive(Debug, Default)]
struct Misses {
    since: Option<Instant>,
    count: u32,
}

impl SiteIds {
    /// Executes the query `find` for a site with this id. Returns `None`, without the query, if there have
    /// been too many ids without a site, and this one is not among those that `ids` reads.
    pub(crate) async fn find<T, E>(
        &self,
        id: &str,
        find: impl Future<Output = Result<Option<T>, E>>,
        ids: impl Future<Output = Result<HashSet<String>, E>>,
    ) -> Result<Option<Option<T>>, E> {
        if self.is_flooded() && !self.read(ids).await?.contains(id) {
            return Ok(None);
        }
        let found = find.await?;
        if found.is_none() {
            self.count_miss();
        }
        Ok(Some(found))
    }

    fn misses<R>(&self, use_them: impl FnOnce(&mut Misses) -> R) -> R {
        let mut misses = self.misses.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if misses.since.is_none_or(|since| now - since >= INTERVAL) {
            *misses = Misses { since: Some(now), count: 0 };
        }
        use_them(&mut misses)
    }

    fn is_flooded(&self) -> bool {
        self.misses(|misses| misses.count >= MAX_MISSES)
    }

    fn count_miss(&self) {
        self.misses(|misses| misses.count += 1);
    }

    /// Returns the ids, which are read again if they are too old.
    async fn read<E>(
        &self,
        ids: impl Future<Output = Result<HashSet<String>, E>>,
    ) -> Result<Arc<HashSet<String>>, E> {
        let mut read = self.read.lock().await;
        if let Some((at, ids)) = &*read
            && at.elapsed() < INTERVAL
        {
            return Ok(Arc::clone(ids));
        }
        let at = Instant::now();
        let ids = Arc::new(ids.await?);
        *read = Some((at, Arc::clone(&ids)));
        Ok(ids)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;

    /// The sites of a database that counts its queries.
    #[derive(Default)]
    struct Sites {
        ids: SiteIds,
        finds: AtomicU32,
        reads: AtomicU32,
    }

    impl Sites {
        async fn find(&self, id: &str) -> Option<Option<()>> {
            let find = async {
                self.finds.fetch_add(1, Relaxed);
                Ok((id == "shop").then_some(()))
            };
            let ids = async {
                self.reads.fetch_add(1, Relaxed);
                Ok(HashSet::from(["shop".to_owned()]))
            };
            self.ids.find::<(), ()>(id, find, ids).await.expect("found")
        }
    }

    #[tokio::test(start_paused = true)]
    async fn invented_ids_cost_a_bounded_number_of_queries() {
        let sites = Sites::default();
        for second in 1..=3 {
            for number in 0..10_000 {
                let found = sites.find(&format!("site_{number}")).await;
                assert!(found.is_none_or(|site| site.is_none()));
            }
            let counts = (sites.finds.load(Relaxed), sites.reads.load(Relaxed));
            assert_eq!(counts, (second * MAX_MISSES, second));
            tokio::time::advance(INTERVAL).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_site_is_found_during_a_flood_of_invented_ids() {
        let sites = Sites::default();
        for number in 0..1000 {
            sites.find(&format!("site_{number}")).await;
        }
        assert_eq!(sites.find("shop").await, Some(Some(())));
        assert_eq!(sites.find("site_0").await, None);
        tokio::time::advance(INTERVAL).await;
        assert_eq!(sites.find("site_0").await, Some(None), "it may exist by now");
    }
}
