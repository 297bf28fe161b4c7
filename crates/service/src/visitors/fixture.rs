//! Sites for tests: `shop` and `blog` belong to the tenant `acme`, `rival` to the tenant `other`.

use futures_util::future::BoxFuture;

use crate::databases::TestDatabase;
use crate::db::{Arg, Db, DbError, Row, Tx, args};
use crate::error::ApiError;

/// The time at which tests begin, in milliseconds since 1970.
pub(crate) const NOW: i64 = 1_800_000_000_000;

pub(crate) const SITES: [(&str, &str); 3] = [("shop", "acme"), ("blog", "acme"), ("rival", "other")];

/// Opens a database with tenants and sites.
pub(crate) async fn open(database: &TestDatabase) -> Db {
    let db = Db::open_uncached(&database.address).await.expect("opened");
    add_sites(&db).await;
    db
}

/// Adds the tenants and the sites.
pub(crate) async fn add_sites(db: &Db) {
    for tenant in ["acme", "other"] {
        let sql = "INSERT INTO tenants (id, name, created_ms) VALUES ($1, $1, $2)";
        execute(db, sql, args![tenant, NOW]).await;
    }
    for (site, tenant) in SITES {
        let sql = "INSERT INTO sites (id, tenant_id, name, created_ms) VALUES ($1, $2, $1, $3)";
        execute(db, sql, args![site, tenant, NOW]).await;
    }
}

/// Executes a statement in a transaction of its own.
pub(crate) async fn execute(db: &Db, sql: &'static str, values: Vec<Arg>) -> u64 {
    let write = db.write(move |tx| Box::pin(async move { tx.execute(sql, values).await }));
    let changed: Result<u64, DbError> = write.await;
    changed.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Executes work of the API in a transaction.
pub(crate) async fn write<T, F>(db: &Db, work: F) -> Result<T, ApiError>
where
    T: Send + 'static,
    F: for<'tx> FnOnce(&'tx mut Tx) -> BoxFuture<'tx, Result<T, ApiError>> + Send + 'static,
{
    db.write(work).await
}

pub(crate) async fn rows(db: &Db, sql: &'static str, values: Vec<Arg>) -> Vec<Row> {
    db.all(sql, values).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Returns the number that a query such as `SELECT count(*)` gives.
pub(crate) async fn number(db: &Db, sql: &'static str, values: Vec<Arg>) -> i64 {
    rows(db, sql, values).await[0].int(0).expect("a number")
}
