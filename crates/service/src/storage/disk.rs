//! The free space of the disk with an SQLite file.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::budgets::Class;
use crate::db::{Db, DbError, args};

/// The time for which a measurement is believed.
const FRESH: Duration = Duration::from_millis(100);
/// Maximum default reserve, in bytes.
const MAX_DEFAULT_RESERVE: u64 = 256 * 1024 * 1024;
/// Bytes on the disk for a stored byte: it is written to the log first, and then to the file.
const WRITTEN_TWICE: u64 = 2;

/// What the free space of the disk allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DiskState {
    /// Everything is stored.
    Ample,
    /// Events and content are refused.
    BulkRefused,
    /// Messages of visitors are refused as well. Operators can still sign in and delete.
    MessagesRefused,
}

impl DiskState {
    pub(super) fn refuses(self, class: Class) -> bool {
        match class {
            Class::Bulk => self >= Self::BulkRefused,
            Class::Message => self >= Self::MessagesRefused,
        }
    }
}

/// The space of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DiskSpace {
    /// Free bytes of the disk.
    pub(crate) free: u64,
    /// Bytes of the database's file that it can use again, after something was deleted.
    pub(crate) reusable: u64,
    /// Bytes that events and content leave free.
    pub(crate) reserve: u64,
    /// What this allows.
    pub(crate) state: DiskState,
}

impl DiskSpace {
    fn new(total: u64, free: u64, reusable: u64, reserve: Option<u64>) -> Self {
        let reserve = reserve.unwrap_or_else(|| (total / 4).min(MAX_DEFAULT_RESERVE));
        let available = free.saturating_add(reusable);
        // Space in the file is of no use without some for the log.
        let state = if available < reserve / 4 {
            DiskState::MessagesRefused
        } else if available < reserve || free < reserve / 4 {
            DiskState::BulkRefused
        } else {
            DiskState::Ample
        };
        Self { free, reusable, reserve, state }
    }

    /// Measures the disk with a file; `reusable` is not known without the database. `None` where the system
    /// cannot tell.
    pub(crate) fn of_file(path: &Path, reusable: u64, reserve: Option<u64>) -> Option<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let (total, free) = space(folder)?;
        Some(Self::new(total, free, reusable, reserve))
    }
}

/// Returns the bytes of the disk with a folder, all of them and those that are free.
#[cfg(unix)]
fn space(folder: &Path) -> Option<(u64, u64)> {
    let found = rustix::fs::statvfs(folder).ok()?;
    let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
    Some((bytes(found.f_blocks), bytes(found.f_bavail)))
}

#[cfg(not(unix))]
fn space(_: &Path) -> Option<(u64, u64)> {
    None
}

/// The disk with the database's file.
#[derive(Debug)]
pub(super) struct Disk {
    file: PathBuf,
    reserve: Option<u64>,
    last: Mutex<Measured>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    at: Option<Instant>,
    space: Option<DiskSpace>,
    /// Bytes that were admitted since the measurement, and between the one before and it. They may not have
    /// reached the disk yet.
    expected: u64,
    expected_before: u64,
}

impl Disk {
    pub(super) fn of_file(file: &Path, reserve: Option<u64>) -> Self {
        Self { file: file.to_owned(), reserve, last: Mutex::default() }
    }

    fn last(&self) -> MutexGuard<'_, Measured> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of bytes that are about to be stored.
    pub(super) fn expect(&self, bytes: u64) {
        let mut last = self.last();
        last.expected = last.expected.saturating_add(bytes.saturating_mul(WRITTEN_TWICE));
    }

    /// Returns the space of the disk, less what is about to be stored.
    pub(super) async fn space(&self, db: &Db) -> Option<DiskSpace> {
        if self.is_due() {
            let space = self.measure(db).await;
            let mut last = self.last();
            let expected_before = std::mem::take(&mut last.expected);
            *last = Measured { space, expected_before, ..*last };
        }
        let last = *self.last();
        let space = last.space?;
        let free = space.free.saturating_sub(last.expected.saturating_add(last.expected_before));
        // The reserve is known by now, whatever the size of the disk.
        Some(DiskSpace::new(0, free, space.reusable, Some(space.reserve)))
    }

    /// Returns whether the caller is to measure again. The others go on with the last measurement.
    fn is_due(&self) -> bool {
        let mut last = self.last();
        let is_due = last.at.is_none_or(|at| at.elapsed() >= FRESH);
        if is_due {
            last.at = Some(Instant::now());
        }
        is_due
    }

    async fn measure(&self, db: &Db) -> Option<DiskSpace> {
        let space = DiskSpace::of_file(&self.file, 0, self.reserve)?;
        if space.state == DiskState::Ample {
            return Some(space);
        }
        // Deletion frees pages of the file, not of the disk.
        let reusable = free_pages(db).await.unwrap_or_default();
        DiskSpace::of_file(&self.file, reusable, self.reserve)
    }
}

/// Returns the bytes of the file's pages that hold nothing.
async fn free_pages(db: &Db) -> Result<u64, DbError> {
    let pages = db.one("PRAGMA freelist_count", args![]).await?.int(0)?;
    let size = db.one("PRAGMA page_size", args![]).await?.int(0)?;
    Ok(u64::try_from(pages.saturating_mul(size)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1024 * 1024;

    #[test]
    fn the_last_space_is_for_messages_and_then_for_operators() {
        let state = |free, reusable| DiskSpace::new(64 * MIB, free * MIB, reusable * MIB, None).state;
        assert_eq!(state(64, 0), DiskState::Ample);
        assert_eq!(state(16, 0), DiskState::Ample);
        assert_eq!(state(15, 0), DiskState::BulkRefused);
        assert_eq!(state(4, 0), DiskState::BulkRefused);
        assert_eq!(state(3, 0), DiskState::MessagesRefused);
        assert_eq!(state(0, 0), DiskState::MessagesRefused);
    }

    #[test]
    fn deleted_pages_count_as_free_while_the_log_has_space() {
        let state = |free, reusable| DiskSpace::new(64 * MIB, free * MIB, reusable * MIB, None).state;
        assert_eq!(state(10, 20), DiskState::Ample);
        assert_eq!(state(3, 40), DiskState::BulkRefused);
    }

    #[test]
    fn the_default_reserve_is_a_quarter_of_a_small_disk() {
        assert_eq!(DiskSpace::new(64 * MIB, 0, 0, None).reserve, 16 * MIB);
        assert_eq!(DiskSpace::new(1024 * 1024 * MIB, 0, 0, None).reserve, 256 * MIB);
        assert_eq!(DiskSpace::new(64 * MIB, 0, 0, Some(MIB)).reserve, MIB);
    }

    #[test]
    fn what_is_about_to_be_stored_counts_before_it_is() {
        let disk = Disk::of_file(Path::new("/"), None);
        disk.expect(5);
        disk.expect(1);
        assert_eq!(disk.last().expected, 12);
    }
}
