//! The job queues of sites, with leases that expire (3).
//!
//! On PostgreSQL, several nodes change the same queue at once. A job is claimed by one statement that skips
//! the rows that other nodes are about to claim, and completed after its row has been locked.

use std::time::Duration;

use chat_protocol::admin::publishing as shown;
use chat_protocol::{ClaimToken, Completion, Done, Job, JobId, JobStatus, JobType, Outcome, Value};
use sqlx::AssertSqlSafe;

use super::reviews::{ReviewKind, ReviewStatus, json, set_external_id, set_status};
use super::{MAX_ATTEMPTS, reviews, skip_locked, versions};
use crate::clock::{iso, millis};
use crate::db::{Db, DbError, Row, Tx, args};
use crate::error::ApiError;
use crate::secrets::new_id;
use crate::text::truncate_bytes;

/// Waiting for a claim. The contract does not name this status (3.5).
const PENDING: &str = "pending";
const RUNNING: &str = "running";
const SUCCEEDED: &str = "succeeded";
/// Failed, or its lease expired, at the last attempt. The contract does not name this status (3.8).
const FAILED: &str = "failed";

/// The error of a job whose lease expired.
const LEASE_EXPIRED: &str = "The lease ran out.";
/// Maximum wait before the next attempt of a job that failed.
const MAX_BACK_OFF: Duration = Duration::from_hours(1);
/// Maximum expired leases that one call recovers; the next call recovers further ones.
const MAX_RECOVERED: i64 = 100;
/// Maximum bytes of a site's error text; the rest is cut off.
const MAX_ERROR_BYTES: usize = 4000;

/// A job to enqueue.
#[derive(Clone, Debug)]
pub(super) struct NewJob {
    pub(super) job_type: JobType,
    pub(super) title: String,
    pub(super) payload: Value,
    /// The review that the job carries out.
    pub(super) review_id: Option<String>,
    /// Whether a rule has queued it.
    pub(super) automatic: bool,
    /// The name of the rule or of the operator.
    pub(super) decided_by: Option<String>,
}

/// A job with the site's report.
#[derive(Clone, Debug)]
pub(crate) struct StoredJob {
    /// The position in the queue, by which it is paged.
    pub(crate) no: i64,
    pub(crate) job: Job,
    pub(crate) result: Value,
    pub(crate) error: Option<String>,
    /// Whether a rule has queued it.
    automatic: bool,
    /// The name of the rule or of the operator, as far as it is known.
    decided_by: Option<String>,
}

impl StoredJob {
    /// Returns the job as the console shows it: without the claim token, which is for the holder of the claim
    /// only.
    pub(super) fn shown(self) -> shown::Job {
        let Job { id, job_type, status, title, attempts, max_attempts, lease_until, payload, .. } = self.job;
        shown::Job {
            id: id.as_str().to_owned(),
            kind: job_type.as_str().to_owned(),
            status: status.as_str().to_owned(),
            title,
            attempts: attempts.unwrap_or_default(),
            max_attempts: max_attempts.unwrap_or_default(),
            lease_until,
            payload,
            created_at: self.job.created_at.unwrap_or_default(),
            updated_at: self.job.updated_at.unwrap_or_default(),
            completed_at: self.job.completed_at,
            result: self.result,
            error: self.error,
            automatic: self.automatic,
            decided_by: self.decided_by,
        }
    }
}

const COLUMNS: &str = "id, type, status, title, attempts, max_attempts, claim_token, lease_until_ms, payload,
                       created_ms, updated_ms, completed_ms, result, error, no, automatic, decided_by";

pub(super) const AUTOMATIC_COUNT: &str =
    "SELECT count(*) FROM jobs WHERE site_id = $1 AND created_ms > $2 AND automatic = 1";

