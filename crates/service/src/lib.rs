//! The service behind the connector API, for any number of tenants and sites.
//!
//! Data is stored in SQLite, in one file, or in PostgreSQL, which several nodes can share. Nodes keep nothing
//! that another one needs.

#![allow(dead_code, unused_imports, unused_macros, reason = "the parts that use them follow")]

mod accounts;
mod audit;
mod cache;
mod clock;
#[cfg(test)]
#[path = "../tests/support/databases.rs"]
mod databases;
mod db;
mod error;
mod fingerprint;
mod licenses;
mod limits;
mod options;
mod publishing;
mod response;
mod secrets;
mod sites;
mod tenants;
mod text;
mod tokens;
mod visitors;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use db::OpenError;
pub use options::ServiceOptions;
pub use secrets::{KEY_BYTES, ServiceKey};

use clock::Clock;
use db::Db;

/// The path of the connector API below the service's origin (9).
pub const API_BASE: &str = "/api/connector/v1";
/// The path of the admin API below the service's origin.
pub const ADMIN_BASE: &str = "/api/admin/v1";

/// A running service. Clones share everything.
#[derive(Clone, Debug)]
pub struct Service(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    clock: Clock,
    options: ServiceOptions,
    /// Cancelled when the service is told to stop: event streams end, and background tasks finish.
    closing: CancellationToken,
    /// Work that must not be cut off, such as a reply of the AI that nobody waits for any more.
    tasks: TaskTracker,
}

impl Service {
    /// Opens the database and migrates it.
    pub async fn open(options: ServiceOptions) -> Result<Self, OpenError> {
        let db = Db::open(&options.database).await?;
        Ok(Self(Arc::new(Inner {
            db,
            clock: Clock::start(),
            options,
            closing: CancellationToken::new(),
            tasks: TaskTracker::new(),
        })))
    }

    /// Stops background work, waits until what must not be cut off is done, and closes the database.
    pub async fn close(&self) {
        self.0.closing.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
        self.0.db.close().await;
    }

    fn db(&self) -> &Db {
        &self.0.db
    }

    fn now_ms(&self) -> i64 {
        self.0.clock.now_ms()
    }
}

/// Returns the configuration of a property test. `PROPTEST_CASES` scales `count`; its default of 256 leaves
/// it as it is.
#[cfg(test)]
fn cases(count: u32) -> proptest::test_runner::Config {
    use proptest::test_runner::Config;
    let config = Config::default();
    Config { cases: count.saturating_mul(config.cases).div_ceil(256).max(1), ..config }
}
