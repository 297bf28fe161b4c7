//! Threads that serve connections, each with a runtime of its own: what belongs to a connection stays on its
//! thread, so that no request waits for another thread to wake up.

use std::io;
use std::num::NonZeroUsize;
use std::thread;

use tokio::runtime::{Builder, Handle};
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
        let stop = CancellationToken::new();
        let mut runtimes = Vec::with_capacity(count);
        for number in 0..count {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            runtimes.push(runtime.handle().clone());
            let stopped = stop.clone().cancelled_owned();
            thread::Builder::new()
                .name(format!("proxy-{number}"))
                .spawn(move || runtime.block_on(stopped))?;
        }
        Ok(Self { runtimes, _stop: stop.drop_guard() })
    }

    /// Returns the runtimes of the threads.
    pub(super) fn runtimes(&self) -> &[Handle] {
        &self.runtimes
    }
}
