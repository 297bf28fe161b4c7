//! What the forms of the account share: one request at a time, and its error below the fields.

use std::future::Future;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::ApiError;

/// The request of a form. Copies are the same request.
#[derive(Clone, Copy)]
pub(super) struct Submission {
    busy: RwSignal<bool>,
    problem: RwSignal<Option<String>>,
}

impl Submission {
    pub(super) fn new() -> Self {
        Self { busy: RwSignal::new(false), problem: RwSignal::new(None) }
    }

    /// Returns whether the request is under way.
    pub(super) fn is_busy(self) -> bool {
        self.busy.get()
    }

    /// Returns the error that the last request ended with.
    pub(super) fn problem(self) -> ReadSignal<Option<String>> {
        self.problem.read_only()
    }

    /// Takes back what the last request ended with.
    pub(super) fn clear(self) {
        self.problem.set(None);
    }

    /// Does the work of the form, unless it is being done already.
    pub(super) fn send(self, work: impl Future<Output = Result<(), ApiError>> + 'static) {
        if self.busy.get_untracked() {
            return;
        }
        self.busy.set(true);
        self.problem.set(None);
        spawn_local(async move {
            let outcome = work.await;
            // The form may be gone.
            self.busy.try_set(false);
            self.problem.try_set(outcome.err().map(|error| error.message));
        });
    }
}
