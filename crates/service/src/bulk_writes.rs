//! The writes of which a site can send as many as it likes: batches of events, and pages of content.
//!
//! A node executes one of them at a time for each tenant, and rests after it for as long as it took, so that
//! they leave at least half of the database's time to the messages of other tenants.

use tokio::time::{Instant, sleep};

use crate::Service;
use crate::error::ApiError;

/// Executes a write in a turn of its tenant.
///
/// A write that has begun goes on if its client goes, because the database does so as well: the turn would
/// end before the work.
///
/// # Errors
///
/// Those of the write, and [`ApiError::RateLimited`] if it has waited for too long.
pub(crate) async fn execute<T: Send + 'static>(
    service: &Service,
    tenant_id: &str,
    write: impl Future<Output = Result<T, ApiError>> + Send + 'static,
) -> Result<T, ApiError> {
    let turn = service.0.bulk_writes.turn(tenant_id).await?;
    let written = tokio::spawn(async move {
        let began = Instant::now();
        let written = write.await;
        let took = began.elapsed();
        tokio::spawn(async move {
            sleep(took).await;
            drop(turn);
        });
        written
    });
    written.await.map_err(|_| ApiError::Internal)?
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;
    use crate::databases::{Kind, TestDatabase};
    use crate::visitors::fixture::service;

    #[tokio::test]
    async fn a_write_whose_client_has_gone_keeps_its_turn_until_its_end() {
        let service = service(&TestDatabase::new(Kind::Sqlite).await).await;
        let turns = service.0.bulk_writes.of_tenant("acme");
        let (begun, has_begun) = oneshot::channel();
        let (end, may_end) = oneshot::channel::<()>();
        let write = async move {
            begun.send(()).expect("somebody waits");
            may_end.await.map_err(|_| ApiError::Internal)
        };
        let client = tokio::spawn({
            let service = service.clone();
            async move { execute(&service, "acme", write).await }
        });
        has_begun.await.expect("the write begins");
        client.abort();
        assert!(client.await.expect_err("its client has gone").is_cancelled());
        assert_eq!(turns.available_permits(), 0);
        assert!(execute(&service, "other", async { Ok(()) }).await.is_ok());
        end.send(()).expect("the write goes on");
        drop(turns.acquire().await.expect("a turn"));
    }

    #[tokio::test]
    async fn a_tenant_rests_for_as_long_as_its_write_took() {
        let service = service(&TestDatabase::new(Kind::Sqlite).await).await;
        tokio::time::pause();
        let took = Duration::from_secs(3);
        let write = async move {
            sleep(took).await;
            Ok(())
        };
        execute(&service, "acme", write).await.expect("written");
        let began = Instant::now();
        assert!(execute(&service, "acme", async { Ok(()) }).now_or_never().is_none());
        execute(&service, "acme", async { Ok(()) }).await.expect("written");
        assert_eq!(began.elapsed().as_secs(), took.as_secs());
    }
}
