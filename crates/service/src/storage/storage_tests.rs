//! Tests of the counts, on both databases.

use std::collections::BTreeMap;

use super::counts::{fullest, merge, of_tenant};
use super::*;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::{Db, DbError, args, transaction};
use crate::purge;
use crate::visitors::fixture::{Story, execute, number, rows, service};

/// Sums the bytes of all rows by site, as the triggers count them one by one.
const COUNTED: &str = "SELECT site_id, CAST(sum(bytes) AS BIGINT) FROM (
        SELECT site_id, 200 + octet_length(event) AS bytes FROM events
        UNION ALL SELECT site_id, 1024 + octet_length(profile) FROM visitors
        UNION ALL SELECT site_id, 2048 + 2 * octet_length(profile) FROM conversations
        UNION ALL SELECT c.site_id, 300 + 2 * octet_length(m.content) FROM messages m
            JOIN conversations c ON c.no = m.conversation_no
        UNION ALL SELECT site_id, 400 + octet_length(item) + 2 * octet_length(text) FROM content
        UNION ALL SELECT site_id, 500 + octet_length(address) + coalesce(octet_length(page), 0) FROM source_pages
        UNION ALL SELECT site_id, 2048 FROM idempotency
    ) AS counted GROUP BY site_id";
const STORED: &str = "SELECT site_id, CAST(sum(bytes) AS BIGINT) FROM storage GROUP BY site_id";

async fn sums(db: &Db, sql: &'static str) -> BTreeMap<String, i64> {
    let rows = rows(db, sql, args![]).await;
    let sum = |row: &crate::db::Row| (row.text(0).expect("a site"), row.int(1).expect("a sum"));
    rows.iter().map(sum).filter(|(_, bytes)| *bytes != 0).collect()
}

async fn assert_exact(db: &Db, after: &str) {
    assert_eq!(sums(db, STORED).await, sums(db, COUNTED).await, "{after}");
}

async fn add_content(db: &Db, id: i64, text: &'static str) {
    let sql =
        "INSERT INTO content (site_id, type, external_id, locale, title, text, item, snapshot, synced_ms)
               VALUES ('shop', 'page', $1, '', '', $2, '{}', 's', 1)
               ON CONFLICT (site_id, type, external_id, locale) DO UPDATE SET text = excluded.text";
    execute(db, sql, args![id.to_string(), text]).await;
}

