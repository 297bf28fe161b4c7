//! The storage that a visitor's tabs share. It may be full, blocked or cleared.

use std::collections::BTreeMap;

use chat_session::{Stored, keys};
use fastrand::Rng;

/// How the browser handles writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageMode {
    /// All writes succeed.
    Reliable,
    /// Each write fails with this probability in percent. Removals always succeed.
    Full(u8),
    /// The visitor blocks storage: nothing can be written, removed or read.
    Blocked,
}

pub struct Storage {
    pub mode: StorageMode,
    pairs: BTreeMap<String, String>,
    changes: u64,
    rng: Rng,
}

impl Storage {
    pub fn new(rng: Rng) -> Self {
        Self { mode: StorageMode::Reliable, pairs: BTreeMap::new(), changes: 0, rng }
    }

    /// Returns whether the browser accepts a write now.
    pub fn allows(&mut self, text: Option<&str>) -> bool {
        match self.mode {
            StorageMode::Reliable => true,
            StorageMode::Full(chance) => text.is_none() || self.rng.u8(..100) >= chance,
            StorageMode::Blocked => false,
        }
    }

    /// Stores a text under a key, or removes the key.
    pub fn store(&mut self, key: String, text: Option<String>) {
        self.changes += 1;
        match text {
            Some(text) => self.pairs.insert(key, text),
            None => self.pairs.remove(&key),
        };
    }

    /// Returns the number of changes so far.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns what a tab finds when it loads or is restored.
    pub fn snapshot(&self) -> Stored {
        if self.mode == StorageMode::Blocked {
            return Stored::new();
        }
        let ours = self.pairs.iter().filter(|(key, _)| key.starts_with(keys::PREFIX));
        ours.map(|(key, text)| (key.clone(), serde_json::from_str(text).unwrap_or_default())).collect()
    }

    /// Returns whether this visitor is stored.
    pub fn names(&self, visitor: &str) -> bool {
        let key = [keys::PREFIX, keys::VISITOR].concat();
        self.pairs.get(&key).is_some_and(|text| text.contains(visitor))
    }

    /// Clears everything.
    pub fn clear(&mut self) {
        self.pairs.clear();
    }
}
