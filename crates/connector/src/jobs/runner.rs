//! The loop that claims, executes and reports jobs.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;

use chat_protocol::{Completion, Job, Outcome};
use futures_util::FutureExt;
use jiff::Timestamp;
use tokio::time::Instant;
use tracing::{Instrument, debug, error, info, info_span, warn};

use super::handler::{JobFailure, JobHandler};
use super::journal::{Journal, JournalError};
use super::repeats::RepeatedClaims;
use crate::client::{BackOff, ConnectorError, ErrorKind, ServerConnectorClient};

/// Maximum lease that is accepted.
const MAX_LEASE: Duration = Duration::from_hours(24);
/// Maximum consecutive claims of known jobs before a run with `until_empty` ends.
const MAX_REPEATS: u32 = 5;

/// The settings of a runner.
#[derive(Clone, Copy, Debug)]
pub struct RunnerOptions {
    /// The interval between claims while there are no jobs. After a job the next claim follows at once.
    pub interval: Duration,
    /// The delays after failed claims, and after claims of known jobs.
    pub back_off: BackOff,
    /// The time before the end of the lease by which a job must be done, so that it can be reported.
    pub margin: Duration,
    /// The time limit of a job without a lease.
    pub default_lease: Duration,
    /// Stop when there is no job, or only known jobs, or when the response to a claim is invalid, instead of
    /// waiting.
    pub until_empty: bool,
}

impl Default for RunnerOptions {
    /// Claims every 5 s; after failures at most every 5 minutes; a margin of 5 s; 60 s for a job without a
    /// lease.
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(5),
            back_off: BackOff {
                attempts: u32::MAX,
                initial: Duration::from_secs(5),
                max: Duration::from_mins(5),
                max_retry_after: Duration::MAX,
            },
            margin: Duration::from_secs(5),
            default_lease: Duration::from_mins(1),
            until_empty: false,
        }
    }
}

/// An error that stopped a runner.
#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    /// The service refuses all claims.
    #[error("cannot claim jobs: {0}")]
    Refused(#[source] ConnectorError),
    /// The response to a claim is invalid, and [`RunnerOptions::until_empty`] is set.
    #[error("cannot claim jobs: {0}; if a job was claimed, it is released when its lease expires")]
    InvalidResponse(#[source] ConnectorError),
    /// The journal cannot be written, so no further job may be executed.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The totals of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunSummary {
    /// Jobs that succeeded.
    pub succeeded: u64,
    /// Jobs that failed.
    pub failed: u64,
    /// Reports that the service has not accepted yet; they are in the journal.
    pub unreported: usize,
}

/// Returns the lease of a job, counted from its claim, which is `since_claim` ago; `None` if the job has
/// none. At most [`MAX_LEASE`].
fn lease(job: &Job, now: Timestamp, since_claim: Duration) -> Option<Duration> {
    let time = |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<Timestamp>().ok());
    let until = time(&job.lease_until)?;
    let left = |from: Timestamp| Duration::try_from(until.duration_since(from)).unwrap_or_default();
    let lease = match time(&job.updated_at) {
        Some(claimed) => left(claimed),
        None => left(now).saturating_add(since_claim),
    };
    Some(lease.min(MAX_LEASE))
}

/// Claims jobs and passes them to a handler, one at a time.
#[derive(Debug)]
pub struct JobRunner<H> {
    client: ServerConnectorClient,
    handler: H,
    journal: Journal,
    options: RunnerOptions,
    summary: RunSummary,
    repeats: RepeatedClaims,
}

/// Returns whether all further claims would fail as well: the token, the address or the request is invalid.
/// After an invalid response or a conflict the next claim may succeed (7).
fn is_final(error: &ConnectorError) -> bool {
    error.kind == ErrorKind::Setup || matches!(error.status, Some(400 | 401 | 403 | 404 | 405))
}

impl<H: JobHandler> JobRunner<H> {
    /// Creates a runner.
    pub fn new(client: ServerConnectorClient, handler: H, journal: Journal, options: RunnerOptions) -> Self {
        let (summary, repeats) = (RunSummary::default(), RepeatedClaims::default());
        Self { client, handler, journal, options, summary, repeats }
    }

    /// Runs until `stop` is ready. A job in progress is finished and reported first.
    pub async fn run(mut self, stop: impl Future<Output = ()>) -> Result<RunSummary, RunnerError> {
        let mut stop = pin!(stop.fuse());
        let mut failed = 0;
        loop {
            self.report_pending().await?;
            let claimed_at = Instant::now();
            // A cancelled claim is like one whose response was lost: its lease expires, and the job is
            // claimed again.
            let claim = tokio::select! {
                biased;
                () = &mut stop => break,
                claim = self.client.claim_next_job() => claim,
            };
            let wait = match claim.map(|claim| claim.job) {
                Ok(Some(job)) => {
                    failed = 0;
                    let span = info_span!("job", id = %job.id, kind = job.job_type.as_str());
                    self.process(&job, claimed_at).instrument(span).await?;
                    // A job may legitimately be claimed again after a lost report or a failure.
                    let repeats = self.repeats.record(&job.id);
                    if repeats == 0 {
                        continue;
                    }
                    if self.options.until_empty && repeats >= MAX_REPEATS {
                        warn!(id = %job.id, repeats, "the service keeps returning known jobs: ending the run");
                        break;
                    }
                    let wait = self.options.back_off.jittered(repeats);
                    warn!(id = %job.id, repeats, wait_ms = wait.as_millis(), "the service returned a known job: waiting");
                    wait
                }
                Ok(None) if self.options.until_empty => break,
                Ok(None) => {
                    failed = 0;
                    self.options.interval
                }
                Err(error) if is_final(&error) => return Err(RunnerError::Refused(error)),
                Err(error) if self.options.until_empty && error.kind == ErrorKind::InvalidResponse => {
                    return Err(RunnerError::InvalidResponse(error));
                }
                Err(error) => {
                    failed += 1;
                    warn!(%error, failed, "claim failed");
                    let back_off = self.options.back_off;
                    back_off.wait(failed, error.retry_after).unwrap_or(back_off.max)
                }
            };
            tokio::select! {
                () = &mut stop => break,
                () = tokio::time::sleep(wait) => {}
            }
        }
        self.report_pending().await?;
        self.summary.unreported = self.journal.unreported().len();
        Ok(self.summary)
    }

