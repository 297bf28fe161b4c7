//! The deviations of models that earlier requests have found. They are kept in memory: after a restart, one
//! more request finds each again.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::fingerprint::Fingerprint;

/// Maximum models that are remembered.
const MAX_MODELS: usize = 4096;

/// The deviations of models that earlier requests have found.
#[derive(Debug, Default)]
pub(super) struct Quirks {
    /// The models whose template has no system role.
    no_system: Mutex<HashSet<Fingerprint>>,
}

impl Quirks {
    pub(super) fn lacks_system(&self, model: &Fingerprint) -> bool {
        self.no_system.lock().unwrap_or_else(PoisonError::into_inner).contains(model)
    }

    pub(super) fn remember_no_system(&self, model: Fingerprint) {
        let mut models = self.no_system.lock().unwrap_or_else(PoisonError::into_inner);
        if models.len() >= MAX_MODELS {
            models.clear();
        }
        models.insert(model);
    }
}
