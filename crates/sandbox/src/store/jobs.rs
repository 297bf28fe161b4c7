//! The job queue, with leases that expire (3).

use std::time::Duration;

use chat_protocol::{ClaimToken, Done, Job, JobId, JobStatus, JobType, Outcome, Value};
use rusqlite::{OptionalExtension, Row, params};
use uuid::Uuid;

use super::{ReviewStatus, Store, json};
use crate::clock::{iso, millis};

/// Waiting for a claim. The contract does not name this status (3.5).
const PENDING: &str = "pending";
const RUNNING: &str = "running";
const SUCCEEDED: &str = "succeeded";
/// Failed, or its lease expired, at the last attempt. The contract does not name this status (3.8).
const FAILED: &str = "failed";

/// A job to enqueue.
#[derive(Debug)]
pub(crate) struct NewJob {
    pub(crate) job_type: JobType,
    pub(crate) title: String,
    pub(crate) payload: Value,
    /// The review that the job carries out.
    pub(crate) review: Option<String>,
    pub(crate) max_attempts: u32,
}

/// A job with the site's report.
#[derive(Debug)]
pub(crate) struct StoredJob {
    pub(crate) job: Job,
    pub(crate) result: Value,
    pub(crate) error: Option<String>,
}

/// The reason why a completion is refused (7).
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CompletionError {
    Unknown,
    AlreadyCompleted,
    /// Another claim holds the job, or the lease has expired.
    LeaseLost,
}

const COLUMNS: &str = "id, type, status, title, attempts, max_attempts, claim_token, lease_until_ms, payload, \
                       created_at, updated_at, completed_at, result, error";

impl Store {
    pub(crate) fn add_job(&self, new: &NewJob) -> rusqlite::Result<JobId> {
        let id = JobId::from(format!("job_{}", Uuid::new_v4().simple()));
        let now = self.clock.now();
        self.db
            .prepare_cached(
                "INSERT INTO jobs (id, type, status, title, payload, review, max_attempts, created_at, updated_at)
                 VALUES (?, ?, ?, ?, ?, ?, ?, ?8, ?8)",
            )?
            .execute(params![
                id.as_str(),
                new.job_type.as_str(),
                PENDING,
                new.title,
                new.payload.to_string(),
                new.review,
                new.max_attempts,
                now
            ])?;
        Ok(id)
    }

    /// Returns the latest jobs, oldest first.
    pub(crate) fn jobs(&self, limit: u32) -> rusqlite::Result<Vec<StoredJob>> {
        self.recover_expired()?;
        let sql = format!("SELECT {COLUMNS} FROM jobs ORDER BY position DESC LIMIT ?");
        let mut latest: Vec<StoredJob> =
            self.db.prepare_cached(&sql)?.query_map([limit], read)?.collect::<Result<_, _>>()?;
        latest.reverse();
        Ok(latest)
    }

    /// Returns the number of jobs that wait for a claim.
    pub(crate) fn pending_job_count(&self) -> rusqlite::Result<i64> {
        self.recover_expired()?;
        let mut waiting = self.db.prepare_cached("SELECT count(*) FROM jobs WHERE status = ?")?;
        waiting.query_row([PENDING], |row| row.get(0))
    }

    /// Claims the job that has waited longest: sets it to running, with a claim token and a lease (4.11).
    pub(crate) fn claim_job(&self, lease: Duration) -> rusqlite::Result<Option<Job>> {
        self.recover_expired()?;
        let now_ms = self.clock.now_ms();
        let sql = format!(
            "UPDATE jobs SET status = ?, attempts = attempts + 1, claim_token = ?, lease_until_ms = ?, updated_at = ?
             WHERE position = (SELECT min(position) FROM jobs WHERE status = ?) RETURNING {COLUMNS}"
        );
        let token = format!("claim_{}", Uuid::new_v4().simple());
        let until = now_ms.saturating_add(millis(lease));
        let values = params![RUNNING, token, until, iso(now_ms), PENDING];
        Ok(self.db.prepare_cached(&sql)?.query_row(values, read).optional()?.map(|stored| stored.job))
    }

