//! Threads that serve connections, each with a runtime of its own: what belongs to a connection stays on its
//! thread, so that no request waits for another thread to wake up.

use std::io;
use std::num::NonZeroUsize;
use std::sync::mpsc::channel;
use std::thread;

use tokio::runtime::{self, Handle};
use tokio_util::sync::{CancellationToken, DropGuard};

/// One thread for each processor. They end, and abort their connections, when this is dropped.
#[derive(Debug)]
pub(super) struct Workers {
    runtimes: Vec<Handle>,
    _stop: DropGuard,
}

impl Workers {
    pub(super) fn start() -> io::Result<Self> {
        let count = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Self::start_on((0..count).map(|number| thread::Builder::new().name(format!("proxy-{number}"))))
    }

    /// Starts these threads. If one of them fails, the others end.
    fn start_on(threads: impl Iterator<Item = thread::Builder>) -> io::Result<Self> {
        let stop = CancellationToken::new();
        let mut workers = Self { runtimes: Vec::new(), _stop: stop.clone().drop_guard() };
        for thread in threads {
            let stopped = stop.clone().cancelled_owned();
            let (handle, started) = channel();
            // Built and dropped on its thread, as dropping a runtime panics in an asynchronous task.
            thread.spawn(move || match runtime::Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => {
                    let _ = handle.send(Ok(runtime.handle().clone()));
                    runtime.block_on(stopped);
                }
                Err(error) => {
                    let _ = handle.send(Err(error));
                }
            })?;
            workers.runtimes.push(started.recv().map_err(io::Error::other)??);
        }
        Ok(workers)
    }

    /// Returns the runtimes of the threads.
    pub(super) fn runtimes(&self) -> &[Handle] {
        &self.runtimes
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn a_thread_that_cannot_start_is_an_error_and_ends_the_others() {
        let first = "started-first";
        // No system has room for such a stack.
        let second = thread::Builder::new().stack_size(usize::MAX / 4 + 1);
        let threads = [thread::Builder::new().name(first.to_owned()), second];
        assert!(Workers::start_on(threads.into_iter()).is_err());
        if cfg!(target_os = "linux") {
            let ended = async {
                while is_running(first) {
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(Duration::from_secs(10), ended).await.expect("the first thread ends");
        }
    }

    /// Returns whether this process has a thread with this name.
    fn is_running(name: &str) -> bool {
        let threads = fs::read_dir("/proc/self/task").expect("the threads");
        let mut names =
            threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("comm")).ok());
        names.any(|of_thread| of_thread.trim() == name)
    }
}
