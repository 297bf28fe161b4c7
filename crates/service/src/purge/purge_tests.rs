//! Tests of purging, on both databases.

use super::*;
use crate::ServiceOptions;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::{args, transaction};
use crate::visitors::fixture::{Story, add_operator, everything, execute, number, occurrences, service};

const WORD: &str = "wqzjxvkqpyhm";
const END: &str = "jxvkqpyhm";

on_both_databases! {
    async fn a_deleted_site_leaves_nothing_and_others_keep_everything(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db(), service.now_ms());
        Story { messages: 1700, ..Story::new("shop", "v-1", WORD, now_ms) }.store(db).await;
        for number in 0..60 {
            Story::new("shop", &format!("v-{number}"), WORD, now_ms).store(db).await;
            Story::new("blog", &format!("v-{number}"), "celadon", now_ms).store(db).await;
        }
        for number in 0..120 {
            let sql = "INSERT INTO content (site_id, type, external_id, locale, title, text, item, snapshot, synced_ms)
                       VALUES ('shop', 'page', $1, '', $2, $2, '{}', 's', 1)";
            execute(db, sql, args![number.to_string(), WORD]).await;
        }
        let sql = "INSERT INTO site_tokens (id, site_id, hash, created_ms) VALUES ('t', 'shop', $1, 1)";
        let hash: Vec<u8> = vec![0];
        execute(db, sql, args![hash]).await;
        once(&service).await.expect("purged");
        assert_eq!(number(db, "SELECT count(*) FROM sites", vec![]).await, 3, "nothing is due");

        execute(db, "UPDATE sites SET deleted_ms = 1 WHERE id = 'shop'", vec![]).await;
        assert!(once(&service).await.expect("purged") > 2000);
        assert_eq!(occurrences(&everything(database, db).await, "I look for wq"), 0);
        for (sql, left) in [
            ("SELECT count(*) FROM sites", 2),
            ("SELECT count(*) FROM conversations", 60),
            ("SELECT count(*) FROM messages", 180),
            ("SELECT count(*) FROM message_terms", 180),
            ("SELECT count(*) FROM notes", 60),
            ("SELECT count(*) FROM visitors", 60),
            ("SELECT count(*) FROM events", 120),
            ("SELECT count(*) FROM idempotency", 180),
            ("SELECT count(*) FROM deliveries", 180),
            ("SELECT count(*) FROM notifications", 60),
            ("SELECT count(*) FROM content", 0),
            ("SELECT count(*) FROM site_tokens", 0),
        ] {
            assert_eq!(number(db, sql, vec![]).await, left, "{sql}");
        }
        assert_eq!(once(&service).await.expect("purged"), 0);
    }

    async fn removes_silent_conversations_of_sites_with_a_retention(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db(), service.now_ms());
        execute(db, "UPDATE sites SET retention_days = 30 WHERE id = 'shop'", vec![]).await;
        for site in ["shop", "blog"] {
            for (visitor, days, status) in [
                ("v-31", 31, "closed"),
                ("v-32", 32, "open"),
                ("v-33", 33, "waiting"),
                ("v-29", 29, "closed"),
                ("v-400", 400, "closed"),
            ] {
                let at_ms = now_ms - days * DAY_MS;
                Story { status, ..Story::new(site, visitor, WORD, at_ms) }.store(db).await;
            }
        }
        once(&service).await.expect("purged");
        for (sql, left) in [
            ("SELECT count(*) FROM conversations WHERE site_id = 'shop'", 1),
            ("SELECT count(*) FROM visitors WHERE site_id = 'shop'", 1),
            ("SELECT count(*) FROM events WHERE site_id = 'shop'", 2),
            ("SELECT count(*) FROM conversations WHERE site_id = 'blog'", 5),
            // A visitor with a conversation stays with it; the events of more than a year ago go.
            ("SELECT count(*) FROM visitors WHERE site_id = 'blog'", 5),
            ("SELECT count(*) FROM events WHERE site_id = 'blog'", 8),
        ] {
            assert_eq!(number(db, sql, vec![]).await, left, "{sql}");
        }
    }

    async fn removes_what_has_expired(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db(), service.now_ms());
        let hash = |number: i64| -> Vec<u8> { number.to_be_bytes().to_vec() };
        add_operator(db, ["o", "acme", "a@b", "A", "owner"]).await;
        for (index, at_ms) in [now_ms - 100 * DAY_MS, now_ms + DAY_MS].into_iter().enumerate() {
            let index = i64::try_from(index).expect("small");
            let id = index.to_string();
            for (sql, values) in [
                ("INSERT INTO idempotency (site_id, scope, key, request, expires_ms) VALUES ('shop', '/events', $1, $2, $3)",
                    args![&id, hash(index), at_ms]),
                ("INSERT INTO operator_sessions (id, hash, operator_id, created_ms, seen_ms, rotated_ms, expires_ms, address, user_agent)
                  VALUES ($1, $2, 'o', $3, $3, $3, $3, '', '')", args![&id, hash(index), at_ms]),
                ("INSERT INTO invitations (id, hash, tenant_id, role, invited_by, created_ms, expires_ms)
                  VALUES ($1, $2, 'acme', 'agent', 'o', $3, $3)", args![&id, hash(index), at_ms]),
                ("INSERT INTO consoles (id, tenant_id, operator_id, open, seen_ms) VALUES ($1, 'acme', 'o', 1, $2)",
                    args![&id, at_ms]),
                ("INSERT INTO rate_counters (key, window_ends_ms, used) VALUES ($1, $2, 1)", args![&id, at_ms]),
                ("INSERT INTO notifications (tenant_id, site_id, conversation_id, kind, created_ms, due_ms, sent_ms)
                  VALUES ('acme', 'shop', $1, 'lead', $2, $2, $2)", args![&id, at_ms]),
                ("INSERT INTO jobs (id, site_id, type, status, title, max_attempts, payload, created_ms, updated_ms,
                  completed_ms) VALUES ($1, 'shop', 'x', 'succeeded', 'X', 3, '{}', $2, $2, $2)", args![&id, at_ms]),
                ("INSERT INTO notifications (tenant_id, site_id, conversation_id, kind, created_ms, due_ms)
                  VALUES ('acme', 'shop', $1, 'unanswered', $2, $2)", args![&id, at_ms]),
                // One that waits for an SMTP server that was switched off.
                ("INSERT INTO emails (id, tenant_id, recipient, next_ms, created_ms) VALUES ($1, 'acme', 'a@b', $2, $2)",
                    args![&id, at_ms]),
                ("INSERT INTO audit (tenant_id, at_ms, actor_id, actor, action, target)
                  VALUES ('acme', $1, 'o', 'A', 'site.update', 'shop')", args![at_ms - 631 * DAY_MS]),
                ("INSERT INTO webhooks (id, tenant_id, url, secret, created_ms) VALUES ($1, 'acme', 'https://a', $2, 1)",
                    args![&id, hash(index)]),
                ("INSERT INTO deliveries (id, webhook_id, event, body, status, next_ms, created_ms, finished_ms)
                  VALUES ($1, $1, 'message.created', '{}', 'delivered', $2, $2, $2)", args![&id, at_ms]),
                ("INSERT INTO deliveries (id, webhook_id, event, body, status, next_ms, created_ms)
                  VALUES ($1 || ' pending', $1, 'message.created', '{}', 'pending', $2, $2)", args![&id, at_ms]),
            ] {
                execute(db, sql, values).await;
            }
        }
        let sql = "INSERT INTO push_devices (id, operator_id, session_id, endpoint_hash, subscription, created_ms)
                   VALUES ('d', 'o', '1', $1, $1, 1)";
        execute(db, sql, args![hash(1)]).await;
        for (id, at_ms) in [("old", now_ms - 2 * DAY_MS), ("new", now_ms)] {
            let sql = "INSERT INTO pushes (device_id, conversation_id, cause, queued_ms) VALUES ('d', $1, 'message', $2)";
            execute(db, sql, args![id, at_ms]).await;
        }
        // More than one batch.
        for number in 0..1200 {
            let sql = "INSERT INTO rate_counters (key, window_ends_ms, used) VALUES ($1, 1, 1)";
            execute(db, sql, args![format!("old {number}")]).await;
        }
        assert_eq!(once(&service).await.expect("purged"), 1212);
        for sql in [
            "SELECT count(*) FROM idempotency",
            "SELECT count(*) FROM operator_sessions",
            "SELECT count(*) FROM invitations",
            "SELECT count(*) FROM consoles",
            "SELECT count(*) FROM rate_counters",
            "SELECT count(*) FROM notifications WHERE sent_ms IS NULL",
            "SELECT count(*) FROM notifications WHERE sent_ms > 0",
            "SELECT count(*) FROM jobs",
            "SELECT count(*) FROM pushes",
            "SELECT count(*) FROM emails",
            "SELECT count(*) FROM audit",
            "SELECT count(*) FROM deliveries WHERE status = 'delivered'",
        ] {
            assert_eq!(number(db, sql, vec![]).await, 1, "{sql}");
        }
        assert_eq!(number(db, "SELECT count(*) FROM deliveries WHERE status = 'pending'", vec![]).await, 2);
    }

    async fn a_node_leaves_the_work_to_the_one_with_the_lease(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db(), service.now_ms());
        execute(db, "INSERT INTO rate_counters (key, window_ends_ms, used) VALUES ('a', 1, 1)", vec![]).await;
        let lease = Lease::take(&service).await.expect("read").expect("free");
        assert!(Lease::take(&service).await.expect("read").is_none());
        assert_eq!(once(&service).await.expect("purged"), 0);
        // The holder died: its lease ends by itself.
        let sql = "UPDATE service_values SET value = $1 WHERE name = 'purge_lease'";
        execute(db, sql, args![(now_ms - 1).to_string()]).await;
        assert_eq!(once(&service).await.expect("purged"), 1);
        // It comes back, and notices.
        let mut late = Purge { service: &service, lease, now_ms, removed: 0 };
        let stopped = late.batch(|_| Box::pin(async { Ok(1) })).await;
        assert!(matches!(stopped, Err(Stopped::Ended)));
    }

    async fn no_byte_of_what_a_retention_removed_is_left_a_day_later(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db(), service.now_ms());
        execute(db, "UPDATE sites SET retention_days = 30 WHERE id = 'shop'", vec![]).await;
        for number in 0..40 {
            Story::new("shop", &format!("v-{number}"), WORD, now_ms - 31 * DAY_MS).store(db).await;
            Story::new("shop", &format!("v-{number}"), "celadon", now_ms).store(db).await;
        }
        // What else holds the words has a time of its own.
        execute(db, "DELETE FROM idempotency", vec![]).await;
        execute(db, "UPDATE visitors SET profile = '{}'", vec![]).await;
        assert_eq!(once(&service).await.expect("purged"), 40 * (4 + 2 + 5), "with what tells of them");
        assert!(scrub::scrub(db, now_ms + DAY_MS + 60_000).await.expect("scrubbed"));
        assert_eq!(occurrences(&everything(database, db).await, END), 0);
        assert!(occurrences(&everything(database, db).await, "celadon") > 100);
        let due = "SELECT count(*) FROM service_values WHERE name LIKE '%scrub%'";
        assert_eq!(number(db, due, vec![]).await, 0);
    }

    async fn purges_of_a_day_share_one_scrub_and_an_erasure_does_not_wait_for_it(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db(), service.now_ms());
        let request = |due_ms: i64, now: bool| {
            transaction!(db, |tx| {
                let requested: Result<(), DbError> =
                    if now { scrub::request(tx, due_ms).await } else { scrub::request_by(tx, due_ms).await };
                requested
            })
        };
        let due = "SELECT CAST(coalesce(max(CAST(value AS BIGINT)), 0) AS BIGINT) FROM service_values
                   WHERE name = 'scrub_due'";
        let is_sqlite = db.dialect() == crate::db::Dialect::Sqlite;
        let stored = |due_ms: i64| if is_sqlite { due_ms } else { 0 };
        request(now_ms + DAY_MS, false).await.expect("requested");
        request(now_ms + 2 * DAY_MS, false).await.expect("requested");
        assert!(scrub::scrub(db, now_ms).await.expect("not due"));
        assert_eq!(number(db, due, vec![]).await, stored(now_ms + DAY_MS));
        request(now_ms, true).await.expect("requested");
        request(now_ms + DAY_MS, false).await.expect("requested");
        assert_eq!(number(db, due, vec![]).await, stored(now_ms));
        assert!(scrub::scrub(db, now_ms).await.expect("scrubbed"));
        assert_eq!(number(db, due, vec![]).await, 0);
    }

    async fn stops_when_the_service_closes(database: &TestDatabase) {
        let service = service(database).await;
        let db = service.db();
        execute(db, "INSERT INTO rate_counters (key, window_ends_ms, used) VALUES ('a', 1, 1)", vec![]).await;
        service.0.closing.cancel();
        tokio::time::timeout(Duration::from_secs(20), run(service.clone())).await.expect("ends");
        assert_eq!(number(db, "SELECT count(*) FROM rate_counters", vec![]).await, 1);
        assert!(Lease::take(&service).await.expect("read").is_some(), "the lease was given back");
    }

    async fn an_erasure_that_a_crash_interrupted_is_scrubbed_later(database: &TestDatabase) {
        let service = service(database).await;
        let db = service.db();
        Story::new("shop", "v-1", WORD, service.now_ms()).store(db).await;
        let outcome: Result<(), DbError> = transaction!(db, |tx| {
            scrub::request(tx, 1).await?;
            for sql in [
                "DELETE FROM message_terms",
                "DELETE FROM conversations",
                "DELETE FROM idempotency",
                "DELETE FROM events",
                "DELETE FROM visitors",
                "DELETE FROM deliveries",
            ] {
                tx.execute(sql, args![]).await?;
            }
            Ok(())
        })
            .await;
        outcome.expect("deleted");
        once(&service).await.expect("purged");
        assert_eq!(occurrences(&everything(database, db).await, END), 0);
        assert_eq!(number(db, "SELECT count(*) FROM service_values WHERE name LIKE '%scrub%'", vec![]).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_purge_together_without_harm() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let one = service(&database).await;
    let other = crate::Service::open(ServiceOptions::new(&database.address, one.0.options.key.clone())).await;
    let other = other.expect("a second node");
    for number in 0..50 {
        Story::new("shop", &format!("v-{number}"), WORD, one.now_ms()).store(one.db()).await;
    }
    execute(one.db(), "UPDATE sites SET deleted_ms = 1 WHERE id = 'shop'", vec![]).await;
    let (first, second) = tokio::join!(once(&one), once(&other));
    let (first, second) = (first.expect("purged"), second.expect("purged"));
    assert!(first == 0 || second == 0, "one of them has the lease: {first} {second}");
    assert_eq!(number(one.db(), "SELECT count(*) FROM visitors", vec![]).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scrub_leaves_no_term_of_few_or_of_many_removed_messages() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let service = service(&database).await;
    let db = service.db();
    let mut left: i64 = 6000;
    for from in (0..left).step_by(500) {
        let added: Result<(), DbError> = transaction!(db, |tx| {
            for number in from..from + 500 {
                let sql = "INSERT INTO message_terms (rowid, terms) VALUES ($1, $2)";
                tx.execute(sql, args![number + 1, format!("look for zq{number:06}qz")]).await?;
            }
            Ok(())
        })
        .await;
        added.expect("added");
    }
    // FTS5 merges by itself when many rows are removed at once.
    for removed in [60, 60, 2400, 300, 30, 900] {
        let deleted: Result<(), DbError> = transaction!(db, |tx| {
            scrub::request(tx, 1).await?;
            let sql = "DELETE FROM message_terms WHERE rowid > $1 AND rowid <= $2";
            tx.execute(sql, args![6000 - left, 6000 - left + removed]).await.map(drop)
        })
        .await;
        deleted.expect("deleted");
        left -= removed;
        assert!(scrub::scrub(db, 1).await.expect("scrubbed"));
        // The index stores the beginning of a term once for several, and some terms once more.
        let found = i64::try_from(occurrences(&everything(&database, db).await, "qz")).expect("small");
        assert!(
            (left..left + left / 50 + 20).contains(&found),
            "{removed} removed, {left} left, {found} found"
        );
    }
}