    /// Records the site's report (4.12), and returns the updated job.
    pub(crate) fn complete_job(
        &self,
        id: &JobId,
        token: &ClaimToken,
        outcome: &Outcome,
    ) -> rusqlite::Result<Result<Job, CompletionError>> {
        let change = self.db.unchecked_transaction()?;
        self.recover_expired()?;
        let Some(JobState { lease, attempts, max_attempts, review }) = self.job_state(id)? else {
            return Ok(Err(CompletionError::Unknown));
        };
        match lease {
            LeaseState::HeldBy(holder) if holder == token.as_str() => {}
            LeaseState::HeldBy(_) | LeaseState::Unclaimed => return Ok(Err(CompletionError::LeaseLost)),
            LeaseState::Finished => return Ok(Err(CompletionError::AlreadyCompleted)),
        }
        let (status, result, error) = match outcome {
            Outcome::Done(done) => (SUCCEEDED, Some(Value::from(done).to_string()), None),
            Outcome::Failed(reason) if attempts < max_attempts => (PENDING, None, Some(reason)),
            Outcome::Failed(reason) => (FAILED, None, Some(reason)),
        };
        let now = self.clock.now();
        let completed_at = (status != PENDING).then_some(&now);
        let sql = format!(
            "UPDATE jobs SET status = ?, result = ?, error = ?, completed_at = ?, updated_at = ?,
                 claim_token = NULL, lease_until_ms = NULL
             WHERE id = ? RETURNING {COLUMNS}"
        );
        let values = params![status, result, error, completed_at, now, id.as_str()];
        let job = self.db.prepare_cached(&sql)?.query_row(values, read)?.job;
        if let Some(review) = review {
            match outcome {
                Outcome::Done(done) => self.complete_review(&review, &job, done)?,
                Outcome::Failed(_) if status == FAILED => {
                    self.set_review_status(&review, ReviewStatus::Failed)?;
                }
                Outcome::Failed(_) => {}
            }
        }
        change.commit()?;
        Ok(Ok(job))
    }

    fn complete_review(&self, review: &str, job: &Job, done: &Done) -> rusqlite::Result<()> {
        let status = match job.job_type {
            JobType::DeleteArticle => ReviewStatus::Withdrawn,
            _ => ReviewStatus::Published,
        };
        if let Some(external_id) = &done.external_id {
            self.set_external_id(review, external_id)?;
        }
        self.set_review_status(review, status)
    }

    fn job_state(&self, id: &JobId) -> rusqlite::Result<Option<JobState>> {
        let mut job = self.db.prepare_cached(
            "SELECT status, claim_token, attempts, max_attempts, review FROM jobs WHERE id = ?",
        )?;
        let read = |row: &Row<'_>| {
            let (status, token): (String, Option<String>) = (row.get(0)?, row.get(1)?);
            let lease = match (status.as_str(), token) {
                (RUNNING, Some(token)) => LeaseState::HeldBy(token),
                (SUCCEEDED | FAILED, _) => LeaseState::Finished,
                _ => LeaseState::Unclaimed,
            };
            Ok(JobState { lease, attempts: row.get(2)?, max_attempts: row.get(3)?, review: row.get(4)? })
        };
        job.query_row([id.as_str()], read).optional()
    }

    /// Requeues the jobs whose lease has expired; those without attempts left fail.
    fn recover_expired(&self) -> rusqlite::Result<()> {
        let now_ms = self.clock.now_ms();
        let expired = "status = 'running' AND lease_until_ms <= ?1";
        self.db
            .prepare_cached(&format!(
                "UPDATE reviews SET status = 'failed' WHERE id IN
                     (SELECT review FROM jobs WHERE {expired} AND attempts >= max_attempts)"
            ))?
            .execute([now_ms])?;
        self.db
            .prepare_cached(&format!(
                "UPDATE jobs SET
                     status = CASE WHEN attempts < max_attempts THEN 'pending' ELSE 'failed' END,
                     completed_at = CASE WHEN attempts < max_attempts THEN NULL ELSE ?2 END,
                     error = 'The lease ran out.', claim_token = NULL, lease_until_ms = NULL, updated_at = ?2
                 WHERE {expired}"
            ))?
            .execute(params![now_ms, iso(now_ms)])?;
        Ok(())
    }
}

/// The state of a job when the site reports on it.
struct JobState {
    lease: LeaseState,
    attempts: u32,
    max_attempts: u32,
    review: Option<String>,
}

enum LeaseState {
    HeldBy(String),
    Unclaimed,
    Finished,
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredJob> {
    let (id, job_type, status): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let (claim_token, payload): (Option<String>, String) = (row.get(6)?, row.get(8)?);
    let result: Option<String> = row.get(12)?;
    let job = Job {
        id: JobId::from(id),
        job_type: JobType::from(job_type.as_str()),
        status: JobStatus::from(status.as_str()),
        title: row.get(3)?,
        attempts: row.get(4)?,
        max_attempts: row.get(5)?,
        claim_token: claim_token.map(ClaimToken::from),
        lease_until: row.get::<_, Option<i64>>(7)?.map(iso),
        payload: json(&payload),
        created_at: row.get(9)?,
        updated_at: row.get(10)?,
        completed_at: row.get(11)?,
    };
    Ok(StoredJob { job, result: result.as_deref().map(json).unwrap_or_default(), error: row.get(13)? })
}
