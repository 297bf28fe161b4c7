//! The interface of job handlers.

use std::future::Future;

use chat_protocol::{Done, Job};

/// Executes jobs.
///
/// A process that is killed after the work and before the [`Journal`](super::Journal) records it will be
/// given the job again. The handler should recognise the job's id and return the same result (4.1).
pub trait JobHandler: Send + Sync {
    /// Executes a job. The future is dropped when the lease is about to expire.
    fn execute(&self, job: &Job) -> impl Future<Output = Result<Done, JobFailure>> + Send;
}

/// The reason of a failed job. The service shows the text to people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct JobFailure {
    /// The reason.
    pub reason: String,
    /// Whether another attempt would fail as well, so that the service makes none.
    pub permanent: bool,
}

impl JobFailure {
    /// Creates a failure with a reason. The service gives out the job again, after a while.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), permanent: false }
    }

    /// Creates a failure of every attempt, such as one of an invalid payload.
    pub fn permanent(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), permanent: true }
    }

    pub(crate) fn from_error(error: impl std::fmt::Display) -> Self {
        Self::new(error.to_string())
    }

    pub(crate) fn from_permanent(error: impl std::fmt::Display) -> Self {
        Self::permanent(error.to_string())
    }
}
