//! The errors of the journal.

use std::io;
use std::path::PathBuf;

/// The journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another runner holds it.
    #[error(
        "{} is in use by another runner: stop that one. A state folder belongs to one site folder, so another --state would not know what this one has published",
        .0.display()
    )]
    Held(PathBuf),
    /// The file cannot be read or written.
    #[error("cannot read or write the journal {path}: {source}")]
    File {
        /// The file.
        path: String,
        /// The system's error.
        source: io::Error,
    },
}
