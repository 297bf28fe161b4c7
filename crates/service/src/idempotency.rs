//! Executes a request with an idempotency key once within [`KEY_LIFETIME_MS`], however often it is sent, to
//! whichever node (4.1).
//!
//! The key, the change that the request makes and its response are one commit. A request that fails leaves
//! nothing, so that its repetition is executed.

#[cfg(test)]
mod idempotency_tests;
mod lease;

use chat_protocol::IdempotencyKey;

use crate::db::{Arg, Db, DbError, Row, Tx, Work, args, transaction};
use crate::error::ApiError;
use crate::fingerprint::{Fingerprint, is_same_hash};
use crate::response::ApiResponse;
use crate::{Service, ServiceKey};

use lease::MAX_LEASE_MS;
pub(crate) use lease::{LEASE_MS, Lease};

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
    /// It was begun, and has come as far as `progress` says. `leased` says whether a node works on it;
    /// otherwise that node died, and the caller has the lease now.
    Begun { progress: String, leased: bool },
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
        if let Some(response) = response(&row, 1)? {
            return Ok(Known::Answered(response));
        }
        let until_ms = row.int(5)?;
        let leased = until_ms > now_ms && until_ms - now_ms <= MAX_LEASE_MS;
        if !leased {
            let mut args = self.args();
            args.push(lease_until_ms.into());
            let sql =
                "UPDATE idempotency SET lease_until_ms = $4 WHERE site_id = $1 AND scope = $2 AND key = $3";
            tx.execute(sql, args).await?;
        }
        Ok(Known::Begun { progress: row.optional_text(4)?.unwrap_or_default(), leased })
    }

    /// Returns whether the key is bound: an earlier attempt of the request was accepted, or is about to be.
    pub(crate) async fn is_bound(&self, db: &Db, now_ms: i64) -> Result<bool, DbError> {
        let mut args = self.args();
        args.push(now_ms.into());
        let sql = "SELECT expires_ms FROM idempotency
                   WHERE site_id = $1 AND scope = $2 AND key = $3 AND expires_ms > $4";
        Ok(db.optional(sql, args).await?.is_some())
    }

    /// Stores how far the request has come.
    pub(crate) async fn store_progress(&self, tx: &mut Tx, progress: String) -> Result<(), DbError> {
        let mut args = self.args();
        args.push(progress.into());
        let sql = "UPDATE idempotency SET progress = $4 WHERE site_id = $1 AND scope = $2 AND key = $3";
        tx.execute(sql, args).await.map(drop)
    }

    /// Returns the response that somebody else has stored, who took the lease over. Without one, nobody else
    /// stores any until this transaction ends.
    pub(crate) async fn lock(&self, tx: &mut Tx) -> Result<Option<ApiResponse>, DbError> {
        let sql = "UPDATE idempotency SET status = status WHERE site_id = $1 AND scope = $2 AND key = $3
            RETURNING status, request_id, body";
        let row = tx.optional(sql, self.args()).await?;
        row.map_or(Ok(None), |row| response(&row, 0))
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

/// Reads a stored response: its status, its request id and its body, from the column `first` on.
fn response(row: &Row, first: usize) -> Result<Option<ApiResponse>, DbError> {
    let status = row.optional_int(first)?.and_then(|status| u16::try_from(status).ok());
    let parts = (status, row.optional_text(first + 1)?, row.optional_bytes(first + 2)?);
    let (Some(status), Some(request_id), Some(body)) = parts else { return Ok(None) };
    Ok(ApiResponse::from_parts(status, &request_id, body))
}

/// Returns the stored response of a request, or the response that `execute` gives, which is stored in the
/// same transaction as the change.
pub(crate) async fn execute_once(
    service: &Service,
    keyed: Option<KeyedRequest>,
    conflict: ApiError,
    execute: impl Work<ApiResponse, ApiError>,
) -> Result<ApiResponse, ApiError> {
    run_once(service, keyed, conflict, StoredForm::Plain, execute).await
}

/// Does the same as [`execute_once`] for a response that contains a secret: its stored copy is encrypted.
pub(crate) async fn execute_secret_once(
    service: &Service,
    keyed: Option<KeyedRequest>,
    conflict: ApiError,
    execute: impl Work<ApiResponse, ApiError>,
) -> Result<ApiResponse, ApiError> {
    let form = StoredForm::Encrypted(Box::new(service.0.options.key.clone()));
    run_once(service, keyed, conflict, form, execute).await
}

/// The form in which a response is stored.
enum StoredForm {
    Plain,
    Encrypted(Box<ServiceKey>),
}

impl StoredForm {
    fn purpose(keyed: &KeyedRequest) -> String {
        format!("response of {} to {}", keyed.scope, keyed.key.as_str())
    }

    fn of(&self, keyed: &KeyedRequest, response: &ApiResponse) -> ApiResponse {
        match self {
            Self::Plain => response.clone(),
            Self::Encrypted(key) => response.sealed(key, &Self::purpose(keyed)),
        }
    }

    fn read(&self, keyed: &KeyedRequest, stored: ApiResponse) -> Result<ApiResponse, ApiError> {
        match self {
            Self::Plain => Ok(stored),
            Self::Encrypted(key) => stored.unsealed(key, &Self::purpose(keyed)).ok_or(ApiError::Internal),
        }
    }
}

async fn run_once(
    service: &Service,
    keyed: Option<KeyedRequest>,
    conflict: ApiError,
    form: StoredForm,
    execute: impl Work<ApiResponse, ApiError>,
) -> Result<ApiResponse, ApiError> {
    let now_ms = service.now_ms();
    transaction!(service.db(), |tx| {
        let Some(keyed) = keyed else { return execute(tx).await };
        match keyed.bind(tx, now_ms, now_ms).await? {
            // The change and the response are one commit, so a request that was begun was not
            // executed.
            Known::New | Known::Begun { .. } => {}
            Known::Answered(stored) => return form.read(&keyed, stored),
            Known::Conflict => return Err(conflict),
        }
        let response = execute(tx).await?;
        keyed.store_response(tx, &form.of(&keyed, &response)).await?;
        Ok(response)
    })
    .await
}

/// Ends all leases: those that an earlier process of the only node left behind.
pub(crate) async fn end_leases(db: &Db) -> Result<(), DbError> {
    let sql = "UPDATE idempotency SET lease_until_ms = 0 WHERE lease_until_ms > 0";
    transaction!(db, |tx| tx.execute(sql, args![]).await.map(drop)).await
}
