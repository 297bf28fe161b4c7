//! What was learned about models: it is forgotten with the process, and learned anew by one more request.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use crate::fingerprint::Fingerprint;

/// Maximum models that are remembered.
const MAX_MODELS: usize = 4096;

/// What was learned about models.
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
