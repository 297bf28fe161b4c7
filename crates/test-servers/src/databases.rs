//! Empty databases for tests: a file of SQLite, and a database of the PostgreSQL server that
//! `scripts/postgres.mjs` starts.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};
use tempfile::TempDir;

/// A database that is removed when this is dropped.
#[derive(Debug)]
pub struct TestDatabase {
    /// The address, as the service takes it.
    pub address: String,
    folder: Option<TempDir>,
}

/// The kinds of databases that the service runs on.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A file.
    Sqlite,
    /// A database of the test server.
    Postgres,
}

impl TestDatabase {
    /// Creates an empty database.
    pub async fn new(kind: Kind) -> Self {
        match kind {
            Kind::Sqlite => {
                let folder = tempfile::tempdir().expect("a folder");
                let address = folder.path().join("service.db").to_str().expect("a path in UTF-8").to_owned();
                Self { address, folder: Some(folder) }
            }
            Kind::Postgres => {
                let name = format!("test_{}", uuid::Uuid::new_v4().simple());
                execute(format!("CREATE DATABASE {name}")).await;
                let (server, _) = server().rsplit_once('/').expect("an address with a path");
                Self { address: format!("{server}/{name}"), folder: None }
            }
        }
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        if self.folder.is_some() {
            return;
        }
        let (_, name) = self.address.rsplit_once('/').expect("an address with a path");
        let drop = format!("DROP DATABASE {name} WITH (FORCE)");
        // A runtime of its own, because that of the test is not free to wait here.
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(execute(drop));
        })
        .join()
        .expect("no panic");
    }
}

async fn execute(sql: String) {
    let options: sqlx::postgres::PgConnectOptions = server().parse().expect("an address");
    let mut connection = options.connect().await.expect("PostgreSQL answers");
    connection.execute(AssertSqlSafe(sql)).await.expect("executed");
    connection.close().await.expect("closed");
}

/// Returns the address of the test server, which is started if it does not run.
fn server() -> &'static str {
    static SERVER: OnceLock<String> = OnceLock::new();
    SERVER.get_or_init(|| {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let output = Command::new("node").arg("scripts/postgres.mjs").arg("url").current_dir(root).output();
        let output = output.expect("Node.js runs scripts/postgres.mjs");
        let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        assert!(
            output.status.success() && printed.starts_with("postgres://"),
            "PostgreSQL did not start: {printed} {}",
            String::from_utf8_lossy(&output.stderr)
        );
        printed
    })
}

/// Runs async tests on both databases.
#[macro_export]
macro_rules! on_both_databases {
    ($($(#[doc = $doc:literal])* async fn $name:ident($database:ident: &TestDatabase) $body:block)*) => {
        $(
            mod $name {
                use super::*;

                $(#[doc = $doc])*
                async fn test($database: &TestDatabase) $body

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn sqlite() {
                    test(&TestDatabase::new(Kind::Sqlite).await).await;
                }

                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn postgres() {
                    test(&TestDatabase::new(Kind::Postgres).await).await;
                }
            }
        )*
    };
}
pub use on_both_databases;
