//! Prints the rows of a query, each as a JSON list of its columns, which must be texts.

use std::error::Error;
use std::io::Write as _;
use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection, Row, SqliteConnection};

use crate::USAGE;
use crate::arguments::Arguments;

/// A connection to a service's database, beside the service.
#[derive(Debug)]
pub(crate) enum Database {
    Sqlite(Box<SqliteConnection>),
    Postgres(Box<PgConnection>),
}

impl Database {
    /// Connects to `postgres://…`, or to an existing SQLite file.
    pub(crate) async fn open(address: &str) -> Result<Self, Box<dyn Error>> {
        if address.starts_with("postgres://") {
            let options = PgConnectOptions::from_str(address)?.disable_statement_logging();
            return Ok(Self::Postgres(Box::new(options.connect().await?)));
        }
        let options =
            SqliteConnectOptions::new().filename(address).busy_timeout(std::time::Duration::from_secs(30));
        Ok(Self::Sqlite(Box::new(options.disable_statement_logging().connect().await?)))
    }
}

pub(crate) async fn run(arguments: &mut Arguments) -> Result<(), Box<dyn Error>> {
    let mut database = Database::open(&arguments.required("database")?).await?;
    arguments.finish()?;
    let sql = arguments.words.pop().ok_or(USAGE)?;
    let mut out = std::io::stdout().lock();
    for row in rows(&mut database, sql).await? {
        writeln!(out, "{}", serde_json::to_string(&row)?)?;
    }
    Ok(())
}

/// Returns the rows of a query whose columns are texts.
pub(crate) async fn rows(
    database: &mut Database,
    sql: String,
) -> Result<Vec<Vec<Option<String>>>, sqlx::Error> {
    let sql = AssertSqlSafe(sql);
    match database {
        Database::Sqlite(connection) => {
            let rows = sqlx::query(sql).fetch_all(&mut **connection).await?;
            rows.iter().map(|row| (0..row.len()).map(|column| row.try_get(column)).collect()).collect()
        }
        Database::Postgres(connection) => {
            let rows = sqlx::query(sql).fetch_all(&mut **connection).await?;
            rows.iter().map(|row| (0..row.len()).map(|column| row.try_get(column)).collect()).collect()
        }
    }
}
