//! Tests of the migrations, with rows of earlier versions.

use sqlx::{ConnectOptions, Connection};

use super::*;
use crate::conversations::search_text::fill;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::{Db, args, is_postgres, postgres, sqlite};

/// Rows as version 5 had them. The first visitor left an address and got answers of the AI and of an
/// operator, the second one nothing.
const ROWS_OF_VERSION_5: &str = r#"
    INSERT INTO tenants (id, name, created_ms) VALUES ('acme', 'Acme', 1);
    INSERT INTO sites (id, tenant_id, name, created_ms) VALUES ('shop', 'acme', 'Shop', 1);
    INSERT INTO sites (id, tenant_id, name, created_ms, publishing) VALUES ('auto', 'acme', 'Auto', 1, 'automatic');
    INSERT INTO conversations (id, site_id, status, profile, notes, last_seq, created_ms, updated_ms, waiting_since_ms)
        VALUES ('c1', 'shop', 'open', '{"visitorId":"v","name":"Ada","email":"Ada@shop.example","phone":null}',
                '{"wants_person":true}', 3, 1000, 1500, NULL),
               ('c2', 'shop', 'waiting', '{"visitorId":null,"name":null,"email":null,"phone":null}', '{}', 1, 2000,
                2000, 2000);
    INSERT INTO messages (conversation_no, seq, role, content, created_ms) SELECT no, 1, 'visitor', 'x', created_ms
        FROM conversations;
    INSERT INTO messages (conversation_no, seq, role, content, created_ms, reply_to, sources)
        SELECT no, 2, 'assistant', 'x', 1200, 1, '["answer:a"]' FROM conversations WHERE id = 'c1';
    INSERT INTO messages (conversation_no, seq, role, content, created_ms) SELECT no, 3, 'operator', 'x', 1500
        FROM conversations WHERE id = 'c1';
    INSERT INTO visitors (site_id, id, first_seen_ms, last_seen_ms) VALUES ('shop', 'v', 1, 1);
    INSERT INTO events (site_id, visitor_id, type, event, received_ms) VALUES ('shop', 'v', 'x', '{"path":"/é"}', 1),
        ('auto', NULL, 'x', '{}', 1);
    INSERT INTO content (site_id, type, external_id, locale, title, text, item, snapshot, synced_ms)
        VALUES ('shop', 'page', '1', '', '', 'ten bytes.', '{}', 's', 1);
    INSERT INTO idempotency (site_id, scope, key, request, expires_ms) VALUES ('auto', '/events', 'k', 'x', 1);
"#;

/// Rows as version 8 had them: a visitor with two conversations, who is blocked, and one who claims the
/// id of a verified visitor.
const ROWS_OF_VERSION_8: &str = r#"
    INSERT INTO tenants (id, name, created_ms) VALUES ('acme', 'Acme', 1);
    INSERT INTO sites (id, tenant_id, name, created_ms) VALUES ('shop', 'acme', 'Shop', 1);
    INSERT INTO visitors (site_id, id, profile, first_seen_ms, last_seen_ms, blocked, edited)
        VALUES ('shop', 'v', '{"name":"Ada","email":"eve@shop.example"}', 1, 1, 1, '["name"]'),
               ('shop', 'verified:x', '{"email":"eve@shop.example"}', 1, 1, 0, '[]'),
               ('shop', 'claimed:verified:x', '{}', 1, 1, 0, '[]');
    INSERT INTO conversations
            (id, site_id, visitor_no, status, profile, created_ms, updated_ms, blocked, edited)
        SELECT 'c1', 'shop', no, 'closed', '{"visitorId":"v","name":"Ada"}', 1, 1, 1, '["name"]'
            FROM visitors WHERE id = 'v'
        UNION ALL SELECT 'c2', 'shop', no, 'closed', '{"visitorId":"v","email":"eve@shop.example"}', 1, 1, 1, '[]'
            FROM visitors WHERE id = 'v'
        UNION ALL SELECT 'c3', 'shop', no, 'open', '{"visitorId":"verified:x","name":"Eve"}', 1, 1, 0, '[]'
            FROM visitors WHERE id = 'verified:x';
    INSERT INTO events (site_id, received_ms, visitor_id, type, event)
        VALUES ('shop', 1, 'v', 'page_view', '{}'), ('shop', 1, 'verified:x', 'page_view', '{}');
