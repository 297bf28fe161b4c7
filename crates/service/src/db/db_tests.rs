//! Tests of both databases.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use chat_test_servers::at_once;

use super::*;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::transaction;

async fn add(db: &Db, name: &str, value: &str) -> Result<(), DbError> {
    let (name, value) = (name.to_owned(), value.to_owned());
    transaction!(db, |tx| {
        tx.wake(Wake::Settings { tenant: name.clone() });
        tx.execute("INSERT INTO service_values (name, value) VALUES ($1, $2)", args![name, value]).await?;
        Ok(())
    })
    .await
}

/// A query that never ends.
const ENDLESS: &str = "WITH RECURSIVE numbers (n) AS
    (SELECT CAST(1 AS BIGINT) UNION ALL SELECT n + 1 FROM numbers WHERE n > 0)
    SELECT count(*) FROM numbers";

async fn names(db: &Db) -> Vec<String> {
    let rows = db.all("SELECT name FROM service_values ORDER BY name", args![]).await.expect("rows");
    rows.iter().map(|row| row.text(0).expect("text")).collect()
}

/// Waits for an announcement, and ignores the one that anything may have changed.
async fn next_wake(wakes: &mut broadcast::Receiver<Wake>) -> Wake {
    let next = async {
        loop {
            match wakes.recv().await.expect("an announcement") {
                Wake::Everything => {}
                wake => return wake,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), next).await.expect("an announcement in time")
}

on_both_databases! {
    async fn stores_what_a_transaction_wrote_and_nothing_of_one_that_failed(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        add(&db, "one", "1").await.expect("written");
        let failed: Result<(), DbError> = transaction!(db, |tx| {
            tx.execute("INSERT INTO service_values (name, value) VALUES ('two', '2')", args![]).await?;
            Err(DbError::no_row())
        })
            .await;
        assert!(failed.is_err());
        let taken = add(&db, "one", "again").await.expect_err("a name is unique");
        assert!(taken.is_unique_violation() && !taken.is_transient());
        assert_eq!(names(&db).await, ["one"]);
    }

    async fn a_long_read_delays_no_other_and_ends_when_nobody_waits_for_it(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        let used = || db.stats().open - db.stats().idle;
        let before = used();
        let reads: Vec<_> = (0..2 * MAX_LONG_READERS)
            .map(|_| {
                let db = db.for_long_reads();
                tokio::spawn(async move { db.one(ENDLESS, args![]).await.map(drop) })
            })
            .collect();
        while used() < before + MAX_LONG_READERS {
            tokio::task::yield_now().await;
        }
        assert!(names(&db).await.is_empty(), "others read meanwhile");
        add(&db, "one", "1").await.expect("others write meanwhile");
        for read in reads {
            read.abort();
        }
        let long = db.for_long_reads();
        let again = at_once(2 * MAX_LONG_READERS as usize, |_| {
            let db = long.clone();
            async move { names(&db).await }
        });
        let again = tokio::time::timeout(Duration::from_secs(10), again).await.expect("free connections");
        assert!(again.iter().all(|names| names == &["one"]));
    }

    async fn a_failed_transaction_costs_those_beside_it_nothing(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        let writes = at_once(200, |number| {
            let db = db.clone();
            // Every fourth has a name that exists already.
            let name = if number % 4 == 0 { "taken".to_owned() } else { format!("name {number:03}") };
            async move { add(&db, &name, "").await.is_ok() }
        });
        let written = writes.await.into_iter().filter(|written| *written).count();
        assert_eq!((written, names(&db).await.len()), (151, 151));
    }

    /// The caches panic, which the writer of SQLite and the listener of PostgreSQL call.
    async fn the_database_goes_on_after_a_panic_in_its_tasks(database: &TestDatabase) {
        let (is_broken, panics) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let caches = {
            let (is_broken, panics) = (Arc::clone(&is_broken), Arc::clone(&panics));
            move |_: &Wake| {
                if is_broken.load(Relaxed) {
                    panics.fetch_add(1, Relaxed);
                    panic!("a panic of the test");
                }
            }
        };
        let db = Db::open(&database.address, Arc::new(caches)).await.expect("opened");
        let mut wakes = db.wakes();
        if db.dialect() == Dialect::Postgres {
            assert_eq!(wakes.recv().await.expect("the listener has begun"), Wake::Everything);
        }
        is_broken.store(true, Relaxed);
        let writer = db.clone();
        let write = tokio::spawn(async move { add(&writer, "one", "").await });
        assert!(!matches!(write.await, Ok(Ok(()))), "its caches may be outdated");
        // With PostgreSQL, the transaction's own task panics first.
        let tasks = if db.dialect() == Dialect::Postgres { 2 } else { 1 };
        let panicked = async {
            while panics.load(Relaxed) < tasks {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), panicked).await.expect("the task panics");
        is_broken.store(false, Relaxed);
        let everything = async { while wakes.recv().await.expect("an announcement") != Wake::Everything {} };
        tokio::time::timeout(Duration::from_secs(20), everything).await.expect("anything may have changed");
        add(&db, "two", "").await.expect("written");
        assert_eq!(next_wake(&mut wakes).await, Wake::Settings { tenant: "two".to_owned() });
        assert_eq!(names(&db).await, ["one", "two"], "the first was committed");
    }

    async fn values_come_back_as_they_were(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        let sql = "SELECT CAST($1 AS TEXT), CAST($2 AS BIGINT), $3, CAST($4 AS TEXT), CAST($5 AS BIGINT)";
        let bytes: &[u8] = b"\0\xff";
        let row = db.one(sql, args!["\u{1f600} '", i64::MIN, bytes, None::<String>, true]).await.expect("a row");
        assert_eq!((row.text(0).expect("text"), row.int(1).expect("a number")), ("\u{1f600} '".to_owned(), i64::MIN));
        assert_eq!(row.bytes(2).expect("bytes"), bytes);
        assert!(row.optional_text(3).expect("a column").is_none() && row.is_null(3).expect("a column"));
        assert!(row.flag(4).expect("a flag"));
        assert!(row.text(1).is_err() && row.text(9).is_err());
    }

    async fn a_nul_character_becomes_a_replacement_character(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        add(&db, "a\0b", "\0").await.expect("written");
        assert_eq!(names(&db).await, ["a\u{fffd}b"]);
        let known = "SELECT value FROM service_values WHERE name = $1";
        let row = db.one(known, args!["a\0b"]).await.expect("a row");
        assert_eq!(row.text(0).expect("text"), "\u{fffd}");
    }

    async fn a_commit_is_announced_and_a_rollback_is_not(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        let mut wakes = db.wakes();
        add(&db, "one", "").await.expect("written");
        add(&db, "one", "").await.expect_err("a name is unique");
        add(&db, "two", "").await.expect("written");
        assert_eq!(next_wake(&mut wakes).await, Wake::Settings { tenant: "one".to_owned() });
        let mut second = next_wake(&mut wakes).await;
        while second == (Wake::Settings { tenant: "one".to_owned() }) {
            second = next_wake(&mut wakes).await;
        }
        assert_eq!(second, Wake::Settings { tenant: "two".to_owned() });
    }

    async fn data_outlives_the_process_and_the_schema_is_migrated_once(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        add(&db, "one", "").await.expect("written");
        db.close().await;
        drop(db);
        // The lock of the file is free when the writer has ended.
        let reopened = async {
            loop {
                match Db::open_uncached(&database.address).await {
                    Err(OpenError::InUse(_)) => tokio::task::yield_now().await,
                    opened => return opened.expect("opened once more"),
                }
            }
        };
        let db = tokio::time::timeout(Duration::from_secs(20), reopened).await.expect("in time");
        assert_eq!(names(&db).await, ["one"]);
    }

    async fn what_refers_to_a_deleted_row_goes_with_it(database: &TestDatabase) {
        let db = Db::open_uncached(&database.address).await.expect("opened");
        let outcome: Result<(), DbError> = transaction!(db, |tx| {
            tx.execute("INSERT INTO tenants (id, name, created_ms) VALUES ('t', 'T', 1)", args![]).await?;
            let site = "INSERT INTO sites (id, tenant_id, name, created_ms) VALUES ($1, $2, 'S', 1)";
            tx.execute(site, args!["s", "t"]).await?;
            tx.execute("DELETE FROM tenants", args![]).await?;
            let left = tx.one("SELECT count(*) FROM sites", args![]).await?.int(0)?;
            assert_eq!(left, 0);
            let orphan = tx.execute(site, args!["s", "nobody"]).await;
            assert!(orphan.is_err(), "a site needs a tenant");
            Err(DbError::no_row())
        })
            .await;
        assert!(outcome.is_err());
    }
}

#[tokio::test]
async fn a_row_that_stays_locked_is_a_transient_error() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let db = Db::open_uncached(&database.address).await.expect("opened");
    add(&db, "one", "").await.expect("written");
    let update = "UPDATE service_values SET value = 'x'";
    let beside = db.clone();
    let outcome: Result<(), DbError> = transaction!(db, |tx| {
        tx.execute(update, args![]).await?;
        for limit in ["SET LOCAL lock_timeout = '5ms'", "SET LOCAL statement_timeout = '5ms'"] {
            let blocked: Result<u64, DbError> = transaction!(beside, |tx| {
                tx.execute(limit, args![]).await?;
                tx.execute(update, args![]).await
            })
            .await;
            assert!(blocked.expect_err("locked").is_transient(), "{limit}");
        }
        Ok(())
    })
    .await;
    outcome.expect("written");
}

