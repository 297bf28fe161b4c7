//! Jobs that tests add, and the jobs that the operator's page shows.

use chat_protocol::{Job, JobId, JobStatus, JobType, Value};

use super::{SITE_ID, TestMode, site_changed, views};
use crate::clock::iso;
use crate::db::{DbError, Row, Tx, args};
use crate::error::ApiError;
use crate::secrets::new_id;

/// Adds a job as given, without any check.
pub(super) async fn add(
    mode: &TestMode,
    job_type: JobType,
    title: String,
    payload: Value,
    max_attempts: u32,
) -> Result<JobId, ApiError> {
    let now_ms = mode.now_ms();
    mode.db()
        .write(move |tx| {
            Box::pin(async move {
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
        })
        .await
}

/// Sets the maximum attempts of a new job.
pub(super) async fn set_max_attempts(tx: &mut Tx, id: &JobId, max_attempts: u32) -> Result<(), DbError> {
    let sql = "UPDATE jobs SET max_attempts = $1 WHERE site_id = $2 AND id = $3";
    tx.execute(sql, args![max_attempts, SITE_ID, id]).await?;
    Ok(())
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
        payload: views::json(&row.text(7)?),
        created_at: Some(iso(row.int(8)?)),
        updated_at: Some(iso(row.int(9)?)),
        completed_at: row.optional_int(10)?.map(iso),
    };
    let result = row.optional_text(11)?.as_deref().map(views::json);
    Ok(views::with(Value::from(&job), [("result", result.into()), ("error", row.optional_text(12)?.into())]))
}