"#;

/// Rows as version 12 had them: activities as English sentences, and a note that reads like one.
const ROWS_OF_VERSION_12: &str = r"
    INSERT INTO tenants (id, name, created_ms) VALUES ('acme', 'Acme', 1);
    INSERT INTO sites (id, tenant_id, name, created_ms) VALUES ('shop', 'acme', 'Shop', 1);
    INSERT INTO conversations (id, site_id, status, created_ms, updated_ms) VALUES ('c1', 'shop', 'open', 1, 1);
    INSERT INTO notes (id, conversation_no, kind, content, after_seq, created_ms)
        SELECT 'n1', no, 'activity', 'assigned to Zoë O''Hara', 0, 1 FROM conversations;
    INSERT INTO notes (id, conversation_no, kind, content, after_seq, created_ms)
        SELECT 'n2', no, 'activity', 'labels: Damage, Über uns', 0, 1 FROM conversations;
    INSERT INTO notes (id, conversation_no, kind, content, after_seq, created_ms)
        SELECT 'n3', no, 'activity', 'snoozed until 2027-01-02T03:04:05.000Z', 0, 1 FROM conversations;
    INSERT INTO notes (id, conversation_no, kind, content, after_seq, created_ms)
        SELECT 'n4', no, 'activity', 'open', 0, 1 FROM conversations;
    INSERT INTO notes (id, conversation_no, kind, content, after_seq, created_ms)
        SELECT 'n5', no, 'activity', 'took over', 0, 1 FROM conversations;
    INSERT INTO notes (id, conversation_no, kind, content, after_seq, created_ms)
        SELECT 'n6', no, 'note', 'assigned to nobody in particular', 0, 1 FROM conversations;
";

/// Rows as version 12 had them: two operators of different tenants, one of whom is signed in, is told of
/// conversations and has one, and has invited somebody.
const OPERATORS_OF_VERSION_12: &str = r#"
    INSERT INTO tenants (id, name, created_ms) VALUES ('acme', 'Acme', 1), ('beta', 'Beta', 1);
    INSERT INTO sites (id, tenant_id, name, created_ms) VALUES ('shop', 'acme', 'Shop', 1);
    INSERT INTO operators (id, tenant_id, email, name, role, password, totp_secret, totp_step, recovery_codes,
            created_ms, email_kinds, email_locale, availability, preferences)
        VALUES ('o1', 'acme', 'ada@acme.example', 'Ada', 'owner', 'hash 1', 'sealed', 7, '["code"]', 5, '["lead"]',
                'de', 'away', '{"a":1}'),
               ('o2', 'beta', 'bob@beta.example', 'Bob', 'agent', 'hash 2', NULL, 0, '[]', 6, '[]', NULL,
                'automatic', '{}');
    INSERT INTO operator_sessions (id, hash, operator_id, created_ms, seen_ms, rotated_ms, expires_ms, address,
            user_agent) VALUES ('s', 'hash', 'o1', 1, 1, 1, 9, '', '');
    INSERT INTO invitations (id, hash, tenant_id, operator_id, email, role, invited_by, created_ms, expires_ms)
        VALUES ('i1', 'a', 'acme', NULL, 'eve@acme.example', 'agent', 'o1', 1, 9),
               ('i2', 'b', 'acme', 'o1', NULL, 'agent', 'service', 1, 9);
    INSERT INTO conversations (id, site_id, status, created_ms, updated_ms, assignee_id)
        VALUES ('c1', 'shop', 'open', 1, 1, 'o1');
    INSERT INTO push_devices (id, operator_id, session_id, endpoint_hash, subscription, created_ms)
        VALUES ('d', 'o1', 's', 'x', 'x', 1);
