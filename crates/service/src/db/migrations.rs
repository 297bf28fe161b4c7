//! Brings a database to this version's schema, by numbered files that are each applied once.
//!
//! A file that was published is never changed; a new version adds files. `{{id}}` and `{{bytes}}` stand for
//! what the databases name differently.

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, PgConnection, SqlSafeStr, SqliteConnection};

use super::{Dialect, OpenError};

/// A step of the schema.
struct Step {
    version: i64,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

const STEPS: [Step; 2] = [
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
];

/// Migrates an SQLite file. Its lock is held.
pub(super) async fn migrate_sqlite(connection: &mut SqliteConnection) -> Result<(), OpenError> {
    Ok(migrator(Dialect::Sqlite).run(connection).await?)
}

/// Migrates a PostgreSQL database. Other nodes that start wait.
pub(super) async fn migrate_postgres(connection: &mut PgConnection) -> Result<(), OpenError> {
    Ok(migrator(Dialect::Postgres).run(connection).await?)
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
