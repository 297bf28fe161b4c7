//! Why the journal cannot be used.

use std::io;
use std::path::PathBuf;

/// Why the journal cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another runner has it.
    #[error("{} is held by another runner: stop that one, or give this one a --state of its own", .0.display())]
    Held(PathBuf),
    /// The file cannot be read or written.
    #[error("{path} cannot be kept: {source}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}
