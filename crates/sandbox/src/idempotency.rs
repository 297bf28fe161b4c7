//! Executes a request with an idempotency key once within [`KEY_LIFETIME`], even if it is sent repeatedly
//! (4.1).

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chat_protocol::IdempotencyKey;
use rusqlite::{OptionalExtension, params};
use tokio::sync::OnceCell;

use crate::Sandbox;
use crate::clock::millis;
use crate::error::ApiError;
use crate::fingerprint::Fingerprint;
use crate::response::ApiResponse;
use crate::store::Store;

/// The time for which a key is stored. The contract does not specify it (8).
pub(crate) const KEY_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Maximum stored keys; the oldest are removed first.
const MAX_KEYS: i64 = 100_000;

/// Identifies a request: two requests are the same if all fields are equal.
#[derive(Clone, Debug)]
pub(crate) struct KeyedRequest {
    /// The endpoint's path. The same key at another endpoint is another request.
    pub(crate) scope: &'static str,
    pub(crate) key: IdempotencyKey,
    /// The hash of the body and of the job id in the path.
    pub(crate) request: Fingerprint,
}

/// The requests in progress. Completed ones are in the [`Store`].
#[derive(Debug, Default)]
pub(crate) struct InProgress(Mutex<HashMap<(&'static str, IdempotencyKey), Arc<Execution>>>);

#[derive(Debug)]
struct Execution {
    request: Fingerprint,
    response: OnceCell<ApiResponse>,
}

/// Returns the stored response of a key, or the response that `process` gives.
///
/// A request that arrives while the same one is in progress waits for its response. A failure is not stored:
/// the next attempt is carried out. The key stays bound to its request.
pub(crate) async fn execute_once(
    sandbox: &Sandbox,
    keyed: KeyedRequest,
    conflict: ApiError,
    process: impl Future<Output = Result<ApiResponse, ApiError>>,
) -> Result<ApiResponse, ApiError> {
    let executions = &sandbox.0.in_progress;
    let name = (keyed.scope, keyed.key.clone());
    let execution = {
        let mut executions = executions.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(execution) = executions.get(&name) {
            Arc::clone(execution)
        } else {
            let known = sandbox.store().bind_key(&keyed)?;
            let execution =
                Arc::new(Execution { request: known.request, response: OnceCell::new_with(known.response) });
            executions.insert(name.clone(), Arc::clone(&execution));
            execution
        }
    };
    let response = if execution.request == keyed.request {
        execution
            .response
            .get_or_try_init(|| async {
                let response = process.await?;
                sandbox.store().store_response(&keyed, &response)?;
                Ok(response)
            })
            .await
            .cloned()
    } else {
        Err(conflict)
    };
    let mut executions = executions.0.lock().unwrap_or_else(PoisonError::into_inner);
    // Two references are the map and this call; any further one is a waiting call.
    if Arc::strong_count(&execution) == 2 {
        executions.remove(&name);
    }
    response
}

struct BoundKey {
    request: Fingerprint,
    response: Option<ApiResponse>,
}

impl Store {
    /// Binds a key to its request. Returns the request that the key is bound to, with its stored response.
    fn bind_key(&self, keyed: &KeyedRequest) -> rusqlite::Result<BoundKey> {
        let now_ms = self.clock.now_ms();
        self.db().prepare_cached("DELETE FROM answers WHERE until_ms <= ?")?.execute([now_ms])?;
        let read = |row: &rusqlite::Row<'_>| {
            let stored: (Option<u16>, Option<String>, Option<Vec<u8>>) =
                (row.get(1)?, row.get(2)?, row.get(3)?);
            let response = match stored {
                (Some(status), Some(request_id), Some(body)) => {
                    ApiResponse::from_parts(status, &request_id, body)
                }
                _ => None,
            };
            Ok(BoundKey { request: row.get(0)?, response })
        };
        let known = self
            .db()
            .prepare_cached(
                "SELECT request, status, request_id, body FROM answers WHERE scope = ? AND key = ?",
            )?
            .query_row([keyed.scope, keyed.key.as_str()], read)
            .optional()?;
        if let Some(known) = known {
            return Ok(known);
        }
        self.db()
            .prepare_cached("INSERT INTO answers (scope, key, request, until_ms) VALUES (?, ?, ?, ?)")?
            .execute(params![
                keyed.scope,
                keyed.key.as_str(),
                keyed.request,
                now_ms.saturating_add(millis(KEY_LIFETIME))
            ])?;
        self.db()
            .execute("DELETE FROM answers WHERE rowid <= (SELECT max(rowid) FROM answers) - ?", [MAX_KEYS])?;
        Ok(BoundKey { request: keyed.request, response: None })
    }

    fn store_response(&self, keyed: &KeyedRequest, response: &ApiResponse) -> rusqlite::Result<()> {
        let (status, request_id, body) = response.parts();
        self.db()
            .prepare_cached(
                "UPDATE answers SET status = ?, request_id = ?, body = ? WHERE scope = ? AND key = ?",
            )?
            .execute(params![status, request_id, body, keyed.scope, keyed.key.as_str()])?;
        Ok(())
    }
}
