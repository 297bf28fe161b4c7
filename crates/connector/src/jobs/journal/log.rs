//! The journal's file: read as bytes, appended line by line, and written anew in one piece.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use tracing::warn;

use super::error::JournalError;
use super::step::Step;
use crate::private_file;

/// The largest line that is read, in bytes. The report of a job has a few hundred.
const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;
/// The part of a damaged line that is kept, in bytes.
const MAX_SAVED_BYTES: usize = 64 * 1024;
/// The number of damaged lines that one start keeps.
const MAX_SAVED_LINES: usize = 1000;

/// A journal's file, which one process at a time holds.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// The bytes that are known to be written.
    length: u64,
    lines: usize,
    /// A file of its own, as the journal's is replaced by another.
    _lock: File,
}

impl Log {
    /// Opens the file, or makes one, and gives each step in it to `take`. Also gives whether the file has to be written
    /// anew before it is appended to, as a crash has cut its last line short or something else has damaged it: what
    /// cannot be read is kept beside it, and passed over.
    pub(super) fn open(path: &Path, take: impl FnMut(Step)) -> Result<(Self, bool), JournalError> {
        let file_error = |source| JournalError::File { path: path.display().to_string(), source };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        private_file::create_folder(folder.unwrap_or(Path::new("."))).map_err(file_error)?;
        let lock = open_private(&with_suffix(path, "lock")).map_err(file_error)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(JournalError::Held(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(file_error(source)),
        }
        let file = open_private(path).map_err(file_error)?;
        let read = ReadOutcome::read(&file, take).map_err(file_error)?;
        if let Some((number, _)) = read.damaged.first() {
            let kept = with_suffix(path, "damaged");
            warn!(
                lines = read.damaged.len(), first = number, kept = %kept.display(),
                "the journal has lines that cannot be read: they are kept, and passed over"
            );
            save_damaged(&kept, &read.damaged).map_err(file_error)?;
        }
        let length = file.metadata().map_err(file_error)?.len();
        let needs_rewrite = read.is_truncated || !read.damaged.is_empty();
        Ok((Self { path: path.to_owned(), file, length, lines: read.count, _lock: lock }, needs_rewrite))
    }

    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    /// Appends a step and flushes it to the disk.
    pub(super) fn append(&mut self, step: &Step) -> Result<(), JournalError> {
        let line = step.line();
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(source) = written {
            // A full disk takes half a line: without it, what was written before is whole.
            let _ = self.file.set_len(self.length);
            return Err(self.file_error(source));
        }
        self.length += line.len() as u64;
        self.lines += 1;
        Ok(())
    }

    /// Writes the file anew, with these steps and no others.
    pub(super) fn rewrite(&mut self, steps: impl Iterator<Item = Step>) -> Result<(), JournalError> {
        let mut text = String::new();
        let mut lines = 0;
        for step in steps {
            text.push_str(&step.line());
            lines += 1;
        }
        private_file::write(&self.path, text.as_bytes()).map_err(|source| self.file_error(source))?;
        self.file = open_private(&self.path).map_err(|source| self.file_error(source))?;
        self.length = text.len() as u64;
        self.lines = lines;
        Ok(())
    }

    fn file_error(&self, source: io::Error) -> JournalError {
        JournalError::File { path: self.path.display().to_string(), source }
    }
}

/// What is in a file beside its steps.
#[derive(Default)]
struct ReadOutcome {
    count: usize,
    /// With their numbers, from 1.
    damaged: Vec<(usize, Vec<u8>)>,
    /// Whether the last line has no end.
    is_truncated: bool,
}

impl ReadOutcome {
    fn read(file: &File, mut take: impl FnMut(Step)) -> io::Result<Self> {
        let mut read = Self::default();
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            if reader.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
                return Ok(read);
            }
            read.count += 1;
            let text = line.strip_suffix(b"\n");
            read.is_truncated = text.is_none();
            if text.is_none() && line.len() as u64 == MAX_LINE_BYTES {
                reader.skip_until(b'\n')?;
            }
            let text = text.unwrap_or(&line);
            match Step::read(text) {
                Some(step) => take(step),
                None if read.damaged.len() < MAX_SAVED_LINES => {
                    read.damaged.push((read.count, text[..text.len().min(MAX_SAVED_BYTES)].to_owned()));
                }
                None => {}
            }
        }
    }
}

/// Appends damaged lines to the file that keeps them.
fn save_damaged(path: &Path, damaged: &[(usize, Vec<u8>)]) -> io::Result<()> {
    let mut file = open_private(path)?;
    for (_, line) in damaged {
        file.write_all(line)?;
        file.write_all(b"\n")?;
    }
    file.sync_data()
}

/// Opens a regular file to read and append, and makes one that is its owner's alone.
fn open_private(path: &Path) -> io::Result<File> {
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mut permissions = file.metadata()?.permissions();
        if permissions.mode() & 0o077 != 0 {
            permissions.set_mode(0o600);
            file.set_permissions(permissions)?;
        }
    }
    Ok(file)
}

fn with_suffix(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}
