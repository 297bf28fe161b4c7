//! The interface of whatever carries out jobs.

use std::future::Future;

use chat_protocol::{Done, Job};

/// Does what jobs ask for.
///
/// A handler whose process is killed between doing the work and the [`Journal`](super::Journal)'s writing it down is asked again by the
/// next claim: it should notice by the job's id that it has done the work already, and give the same result (4.1).
pub trait JobHandler: Send + Sync {
    /// Carries a job out. The future is dropped when the lease is about to run out.
    fn execute(&self, job: &Job) -> impl Future<Output = Result<Done, JobFailure>> + Send;
}

/// Why a job cannot be done. The text goes to the service, and is shown to people there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JobFailure(pub String);

impl JobFailure {
    /// A failure for this reason.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    pub(crate) fn from_error(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}
