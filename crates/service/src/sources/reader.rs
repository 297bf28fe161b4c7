//! The workers that read sources.

use std::time::Duration;

use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::time::Instant;
use tracing::{error, warn};

use super::Sources;
use super::claim::claim;
use super::records::{finish, remove_pages};
use super::run::take_turn;
use super::visit::Stopped;
use crate::Service;
use crate::clock::millis;
use crate::db::{DbError, Wake};
use crate::error::ApiError;
use crate::queue_runner::POLL_INTERVAL;
use crate::sites;

/// The interval at which a worker looks again for a source whose tenant has another one that is being read.
const BUSY_INTERVAL: Duration = Duration::from_secs(1);
/// The time after which a source is tried again that the service could not read because of itself.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);
/// The waiting time after an error of the database.
const ERROR_INTERVAL: Duration = Duration::from_secs(5);

/// Reads sources until the service closes: two at a time, each of another tenant.
pub(crate) async fn run(service: Service) {
    tokio::join!(work(&service), work(&service));
}

async fn work(service: &Service) {
    let mut wakes = service.db().wakes();
    while !service.0.closing.is_cancelled() {
        let wait = match once(service).await {
            Ok(Next::Now) => continue,
            Ok(Next::At(due_ms)) => {
                let wait_ms = due_ms.map(|due_ms| due_ms.saturating_sub(service.now_ms()));
                let wait = wait_ms.map(|wait_ms| Duration::from_millis(wait_ms.max(0).unsigned_abs()));
                wait.map_or(POLL_INTERVAL, |wait| wait.clamp(BUSY_INTERVAL, POLL_INTERVAL))
            }
            Err(error) => {
                warn!("the sources of content cannot be read: {error}");
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

/// When a worker looks for a source again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Now,
    /// When something is due, if anything is.
    At(Option<i64>),
}

/// Reads the next source that is due, for a turn.
pub(super) async fn once(service: &Service) -> Result<Next, DbError> {
    let fetcher = match Sources::fetcher(service) {
        Ok(fetcher) => fetcher,
        Err(problem) => {
            error!("websites cannot be read: {problem}");
            return Ok(Next::At(None));
        }
    };
    let (claimed, due_ms) = claim(service).await?;
    let Some(source) = claimed else { return Ok(Next::At(due_ms)) };
    let (lease, is_removed) = (source.lease.clone(), source.is_removed);
    if is_removed {
        remove_pages(service.db(), &lease.source_id).await?;
        return Ok(Next::Now);
    }
    let began = Instant::now();
    match take_turn(service, source.clone(), fetcher).await {
        Ok(()) | Err(Stopped::Lost) => {}
        Err(Stopped::Later(at_ms)) => lease.give_back(service.db(), at_ms, began.elapsed()).await?,
        Err(Stopped::Failed(reason)) => {
            let tenant_id = match sites::find(service.db(), &source.site_id).await {
                Ok(site) => site.map(|site| site.tenant_id.clone()).unwrap_or_default(),
                Err(_) => String::new(),
            };
            finish(service, &tenant_id, &source, Some(reason), None).await?;
        }
        Err(Stopped::Error(error)) => {
            if error != ApiError::Unavailable {
                error!("a source of content cannot be read: {error}");
            }
            let at_ms = service.now_ms().saturating_add(millis(RETRY_INTERVAL));
            lease.give_back(service.db(), at_ms, began.elapsed()).await?;
        }
    }
    Ok(Next::Now)
}

/// Waits until a source was added or changed. Announcements that came meanwhile are one.
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
