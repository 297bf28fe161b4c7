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

/// Rows in two generations. A row that is used moves to the younger one. When that is full, the older one,
/// with the rows that nobody has used since the last time, is dropped.
#[derive(Debug)]
struct Entries<K, V> {
    young: Generation<K, V>,
    old: Generation<K, V>,
    /// Counts the changes, so that a row that was read before a change is not stored after it.
    version: u64,
}

/// Rows, with the end of their lifetime.
type Generation<K, V> = HashMap<K, (V, Instant)>;

/// The version of a cache before a row was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Version(u64);

impl<K: Clone + Eq + Hash, V: Clone> Cache<K, V> {
    /// Creates a cache of at most `capacity` rows. It keeps at least the half of them that was used last.
    pub(crate) fn new(capacity: usize, lifetime: Duration) -> Self {
        let entries = Entries { young: HashMap::new(), old: HashMap::new(), version: 0 };
        Self { entries: Mutex::new(entries), capacity, lifetime }
    }

    fn entries(&self) -> MutexGuard<'_, Entries<K, V>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a row, or the version to store it with once it is read.
    pub(crate) fn get(&self, key: &K) -> Result<V, Version> {
        let now = Instant::now();
        // Freed after the lock.
        let _dropped;
        let mut entries = self.entries();
        if let Some((value, until)) = entries.young.get(key)
            && *until > now
        {
            return Ok(value.clone());
        }
        if let Some((value, until)) = entries.old.remove(key)
            && until > now
        {
            _dropped = entries.insert(self.capacity, key.clone(), (value.clone(), until));
            return Ok(value);
        }
        Err(Version(entries.version))
    }

    /// Returns the version of the cache, before a row is read that may replace a cached one.
    pub(crate) fn version(&self) -> Version {
        Version(self.entries().version)
    }

    /// Stores a row that was read after [`Self::get`] gave `version`.
    pub(crate) fn put(&self, version: Version, key: K, value: V) {
        let until = Instant::now() + self.lifetime;
        // Freed after the lock.
        let _dropped;
        let mut entries = self.entries();
        if entries.version == version.0 {
            _dropped = entries.insert(self.capacity, key, (value, until));
        }
    }

    /// Forgets one row.
    pub(crate) fn remove(&self, key: &K) {
        let mut entries = self.entries();
        entries.version += 1;
        entries.young.remove(key);
        entries.old.remove(key);
    }

    /// Forgets all rows.
    pub(crate) fn clear(&self) {
        let mut entries = self.entries();
        entries.version += 1;
        entries.young.clear();
        entries.old.clear();
    }
}

impl<K: Eq + Hash, V> Entries<K, V> {
    /// Adds a row, and returns the older generation if it had to go.
    fn insert(&mut self, capacity: usize, key: K, row: (V, Instant)) -> Option<Generation<K, V>> {
        let is_full = self.young.len() >= (capacity / 2).max(1) && !self.young.contains_key(&key);
        let dropped = is_full.then(|| {
            let young = std::mem::take(&mut self.young);
            std::mem::replace(&mut self.old, young)
        });
        self.old.remove(&key);
        self.young.insert(key, row);
        dropped
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
            let entries = cache.entries();
            assert!(entries.young.len() + entries.old.len() <= 10);
        }
        assert_eq!(cache.get(&999).expect("the last one"), 999);
    }

    #[tokio::test]
    async fn keeps_rows_that_are_used_while_others_come() {
        let cache = Cache::new(10, Duration::from_secs(5));
        for key in 0..4 {
            cache.put(missing(&cache, key), key, key);
        }
        for key in 4..1000 {
            cache.put(missing(&cache, key), key, key);
            for used in 0..4 {
                assert_eq!(cache.get(&used).expect("in use"), used);
            }
        }
    }

    #[tokio::test]
    async fn holds_half_of_its_capacity_however_it_is_read() {
        let cache = Cache::new(200, Duration::from_secs(5));
        for key in 0..100 {
            cache.put(missing(&cache, key), key, key);
        }
        for round in 0..1000 {
            let key = round * 37 % 100;
            assert_eq!(cache.get(&key).expect("cached"), key);
        }
    }

    #[tokio::test]
    async fn forgets_a_row_of_either_generation() {
        let cache = Cache::new(4, Duration::from_secs(5));
        for key in 0..4 {
            cache.put(missing(&cache, key), key, key);
        }
        for key in [0, 3] {
            cache.remove(&key);
            missing(&cache, key);
        }
        cache.clear();
        missing(&cache, 1);
        missing(&cache, 2);
    }
}
