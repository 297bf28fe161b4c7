//! The worker of one node for a queue in the database. Nodes share a queue: what a node has claimed is not
//! due again until its lease ends.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::task::{JoinError, JoinSet};
use tracing::{error, warn};

use crate::Service;
use crate::db::{DbError, Wake};

/// The interval at which a queue is looked at without an announcement, for what a node that died had claimed.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_secs(15);
/// The waiting time after an error of the database.
const ERROR_INTERVAL: Duration = Duration::from_secs(2);
/// The interval at which a worker looks again for what is due, while its tenant has another piece of work.
const BUSY_INTERVAL: Duration = Duration::from_secs(1);
/// The interval between attempts to open a queue.
const OPEN_INTERVAL: Duration = Duration::from_mins(1);

/// A queue in the database.
pub(crate) trait Queue: Sized + Send + Sync + 'static {
    /// The plural of the thing that the queue sends, for the log.
    const NAME: &'static str;
    /// Maximum sends of a node at a time.
    const MAX_CONCURRENT: usize;
    /// Something that this node sends.
    type Claimed: Send + 'static;

    /// Opens the queue; `None` where it is switched off.
    fn open(service: &Service) -> Result<Option<Self>, String>;

    /// Claims what is due, at most `limit`, and returns when the next send is due. Nothing is claimed when
    /// nothing is due, or another node was faster.
    fn claim(
        &self,
        now_ms: i64,
        limit: usize,
    ) -> impl Future<Output = Result<(Vec<Self::Claimed>, Option<i64>), DbError>> + Send;

    /// Sends once, and stores what came of it. After an error it is due again when its lease ends.
    fn send(
        self: Arc<Self>,
        claimed: Self::Claimed,
        now_ms: i64,
    ) -> impl Future<Output = Result<(), DbError>> + Send;
}

/// Sends what is due until the service closes, and then finishes the sends in progress.
pub(crate) async fn run<Q: Queue>(service: &Service) {
    let Some(queue) = open::<Q>(service).await else { return };
    let mut runner = QueueRunner::new(queue);
    let mut wakes = service.db().wakes();
    loop {
        let wait = match runner.start_due(service.now_ms()).await {
            Ok(due_ms) => until(service.now_ms(), due_ms),
            Err(error) => {
                warn!("the queue of {} cannot be read: {error}", Q::NAME);
                ERROR_INTERVAL
            }
        };
        tokio::select! {
            biased;
            () = service.0.closing.cancelled() => break,
            () = runner.finish_one(), if runner.is_busy() => {}
            () = queue_wake(&mut wakes) => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
    runner.finish_all().await;
}

/// The time at which a worker looks for work again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Now,
    /// When something is due, if anything is.
    At(Option<i64>),
}

/// Does one piece of work after the other until the service closes. `name` names the queue for the log.
pub(crate) async fn work<F>(service: &Service, name: &str, once: impl Fn() -> F)
where
    F: Future<Output = Result<Next, DbError>>,
{
    let mut wakes = service.db().wakes();
    while !service.0.closing.is_cancelled() {
        let wait = match once().await {
            Ok(Next::Now) => continue,
            Ok(Next::At(due_ms)) => until(service.now_ms(), due_ms).max(BUSY_INTERVAL),
            Err(error) => {
                warn!("the queue of {name} cannot be read: {error}");
                ERROR_INTERVAL
            }
        };
        tokio::select! {
            biased;
            () = service.0.closing.cancelled() => return,
            () = queue_wake(&mut wakes) => {}
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Opens a queue, as often as it takes; `None` where it is switched off, and when the service closes.
async fn open<Q: Queue>(service: &Service) -> Option<Q> {
    loop {
        match Q::open(service) {
            Ok(queue) => return queue,
            Err(error) => error!("{} are not sent: {error}", Q::NAME),
        }
        tokio::select! {
            () = service.0.closing.cancelled() => return None,
            () = tokio::time::sleep(OPEN_INTERVAL) => {}
        }
    }
}

/// The sends in progress of a node.
#[derive(Debug)]
pub(crate) struct QueueRunner<Q> {
    queue: Arc<Q>,
    tasks: JoinSet<Result<(), DbError>>,
}

impl<Q: Queue> QueueRunner<Q> {
    pub(crate) fn new(queue: Q) -> Self {
        Self { queue: Arc::new(queue), tasks: JoinSet::new() }
    }

    /// Starts what is due, as far as there are places, and returns when the next send is due; `None` too
    /// while no place is free.
    pub(crate) async fn start_due(&mut self, now_ms: i64) -> Result<Option<i64>, DbError> {
        loop {
            while let Some(ended) = self.tasks.try_join_next() {
                report::<Q>(ended);
            }
            let free = Q::MAX_CONCURRENT.saturating_sub(self.tasks.len());
            if free == 0 {
                return Ok(None);
            }
            let (claimed, next_due_ms) = self.queue.claim(now_ms, free).await?;
            if claimed.is_empty() {
                return Ok(next_due_ms);
            }
            for claimed in claimed {
                self.tasks.spawn(self.queue.clone().send(claimed, now_ms));
            }
        }
    }

    /// Returns whether sends are in progress.
    pub(crate) fn is_busy(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Waits until one send is finished.
    pub(crate) async fn finish_one(&mut self) {
        if let Some(ended) = self.tasks.join_next().await {
            report::<Q>(ended);
        }
    }

    /// Waits until all sends are finished, which takes no longer than their timeout.
    pub(crate) async fn finish_all(&mut self) {
        while self.is_busy() {
            self.finish_one().await;
        }
    }
}

/// Logs that the outcome of a send was not stored.
fn report<Q: Queue>(ended: Result<Result<(), DbError>, JoinError>) {
    if let Ok(Err(error)) = ended {
        warn!("the outcome of one of the {} cannot be stored: {error}", Q::NAME);
    }
}

/// Returns the time to sleep until something is due.
fn until(now_ms: i64, due_ms: Option<i64>) -> Duration {
    let Some(due_ms) = due_ms else { return POLL_INTERVAL };
    let wait_ms = u64::try_from(due_ms.saturating_sub(now_ms)).unwrap_or_default();
    // At least a little, because another node may be about to claim what is due.
    Duration::from_millis(wait_ms.max(50)).min(POLL_INTERVAL)
}

/// Waits until something was queued. Announcements that came meanwhile are one.
async fn queue_wake(wakes: &mut Receiver<Wake>) {
    loop {
        match wakes.recv().await {
            Ok(Wake::Queue | Wake::Everything) | Err(RecvError::Lagged(_)) => break,
            Ok(_) => {}
            // The database is closed: the service stops.
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
    while wakes.try_recv().is_ok() {}
}