fn read(row: &Row) -> Result<StoredJob, DbError> {
    let job = Job {
        id: JobId::from(row.text(0)?),
        job_type: JobType::from(row.text(1)?.as_str()),
        status: JobStatus::from(row.text(2)?.as_str()),
        title: Some(row.text(3)?),
        attempts: Some(row.int(4)?),
        max_attempts: Some(row.int(5)?),
        claim_token: row.optional_text(6)?.map(ClaimToken::from),
        lease_until: row.optional_int(7)?.map(iso),
        payload: json(&row.text(8)?),
        created_at: Some(iso(row.int(9)?)),
        updated_at: Some(iso(row.int(10)?)),
        completed_at: row.optional_int(11)?.map(iso),
    };
    let result = row.optional_text(12)?;
    Ok(StoredJob {
        no: row.int(14)?,
        job,
        result: result.as_deref().map(json).unwrap_or_default(),
        error: row.optional_text(13)?,
        automatic: row.flag(15)?,
        decided_by: row.optional_text(16)?,
    })
}

pub(super) async fn add(tx: &mut Tx, now_ms: i64, site_id: &str, new: &NewJob) -> Result<JobId, DbError> {
    let id = JobId::from(new_id("job"));
    tx.execute(
        "INSERT INTO jobs (id, site_id, type, status, title, max_attempts, payload, review_id, created_ms,
             updated_ms, automatic, decided_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11)",
        args![
            &id,
            site_id,
            new.job_type.as_str(),
            PENDING,
            &new.title,
            MAX_ATTEMPTS,
            &new.payload,
            new.review_id.as_ref(),
            now_ms,
            new.automatic,
            new.decided_by.as_ref()
        ],
    )
    .await?;
    Ok(id)
}

