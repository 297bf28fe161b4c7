//! Announces changes to the other nodes after their commit, many with one statement.
//!
//! A transaction that executes `NOTIFY` holds a lock of the whole server until its commit is on the disk, so
//! that all such commits wait for each other. Announcements therefore follow the commit, from one task, on a
//! connection that does not wait for the disk. One that is lost with its node delays what waits for it: polls
//! read the database, and the other nodes notice that a node is gone (see `listener`).

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::PgPool;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tracing::warn;

use super::CHANNEL;
use crate::db::Wake;
use crate::supervisor::supervise;

/// Maximum announcements that wait. Beyond them, the other nodes are told that anything may have changed.
const MAX_PENDING: usize = 4096;
/// The interval between attempts to announce.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// The time that a node which stops waits for its last announcements.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// The announcements of one node. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Notifier(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    pending: Mutex<Pending>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Pending {
    wakes: HashSet<Wake>,
    is_closed: bool,
}

impl Notifier {
    /// Announces changes soon.
    pub(super) fn announce(&self, wakes: impl Iterator<Item = Wake>) {
        let mut pending = self.0.pending.lock().unwrap_or_else(PoisonError::into_inner);
        pending.wakes.extend(wakes);
        if pending.wakes.len() > MAX_PENDING {
            pending.wakes = HashSet::from([Wake::Everything]);
        }
        if !pending.wakes.is_empty() {
            self.0.changed.notify_one();
        }
    }

    /// Starts the task that announces.
    pub(super) fn start(&self, pool: PgPool) -> JoinHandle<()> {
        let shared = Arc::clone(&self.0);
        tokio::spawn(async move { supervise("the announcer of changes", || shared.run(&pool)).await })
    }

    /// Waits until everything is announced, and ends the task.
    pub(super) async fn close(&self, task: &mut JoinHandle<()>) {
        self.0.pending.lock().unwrap_or_else(PoisonError::into_inner).is_closed = true;
        self.0.changed.notify_one();
        if timeout(FLUSH_TIMEOUT, &mut *task).await.is_err() {
            warn!("the last changes were not announced to the other nodes");
            task.abort();
        }
    }
}

impl Shared {
    async fn run(&self, pool: &PgPool) {
        loop {
            self.changed.notified().await;
            loop {
                let (wakes, is_closed) = self.take();
                if wakes.is_empty() {
                    if is_closed {
                        return;
                    }
                    break;
                }
                let payloads: Vec<String> = wakes.iter().map(Wake::payload).collect();
                while let Err(error) = notify(pool, &payloads).await {
                    warn!("changes are not announced to the other nodes: {error}");
                    sleep(RETRY_INTERVAL).await;
                }
            }
        }
    }

    fn take(&self) -> (HashSet<Wake>, bool) {
        let mut pending = self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut pending.wakes), pending.is_closed)
    }
}

/// Announces changes with one statement, and thus one commit.
async fn notify(pool: &PgPool, payloads: &[String]) -> Result<(), sqlx::Error> {
    let sql = "SELECT pg_notify($1, payload) FROM unnest($2) AS payload";
    sqlx::query(sql).bind(CHANNEL).bind(payloads).execute(pool).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_announcements_become_one() {
        let notifier = Notifier::default();
        let queue = std::iter::repeat_n(Wake::Queue, 2 * MAX_PENDING);
        notifier.announce(queue);
        assert_eq!(notifier.0.take().0, HashSet::from([Wake::Queue]));
        notifier.announce((0..=MAX_PENDING).map(|number| Wake::Presence { tenant: number.to_string() }));
        assert_eq!(notifier.0.take().0, HashSet::from([Wake::Everything]));
    }
}
