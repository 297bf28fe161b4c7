//! The lease of a request that takes more than one transaction.

use std::future::Future;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tracing::warn;

use super::KeyedRequest;
use crate::Service;
use crate::db::{Db, DbError, args, transaction};

/// Milliseconds after which another task or node may take over from one that does not renew its lease.
pub(crate) const LEASE_MS: i64 = 10_000;
/// Maximum milliseconds until a lease ends, with some for clocks that differ between nodes. A lease that ends
/// later was written before the clock was set back.
pub(super) const MAX_LEASE_MS: i64 = 2 * LEASE_MS;
/// The interval at which a lease is renewed.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(3);

/// The right to work on a request. A holder whose lease was taken over can neither renew nor release it.
#[derive(Debug)]
pub(crate) struct Lease {
    keyed: KeyedRequest,
    /// The end that is stored, by which the holder is known.
    until_ms: i64,
}

impl Lease {
    /// Returns the lease that [`KeyedRequest::bind`] stored.
    pub(crate) fn new(keyed: KeyedRequest, until_ms: i64) -> Self {
        Self { keyed, until_ms }
    }

    /// Renews the lease until `work` is done. Both go on at the same time: work that was not polled during a
    /// renewal could hold what the renewal waits for, such as a connection.
    pub(crate) async fn hold<T>(&mut self, service: &Service, work: impl Future<Output = T>) -> T {
        let done = CancellationToken::new();
        let working = async {
            let result = work.await;
            done.cancel();
            result
        };
        let renewing = async {
            while done.run_until_cancelled(tokio::time::sleep(RENEWAL_INTERVAL)).await.is_some() {
                let until_ms = service.now_ms().saturating_add(LEASE_MS);
                if let Err(error) = self.renew(service.db(), until_ms).await {
                    warn!("the lease of a request was not renewed: {error}");
                }
            }
        };
        tokio::join!(working, renewing).0
    }

    /// Lets a repetition go on at once with a request that failed.
    pub(crate) async fn release(mut self, service: &Service) {
        if let Err(error) = self.renew(service.db(), 0).await {
            warn!("the lease of a request is kept until it ends: {error}");
        }
    }

    /// Moves the end of the lease, unless it was taken over or the request was answered.
    pub(super) async fn renew(&mut self, db: &Db, until_ms: i64) -> Result<(), DbError> {
        let mut args = self.keyed.args();
        args.extend(args![until_ms, self.until_ms]);
        let sql = "UPDATE idempotency SET lease_until_ms = $4
            WHERE site_id = $1 AND scope = $2 AND key = $3 AND status IS NULL AND lease_until_ms = $5";
        let renewed: Result<u64, DbError> = transaction!(db, |tx| tx.execute(sql, args).await).await;
        if renewed? == 1 {
            self.until_ms = until_ms;
        }
        Ok(())
    }
}