#[tokio::test]
async fn a_migration_has_no_time_limit() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let mut connection = postgres::migrating(&database.address).await.expect("connected");
    for setting in ["SHOW lock_timeout", "SHOW statement_timeout"] {
        let value: String = sqlx::query_scalar(setting).fetch_one(&mut connection).await.expect("a value");
        assert_eq!(value, "0", "{setting}");
    }
}

#[tokio::test]
async fn nodes_on_postgres_hear_each_other() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let one = Db::open_uncached(&database.address).await.expect("opened");
    let other = Db::open_uncached(&database.address).await.expect("opened by two nodes");
    let mut wakes = other.wakes();
    // The listener announces that it has begun.
    assert_eq!(wakes.recv().await.expect("an announcement"), Wake::Everything);
    add(&one, "one", "").await.expect("written");
    assert_eq!(next_wake(&mut wakes).await, Wake::Settings { tenant: "one".to_owned() });
}

#[tokio::test]
async fn a_file_serves_one_process() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let _first = Db::open_uncached(&database.address).await.expect("opened");
    let second = Db::open_uncached(&database.address).await;
    assert!(matches!(second, Err(OpenError::InUse(_))), "{second:?}");
}

#[tokio::test]
async fn notices_what_another_process_writes_into_the_file() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let db = Db::open_uncached(&database.address).await.expect("opened");
    let mut wakes = db.wakes();
    // Written until it is noticed, because the first look only remembers what is there.
    let writer = async {
        use sqlx::{ConnectOptions, Executor};
        let mut other =
            sqlx::sqlite::SqliteConnectOptions::new().filename(&database.address).connect().await?;
        loop {
            other.execute("UPDATE service_values SET value = value").await?;
            other.execute("PRAGMA user_version = 7").await?;
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        #[allow(unreachable_code, reason = "names the type of the error")]
        Ok::<(), sqlx::Error>(())
    };
    tokio::select! {
        outcome = writer => panic!("{outcome:?}"),
        wake = wakes.recv() => assert_eq!(wake.expect("an announcement"), Wake::Everything),
    }
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_owner_can_read_the_data_files() {
    use std::os::unix::fs::PermissionsExt;
    let database = TestDatabase::new(Kind::Sqlite).await;
    std::fs::write(&database.address, "").expect("written");
    std::fs::set_permissions(&database.address, std::fs::Permissions::from_mode(0o644)).expect("a mode");
    let db = Db::open_uncached(&database.address).await.expect("opened");
    add(&db, "one", "").await.expect("written");
    let folder = std::path::Path::new(&database.address).parent().expect("a folder");
    let files: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")).collect();
    assert_eq!(files.len(), 4, "{files:?}");
    for file in files {
        let mode = file.metadata().expect("metadata").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file:?}");
    }
}
