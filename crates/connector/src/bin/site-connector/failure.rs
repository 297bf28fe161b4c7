//! How a command fails: its message and its exit code.

use std::process::ExitCode;

use chat_connector::client::{ConnectorError, SyncRecordError, SyncStopped};
use chat_connector::printable::printable_lines;
use chat_protocol::ErrorCode;

/// A failed command. The text says what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    /// Whether the same command may succeed later.
    retryable: bool,
}

/// The exit code of a permanent failure.
const FAILED: u8 = 1;
/// The exit code of a transient failure: `EX_TEMPFAIL` of sysexits.h.
const TRY_LATER: u8 = 75;

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), retryable: false }
    }

    /// Returns a failure that a later attempt may not have.
    pub(crate) fn transient(text: impl Into<String>) -> Self {
        Self { text: text.into(), retryable: true }
    }

    /// Returns the message without terminal control characters.
    pub(crate) fn shown(&self) -> String {
        printable_lines(&self.text)
    }

    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(if self.retryable { TRY_LATER } else { FAILED })
    }
}

impl From<ConnectorError> for Failure {
    fn from(error: ConnectorError) -> Self {
        Self { text: error.to_string(), retryable: error.retryable }
    }
}

impl From<SyncRecordError> for Failure {
    fn from(error: SyncRecordError) -> Self {
        match error {
            SyncRecordError::Service(error) => error.into(),
            error @ SyncRecordError::File { .. } => Self::new(error.to_string()),
        }
    }
}

impl From<SyncStopped> for Failure {
    fn from(stopped: SyncStopped) -> Self {
        let advice = if stopped.error.code == ErrorCode::IdempotencyConflict {
            "This page of the snapshot was pushed before with other content: start a new snapshot".to_owned()
        } else {
            format!("Resume with: --snapshot {} --first-page {}", stopped.snapshot_id, stopped.page)
        };
        Self { text: format!("{stopped}\n{advice}"), retryable: stopped.error.retryable }
    }
}
