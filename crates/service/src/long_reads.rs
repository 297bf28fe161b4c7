//! The reads of operators that may take long: searches, reports, the audit log, the data of a person.
//!
//! They have connections of their own, so that no visitor's message waits for one, and a tenant executes few
//! of them at a time. A read ends with its request: when its time is over, or when its client has gone.

use std::time::Duration;

use tokio::time::timeout;

use crate::Service;
use crate::error::ApiError;
use crate::limits::parallel_work;
use crate::turns::{Turn, Turns};

/// Maximum long reads of a tenant that a node executes at a time, where there are processors enough; further
/// ones wait.
const MAX_OF_TENANT: usize = 2;
/// Maximum time of a search or a report.
pub(crate) const SEARCH_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum time for finding the data of a person, which the operator has to export or to erase.
pub(crate) const PERSON_TIMEOUT: Duration = Duration::from_mins(2);

/// Returns the turns of long reads.
pub(crate) fn turns() -> Turns {
    Turns::new(parallel_work(MAX_OF_TENANT))
}

/// Waits for the turn of a read that lasts longer than its future, such as that of a body. The read uses
/// [`Db::for_long_reads`](crate::db::Db::for_long_reads).
pub(crate) async fn turn(service: &Service, tenant_id: &str) -> Result<Turn, ApiError> {
    service.0.long_reads.turn(tenant_id).await
}

/// Executes a read of a tenant, which uses [`Db::for_long_reads`](crate::db::Db::for_long_reads).
pub(crate) async fn execute<T, E: Into<ApiError>>(
    service: &Service,
    tenant_id: &str,
    limit: Duration,
    read: impl Future<Output = Result<T, E>>,
) -> Result<T, ApiError> {
    let _turn = service.0.long_reads.turn(tenant_id).await?;
    timeout(limit, read).await.map_err(|_| ApiError::TooSlow)?.map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::databases::{Kind, TestDatabase};
    use crate::visitors::fixture::service;

    #[tokio::test]
    async fn a_read_ends_when_its_time_is_over() {
        let service = service(&TestDatabase::new(Kind::Sqlite).await).await;
        let endless = std::future::pending::<Result<(), ApiError>>();
        let ended = execute(&service, "acme", Duration::ZERO, endless).await;
        assert_eq!(ended, Err(ApiError::TooSlow));
    }
}