/// Returns at most `limit` jobs, newest first, before the one with the number `before`.
pub(super) async fn list(
    db: &Db,
    site_id: &str,
    status: Option<&str>,
    before: i64,
    limit: i64,
) -> Result<Vec<StoredJob>, ApiError> {
    let mut values = args![site_id, before, limit];
    let mut only = "";
    if let Some(status) = status {
        values.push(status.into());
        only = "AND status = $4";
    }
    let sql =
        format!("SELECT {COLUMNS} FROM jobs WHERE site_id = $1 AND no < $2 {only} ORDER BY no DESC LIMIT $3");
    let rows = db.all(AssertSqlSafe(sql), values).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Returns the last jobs of a review, newest first.
pub(super) async fn of_review(
    db: &Db,
    site_id: &str,
    review_id: &str,
    limit: i64,
) -> Result<Vec<StoredJob>, ApiError> {
    let sql =
        format!("SELECT {COLUMNS} FROM jobs WHERE site_id = $1 AND review_id = $2 ORDER BY no DESC LIMIT $3");
    let rows = db.all(AssertSqlSafe(sql), args![site_id, review_id, limit]).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Returns the number of jobs that wait for a claim, with those whose lease has expired.
pub(crate) async fn pending_count(db: &Db, now_ms: i64, site_id: &str) -> Result<i64, ApiError> {
    let sql = "SELECT (SELECT count(*) FROM jobs WHERE site_id = $1 AND status = 'pending')
                    + (SELECT count(*) FROM jobs WHERE site_id = $1 AND status = 'running'
                       AND lease_until_ms <= $2 AND attempts < max_attempts)";
    Ok(db.one(sql, args![site_id, now_ms]).await?.int(0)?)
}

/// Returns the number of jobs that rules have queued since a time.
pub(super) async fn automatic_count(tx: &mut Tx, site_id: &str, since_ms: i64) -> Result<i64, DbError> {
    tx.one(AUTOMATIC_COUNT, args![site_id, since_ms]).await?.int(0)
}

/// Claims the job that has waited longest: sets it to running, with a claim token and a lease (4.11).
pub(crate) async fn claim(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    lease: Duration,
) -> Result<Option<Job>, ApiError> {
    recover_expired(tx, now_ms, site_id).await?;
    let sql = format!(
        "UPDATE jobs SET status = $1, attempts = attempts + 1, claim_token = $2, lease_until_ms = $3,
             updated_ms = $4
         WHERE no = (SELECT no FROM jobs WHERE site_id = $5 AND status = $6 AND not_before_ms <= $4 ORDER BY no LIMIT 1 {})
             AND status = $6
         RETURNING {COLUMNS}",
        skip_locked(tx)
    );
    let until = now_ms.saturating_add(millis(lease));
    let values = args![RUNNING, new_id("claim"), until, now_ms, site_id, PENDING];
    let row = tx.optional(AssertSqlSafe(sql), values).await?;
    Ok(row.as_ref().map(read).transpose()?.map(|stored| stored.job))
}

/// Returns the tenants and sites that have jobs whose lease has expired, at most [`MAX_RECOVERED`].
pub(crate) async fn sites_with_expired(db: &Db, now_ms: i64) -> Result<Vec<(String, String)>, DbError> {
    let sql = "SELECT DISTINCT s.tenant_id, s.id FROM jobs j JOIN sites s ON s.id = j.site_id
               WHERE j.status = 'running' AND j.lease_until_ms <= $1 LIMIT $2";
    let rows = db.all(sql, args![now_ms, MAX_RECOVERED]).await?;
    rows.iter().map(|row| Ok((row.text(0)?, row.text(1)?))).collect()
}

/// Requeues jobs whose lease has expired; those without attempts left fail, and so do their reviews.
pub(crate) async fn recover_expired(tx: &mut Tx, now_ms: i64, site_id: &str) -> Result<(), DbError> {
    let sql = format!(
        "UPDATE jobs SET status = CASE WHEN attempts < max_attempts THEN 'pending' ELSE 'failed' END,
             completed_ms = CASE WHEN attempts < max_attempts THEN NULL ELSE $2 END,
             error = $3, claim_token = NULL, lease_until_ms = NULL, updated_ms = $2
         WHERE no IN (SELECT no FROM jobs WHERE site_id = $1 AND status = 'running' AND lease_until_ms <= $2
                      ORDER BY lease_until_ms LIMIT $4 {})
             AND status = 'running'
         RETURNING status, review_id, type",
        skip_locked(tx)
    );
    let recovered = tx.all(AssertSqlSafe(sql), args![site_id, now_ms, LEASE_EXPIRED, MAX_RECOVERED]).await?;
    for row in recovered {
        if let (FAILED, Some(review_id)) = (row.text(0)?.as_str(), row.optional_text(1)?) {
            fail_review(tx, now_ms, site_id, &review_id, &row.text(2)?).await?;
        }
    }
    Ok(())
}

/// Returns the wait after a failed attempt, from the wait after the first one: three times as long after each
/// further one, at most [`MAX_BACK_OFF`].
fn back_off(first: Duration, attempts: i64) -> Duration {
    let exponent = u32::try_from(attempts.saturating_sub(1)).unwrap_or(0).min(10);
    first.saturating_mul(3_u32.pow(exponent)).min(MAX_BACK_OFF)
}

/// Records the site's report (4.12), and returns the updated job.
pub(crate) async fn complete(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    id: &JobId,
    report: &Completion,
    retry: Duration,
) -> Result<Job, ApiError> {
    let claimed = lock(tx, site_id, id).await?.ok_or(ApiError::NotFound("This job"))?;
    claimed.check(now_ms, &report.claim_token)?;
    let (status, result, error) = match &report.outcome {
        Outcome::Done(done) => (SUCCEEDED, Some(Value::from(done).to_string()), None),
        Outcome::Failed { reason, permanent } => {
            let reason = truncate_bytes(reason, MAX_ERROR_BYTES);
            let is_over = *permanent || claimed.is_last_attempt;
            (if is_over { FAILED } else { PENDING }, None, Some(reason))
        }
    };
    let sql = format!(
        "UPDATE jobs SET status = $1, result = $2, error = $3, completed_ms = $4, updated_ms = $5,
             claim_token = NULL, lease_until_ms = NULL, not_before_ms = $8
         WHERE site_id = $6 AND id = $7 RETURNING {COLUMNS}"
    );
    let completed_ms = (status != PENDING).then_some(now_ms);
    let not_before_ms = now_ms.saturating_add(millis(back_off(retry, claimed.attempts)));
    let values = args![status, result, error, completed_ms, now_ms, site_id, id, not_before_ms];
    let row = tx.one(AssertSqlSafe(sql), values).await?;
    let job = read(&row)?.job;
    if let Some(review_id) = claimed.review_id {
        match &report.outcome {
            Outcome::Done(done) => complete_review(tx, now_ms, site_id, &review_id, &job, done).await?,
            Outcome::Failed { .. } if status == FAILED => {
                fail_review(tx, now_ms, site_id, &review_id, job.job_type.as_str()).await?;
            }
            Outcome::Failed { .. } => {}
        }
    }
    Ok(job)
}

async fn complete_review(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    review_id: &str,
    job: &Job,
    done: &Done,
) -> Result<(), DbError> {
    if let Some(external_id) = &done.external_id {
        set_external_id(tx, site_id, review_id, external_id).await?;
    }
    let Some(review) = reviews::lock(tx, site_id, review_id).await? else { return Ok(()) };
    let is_gone = job.job_type == JobType::DeleteArticle || review.undoing;
    let status = if is_gone { ReviewStatus::Withdrawn } else { ReviewStatus::Published };
    match (&job.job_type, review.kind) {
        (JobType::RollbackArticle, _) => {
            if let Some(version) = versions::before(tx, review_id).await? {
                let (draft, body) = (version.draft(), &version.body);
                reviews::rewrite(tx, now_ms, site_id, review_id, draft, status, body).await?;
                versions::return_to(tx, review_id, &version).await?;
            }
        }
        (JobType::PublishArticle, ReviewKind::Article) => versions::record(tx, now_ms, &review).await?,
        _ => {}
    }
    reviews::set_live(tx, site_id, review_id, !is_gone).await?;
    reviews::set_undoing(tx, site_id, review_id, false).await?;
    set_status(tx, now_ms, site_id, review_id, status).await
}

/// Records that a job has failed for good. An entry that the site shows stays published if the job should
/// have changed it back or removed it: the site has done neither.
async fn fail_review(
    tx: &mut Tx,
    now_ms: i64,
    site_id: &str,
    review_id: &str,
    job_type: &str,
) -> Result<(), DbError> {
    let Some(review) = reviews::lock(tx, site_id, review_id).await? else { return Ok(()) };
    let job_type = JobType::from(job_type);
    let takes_back = matches!(job_type, JobType::RollbackArticle | JobType::DeleteArticle) || review.undoing;
    let status = if !(takes_back && review.live) {
        ReviewStatus::Failed
    } else if review.kind == ReviewKind::Overlay || versions::is_newest(tx, &review).await? {
        ReviewStatus::Published
    } else {
        // An edit that was never published.
        ReviewStatus::Draft
    };
    reviews::set_undoing(tx, site_id, review_id, false).await?;
    set_status(tx, now_ms, site_id, review_id, status).await
}

/// A job whose row no other transaction changes until this one ends.
#[derive(Debug)]
struct Locked {
    status: String,
    claim_token: Option<String>,
    lease_until_ms: i64,
    attempts: i64,
    is_last_attempt: bool,
    review_id: Option<String>,
}

impl Locked {
    /// Checks that a claim holds the job (7). A job whose lease expired at its last attempt has failed, even
    /// if nobody has recovered it yet.
    fn check(&self, now_ms: i64, token: &ClaimToken) -> Result<(), ApiError> {
        let expired = self.lease_until_ms <= now_ms;
        match self.status.as_str() {
            RUNNING if expired && self.is_last_attempt => Err(ApiError::AlreadyCompleted),
            RUNNING if !expired && self.claim_token.as_deref() == Some(token.as_str()) => Ok(()),
            RUNNING | PENDING => Err(ApiError::LeaseMismatch),
            _ => Err(ApiError::AlreadyCompleted),
        }
    }
}

async fn lock(tx: &mut Tx, site_id: &str, id: &JobId) -> Result<Option<Locked>, DbError> {
    let sql = "UPDATE jobs SET status = status WHERE site_id = $1 AND id = $2
               RETURNING status, claim_token, COALESCE(lease_until_ms, 0), attempts, max_attempts, review_id";
    let Some(row) = tx.optional(sql, args![site_id, id]).await? else { return Ok(None) };
    Ok(Some(Locked {
        status: row.text(0)?,
        claim_token: row.optional_text(1)?,
        lease_until_ms: row.int(2)?,
        attempts: row.int(3)?,
        is_last_attempt: row.int(3)? >= row.int(4)?,
        review_id: row.optional_text(5)?,
    }))
}
