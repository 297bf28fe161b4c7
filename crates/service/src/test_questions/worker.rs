//! The worker of a node, which asks the questions of one site after the other.

use std::time::Duration;

use tokio::time::Instant;
use tracing::{error, warn};

use super::ask::ask;
use super::questions;
use super::runs::{self, Judged, Run};
use super::schedule::{self, Claimed};
use crate::Service;
use crate::ai::Threshold;
use crate::clock::millis;
use crate::db::{DbError, transaction};
use crate::error::ApiError;
use crate::queue_runner::{Next, work};
use crate::sites;

/// Maximum time of a run. Questions that were not asked by then have no result.
const MAX_RUN: Duration = Duration::from_mins(2);
/// The time after which a site is tried again that could not be asked because of the service.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

/// Asks test questions until the service closes. One run at a time leaves the other places for searches to
/// visitors.
pub(crate) async fn run(service: &Service) {
    work(service, "test questions", || once(service)).await;
}

/// Asks the questions of the next site that is due.
pub(super) async fn once(service: &Service) -> Result<Next, DbError> {
    let now_ms = service.now_ms();
    schedule::read_changes(service.db(), now_ms).await?;
    let (claimed, due_ms) = schedule::claim(service.db(), now_ms).await?;
    let Some(claimed) = claimed else { return Ok(Next::At(due_ms)) };
    let run = tokio::select! {
        biased;
        () = service.0.closing.cancelled() => Err(ApiError::Unavailable),
        run = ask_all(service, &claimed) => run,
    };
    match run {
        Ok(run) => {
            transaction!(service.db(), |tx| {
                if claimed.finish(tx).await?
                    && let Some(run) = run
                {
                    runs::store(tx, &claimed.site_id, &run).await?;
                }
                Ok::<_, DbError>(())
            })
            .await?;
        }
        Err(error) => {
            if error != ApiError::Unavailable {
                error!("the test questions of a site cannot be asked: {error}");
            }
            let due_ms = service.now_ms().saturating_add(millis(RETRY_INTERVAL));
            claimed.give_back(service.db(), due_ms).await?;
        }
    }
    Ok(Next::Now)
}

/// Asks all questions of a site; `None` if there is none.
async fn ask_all(service: &Service, claimed: &Claimed) -> Result<Option<Run>, ApiError> {
    let Some(site) = sites::find(service.db(), &claimed.site_id).await? else { return Ok(None) };
    let stored = questions::list(service.db(), &site.id).await?;
    if stored.is_empty() {
        return Ok(None);
    }
    let (began, threshold) = (Instant::now(), Threshold::of_site(&site));
    let mut results = Vec::with_capacity(stored.len());
    for question in stored {
        if began.elapsed() > MAX_RUN {
            warn!(site = site.id, "some test questions were not asked: the run has taken too long");
            break;
        }
        let result = ask(service, &site, &question.written, threshold).await?;
        results.push(Judged { id: question.id, version: question.version, result });
    }
    Ok(Some(Run {
        ended_ms: service.now_ms(),
        threshold: threshold.in_thousandths(),
        only_passages: site.ai.is_some(),
        results,
    }))
}
