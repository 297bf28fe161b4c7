//! The errors of a database.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use sqlx::migrate::MigrateError;

/// A query or a transaction failed.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct DbError(Arc<sqlx::Error>);

impl DbError {
    pub(super) fn no_row() -> Self {
        sqlx::Error::RowNotFound.into()
    }

    /// Returns whether the database was not reachable, busy or full: the same request may succeed later.
    pub(crate) fn is_transient(&self) -> bool {
        may_pass(&self.0)
    }

    /// Returns whether PostgreSQL closed the connection, or the thread of SQLite's ended, so that another one
    /// may work.
    pub(super) fn is_lost_connection(&self) -> bool {
        match &*self.0 {
            sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed => true,
            // An operator's or a crash's shutdown, and failures of connections.
            sqlx::Error::Database(error) => {
                let code = error.code().unwrap_or_default();
                code.starts_with("57P") || code.starts_with("08")
            }
            _ => false,
        }
    }

    /// Returns whether a value exists already that has to be unique.
    pub(crate) fn is_unique_violation(&self) -> bool {
        matches!(&*self.0, sqlx::Error::Database(error) if error.is_unique_violation())
    }
}

/// Returns whether the same statement may succeed later.
fn may_pass(error: &sqlx::Error) -> bool {
    match error {
        // A connection that breaks in the middle of a message is a violation of the protocol for sqlx.
        sqlx::Error::Io(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::BeginFailed => true,
        sqlx::Error::Database(error) => {
            let code = error.code().unwrap_or_default();
            // PostgreSQL: connection failures (08), resources (53), an operator's shutdown (57P),
            // rollbacks by other transactions (40), read-only after a failover (25006), the time limits
            // of locks (55P03) and of statements (57014). SQLite: busy (5), locked (6), an I/O error
            // (10), full (13), cannot open (14); extended codes have them in the low byte.
            ["08", "53", "57P", "40", "25006", "55P03", "57014"]
                .iter()
                .any(|class| code.len() == 5 && code.starts_with(class))
                || matches!(
                    (code.len() < 5, code.parse::<u32>().map(|code| code & 0xff)),
                    (true, Ok(5 | 6 | 10 | 13 | 14))
                )
        }
        _ => false,
    }
}

impl From<sqlx::Error> for DbError {
    fn from(error: sqlx::Error) -> Self {
        Self(Arc::new(error))
    }
}

/// A database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file cannot be created or read.
    #[error("cannot use {} as the database: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// Another process serves from the file.
    #[error(
        "{} is in use by another process: stop it, or choose another file (several nodes need PostgreSQL)", .0.display()
    )]
    InUse(PathBuf),
    /// The address of the database is not valid.
    #[error("invalid address of the database: expected postgres://user:password@host/name, or a file: {0}")]
    Address(#[source] sqlx::Error),
    /// The database refuses the connection, or is no database.
    #[error("cannot open the database: {0}")]
    Connect(#[source] sqlx::Error),
    /// The schema cannot be brought to this version's state.
    #[error("cannot migrate the database: {0}")]
    Migrate(#[from] MigrateError),
    /// A command needs a database that a service has created.
    #[error(
        "there is no database at {0}: start `site-connector serve` once, or name another with --database"
    )]
    Missing(String),
    /// A command is of another version than the database.
    #[error(
        "the database has version {found}, and this program needs {expected}: {}",
        if found < expected { "start `site-connector serve` of this version once" }
        else { "use the program of the version that serves it" }
    )]
    Version {
        /// The version of the database; 0 for one without a schema.
        found: i64,
        /// The version of this program's schema.
        expected: i64,
    },
    /// The secrets in the database were encrypted with another key.
    #[error(
        "the service key does not belong to this database: use the key file that was created with it, from a \
         backup or from another node"
    )]
    Key,
    /// The database cannot be read or written.
    #[error("cannot read the database: {problem}")]
    Query {
        /// The database's error.
        problem: String,
        /// Whether a later attempt may succeed.
        is_transient: bool,
    },
}

impl OpenError {
    /// Returns whether the database may be available later: it is not reachable, busy or in use. A file that
    /// is damaged stays so.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::InUse(_) => true,
            Self::Query { is_transient, .. } => *is_transient,
            Self::Connect(error) => may_pass(error) || is_of_postgres(error),
            Self::Migrate(MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _)) => {
                may_pass(error)
            }
            _ => false,
        }
    }
}

impl From<DbError> for OpenError {
    fn from(error: DbError) -> Self {
        Self::Query { problem: error.to_string(), is_transient: error.is_transient() }
    }
}

/// Returns whether a PostgreSQL server refuses a connection, which somebody may mend there.
fn is_of_postgres(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Database(error) if error.code().is_some_and(|code| code.len() == 5))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_breaks_is_transient_and_a_wrong_query_is_not() {
        let broken = sqlx::Error::Protocol("unexpected response from SSLRequest: 0x00".to_owned());
        assert!(DbError::from(broken).is_transient());
        assert!(!DbError::from(sqlx::Error::ColumnNotFound("name".to_owned())).is_transient());
    }
}
