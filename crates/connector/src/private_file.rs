//! Files for their owner alone: tokens, the journal, what is remembered of a site.
//!
//! A file is written beside its place under a random name, flushed to the disk, and renamed: whoever reads it meanwhile,
//! and whatever breaks meanwhile, there is the old one or the new one.

use std::fs::DirBuilder;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// A file that is begun and not yet in its place. Dropped before that, it leaves nothing.
#[derive(Debug)]
pub struct PrivateFile {
    unfinished: NamedTempFile,
    place: PathBuf,
}

/// A file that was written and could not be put in its place.
#[derive(Debug, thiserror::Error)]
#[error("{source}; it is kept in {}", .kept.display())]
pub struct PersistError {
    /// The file as it is now.
    pub kept: PathBuf,
    /// Why it cannot be renamed.
    pub source: io::Error,
}

impl PrivateFile {
    /// Begins a file for this place, in its folder, which has to be there.
    pub fn begin(place: &Path) -> io::Result<Self> {
        if place.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let unfinished = tempfile::Builder::new().prefix(".unfinished-").tempfile_in(folder_of(place))?;
        Ok(Self { unfinished, place: place.to_owned() })
    }

    /// Writes the whole text and flushes it to the disk.
    pub fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.unfinished.write_all(text)?;
        self.unfinished.as_file().sync_all()
    }

    /// Puts the file in its place; with `replace` in that of another. On failure what was written stays where it is, and
    /// so does what was there before.
    pub fn persist(self, replace: bool) -> Result<(), PersistError> {
        let Self { unfinished, place } = self;
        let put = if replace { unfinished.persist(&place) } else { unfinished.persist_noclobber(&place) };
        match put {
            Ok(_) => {
                sync_folder(folder_of(&place));
                Ok(())
            }
            Err(failed) => {
                let kept = failed.file.path().to_owned();
                // Where even that fails, the error says where the file was.
                let _ = failed.file.keep();
                Err(PersistError { kept, source: failed.error })
            }
        }
    }
}

/// Writes a file in one piece, in place of the one before, and makes its folder if there is none.
pub(crate) fn write(place: &Path, text: &[u8]) -> io::Result<()> {
    create_folder(folder_of(place))?;
    let mut file = PrivateFile::begin(place)?;
    file.write(text)?;
    let PrivateFile { unfinished, place } = file;
    unfinished.persist(&place)?;
    sync_folder(folder_of(&place));
    Ok(())
}

/// Makes a folder, and those above it, that only its owner may enter. One that is there stays as it is.
pub(crate) fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The folder of a file; the current one for a bare name.
fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Flushes a folder, so that a name in it outlives a power cut. Where the system has no such thing, the rename itself is
/// all there is.
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
    fn whoever_reads_a_file_while_it_is_written_sees_all_of_the_old_one_or_all_of_the_new_one() {
        use std::io::Read;
        let directory = tempfile::tempdir().expect("a directory");
        let place = directory.path().join("state/record");
        write(&place, b"old").expect("written");
        let mut reading = fs::File::open(&place).expect("a file");
        write(&place, b"newer").expect("written");
        let mut read = String::new();
        reading.read_to_string(&mut read).expect("text");
        assert_eq!(read, "old", "who has begun to read is not disturbed");
        assert_eq!(fs::read(&place).expect("a file"), b"newer");
        assert_eq!(fs::read_dir(directory.path().join("state")).expect("a folder").count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_but_the_owner_may_read_what_is_written() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().expect("a directory");
        let place = directory.path().join("state/deep/record");
        write(&place, b"secret").expect("written");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&place), 0o600);
        assert_eq!(mode(&directory.path().join("state/deep")), 0o700);
        assert_eq!(mode(&directory.path().join("state")), 0o700);
    }

    #[test]
    fn a_file_that_is_not_finished_leaves_nothing_and_changes_nothing() {
        let directory = tempfile::tempdir().expect("a directory");
        let place = directory.path().join("token.unfinished");
        fs::write(&place, "before").expect("written");
        let mut file = PrivateFile::begin(&place).expect("begun");
        file.write(b"after").expect("written");
        drop(file);
        assert_eq!(fs::read(&place).expect("a file"), b"before");
        assert_eq!(fs::read_dir(directory.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn a_file_that_came_in_between_is_kept_and_so_is_what_was_written() {
        let directory = tempfile::tempdir().expect("a directory");
        let place = directory.path().join("token");
        let mut file = PrivateFile::begin(&place).expect("begun");
        fs::write(&place, "another's").expect("written");
        file.write(b"mine").expect("written");
        let failed = file.persist(false).expect_err("refused");
        assert_eq!(fs::read(&place).expect("a file"), b"another's");
        assert_eq!(fs::read(&failed.kept).expect("a file"), b"mine");
        assert!(failed.to_string().contains(&failed.kept.display().to_string()));
    }

    #[test]
    fn a_folder_is_no_place_for_a_file() {
        let directory = tempfile::tempdir().expect("a directory");
        assert!(PrivateFile::begin(directory.path()).is_err());
    }
}
