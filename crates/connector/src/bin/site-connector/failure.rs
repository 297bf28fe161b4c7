//! How a command fails: its message and its exit code.

use std::process::ExitCode;

use chat_connector::client::{ConnectorError, ErrorKind, SyncRecordError, SyncStopped};
use chat_connector::printable::{printable_json, printable_lines};
use chat_protocol::ErrorCode;
use serde_json::json;

/// A failed command. The text says what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The command line, a variable or a setting is invalid or missing.
    Usage,
    /// The same command would fail again.
    Permanent,
    /// The database or its key cannot be used until somebody has mended it.
    Data,
    /// The same command may succeed later.
    Transient,
}

impl Kind {
    fn of(retryable: bool) -> Self {
        if retryable { Self::Transient } else { Self::Permanent }
    }

    /// Returns the exit code: 2 as of clap, 65 as `EX_DATAERR` and 75 as `EX_TEMPFAIL` of
    /// sysexits.h.
    fn code(self) -> u8 {
        match self {
            Self::Permanent => 1,
            Self::Usage => 2,
            Self::Data => 65,
            Self::Transient => 75,
        }
    }
}

impl Failure {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: Kind::Permanent }
    }

    /// Returns a failure that a later attempt may not have.
    pub(crate) fn transient(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: Kind::Transient }
    }

    /// Returns the failure of a service whose database or key cannot be used.
    pub(crate) fn data(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: Kind::Data }
    }

    /// Returns the failure of a command line, a variable or a setting that is invalid or missing.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: Kind::Usage }
    }

    /// Returns the message without terminal control characters.
    pub(crate) fn shown(&self) -> String {
        printable_lines(&self.text)
    }

    /// Returns the failure as one line of JSON: the message and the exit code.
    pub(crate) fn json(&self) -> String {
        let text = self.text.trim().trim_start_matches("error: ");
        printable_json(&json!({ "error": text, "exitCode": self.kind.code() }).to_string())
    }

    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(self.kind.code())
    }
}

impl From<ConnectorError> for Failure {
    fn from(error: ConnectorError) -> Self {
        let kind = if error.kind == ErrorKind::Setup { Kind::Usage } else { Kind::of(error.retryable) };
        Self { text: error.to_string(), kind }
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
        Self { text: format!("{stopped}\n{advice}"), kind: Kind::of(stopped.error.retryable) }
    }
}
