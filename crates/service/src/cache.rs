//! Caches of database rows that are never older than the last change.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A cache of rows. [`Cache::clear`] follows each change; `lifetime` bounds what an announcement that was
/// lost can cost.
#[derive(Debug)]
pub(crate) struct Cache<K, V> {
    entries: Mutex<Entries<K, V>>,
    capacity: usize,
    lifetime: Duration,
}

#[derive(Debug)]
struct Entries<K, V> {
    by_key: HashMap<K, (V, Instant)>,
    /// Counts the changes, so that a row that was read before a change is not stored after it.
    version: u64,
}

/// The version of a cache before a row was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version(u64);

impl<K: Eq + Hash, V: Clone> Cache<K, V> {
    /// Creates a cache of at most `capacity` rows.
    pub(crate) fn new(capacity: usize, lifetime: Duration) -> Self {
        Self { entries: Mutex::new(Entries { by_key: HashMap::new(), version: 0 }), capacity, lifetime }
    }

    fn entries(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a row, or the version to store it with once it is read.
    pub(crate) fn get(&self, key: &K) -> Result<V, Version> {
        let entries = self.entries();
        match entries.by_key.get(key) {
            Some((value, until)) if *until > Instant::now() => Ok(value.clone()),
            _ => Err(Version(entries.version)),
        }
    }

    /// Returns the version of the cache, before a row is read that may replace a cached one.
    pub(crate) fn version(&self) -> Version {
        Version(self.entries().version)
    }

    /// Stores a row that was read after [`Self::get`] gave `version`.
    pub(crate) fn put(&self, version: Version, key: K, value: V) {
        let mut entries = self.entries();
        if entries.version != version.0 {
            return;
        }
        if entries.by_key.len() >= self.capacity && !entries.by_key.contains_key(&key) {
            // Rows that are in use return at once.
            entries.by_key.clear();
        }
        entries.by_key.insert(key, (value, Instant::now() + self.lifetime));
    }

    /// Forgets one row.
    pub(crate) fn remove(&self, key: &K) {
        let mut entries = self.entries();
        entries.version += 1;
        entries.by_key.remove(key);
    }

    /// Forgets all rows.
    pub(crate) fn clear(&self) {
        let mut entries = self.entries();
        entries.version += 1;
        entries.by_key.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(cache: &Cache<u32, u32>, key: u32) -> Version {
        cache.get(&key).expect_err("not cached")
    }

    #[tokio::test(start_paused = true)]
    async fn forgets_a_row_after_a_change_and_after_its_lifetime() {
        let cache = Cache::new(10, Duration::from_secs(5));
        cache.put(missing(&cache, 1), 1, 10);
        assert_eq!(cache.get(&1).expect("cached"), 10);
        cache.remove(&1);
        cache.put(missing(&cache, 1), 1, 11);
        cache.clear();
        cache.put(missing(&cache, 1), 1, 12);
        assert_eq!(cache.get(&1).expect("cached"), 12);
        tokio::time::advance(Duration::from_secs(5)).await;
        missing(&cache, 1);
    }

    #[tokio::test]
    async fn does_not_store_what_was_read_before_a_change() {
        let cache = Cache::new(10, Duration::from_secs(5));
        let before = missing(&cache, 1);
        cache.remove(&1);
        cache.put(before, 1, 10);
        missing(&cache, 1);
    }

    #[tokio::test]
    async fn has_a_maximum_size() {
        let cache = Cache::new(10, Duration::from_secs(5));
        for key in 0..1000 {
            cache.put(missing(&cache, key), key, key);
        }
        assert!(cache.entries().by_key.len() <= 10);
        assert_eq!(cache.get(&999).expect("the last one"), 999);
    }
}