on_both_databases! {
    async fn the_counts_are_exact_after_every_kind_of_change(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db(), service.now_ms());
        assert_eq!(sums(db, STORED).await, BTreeMap::new());
        for visitor in ["v-1", "v-2"] {
            Story::new("shop", visitor, "celadon", now_ms).store(db).await;
            Story::new("rival", visitor, "c\u{e9}ladon", now_ms).store(db).await;
        }
        for id in 0..5 {
            add_content(db, id, "some text").await;
        }
        let source = "INSERT INTO sources (id, site_id, address, max_pages, refresh, created_ms, state)
                      VALUES ('src', 'shop', 'https://shop.example/', 10, 'off', 1, 'read')";
        execute(db, source, args![]).await;
        for (path, page) in [("/read", Some(vec![7_u8; 3000])), ("/queued", None)] {
            let sql = "INSERT INTO source_pages (source_id, site_id, address, address_key, run, state, page)
                       VALUES ('src', 'shop', $1, $1, 1, 'read', $2)";
            execute(db, sql, args![path, page]).await;
        }
        assert_eq!(sums(db, STORED).await.len(), 2);
        assert_exact(db, "inserts").await;
        execute(db, "UPDATE source_pages SET page = $1 WHERE address = '/queued'", args![vec![7_u8; 5000]]).await;
        assert_exact(db, "a page that is read").await;
        execute(db, "UPDATE source_pages SET page = NULL WHERE address = '/read'", args![]).await;
        assert_exact(db, "a page that is forgotten").await;
        add_content(db, 0, "a text that is longer").await;
        add_content(db, 1, "").await;
        execute(db, "UPDATE visitors SET profile = '{\"name\":\"Ada Lovelace\"}' WHERE id = 'v-1'", args![]).await;
        execute(db, "UPDATE conversations SET profile = '{}'", args![]).await;
        assert_exact(db, "updates").await;
        execute(db, "DELETE FROM events WHERE visitor_id = 'v-1'", args![]).await;
        execute(db, "DELETE FROM content WHERE external_id <> '0'", args![]).await;
        execute(db, "DELETE FROM messages WHERE seq = 1", args![]).await;
        execute(db, "DELETE FROM idempotency", args![]).await;
        execute(db, "DELETE FROM source_pages WHERE address = '/read'", args![]).await;
        assert_exact(db, "deletes").await;
        // Removes its pages.
        execute(db, "DELETE FROM sources", args![]).await;
        assert_exact(db, "a source that is removed").await;
        let failed: Result<(), DbError> = transaction!(db, |tx| {
            tx.execute("DELETE FROM events", args![]).await?;
            tx.execute("INSERT INTO none VALUES (1)", args![]).await.map(drop)
        })
        .await;
        assert!(failed.is_err());
        assert_exact(db, "a rollback").await;
    }

    async fn a_site_that_is_deleted_leaves_no_counts(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db(), service.now_ms());
        Story::new("shop", "v-1", "celadon", now_ms).store(db).await;
        Story::new("rival", "v-1", "celadon", now_ms).store(db).await;
        add_content(db, 1, "text").await;
        execute(db, "UPDATE sites SET deleted_ms = 1 WHERE id = 'shop'", args![]).await;
        purge::once(&service).await.expect("purged");
        assert_eq!(number(db, "SELECT count(*) FROM storage WHERE site_id = 'shop'", args![]).await, 0);
        assert!(number(db, "SELECT count(*) FROM storage WHERE site_id = 'rival'", args![]).await > 0);
        assert_exact(db, "the other site").await;
    }

    async fn a_tenant_has_the_counts_of_its_own_sites(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db(), service.now_ms());
        for site in ["shop", "blog", "rival"] {
            Story::new(site, "v-1", "celadon", now_ms).store(db).await;
        }
        let acme = of_tenant(db, "acme").await.expect("read");
        assert_eq!(acme.keys().collect::<std::collections::BTreeSet<_>>().len(), 2);
        let shop = acme["shop"];
        let within = transaction!(db, |tx| used(tx, "shop").await);
        assert_eq!(within.await.expect("read"), shop);
        let budgets = StorageBudgets { site: shop, tenant: u64::MAX, ..StorageBudgets::default() };
        let full = fullest(db, &budgets).await.expect("read");
        assert_eq!(full.len(), 3, "{full:?}");
        let budgets = StorageBudgets { site: u64::MAX, tenant: shop + shop / 2, ..budgets };
        let full = fullest(db, &budgets).await.expect("read");
        assert_eq!(full.iter().map(|full| (full.kind, full.name.as_str())).collect::<Vec<_>>(), [("tenant", "acme")]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn merging_keeps_the_sums_while_others_write() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let service = service(&database).await;
    let (db, now_ms) = (service.db().clone(), service.now_ms());
    let writing = {
        let db = db.clone();
        tokio::spawn(async move {
            for number in 0..40 {
                Story::new("shop", &format!("v-{number}"), "celadon", now_ms).store(&db).await;
            }
        })
    };
    while !writing.is_finished() {
        tokio::try_join!(merge(&db), merge(&db)).expect("merged");
    }
    writing.await.expect("no panic");
    merge(&db).await.expect("merged");
    assert_exact(&db, "merging").await;
    assert_eq!(number(&db, "SELECT count(*) FROM storage WHERE site_id = 'shop'", args![]).await, 1);
}
