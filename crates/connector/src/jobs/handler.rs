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
#[error("{0}")]
pub struct JobFailure(pub String);

impl JobFailure {
    /// Creates a failure with a reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    pub(crate) fn from_error(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}
