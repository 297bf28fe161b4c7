//! Executes a request with an idempotency key once within [`KEY_LIFETIME_MS`], however often it is sent, to
//! whichever node (4.1).
//!
//! The key, the change that the request makes and its response are one commit. A request that fails leaves
//! nothing, so that its repetition is executed.

use chat_protocol::{IdempotencyKey, Value};
use futures_util::future::BoxFuture;

use crate::Service;
use crate::db::{Arg, Db, DbError, Tx, args};
use crate::error::ApiError;
use crate::fingerprint::{Fingerprint, is_same_hash};
use crate::response::ApiResponse;

/// Milliseconds for which a key is stored. The contract does not specify it (8).
pub(crate) const KEY_LIFETIME_MS: i64 = 24 * 60 * 60 * 1000;

/// Identifies a request: two requests are the same if all fields are equal.
#[derive(Clone, Debug)]
pub(crate) struct KeyedRequest {
    /// The site; empty for activations.
    pub(crate) site_id: String,
    /// The endpoint's path. The same key at another endpoint is another request.
    pub(crate) scope: &'static str,
    pub(crate) key: IdempotencyKey,
    /// The hash of the body and of the job id in the path.
    pub(crate) request: Fingerprint,
}

/// The stored state of a keyed request.
#[derive(Debug)]
pub(crate) enum Known {
    /// It was never received, and is bound to its key now.
    New,
    /// It was answered.
    Answered(ApiResponse),
    /// It was begun. `leased` says whether a node works on it; otherwise that node died, and the caller has
    /// the lease now.
    Begun { progress: Value, leased: bool },
    /// The key belongs to another request.
    Conflict,
}

impl KeyedRequest {
    fn args(&self) -> Vec<Arg> {
        args![&self.site_id, self.scope, self.key.as_str()]
    }

    /// Binds the key to this request, and takes the lease until `lease_until_ms` if nobody has it.
    pub(crate) async fn bind(&self, tx: &mut Tx, now_ms: i64, lease_until_ms: i64) -> Result<Known, DbError> {
        let Self { site_id, scope, key, request } = self;
        let bound = tx
            .execute(
                "INSERT INTO idempotency (site_id, scope, key, request, lease_until_ms, expires_ms)
                 VALUES ($1, $2, $3, $4, $5, $6)
                 ON CONFLICT (site_id, scope, key) DO UPDATE SET request = excluded.request, status = NULL,
                     request_id = NULL, body = NULL, progress = NULL, lease_until_ms = excluded.lease_until_ms,
                     expires_ms = excluded.expires_ms
                 WHERE idempotency.expires_ms <= $7",
                args![
                    site_id,
                    *scope,
                    key.as_str(),
                    request,
                    lease_until_ms,
                    now_ms.saturating_add(KEY_LIFETIME_MS),
                    now_ms
                ],
            )
            .await?;
        if bound == 1 {
            return Ok(Known::New);
        }
        let row = tx
            .one(
                "SELECT request, status, request_id, body, progress, lease_until_ms FROM idempotency
                 WHERE site_id = $1 AND scope = $2 AND key = $3",
                self.args(),
            )
            .await?;
        if !is_same_hash(&row.bytes(0)?, request) {
            return Ok(Known::Conflict);
        }
        let stored = (row.optional_int(1)?, row.optional_text(2)?, row.optional_bytes(3)?);
        if let (Some(status), Some(request_id), Some(body)) = stored
            && let Ok(status) = u16::try_from(status)
            && let Some(response) = ApiResponse::from_parts(status, &request_id, body)
        {
            return Ok(Known::Answered(response));
        }
        let leased = row.int(5)? > now_ms;
        if !leased {
            let mut args = self.args();
            args.push(lease_until_ms.into());
            let sql =
                "UPDATE idempotency SET lease_until_ms = $4 WHERE site_id = $1 AND scope = $2 AND key = $3";
            tx.execute(sql, args).await?;
        }
        let progress = row.optional_text(4)?.unwrap_or_default();
        Ok(Known::Begun { progress: serde_json::from_str(&progress).unwrap_or_default(), leased })
    }

    /// Stores how far the request has come.
    pub(crate) async fn store_progress(&self, tx: &mut Tx, progress: &Value) -> Result<(), DbError> {
        let mut args = self.args();
        args.push(progress.into());
        let sql = "UPDATE idempotency SET progress = $4 WHERE site_id = $1 AND scope = $2 AND key = $3";
        tx.execute(sql, args).await.map(drop)
    }

    /// Sets the end of the lease; 0 gives it back, so that the next attempt goes on at once.
    pub(crate) async fn renew(&self, tx: &mut Tx, until_ms: i64) -> Result<(), DbError> {
        let mut args = self.args();
        args.push(until_ms.into());
        let sql = "UPDATE idempotency SET lease_until_ms = $4
            WHERE site_id = $1 AND scope = $2 AND key = $3 AND status IS NULL";
        tx.execute(sql, args).await.map(drop)
    }

    /// Stores the response, which every repetition gets.
    pub(crate) async fn store_response(&self, tx: &mut Tx, response: &ApiResponse) -> Result<(), DbError> {
        let (status, request_id, body) = response.parts();
        let mut args = self.args();
        args.extend(args![i64::from(status), request_id, body]);
        let sql = "UPDATE idempotency SET status = $4, request_id = $5, body = $6, lease_until_ms = 0
            WHERE site_id = $1 AND scope = $2 AND key = $3";
        tx.execute(sql, args).await.map(drop)
    }
}

/// Returns the stored response of a request, or the response that `execute` gives, which is stored in the
/// same transaction as the change.
pub(crate) async fn execute_once<F>(
    service: &Service,
    keyed: Option<KeyedRequest>,
    conflict: ApiError,
    execute: F,
) -> Result<ApiResponse, ApiError>
where
    F: for<'tx> FnOnce(&'tx mut Tx) -> BoxFuture<'tx, Result<ApiResponse, ApiError>> + Send + 'static,
{
    let now_ms = service.now_ms();
    service
        .db()
        .write(move |tx| {
            Box::pin(async move {
                let Some(keyed) = keyed else { return execute(tx).await };
                match keyed.bind(tx, now_ms, now_ms).await? {
                    // The change and the response are one commit, so a request that was begun was not
                    // executed.
                    Known::New | Known::Begun { .. } => {}
                    Known::Answered(response) => return Ok(response),
                    Known::Conflict => return Err(conflict),
                }
                let response = execute(tx).await?;
                keyed.store_response(tx, &response).await?;
                Ok(response)
            })
        })
        .await
}

/// Ends all leases: those that an earlier process of the only node left behind.
pub(crate) async fn end_leases(db: &Db) -> Result<(), DbError> {
    let sql = "UPDATE idempotency SET lease_until_ms = 0 WHERE lease_until_ms > 0";
    db.write(move |tx| Box::pin(async move { tx.execute(sql, args![]).await.map(drop) })).await
}
