//! The time limit of a request: a connection can be gone without a word, and would be waited for in vain.

use std::time::Duration;

use gloo_timers::callback::Timeout;
use web_sys::{AbortController, AbortSignal};

/// A time limit. Dropping it lifts it.
pub struct Deadline {
    controller: Option<AbortController>,
    _timer: Timeout,
}

impl Deadline {
    /// Ends after this time.
    pub fn after(limit: Duration) -> Self {
        let controller = AbortController::new().ok();
        let ended = controller.clone();
        let limit_ms = u32::try_from(limit.as_millis()).unwrap_or(u32::MAX);
        let timer = Timeout::new(limit_ms, move || {
            if let Some(controller) = ended {
                controller.abort();
            }
        });
        Self { controller, _timer: timer }
    }

    /// Returns the signal that ends a request.
    pub fn signal(&self) -> Option<AbortSignal> {
        self.controller.as_ref().map(AbortController::signal)
    }
}
