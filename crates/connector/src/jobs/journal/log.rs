//! The journal's file: parsed as bytes, appended line by line, and rewritten atomically.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use tracing::warn;

use super::error::JournalError;
use super::step::Step;
use crate::private_file;

/// Maximum size of a line, in bytes. A job's report has a few hundred.
const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum bytes that are saved of a damaged line.
const MAX_SAVED_BYTES: usize = 64 * 1024;
/// Maximum damaged lines that are saved at one start.
const MAX_SAVED_LINES: usize = 1000;

/// The file of a journal, locked by this process.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// The number of bytes known to be written.
    length: u64,
    lines: usize,
    /// A separate file, as the journal's own is replaced when it is rewritten.
    lock: File,
}

impl Drop for Log {
    /// Releases the lock explicitly. Closing the file would not, while a child that this process is just
    /// starting still has a copy of it.
    fn drop(&mut self) {
        let _ = self.lock.unlock();
    }
}

impl Log {
    /// Opens or creates the file, and passes each of its steps to `take`. Also returns whether the file must
    /// be rewritten before it is appended to, because its last line is truncated or a line is damaged.
    /// Damaged lines are saved beside the file, and skipped.
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
            let saved_to = with_suffix(path, "damaged");
            warn!(
                lines = read.damaged.len(), first = number, saved_to = %saved_to.display(),
                "the journal has damaged lines: they are saved and skipped"
            );
            save_damaged(&saved_to, &read.damaged).map_err(file_error)?;
        }
        let length = file.metadata().map_err(file_error)?.len();
        let needs_rewrite = read.is_truncated || !read.damaged.is_empty();
        Ok((Self { path: path.to_owned(), file, length, lines: read.count, lock }, needs_rewrite))
    }

    pub(super) fn lines(&self) -> usize {
        self.lines
    }

    /// Appends a step and flushes it to the disk.
    pub(super) fn append(&mut self, step: &Step) -> Result<(), JournalError> {
        let line = step.line();
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(source) = written {
            // A full disk may take part of the line: remove it.
            let _ = self.file.set_len(self.length);
            return Err(self.file_error(source));
        }
        self.length += line.len() as u64;
        self.lines += 1;
        Ok(())
    }

    /// Rewrites the file with these steps only.
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

/// The result of reading a file.
#[derive(Default)]
struct ReadOutcome {
    count: usize,
    /// With their line numbers, from 1.
    damaged: Vec<(usize, Vec<u8>)>,
    /// Whether the last line has no line break.
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

/// Appends damaged lines to the file that saves them.
fn save_damaged(path: &Path, damaged: &[(usize, Vec<u8>)]) -> io::Result<()> {
    let mut file = open_private(path)?;
    for (_, line) in damaged {
        file.write_all(line)?;
        file.write_all(b"\n")?;
    }
    file.sync_data()
}

/// Opens a regular file for reading and appending; creates it if missing, for its owner only.
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
