//! Tests of what only PostgreSQL has: several connections, and several nodes.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, broadcast};
use tokio::time::timeout;

use super::{MAX_READERS, MAX_WRITERS};
use crate::databases::{Kind, TestDatabase};
use crate::db::{Db, DbError, Wake, args, transaction, work};

/// Whether a commit waits for the disk, and who says so.
const DURABILITY: &str =
    "SELECT setting || ' set by ' || source FROM pg_settings WHERE name = 'synchronous_commit'";
const PATIENCE: Duration = Duration::from_secs(30);

/// Opens a node, and waits until it listens.
async fn node(database: &TestDatabase) -> (Db, broadcast::Receiver<Wake>) {
    let db = Db::open_uncached(&database.address).await.expect("opened");
    let mut wakes = db.wakes();
    wait_for(&mut wakes, &Wake::Everything).await;
    (db, wakes)
}

async fn wait_for(wakes: &mut broadcast::Receiver<Wake>, awaited: &Wake) {
    let wait = async { while wakes.recv().await.expect("an announcement") != *awaited {} };
    timeout(PATIENCE, wait).await.expect("an announcement in time");
}

fn conversation(number: usize) -> Wake {
    let text = |text: &str| text.to_owned();
    Wake::Conversation { tenant: text("t"), site: text("s"), conversation: format!("c{number}") }
}

async fn announce(db: &Db, wake: Wake) {
    let announced: Result<(), DbError> = transaction!(db, |tx| {
        tx.wake(wake);
        tx.execute("UPDATE service_values SET value = value", args![]).await.map(drop)
    })
    .await;
    announced.expect("written");
}

async fn read_many(db: &Db, count: u32) {
    let reads = (0..count).map(|_| {
        let db = db.clone();
        tokio::spawn(async move { db.one("SELECT count(*) FROM service_values", args![]).await })
    });
    for read in reads.collect::<Vec<_>>() {
        read.await.expect("no panic").expect("a row");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_go_on_after_all_connections_were_lost() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let db = Db::open_uncached(&database.address).await.expect("opened");
    for _ in 0..3 {
        read_many(&db, 4 * MAX_READERS).await;
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";
        db.all(end, args![]).await.expect("ended");
    }
    read_many(&db, 4 * MAX_READERS).await;
    assert!(db.stats().open >= db.stats().idle);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_and_unflushed_writes_do_not_wait_for_writers() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let db = Db::open_uncached(&database.address).await.expect("opened");
    let (begun, end) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let writes: Vec<_> = (0..MAX_WRITERS)
        .map(|_| {
            let (db, begun, end) = (db.clone(), begun.clone(), end.clone());
            tokio::spawn(async move {
                transaction!(db, |tx| {
                    tx.one("SELECT 1", args![]).await?;
                    begun.add_permits(1);
                    drop(end.acquire().await);
                    Ok::<(), DbError>(())
                })
                .await
            })
        })
        .collect();
    drop(begun.acquire_many(MAX_WRITERS).await);
    read_many(&db, 4 * MAX_READERS).await;
    let unflushed: Result<String, DbError> =
        db.write_unflushed(work!(|tx| tx.one(DURABILITY, args![]).await?.text(0))).await;
    assert_eq!(unflushed.expect("written"), "off set by client");
    end.add_permits(1);
    for write in writes {
        write.await.expect("no panic").expect("written");
    }
    let flushed: Result<String, DbError> =
        transaction!(db, |tx| tx.one(DURABILITY, args![]).await?.text(0)).await;
    let flushed = flushed.expect("written");
    assert!(!flushed.ends_with("client"), "the server decides: {flushed}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reads_that_nobody_waits_for_give_back_their_connections() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let db = Db::open_uncached(&database.address).await.expect("opened");
    for round in 0..20 {
        let reads: Vec<_> = (0..2 * MAX_READERS)
            .map(|_| {
                let db = db.clone();
                tokio::spawn(async move { db.all("SELECT pg_sleep(0.02)", args![]).await.map(drop) })
            })
            .collect();
        for _ in 0..round {
            tokio::task::yield_now().await;
        }
        for read in reads {
            read.abort();
        }
        let row = db.one("SELECT CAST($1 AS BIGINT)", args![i64::from(round)]).await.expect("a row");
        assert_eq!(row.int(0).expect("a number"), i64::from(round), "not a row of another query");
    }
    read_many(&db, 4 * MAX_READERS).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_ends_a_long_read_that_nobody_waits_for() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let db = Db::open_uncached(&database.address).await.expect("opened");
    let running = async |expected: i64| {
        let sql = "SELECT count(*) FROM pg_stat_activity
                   WHERE datname = current_database() AND state = 'active' AND query LIKE 'SELECT pg_sleep%'";
        let wait = async {
            while db.one(sql, args![]).await?.int(0)? != expected {}
            Ok::<_, DbError>(())
        };
        timeout(PATIENCE, wait).await.expect("in time").expect("a number");
    };
    let long = db.for_long_reads();
    let read = tokio::spawn(async move { long.all("SELECT pg_sleep(600)", args![]).await.map(drop) });
    running(1).await;
    read.abort();
    running(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_commit_is_announced_to_the_other_node() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let (one, _) = node(&database).await;
    let (_other, mut wakes) = node(&database).await;
    let mut awaited: HashSet<Wake> = (0..200).map(conversation).collect();
    for wake in awaited.clone() {
        let one = one.clone();
        tokio::spawn(async move { announce(&one, wake).await });
    }
    let wait = async {
        while !awaited.is_empty() {
            awaited.remove(&wakes.recv().await.expect("an announcement"));
        }
    };
    timeout(PATIENCE, wait).await.expect("all announcements in time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_stops_announces_its_last_change() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let (one, _) = node(&database).await;
    let (_other, mut wakes) = node(&database).await;
    announce(&one, conversation(1)).await;
    one.close().await;
    wait_for(&mut wakes, &conversation(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_death_of_a_node_is_noticed() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let (other, _) = node(&database).await;
    let (_one, mut wakes) = node(&database).await;
    drop(other);
    wait_for(&mut wakes, &Wake::Everything).await;
}
