//! Brings a database to this version's schema, by numbered files that are each applied once.
//!
//! A file that was published is never changed; a new version adds files. `{{id}}` and `{{bytes}}` stand for
//! what the databases name differently.

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, PgConnection, SqlSafeStr, SqliteConnection};

use super::{Dialect, OpenError};

/// A step of the schema.
struct Step {
    version: i64,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

const STEPS: [Step; 4] = [
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
];

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

/// Migrates an SQLite file. Its lock is held.
pub(super) async fn migrate_sqlite(connection: &mut SqliteConnection) -> Result<(), OpenError> {
    migrator(Dialect::Sqlite).run(connection).await.map_err(explained)
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
    let steps = STEPS.iter().map(|step| {
        let sql = match dialect {
            Dialect::Sqlite => step
                .sqlite
                .replace("{{id}}", "INTEGER PRIMARY KEY AUTOINCREMENT")
                .replace("{{bytes}}", "BLOB"),
            Dialect::Postgres => step
                .postgres
                .replace("{{id}}", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
                .replace("{{bytes}}", "BYTEA"),
        };
        let sql = AssertSqlSafe(sql).into_sql_str();
        Migration::new(step.version, step.name.into(), MigrationType::Simple, sql, false)
    });
    Migrator::with_migrations(steps.collect())
}
