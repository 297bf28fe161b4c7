//! Jobs that tests add, their leases, and the view of jobs.

use axum::body::to_bytes;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use chat_protocol::{Job, JobId, JobStatus, JobType, Value};
use tracing::error;

use super::json::{json, with};
use super::response::change;
use super::site::SITE_ID;
use super::{TestMode, site_changed};
use crate::clock::iso;
use crate::db::{DbError, Row, args, transaction};
use crate::error::ApiError;
use crate::publishing::{self, By};
use crate::secrets::new_id;

/// Maximum bytes of the response to a claim.
const MAX_CLAIM_BYTES: usize = 1024 * 1024;

/// Adds a job as given, without any check.
pub(super) async fn add(
    mode: &TestMode,
    job_type: JobType,
    title: String,
    payload: Value,
    max_attempts: i64,
) -> Result<JobId, ApiError> {
    let now_ms = mode.now_ms();
    transaction!(mode.db(), |tx| {
        let id = JobId::from(new_id("job"));
        tx.execute(
            "INSERT INTO jobs (id, site_id, type, status, title, max_attempts, payload, created_ms,
                 updated_ms)
             VALUES ($1, $2, $3, 'pending', $4, $5, $6, $7, $7)",
            args![&id, SITE_ID, job_type.as_str(), title, max_attempts, &payload, now_ms],
        )
        .await?;
        tx.wake(site_changed());
        Ok(id)
    })
    .await
}

/// Approves every overlay that is a draft, in the name of nobody.
pub(super) async fn approve_overlays(mode: &TestMode) -> Result<(), ApiError> {
    let now_ms = mode.now_ms();
    transaction!(mode.db(), |tx| {
        publishing::approve_overlays(tx, now_ms, SITE_ID, By::Person("")).await?;
        tx.wake(site_changed());
        Ok(())
    })
    .await
}

/// Shortens the lease of the job that a claim's response hands out to that of the faults, if they have one.
pub(super) async fn shorten_lease(mode: &TestMode, response: Response) -> Response {
    let Some(lease_ms) = mode.0.responder.faults().active.lease_ms else { return response };
    let lease_ms = i64::try_from(lease_ms).unwrap_or(i64::MAX);
    let (parts, body) = response.into_parts();
    let Ok(body) = to_bytes(body, MAX_CLAIM_BYTES).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let id = serde_json::from_slice::<serde_json::Value>(&body).ok();
    let id = id.and_then(|claim| claim["data"]["job"]["id"].as_str().map(str::to_owned));
    let response = Response::from_parts(parts, body.into());
    let Some(id) = id else { return response };
    // The same claim, repeated, does not begin a new lease.
    let sql = "UPDATE jobs SET lease_until_ms = CASE WHEN lease_until_ms < $1 THEN lease_until_ms ELSE $1 END
        WHERE site_id = $2 AND id = $3 AND status = 'running' RETURNING lease_until_ms";
    let until_ms = mode.now_ms().saturating_add(lease_ms);
    let updated: Result<Option<Row>, DbError> =
        transaction!(mode.db(), |tx| tx.optional(sql, args![until_ms, SITE_ID, id]).await).await;
    match updated.and_then(|row| row.map(|row| row.int(0)).transpose()) {
        Ok(Some(until_ms)) => change(response, &[(&["job", "leaseUntil"], iso(until_ms).into())]).await,
        Ok(None) => response,
        Err(error) => {
            error!("the lease of a job was not shortened: {error}");
            response
        }
    }
}

/// Returns the latest jobs, oldest first. One whose lease has expired is shown as its next claim finds it.
pub(super) async fn latest(mode: &TestMode, limit: u32) -> Result<Value, ApiError> {
    let sql = "SELECT id, type,
            CASE WHEN status <> 'running' OR lease_until_ms > $1 THEN status
                 WHEN attempts < max_attempts THEN 'pending' ELSE 'failed' END,
            title, attempts, max_attempts,
            CASE WHEN lease_until_ms > $1 THEN lease_until_ms END, payload, created_ms, updated_ms,
            completed_ms, result,
            CASE WHEN status = 'running' AND lease_until_ms <= $1 THEN 'The lease ran out.' ELSE error END
        FROM jobs WHERE site_id = $2 ORDER BY no DESC LIMIT $3";
    let rows = mode.db().all(sql, args![mode.now_ms(), SITE_ID, limit]).await?;
    let jobs: Result<Vec<Value>, DbError> = rows.iter().rev().map(view).collect();
    Ok(Value::List(jobs?))
}

/// Returns a job without its claim token, which is for the holder of the claim only.
fn view(row: &Row) -> Result<Value, DbError> {
    let job = Job {
        id: JobId::from(row.text(0)?),
        job_type: JobType::from(row.text(1)?.as_str()),
        status: JobStatus::from(row.text(2)?.as_str()),
        title: Some(row.text(3)?),
        attempts: Some(row.int(4)?),
        max_attempts: Some(row.int(5)?),
        claim_token: None,
        lease_until: row.optional_int(6)?.map(iso),
        payload: json(&row.text(7)?),
        created_at: Some(iso(row.int(8)?)),
        updated_at: Some(iso(row.int(9)?)),
        completed_at: row.optional_int(10)?.map(iso),
    };
    let result = row.optional_text(11)?.as_deref().map(json);
    Ok(with(Value::from(&job), [("result", result.into()), ("error", row.optional_text(12)?.into())]))
}
