//! Brings a database to this version's schema, by numbered files that are each applied once.
//!
//! A file that was published is never changed; a new version adds files. `{{id}}`, `{{bytes}}` and
//! `{{generated}}` stand for what the databases name differently.

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, Executor, PgConnection, SqlSafeStr, SqliteConnection};

use super::{Dialect, OpenError};

/// A step of the schema.
struct Step {
    version: i64,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

const STEPS: [Step; 17] = [
    Step {
        version: 1,
        name: "tables",
        sqlite: include_str!("../../migrations/0001_tables.sql"),
        postgres: include_str!("../../migrations/0001_tables.sql"),
    },
    Step {
        version: 2,
        name: "search",
        sqlite: include_str!("../../migrations/0002_search.sqlite.sql"),
        postgres: include_str!("../../migrations/0002_search.postgres.sql"),
    },
    Step {
        version: 3,
        name: "notifications",
        sqlite: include_str!("../../migrations/0003_notifications.sql"),
        postgres: include_str!("../../migrations/0003_notifications.sql"),
    },
    Step {
        version: 5,
        name: "expiry",
        sqlite: include_str!("../../migrations/0005_expiry.sql"),
        postgres: include_str!("../../migrations/0005_expiry.sql"),
    },
    Step {
        version: 6,
        name: "inbox",
        sqlite: include_str!("../../migrations/0006_inbox.sql"),
        postgres: include_str!("../../migrations/0006_inbox.sql"),
    },
    Step {
        version: 7,
        name: "push",
        sqlite: include_str!("../../migrations/0007_push.sql"),
        postgres: include_str!("../../migrations/0007_push.sql"),
    },
    Step {
        version: 8,
        name: "publishing rules",
        sqlite: include_str!("../../migrations/0008_publishing_rules.sql"),
        postgres: include_str!("../../migrations/0008_publishing_rules.sql"),
    },
    Step {
        version: 9,
        name: "storage",
        sqlite: include_str!("../../migrations/0009_storage.sqlite.sql"),
        postgres: include_str!("../../migrations/0009_storage.postgres.sql"),
    },
    Step {
        version: 10,
        name: "identity",
        sqlite: include_str!("../../migrations/0010_identity.sql"),
        postgres: include_str!("../../migrations/0010_identity.sql"),
    },
    Step {
        version: 11,
        name: "AI options",
        sqlite: include_str!("../../migrations/0011_ai_options.sql"),
        postgres: include_str!("../../migrations/0011_ai_options.sql"),
    },
    Step {
        version: 12,
        name: "outcomes",
        sqlite: include_str!("../../migrations/0012_outcomes.sql"),
        postgres: include_str!("../../migrations/0012_outcomes.sql"),
    },
    Step {
        version: 13,
        name: "activity",
        sqlite: include_str!("../../migrations/0013_activity.sql"),
        postgres: include_str!("../../migrations/0013_activity.sql"),
    },
    Step {
        version: 14,
        name: "answering",
        sqlite: include_str!("../../migrations/0014_answering.sql"),
        postgres: include_str!("../../migrations/0014_answering.sql"),
    },
    Step {
        version: 15,
        name: "search text",
        sqlite: include_str!("../../migrations/0015_search_text.sql"),
        postgres: include_str!("../../migrations/0015_search_text.sql"),
    },
    Step {
        version: 16,
        name: "sources",
        sqlite: include_str!("../../migrations/0016_sources.sqlite.sql"),
        postgres: include_str!("../../migrations/0016_sources.postgres.sql"),
    },
    Step {
        version: 17,
        name: "accounts",
        sqlite: include_str!("../../migrations/0017_accounts.sqlite.sql"),
        postgres: include_str!("../../migrations/0017_accounts.postgres.sql"),
    },
    Step {
        version: 18,
        name: "page heads",
        sqlite: include_str!("../../migrations/0018_page_heads.sql"),
        postgres: include_str!("../../migrations/0018_page_heads.sql"),
    },
];

/// The step that replaces a table of SQLite that others refer to, so that their rows would go with the old
/// one.
const WITHOUT_FOREIGN_KEYS: i64 = 17;

/// Returns the version of this program's schema.
pub(crate) fn current_version() -> i64 {
    STEPS.iter().map(|step| step.version).max().unwrap_or_default()
}

/// Returns the version of a file's schema; 0 for a file without one.
pub(crate) async fn version_of_sqlite(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    let table = sqlx::query("SELECT 1 FROM sqlite_schema WHERE name = '_sqlx_migrations'");
    if table.fetch_optional(&mut *connection).await?.is_none() {
        return Ok(0);
    }
    sqlx::query_scalar(VERSION).fetch_one(connection).await
}

/// Returns the version of a database's schema; 0 for a database without one.
pub(crate) async fn version_of_postgres(connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
    let table = sqlx::query("SELECT 1 WHERE to_regclass('_sqlx_migrations') IS NOT NULL");
    if table.fetch_optional(&mut *connection).await?.is_none() {
        return Ok(0);
    }
    sqlx::query_scalar(VERSION).fetch_one(connection).await
}

const VERSION: &str = "SELECT CAST(coalesce(max(version), 0) AS BIGINT) FROM _sqlx_migrations";

/// Fails unless a schema has this program's version.
pub(super) fn require_current(found: Result<i64, sqlx::Error>) -> Result<(), OpenError> {
    let (found, expected) = (found.map_err(OpenError::Connect)?, current_version());
    if found == expected { Ok(()) } else { Err(OpenError::Version { found, expected }) }
}

/// Migrates an SQLite file. Its lock is held. Foreign keys cannot be switched off within the transaction of a
/// step.
pub(super) async fn migrate_sqlite(connection: &mut SqliteConnection) -> Result<(), OpenError> {
    for (last, keys) in
        [(WITHOUT_FOREIGN_KEYS - 1, "ON"), (WITHOUT_FOREIGN_KEYS, "OFF"), (current_version(), "ON")]
    {
        // A migrator takes an older last step than the file has for a newer program's.
        let is_last = last == current_version();
        if !is_last && version_of_sqlite(connection).await.map_err(OpenError::Connect)? >= last {
            continue;
        }
        let keys = sqlx::AssertSqlSafe(format!("PRAGMA foreign_keys = {keys}"));
        connection.execute(keys).await.map_err(OpenError::Connect)?;
        migrator_to(Dialect::Sqlite, last).run(&mut *connection).await.map_err(explained)?;
    }
    connection.execute("PRAGMA foreign_keys = ON").await.map_err(OpenError::Connect)?;
    Ok(())
}

/// Migrates a PostgreSQL database. Other nodes that start wait.
pub(super) async fn migrate_postgres(connection: &mut PgConnection) -> Result<(), OpenError> {
    migrator(Dialect::Postgres).run(connection).await.map_err(explained)
}

/// Names the versions where a newer program has migrated the database.
fn explained(error: MigrateError) -> OpenError {
    match error {
        MigrateError::VersionMissing(found) => OpenError::Version { found, expected: current_version() },
        error => OpenError::Migrate(error),
    }
}

fn migrator(dialect: Dialect) -> Migrator {
    migrator_to(dialect, current_version())
}

/// Returns the migrations up to a version.
fn migrator_to(dialect: Dialect, version: i64) -> Migrator {
    let steps = STEPS.iter().filter(|step| step.version <= version).map(|step| {
        let sql = match dialect {
            Dialect::Sqlite => step
                .sqlite
                .replace("{{id}}", "INTEGER PRIMARY KEY AUTOINCREMENT")
                .replace("{{bytes}}", "BLOB")
                .replace("{{generated}}", "VIRTUAL"),
            Dialect::Postgres => step
                .postgres
                .replace("{{id}}", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
                .replace("{{bytes}}", "BYTEA")
                .replace("{{generated}}", "STORED"),
        };
        let sql = AssertSqlSafe(sql).into_sql_str();
        Migration::new(step.version, step.name.into(), MigrationType::Simple, sql, false)
    });
    Migrator::with_migrations(steps.collect())
}

#[cfg(test)]
mod tests {
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
}
