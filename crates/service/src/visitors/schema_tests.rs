//! Decides for every table what an erasure, an export and a purge do with it, so that a new table is not
//! forgotten.

use std::collections::BTreeSet;

use super::fixture::{Story, execute, number, rows, service};
use super::privacy_tests::ok;
use super::subject::{Name, find};
use crate::Service;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::{Db, Dialect, args, transaction};
use crate::knowledge::search_index::put_message;

/// What happens to the rows of a table that are about an erased visitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Erasure {
    /// They are removed, and what they say is in an export.
    Exported,
    /// They are removed. What they say is also in a table that is exported.
    Copies,
    /// They stay, without the visitor's words.
    Emptied,
    /// There are none, for this reason.
    Nothing(&'static str),
}
use Erasure::{Copies, Emptied, Exported, Nothing};

const TABLES: [(&str, Erasure); 48] = [
    ("visitors", Exported),
    ("conversations", Exported),
    ("messages", Exported),
    ("notes", Exported),
    ("events", Exported),
    ("conversation_labels", Exported),
    ("message_terms", Copies),
    ("deliveries", Copies),
    ("delivery_attempts", Copies),
    ("notifications", Copies),
    ("email_notifications", Copies),
    ("pushes", Copies),
    ("reply_mails", Copies),
    (
        "mail_stops",
        Nothing("keyed hashes of addresses whose owners want no e-mails, which an erasure must not lift"),
    ),
    ("idempotency", Emptied),
    ("emails", Nothing("words are added when an e-mail is sent, and an e-mail about nothing is not sent")),
    ("audit", Nothing("it says who erased which visitor id, and is removed after two years")),
    ("rate_counters", Nothing("it holds addresses for minutes, and hashes at most for a month")),
    ("tenants", Nothing("about the customer")),
    ("sites", Nothing("about the site")),
    ("site_tokens", Nothing("about the site")),
    ("licenses", Nothing("about the site")),
    ("accounts", Nothing("about operators")),
    ("operators", Nothing("about operators")),
    ("operator_sessions", Nothing("about operators")),
    ("push_devices", Nothing("about operators")),
    ("invitations", Nothing("about operators")),
    ("consoles", Nothing("about operators")),
    ("content", Nothing("words of the site")),
    ("content_terms", Nothing("words of the site")),
    ("sources", Nothing("about the site")),
    ("source_pages", Nothing("words of the site")),
    ("crawl_hosts", Nothing("about websites")),
    ("answers", Nothing("words of operators for everybody")),
    ("answer_terms", Nothing("words of operators for everybody")),
    ("test_questions", Nothing("words of operators")),
    ("test_runs", Nothing("words of the site")),
    ("test_sets", Nothing("about the site")),
    ("knowledge_changes", Nothing("about the site")),
    ("reviews", Nothing("words of the site")),
    ("review_versions", Nothing("words of the site")),
    ("jobs", Nothing("words of the site")),
    ("ai_usage", Nothing("a number for each month")),
    ("webhooks", Nothing("about the customer's systems")),
    ("labels", Nothing("words of operators for everybody")),
    ("canned_replies", Nothing("words of operators for everybody")),
    ("storage", Nothing("numbers of bytes")),
    ("service_values", Nothing("about the service")),
];

/// Returns the names of all tables, without those that the databases and the migrations need for themselves.
async fn tables(db: &Db) -> BTreeSet<String> {
    let sql = match db.dialect() {
        // A full-text index has tables of its own, such as message_terms_data.
        Dialect::Sqlite => {
            "SELECT name FROM sqlite_schema WHERE type = 'table'
             AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND name NOT LIKE '%!_terms!_%' ESCAPE '!'"
        }
        Dialect::Postgres => {
            "SELECT CAST(table_name AS TEXT) FROM information_schema.tables
             WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
        }
    };
    let names = rows(db, sql, vec![]).await;
    let names = names.iter().map(|row| row.text(0).expect("a name"));
    names.filter(|name| name != "_sqlx_migrations").collect()
}

async fn count(service: &Service, table: &str) -> i64 {
    let sql = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
    service.db().one(sql, vec![]).await.expect("a row").int(0).expect("a number")
}

on_both_databases! {
    async fn every_table_has_a_decision_about_erasure_and_export(database: &TestDatabase) {
        let service = service(database).await;
        let known: BTreeSet<String> = TABLES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(tables(service.db()).await, known, "decide in TABLES what an erasure does with a new table");
    }

    async fn an_erasure_leaves_no_row_about_the_visitor(database: &TestDatabase) {
        let service = service(database).await;
        Story::new("shop", "v-1", "celadon", service.now_ms()).store(service.db()).await;
        for (table, erasure) in TABLES {
            let is_personal = !matches!(erasure, Nothing(_));
            assert!(!is_personal || count(&service, table).await > 0, "the story has no row in {table}");
        }
        ok(&service, "DELETE", "/sites/shop/visitors/v-1", None).await;
        for (table, erasure) in TABLES {
            if matches!(erasure, Exported | Copies) {
                assert_eq!(count(&service, table).await, 0, "{table}");
            }
        }
        let words = "SELECT count(*) FROM idempotency WHERE progress IS NOT NULL";
        assert_eq!(number(service.db(), words, vec![]).await, 0);
    }

    async fn an_address_is_found_in_every_message_that_says_it(database: &TestDatabase) {
        let service = service(database).await;
        let db = service.db();
        for visitor in ["v-1", "v-2"] {
            Story::new("shop", visitor, "celadon", service.now_ms()).store(db).await;
        }
        let sql = "SELECT m.no, v.id FROM messages m JOIN conversations c ON c.no = m.conversation_no
                   JOIN visitors v ON v.no = c.visitor_no WHERE m.seq = 1";
        for row in rows(db, sql, vec![]).await {
            let (no, visitor) = (row.int(0).expect("a number"), row.text(1).expect("an id"));
            // The second visitor has another address, which contains the first one's.
            let text = match visitor.as_str() {
                "v-1" => "我的邮箱是Ada@Private.example谢谢",
                _ => "write to not.ada@private.example",
            };
            execute(db, "UPDATE messages SET content = $1 WHERE no = $2", args![text, no]).await;
            let put = transaction!(db, |tx| put_message(tx, "shop", no, text).await);
            put.await.expect("indexed");
        }
        let name = Name::email("ada@private.example").expect("an address");
        let found = find(db, "shop", &name).await.expect("read");
        assert!(found.visitors.is_empty(), "who the visitor is, is only claimed");
        let sql = "SELECT v.id FROM conversations c JOIN visitors v ON v.no = c.visitor_no WHERE c.no = $1";
        let no = *found.conversations.keys().next().expect("a conversation");
        assert_eq!(found.conversations.len(), 1);
        assert_eq!(rows(db, sql, args![no]).await[0].text(0).expect("an id"), "v-1");
        assert!(find(db, "blog", &name).await.expect("read").is_empty());
    }
}
