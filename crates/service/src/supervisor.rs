//! Background tasks that go on after a panic. A task that ends is missed by nobody until its work piles up.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tracing::error;

/// The pause before a task that panicked starts again, so that one that panics at once does not take a core.
const RESTART_DELAY: Duration = Duration::from_secs(1);

/// Makes all background tasks of this process panic, wherever they are.
#[cfg(any(test, feature = "test-mode"))]
pub(crate) fn panic_all() {
    PANICS.notify_waiters();
}

#[cfg(any(test, feature = "test-mode"))]
static PANICS: tokio::sync::Notify = tokio::sync::Notify::const_new();

/// Executes the work of a background task, which panics when the test mode says so.
pub(crate) async fn fallible<T>(work: impl Future<Output = T>) -> T {
    #[cfg(any(test, feature = "test-mode"))]
    let work = async {
        tokio::select! {
            biased;
            () = PANICS.notified() => panic!("a panic of the test mode"),
            done = work => done,
        }
    };
    work.await
}

/// Runs a task to its end. After a panic, which has reported itself, the task starts again.
pub(crate) async fn supervise<F: Future<Output = ()>>(name: &str, mut start: impl FnMut() -> F) {
    while AssertUnwindSafe(fallible(async { start().await })).catch_unwind().await.is_err() {
        error!("{name} panicked, and starts again");
        tokio::time::sleep(RESTART_DELAY).await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_task_that_panics_starts_again_until_it_ends() {
        let starts = Cell::new(0);
        let starting = Cell::new(0);
        let started = tokio::time::Instant::now();
        supervise("the task", || {
            // A panic before the future exists counts as well.
            starting.set(starting.get() + 1);
            assert!(starting.get() > 1, "a panic of the test");
            async {
                starts.set(starts.get() + 1);
                tokio::task::yield_now().await;
                assert!(starts.get() > 2, "a panic of the test");
            }
        })
        .await;
        assert_eq!((starting.get(), starts.get()), (4, 3));
        assert_eq!(started.elapsed(), 3 * RESTART_DELAY);
    }
}
