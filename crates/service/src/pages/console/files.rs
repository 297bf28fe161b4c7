//! The built files: part of a release build, read from `dist/console/` by a debug build.

use axum::body::Bytes;

include!(concat!(env!("OUT_DIR"), "/console_files.rs"));

/// Returns the content of a file; `None` if there is none.
#[cfg(console_included)]
#[expect(clippy::unused_async, reason = "a debug build reads the file")]
pub(super) async fn read(name: &str) -> Option<Bytes> {
    let found = FILES.iter().find(|(known, _)| *known == name)?;
    Some(Bytes::from_static(found.1))
}

/// Returns the content of a file; `None` if there is none.
#[cfg(not(console_included))]
pub(super) async fn read(name: &str) -> Option<Bytes> {
    tokio::fs::read(std::path::Path::new(FOLDER).join(name)).await.ok().map(Bytes::from)
}
