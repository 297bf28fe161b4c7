//! Brings a database to this version's schema, by numbered files that are each applied once.
//!
//! A file that was published is never changed; a new version adds files. `{{id}}`, `{{bytes}}` and
//! `{{generated}}` stand for what the databases name differently.

#[cfg(test)]
mod migrations_tests;

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

const STEPS: [Step; 23] = [
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
    Step {
        version: 19,
        name: "business hours",
        sqlite: include_str!("../../migrations/0019_business_hours.sql"),
        postgres: include_str!("../../migrations/0019_business_hours.sql"),
    },
    Step {
        version: 20,
        name: "test questions",
        sqlite: include_str!("../../migrations/0020_test_questions.sqlite.sql"),
        postgres: include_str!("../../migrations/0020_test_questions.postgres.sql"),
    },
    Step {
        version: 21,
        name: "options of the widget",
        sqlite: include_str!("../../migrations/0021_widget_options.sql"),
        postgres: include_str!("../../migrations/0021_widget_options.sql"),
    },
    Step {
        version: 22,
        name: "setup of sites",
        sqlite: include_str!("../../migrations/0022_site_setup.sql"),
        postgres: include_str!("../../migrations/0022_site_setup.sql"),
    },
    Step {
        version: 23,
        name: "AI after people",
        sqlite: include_str!("../../migrations/0023_ai_after.sql"),
        postgres: include_str!("../../migrations/0023_ai_after.sql"),
    },
    Step {
        version: 24,
        name: "mails with replies",
        sqlite: include_str!("../../migrations/0024_reply_mails.sql"),
        postgres: include_str!("../../migrations/0024_reply_mails.sql"),
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