    async fn process(&mut self, job: &Job, claimed_at: Instant) -> Result<(), RunnerError> {
        // The client returns no job without a claim token.
        let Some(claim_token) = job.claim_token.clone() else { return Ok(()) };
        let outcome = if let Some(done) = self.journal.done(&job.id) {
            info!("already executed: reporting again");
            Outcome::Done(done.clone())
        } else {
            let deadline = self.deadline(job, claimed_at);
            if deadline <= Instant::now() {
                warn!("the lease has already expired: skipped until the next claim");
                return Ok(());
            }
            self.execute(job, deadline).await
        };
        // No await between the end of the job and this line, so a cancelled runner never loses the outcome.
        self.journal.record_executed(&job.id, Completion { claim_token, outcome })?;
        self.report_pending().await
    }

    async fn execute(&mut self, job: &Job, deadline: Instant) -> Outcome {
        info!("started");
        let execution = AssertUnwindSafe(self.handler.execute(job)).catch_unwind();
        let executed = match tokio::time::timeout_at(deadline, execution).await {
            Ok(Ok(executed)) => executed,
            Ok(Err(_)) => Err(JobFailure::new("The handler panicked: see the connector's log.")),
            Err(_) => Err(JobFailure::new("The job took longer than its lease.")),
        };
        match executed {
            Ok(done) => {
                self.summary.succeeded += 1;
                info!("done");
                Outcome::Done(done)
            }
            Err(JobFailure { reason, permanent }) => {
                self.summary.failed += 1;
                warn!(reason, permanent, "failed");
                Outcome::Failed { reason, permanent }
            }
        }
    }

    /// Returns the deadline of a job. The lease is counted from before the claim was sent, so that the clocks
    /// of service and client need not agree.
    fn deadline(&self, job: &Job, claimed_at: Instant) -> Instant {
        let default = self.options.default_lease.min(MAX_LEASE);
        let lease = lease(job, Timestamp::now(), claimed_at.elapsed()).unwrap_or(default);
        // A lease shorter than the margin leaves half of itself for the work.
        claimed_at + lease.saturating_sub(self.options.margin.min(lease / 2))
    }

    /// Sends all pending reports, each with its original key and claim token.
    async fn report_pending(&mut self) -> Result<(), RunnerError> {
        for (job, report) in self.journal.unreported().to_vec() {
            match self.client.complete_job(&job, &report).await {
                Ok(completed) => debug!(%job, status = completed.status.as_str(), "reported"),
                Err(error) if error.retryable => {
                    warn!(%job, %error, "report failed: retrying later");
                    continue;
                }
                Err(error) if error.is_job_lost() => {
                    info!(%job, %error, "the job belongs to another claim");
                }
                Err(error) => error!(%job, %error, "the service refused the report"),
            }
            self.journal.record_reported(&job)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat_protocol::Value;
    use proptest::prelude::*;

    fn leased(until: &str, updated: Option<&str>) -> Job {
        let fields = [
            ("id", "j".into()),
            ("type", "x".into()),
            ("leaseUntil", until.into()),
            ("updatedAt", updated.into()),
        ];
        Job::try_from(Value::object(fields)).expect("a job")
    }

    #[test]
    fn limits_a_lease_of_any_length() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");
        let lease = |until: &str, updated: Option<&str>| lease(&leased(until, updated), now, Duration::ZERO);
        let minute = Some(Duration::from_mins(1));
        assert_eq!(lease("2020-01-01T00:01:00Z", Some("2020-01-01T00:00:00Z")), minute);
        assert_eq!(lease("2026-01-01T00:01:00Z", None), minute);
        assert_eq!(lease("9998-01-01T00:00:00Z", None), Some(MAX_LEASE));
        assert_eq!(lease("9998-01-01T00:00:00Z", Some("-009998-01-01T00:00:00Z")), Some(MAX_LEASE));
        assert_eq!(lease("1970-01-01T00:00:00Z", None), Some(Duration::ZERO));
        assert_eq!(lease("soon", None), None);
    }

    proptest! {
        #[test]
        fn any_time_of_the_service_is_handled_without_overflow(
            until in time(),
            updated in proptest::option::of(time()),
            since_claim in any::<Duration>(),
        ) {
            let lease = lease(&leased(&until, updated.as_deref()), Timestamp::now(), since_claim);
            prop_assert!(lease.is_none_or(|lease| lease <= MAX_LEASE));
            let _ = Instant::now() + lease.unwrap_or_default();
        }
    }

    fn time() -> impl Strategy<Value = String> {
        let second = Timestamp::MIN.as_second()..=Timestamp::MAX.as_second();
        prop_oneof![
            second.prop_map(|second| Timestamp::from_second(second).expect("a time").to_string()),
            "-?[0-9]{1,7}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})",
            any::<String>(),
        ]
    }
}
