//! The free space of the disk with the database.

use std::path::Path;

use chat_service::ops::Finding;

/// Free space below which nothing can be stored for long, in bytes.
const MIN_FREE: u64 = 200 * 1024 * 1024;

pub(super) fn check(database: &Path) -> Finding {
    let folder = database.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let size = std::fs::metadata(database).map_or(0, |found| found.len());
    match free(folder) {
        Some(free) => judge(free, size),
        None => Finding::warning("disk", format!("the free space of {} cannot be read", folder.display())),
    }
}

/// Compares the free space with the size of the database: a backup and a migration need as much again.
fn judge(free: u64, size: u64) -> Finding {
    let mebibytes = |bytes: u64| bytes / (1024 * 1024);
    let text = format!("{} MiB free, the database has {} MiB", mebibytes(free), mebibytes(size));
    if free < MIN_FREE {
        Finding::error("disk", format!("{text}: free some space, or messages cannot be stored"))
    } else if free < size {
        Finding::warning("disk", format!("{text}: too little for a backup on the same disk"))
    } else {
        Finding::ok("disk", text)
    }
}

#[cfg(unix)]
fn free(folder: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(folder).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

#[cfg(not(unix))]
fn free(_: &Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat_service::ops::Level;

    #[test]
    fn judges_free_space_by_the_size_of_the_database() {
        let gibibyte = 1024 * 1024 * 1024;
        assert_eq!(judge(10 * gibibyte, gibibyte).level, Level::Ok);
        assert_eq!(judge(gibibyte, 2 * gibibyte).level, Level::Warning);
        assert_eq!(judge(gibibyte / 100, 0).level, Level::Error);
        assert_eq!(judge(0, 0).level, Level::Error);
    }
}
