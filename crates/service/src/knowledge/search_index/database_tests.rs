//! Tests the full-text index of messages on both databases.

use super::*;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::{Db, DbError, transaction};
use crate::visitors::fixture;

/// Adds a conversation with messages to each site, and returns the database.
async fn with_messages(database: &TestDatabase, messages: &'static [(&'static str, &'static str)]) -> Db {
    let db = fixture::open(database).await;
    let written: Result<(), DbError> = transaction!(db, |tx| {
        for (seq, (site, text)) in messages.iter().enumerate() {
            let conversation = "INSERT INTO conversations (id, site_id, status, created_ms, updated_ms)
                VALUES ($1, $1, 'open', 1, 1) ON CONFLICT (id) DO UPDATE SET updated_ms = 2 RETURNING no";
            let conversation = tx.one(conversation, args![*site]).await?.int(0)?;
            let message = "INSERT INTO messages (conversation_no, seq, role, content, created_ms)
                VALUES ($1, $2, 'visitor', $3, 1) RETURNING no";
            let seq = i64::try_from(seq).expect("few");
            let no = tx.one(message, args![conversation, seq, *text]).await?.int(0)?;
            put_message(tx, site, no, text).await?;
        }
        Ok(())
    })
    .await;
    written.expect("written");
    db
}

async fn found(db: &Db, site: &str, search: &str) -> Vec<String> {
    let Some(query) = message_query(db.dialect(), &[site], search) else { return Vec::new() };
    let matching = SearchTable::Messages.matching(db.dialect(), 1);
    let sql = format!("SELECT content FROM messages WHERE no IN ({matching}) ORDER BY no");
    let rows = db.all(sqlx::AssertSqlSafe(sql), args![query]).await.expect("searched");
    rows.iter().map(|row| row.text(0).expect("text")).collect()
}

const MESSAGES: [(&str, &str); 7] = [
    ("shop", "Where are my deliveries? Write to ann.lee@example.org"),
    ("shop", "Die Lieferung ist noch nicht da"),
    ("shop", "请问我的快递到哪里了"),
    ("shop", "أين طلبي رقم ٢٠٤١٧؟"),
    ("shop", "NEAR AND OR NOT 'quoted' \"quoted\" & | ! :* \\"),
    ("shop", ""),
    ("rival", "Where are my deliveries?"),
];

on_both_databases! {
    async fn finds_messages_of_the_site_by_all_words_in_any_form(database: &TestDatabase) {
        let db = with_messages(database, &MESSAGES).await;
        for (search, expected) in [
            ("delivery", vec![0]),
            ("DELIVERIES where", vec![0]),
            ("deliv", vec![0]),
            ("delivery lieferung", vec![]),
            ("ann.lee@example.org", vec![0]),
            ("Lieferungen", vec![1]),
            ("快递", vec![2]),
            ("快递 哪里", vec![2]),
            ("طلبي", vec![3]),
            ("20417", vec![3]),
            ("quoted", vec![4]),
            ("near not or", vec![4]),
            ("'quoted' & !", vec![4]),
            ("", vec![]),
            ("…", vec![]),
        ] {
            let expected: Vec<&str> = expected.into_iter().map(|index: usize| MESSAGES[index].1).collect();
            assert_eq!(found(&db, "shop", search).await, expected, "{search}");
        }
        assert_eq!(found(&db, "rival", "delivery").await.len(), 1);
        assert_eq!(found(&db, "blog", "delivery").await, Vec::<String>::new());
    }

    async fn deleted_messages_leave_the_index(database: &TestDatabase) {
        let db = with_messages(database, &MESSAGES).await;
        fixture::execute(&db, "DELETE FROM conversations WHERE site_id = $1", args!["shop"]).await;
        assert_eq!(found(&db, "shop", "delivery").await, Vec::<String>::new());
        let left = db.one("SELECT count(*) FROM message_terms", args![]).await.expect("counted");
        assert_eq!(left.int(0).expect("a number"), 1);
    }

    async fn any_search_is_valid(database: &TestDatabase) {
        let db = with_messages(database, &MESSAGES).await;
        for search in ["\0", "'", "\"", "''; DROP TABLE messages; --", "a' | 'b", "(((", "*", "-", "\u{202e}x", "ß"] {
            found(&db, "shop", search).await;
        }
        found(&db, "shop", &"word ".repeat(10_000)).await;
        found(&db, "shop", &"字".repeat(10_000)).await;
    }
}