"#;

/// Rows that only a connection without foreign keys can add: the site of a tenant that there is not.
const ROWS_THAT_LEAD_NOWHERE: &str = "
    PRAGMA foreign_keys = OFF;
    INSERT INTO sites (id, tenant_id, name, created_ms) VALUES ('shop', 'nobody', 'Shop', 1);
";

/// Creates a database of an earlier version, with rows.
async fn create(address: &str, version: i64, rows: &'static str) {
    if is_postgres(address) {
        let mut connection = postgres::migrating(address).await.expect("connected");
        migrator_to(Dialect::Postgres, version).run(&mut connection).await.expect("migrated");
        connection.execute(rows).await.expect("added");
        connection.close().await.expect("closed");
    } else {
        let options = sqlite::options(address.as_ref()).create_if_missing(true);
        let mut connection = options.connect().await.expect("connected");
        migrator_to(Dialect::Sqlite, version).run(&mut connection).await.expect("migrated");
        connection.execute(rows).await.expect("added");
        connection.close().await.expect("closed");
    }
}

async fn create_version_5(address: &str) {
    create(address, 5, ROWS_OF_VERSION_5).await;
}

on_both_databases! {
    async fn sites_in_automatic_mode_go_on_without_the_limit_of_new_ones(database: &TestDatabase) {
        create_version_5(&database.address).await;
        let db = Db::open_uncached(&database.address).await.expect("migrated");
        let sql = "SELECT publishing_limit, publishing_version, publishing_rules FROM sites ORDER BY id";
        let rows = db.all(sql, args![]).await.expect("rows");
        let site = |row: &crate::db::Row| {
            (row.int(0).expect("a limit"), row.int(1).expect("a version"), row.text(2).expect("rules"))
        };
        let sites: Vec<_> = rows.iter().map(site).collect();
        assert_eq!(sites, [(10_000, 0, "[]".to_owned()), (100, 0, "[]".to_owned())]);
    }

    async fn conversations_of_version_5_get_what_the_inbox_needs(database: &TestDatabase) {
        create_version_5(&database.address).await;
        let db = Db::open_uncached(&database.address).await.expect("migrated");
        fill(&db).await.expect("the texts are made");
        let sql = "SELECT tenant_id, search_text, is_lead, answered_by_ai, answered_by_person, last_reply_seq,
                first_response_ms, handed_off_ms, sort_key
            FROM conversations ORDER BY id";
        let rows = db.all(sql, args![]).await.expect("rows");
        let texts = |row: &crate::db::Row| (row.text(0).expect("a tenant"), row.text(1).expect("a text"));
        let numbers = |row: &crate::db::Row| -> Vec<Option<i64>> {
            (2..9).map(|column| row.optional_int(column).expect("a number")).collect()
        };
        let (tenant, text) = texts(&rows[0]);
        assert!(tenant == "acme" && text == "ada\nada shop example", "{text}");
        assert_eq!(numbers(&rows[0]), [1, 1, 1, 3, 200, 1000, 1500].map(Some));
        let (tenant, text) = texts(&rows[1]);
        assert!(tenant == "acme" && text.is_empty(), "{text}");
        let waiting = 8_000_000_000_000_000 - 2000;
        assert_eq!(numbers(&rows[1]), [Some(0), Some(0), Some(0), Some(0), None, None, Some(waiting)]);
    }

    async fn the_rows_of_version_5_are_counted(database: &TestDatabase) {
        create(&database.address, 5, ROWS_OF_VERSION_5).await;
        let db = Db::open_uncached(&database.address).await.expect("migrated");
        let rows = db.all("SELECT site_id, bytes FROM storage ORDER BY site_id", args![]).await.expect("rows");
        let stored = |row: &crate::db::Row| (row.text(0).expect("a site"), row.int(1).expect("bytes"));
        let stored: Vec<_> = rows.iter().map(stored).collect();
        let sql = "SELECT CAST(sum(octet_length(profile)) AS BIGINT) FROM conversations";
        let profiles = db.one(sql, args![]).await.expect("a row").int(0).expect("bytes");
        let (conversations, messages) = (2 * 2048 + 2 * profiles, 4 * (300 + 2));
        let (visitor, event, content) = (1024 + 2, 200 + 14, 400 + 2 + 2 * 10);
        assert_eq!(stored, [
            ("auto".to_owned(), 202 + 2048),
            ("shop".to_owned(), conversations + messages + visitor + event + content),
        ]);
    }

    async fn visitors_of_version_8_stay_blocked_and_are_nobody_whom_a_site_proves(database: &TestDatabase) {
        create(&database.address, 8, ROWS_OF_VERSION_8).await;
        let db = Db::open_uncached(&database.address).await.expect("migrated");
        let texts = async |sql: &'static str| -> Vec<String> {
            let rows = db.all(sql, args![]).await.expect("rows");
            rows.iter().map(|row| row.text(0).expect("a text")).collect()
        };
        let visitors = "SELECT id || ' ' || profile || edited || blocked FROM visitors ORDER BY id";
        assert_eq!(texts(visitors).await, ["claimed:verified:x {}[]0", "v {}[]1"]);
        let conversations =
            "SELECT c.profile || c.edited || c.verified || c.blocked || coalesce(v.id, '-') FROM conversations c
             LEFT JOIN visitors v ON v.no = c.visitor_no ORDER BY c.id";
        assert_eq!(
            texts(conversations).await,
            [
                r#"{"visitorId":"v","name":"Ada"}["name"][]1v"#,
                r#"{"visitorId":"v","email":"eve@shop.example"}[][]1v"#,
                r#"{"visitorId":"claimed:verified:x","name":"Eve"}[][]0-"#,
            ]
        );
        assert_eq!(texts("SELECT visitor_id FROM events ORDER BY no").await, ["v", "claimed:verified:x"]);
    }

    async fn activities_of_version_12_become_facts(database: &TestDatabase) {
        create(&database.address, 12, ROWS_OF_VERSION_12).await;
        let db = Db::open_uncached(&database.address).await.expect("migrated");
        let sql = "SELECT content, coalesce(event, '-') || '|' || coalesce(detail, '-') FROM notes ORDER BY no";
        let rows = db.all(sql, args![]).await.expect("rows");
        let facts: Vec<_> =
            rows.iter().map(|row| (row.text(0).expect("a text"), row.text(1).expect("a fact"))).collect();
        let expected = [
            ("assigned to Zoë O'Hara", "assigned|Zoë O'Hara"),
            ("labels: Damage, Über uns", "labeled|Damage, Über uns"),
            ("snoozed until 2027-01-02T03:04:05.000Z", "snoozed|2027-01-02T03:04:05.000Z"),
            ("open", "opened|-"),
            ("took over", "took_over|-"),
            ("assigned to nobody in particular", "-|-"),
        ];
        assert_eq!(facts, expected.map(|(text, fact)| (text.to_owned(), fact.to_owned())));
    }

    async fn operators_of_version_12_get_accounts_and_stay_signed_in(database: &TestDatabase) {
        create(&database.address, 12, OPERATORS_OF_VERSION_12).await;
        let db = Db::open_uncached(&database.address).await.expect("migrated");
        let texts = async |sql: &'static str| -> Vec<String> {
            let rows = db.all(sql, args![]).await.expect("rows");
            rows.iter().map(|row| row.text(0).expect("a text")).collect()
        };
        let accounts = "SELECT id || ' ' || address || ' ' || password || ' ' || totp_step || recovery_codes
            || CASE WHEN totp_secret IS NULL THEN ' -' ELSE ' factor' END || coalesce(confirmed_ms, 0)
            FROM accounts ORDER BY id";
        assert_eq!(texts(accounts).await, [
            r#"o1 ada@acme.example hash 1 7["code"] factor0"#,
            "o2 bob@beta.example hash 2 0[] -0",
        ]);
        let operators = "SELECT id || ' ' || account_id || tenant_id || email || name || role || created_ms
            || email_kinds || coalesce(email_locale, '-') || availability || preferences
            FROM operators ORDER BY id";
        assert_eq!(texts(operators).await, [
            r#"o1 o1acmeada@acme.exampleAdaowner5["lead"]deaway{"a":1}"#,
            "o2 o2betabob@beta.exampleBobagent6[]-automatic{}",
        ]);
        assert_eq!(texts("SELECT operator_id FROM operator_sessions").await, ["o1"]);
        assert_eq!(texts("SELECT operator_id || session_id FROM push_devices").await, ["o1s"]);
        assert_eq!(texts("SELECT assignee_id FROM conversations").await, ["o1"]);
        let invitations = "SELECT id || coalesce(operator_id, '-') || mailed FROM invitations ORDER BY id";
        assert_eq!(texts(invitations).await, ["i1-0", "i2o10"], "both go on, and prove nothing");
        // References still hold.
        let removed: Result<u64, crate::db::DbError> =
            crate::db::transaction!(db, |tx| tx.execute("DELETE FROM operators WHERE id = 'o1'", args![]).await).await;
        removed.expect("removed");
        for (table, left) in [("operator_sessions", 0), ("push_devices", 0), ("accounts", 1), ("invitations", 1)] {
            let sql = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
            assert_eq!(db.one(sql, args![]).await.expect("a row").int(0).expect("a number"), left, "{table}");
        }
        assert_eq!(texts("SELECT coalesce(assignee_id, 'nobody') FROM conversations").await, ["nobody"]);
        let lost: Result<u64, crate::db::DbError> = crate::db::transaction!(db, |tx| {
            tx.execute("UPDATE operators SET account_id = 'nobody'", args![]).await
        })
        .await;
        lost.expect_err("an operator has an account");
    }

    async fn a_database_whose_references_lead_nowhere_stays_at_its_version(database: &TestDatabase) {
        if is_postgres(&database.address) {
            // Its foreign keys are never off.
            return;
        }
        create(&database.address, 12, ROWS_THAT_LEAD_NOWHERE).await;
        let refused = Db::open_uncached(&database.address).await.expect_err("a lost reference").to_string();
        assert!(refused.contains("each reference leads to a row"), "{refused}");
        let options = sqlite::options(database.address.as_ref());
        let mut connection = options.connect().await.expect("connected");
        assert_eq!(version_of_sqlite(&mut connection).await.expect("a version"), WITHOUT_FOREIGN_KEYS - 1);
        connection.execute("DELETE FROM sites").await.expect("removed");
        connection.close().await.expect("closed");
        Db::open_uncached(&database.address).await.expect("migrated");
    }

    async fn an_answer_of_before_counts_if_it_has_a_source(database: &TestDatabase) {
        create(&database.address, 5, ROWS_OF_VERSION_5).await;
        let db = Db::open_uncached(&database.address).await.expect("migrated");
        let sql = "SELECT c.id, m.outcome FROM messages m JOIN conversations c ON c.no = m.conversation_no
            WHERE m.role = 'visitor' ORDER BY c.id";
        let rows = db.all(sql, args![]).await.expect("rows");
        let outcomes: Vec<_> = rows.iter().map(|row| row.optional_text(1).expect("an outcome")).collect();
        assert_eq!(outcomes, [Some("answered".to_owned()), None]);
    }
}
