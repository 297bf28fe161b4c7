//! Why the journal cannot be used.

use std::io;
use std::path::PathBuf;

/// Why the journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another runner holds it.
    #[error("{} is held by another runner: stop that one, or give this one a --state of its own", .0.display())]
    Held(PathBuf),
    /// The file cannot be read or written.
    #[error("{path} cannot be kept: {source}")]
    File {
        /// The file.
        path: String,
        /// The system's error.
        source: io::Error,
    },
}
