//! Files that only their owner may read: tokens, the journal and state.
//!
//! A file is written under a random name beside its path, flushed and renamed. A reader, or a crash, sees
//! either the old file or the new one.

use std::fs::DirBuilder;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// An unfinished file. If it is dropped before [`Self::persist`], nothing remains.
#[derive(Debug)]
pub struct PrivateFile {
    unfinished: NamedTempFile,
    path: PathBuf,
}

/// The file was written but could not be renamed.
#[derive(Debug, thiserror::Error)]
#[error("{source}; the written file is {}", .written.display())]
pub struct PersistError {
    /// The path where the written file remains.
    pub written: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

impl PrivateFile {
    /// Creates an unfinished file for a path, whose folder must exist.
    pub fn begin(path: &Path) -> io::Result<Self> {
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let unfinished = tempfile::Builder::new().prefix(".unfinished-").tempfile_in(folder_of(path))?;
        Ok(Self { unfinished, path: path.to_owned() })
    }

    /// Writes the whole text and flushes it to the disk.
    pub fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.unfinished.write_all(text)?;
        self.unfinished.as_file().sync_all()
    }

    /// Renames the file to its path; with `replace`, over an existing file. On failure both the written and
    /// the existing file remain.
    pub fn persist(self, replace: bool) -> Result<(), PersistError> {
        let Self { unfinished, path } = self;
        let result = if replace { unfinished.persist(&path) } else { unfinished.persist_noclobber(&path) };
        match result {
            Ok(_) => {
                sync_folder(folder_of(&path));
                Ok(())
            }
            Err(failed) => {
                let written = failed.file.path().to_owned();
                // If that fails too, the error still names the path.
                let _ = failed.file.keep();
                Err(PersistError { written, source: failed.error })
            }
        }
    }
}

/// Writes a file atomically, and creates its folder if missing.
pub(crate) fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    create_folder(folder_of(path))?;
    let mut file = PrivateFile::begin(path)?;
    file.write(text)?;
    let PrivateFile { unfinished, path } = file;
    unfinished.persist(&path)?;
    sync_folder(folder_of(&path));
    Ok(())
}

/// Creates a folder and its parents, accessible to their owner only. An existing folder stays as it is.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Returns the folder of a file; the current one for a bare name.
fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Flushes a folder, so that a rename in it survives a power cut. Systems without this rely on the rename
/// alone.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = std::fs::File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn readers_see_either_the_old_or_the_new_file() {
        use std::io::Read;
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("state/record");
        write(&path, b"old").expect("written");
        let mut reading = fs::File::open(&path).expect("a file");
        write(&path, b"newer").expect("written");
        let mut read = String::new();
        reading.read_to_string(&mut read).expect("text");
        assert_eq!(read, "old", "an open reader is not affected");
        assert_eq!(fs::read(&path).expect("a file"), b"newer");
        assert_eq!(fs::read_dir(directory.path().join("state")).expect("a folder").count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("state/deep/record");
        write(&path, b"secret").expect("written");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&directory.path().join("state/deep")), 0o700);
        assert_eq!(mode(&directory.path().join("state")), 0o700);
    }

    #[test]
    fn an_unfinished_file_leaves_nothing_behind() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("token.unfinished");
        fs::write(&path, "before").expect("written");
        let mut file = PrivateFile::begin(&path).expect("created");
        file.write(b"after").expect("written");
        drop(file);
        assert_eq!(fs::read(&path).expect("a file"), b"before");
        assert_eq!(fs::read_dir(directory.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn keeps_both_files_if_the_path_was_taken_meanwhile() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("token");
        let mut file = PrivateFile::begin(&path).expect("created");
        fs::write(&path, "another's").expect("written");
        file.write(b"mine").expect("written");
        let failed = file.persist(false).expect_err("refused");
        assert_eq!(fs::read(&path).expect("a file"), b"another's");
        assert_eq!(fs::read(&failed.written).expect("a file"), b"mine");
        assert!(failed.to_string().contains(&failed.written.display().to_string()));
    }

    #[test]
    fn refuses_to_replace_a_folder() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(PrivateFile::begin(directory.path()).is_err());
    }
}
