//! The workers that read sources.

use std::time::Duration;

use tokio::time::Instant;
use tracing::error;

use super::Sources;
use super::claim::claim;
use super::records::{finish, remove_pages};
use super::run::take_turn;
use super::visit::Stopped;
use crate::Service;
use crate::clock::millis;
use crate::db::DbError;
use crate::error::ApiError;
use crate::queue_runner::{Next, work};
use crate::sites;

/// The time after which a source is tried again that the service could not read because of itself.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

/// Reads sources until the service closes: two at a time, each of another tenant.
pub(crate) async fn run(service: Service) {
    tokio::join!(read_all(&service), read_all(&service));
}

async fn read_all(service: &Service) {
    work(service, "sources of content", || once(service)).await;
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
