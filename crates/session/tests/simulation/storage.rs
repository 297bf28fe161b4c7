//! The storage that a visitor's tabs share, as browsers provide it: until they do not.

use std::collections::BTreeMap;

use chat_session::{Stored, keys};
use fastrand::Rng;

/// How a browser treats its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It keeps what it is given.
    Sound,
    /// It is full every now and then: each write fails with this chance in a hundred. Removing always works.
    Full(u8),
    /// The visitor does not allow it: nothing can be written, removed or read.
    Blocked,
}

pub struct Storage {
    pub mood: Mood,
    pairs: BTreeMap<String, String>,
    changes: u64,
    rng: Rng,
}

impl Storage {
    pub fn new(rng: Rng) -> Self {
        Self { mood: Mood::Sound, pairs: BTreeMap::new(), changes: 0, rng }
    }

    /// Whether the browser will do this now.
    pub fn allows(&mut self, text: Option<&str>) -> bool {
        match self.mood {
            Mood::Sound => true,
            Mood::Full(chance) => text.is_none() || self.rng.u8(..100) >= chance,
            Mood::Blocked => false,
        }
    }

    /// Keeps or removes.
    pub fn store(&mut self, key: String, text: Option<String>) {
        self.changes += 1;
        match text {
            Some(text) => self.pairs.insert(key, text),
            None => self.pairs.remove(&key),
        };
    }

    /// How often anything was kept or removed.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// What a tab that begins or comes back is handed.
    pub fn snapshot(&self) -> Stored {
        if self.mood == Mood::Blocked {
            return Stored::new();
        }
        let ours = self.pairs.iter().filter(|(key, _)| key.starts_with(keys::PREFIX));
        ours.map(|(key, text)| (key.clone(), serde_json::from_str(text).unwrap_or_default())).collect()
    }

    /// Whether it says that this is its visitor.
    pub fn names(&self, visitor: &str) -> bool {
        let key = [keys::PREFIX, keys::VISITOR].concat();
        self.pairs.get(&key).is_some_and(|text| text.contains(visitor))
    }

    /// The visitor, or the browser, clears what sites have kept.
    pub fn clear(&mut self) {
        self.pairs.clear();
    }
}
