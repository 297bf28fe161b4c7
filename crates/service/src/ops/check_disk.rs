//! Checks the disk with an SQLite file.

use std::path::Path;

use sqlx::{ConnectOptions, Connection};

use super::doctor::Finding;
use crate::db::sqlite;
use crate::storage::{DiskSpace, DiskState};

/// Checks the free space of the disk with a database's file.
pub async fn check_disk(database: &Path) -> Finding {
    let size = std::fs::metadata(database).map_or(0, |found| found.len());
    let reusable = if size > 0 { free_pages(database).await.unwrap_or_default() } else { 0 };
    match DiskSpace::of_file(database, reusable, None) {
        Some(space) => judge(space, size),
        None => {
            Finding::warning("disk", format!("the free space beside {} cannot be read", database.display()))
        }
    }
}

/// Returns the bytes of a file's pages that hold nothing, which the service uses again.
async fn free_pages(database: &Path) -> Result<u64, sqlx::Error> {
    let mut connection = sqlite::options(database).connect().await?;
    let pages: i64 = sqlx::query_scalar("PRAGMA freelist_count").fetch_one(&mut connection).await?;
    let size: i64 = sqlx::query_scalar("PRAGMA page_size").fetch_one(&mut connection).await?;
    connection.close().await?;
    Ok(u64::try_from(pages.saturating_mul(size)).unwrap_or_default())
}

/// Compares the free space with the reserve, and with the size of the database: a backup needs as much again.
fn judge(space: DiskSpace, size: u64) -> Finding {
    let mebibytes = |bytes: u64| bytes / (1024 * 1024);
    let text = format!(
        "{} MiB free, and {} MiB in the database of {} MiB",
        mebibytes(space.free),
        mebibytes(space.reusable),
        mebibytes(size)
    );
    let reserve = mebibytes(space.reserve);
    match space.state {
        DiskState::MessagesRefused => Finding::error(
            "disk",
            format!("{text}: free some space, or delete a site. Messages, events and content are refused"),
        ),
        DiskState::BulkRefused => Finding::error(
            "disk",
            format!("{text}: free some space. Below {reserve} MiB, events and content are refused"),
        ),
        DiskState::Ample if space.free < size => {
            Finding::warning("disk", format!("{text}: too little for a backup on the same disk"))
        }
        DiskState::Ample => Finding::ok("disk", text),
    }
}

#[cfg(test)]
mod tests {
    use super::super::doctor::Level;
    use super::*;

    #[test]
    fn judges_free_space_by_the_reserve_and_the_size_of_the_database() {
        const GIB: u64 = 1024 * 1024 * 1024;
        let judged =
            |free, size, state| judge(DiskSpace { free, reusable: 0, reserve: GIB / 4, state }, size).level;
        assert_eq!(judged(10 * GIB, GIB, DiskState::Ample), Level::Ok);
        assert_eq!(judged(GIB, 2 * GIB, DiskState::Ample), Level::Warning);
        assert_eq!(judged(GIB / 8, 0, DiskState::BulkRefused), Level::Error);
        assert_eq!(judged(0, 0, DiskState::MessagesRefused), Level::Error);
    }
}
