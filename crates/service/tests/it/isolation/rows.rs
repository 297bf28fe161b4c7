//! The rows of a tenant in all tables, read past the service.

use std::collections::BTreeMap;

use sqlx::{AssertSqlSafe, Connection, Row, postgres::PgConnection, sqlite::SqliteConnection};
use tokio::sync::Mutex;

use crate::isolation::tenant::Tenant;
use crate::support::databases::TestDatabase;

pub enum Rows {
    Sqlite(Mutex<SqliteConnection>),
    Postgres(Mutex<PgConnection>),
}

/// The tables, and the condition for the rows of a tenant `$T` and its site `$S`. Later migrations add to
/// them.
const TABLES: [(&str, &str); 27] = [
    ("tenants", "id = '$T'"),
    ("sites", "tenant_id = '$T'"),
    ("site_tokens", "site_id = '$S'"),
    ("licenses", "tenant_id = '$T'"),
    ("accounts", "id IN (SELECT account_id FROM operators WHERE tenant_id = '$T')"),
    ("operators", "tenant_id = '$T'"),
    ("operator_sessions", "operator_id IN (SELECT id FROM operators WHERE tenant_id = '$T')"),
    ("invitations", "tenant_id = '$T'"),
    ("audit", "tenant_id = '$T'"),
    ("visitors", "site_id = '$S'"),
    ("conversations", "site_id = '$S'"),
    ("messages", "conversation_no IN (SELECT no FROM conversations WHERE site_id = '$S')"),
    ("notes", "conversation_no IN (SELECT no FROM conversations WHERE site_id = '$S')"),
    ("events", "site_id = '$S'"),
    ("idempotency", "site_id = '$S'"),
    ("content", "site_id = '$S'"),
    ("sources", "site_id = '$S'"),
    ("source_pages", "site_id = '$S'"),
    ("test_questions", "site_id = '$S'"),
    ("test_sets", "site_id = '$S'"),
    ("jobs", "site_id = '$S'"),
    ("labels", "tenant_id = '$T'"),
    ("conversation_labels", "conversation_no IN (SELECT no FROM conversations WHERE site_id = '$S')"),
    ("canned_replies", "tenant_id = '$T'"),
    ("reply_mails", "tenant_id = '$T'"),
    ("mail_stops", "site_id = '$S'"),
    ("push_devices", "operator_id IN (SELECT id FROM operators WHERE tenant_id = '$T')"),
];

impl Rows {
    pub async fn connect(database: &TestDatabase) -> Self {
        if database.address.starts_with("postgres") {
            let connection = PgConnection::connect(&database.address).await.expect("connected");
            Self::Postgres(Mutex::new(connection))
        } else {
            let address = format!("sqlite://{}", database.address);
            Self::Sqlite(Mutex::new(SqliteConnection::connect(&address).await.expect("connected")))
        }
    }

    /// Returns all rows of a tenant, as text.
    pub async fn of(&self, tenant: &Tenant) -> BTreeMap<String, Vec<String>> {
        let mut rows = BTreeMap::new();
        for (table, condition) in TABLES {
            let site = &tenant.desk.client.site;
            let condition = condition.replace("$T", &site.tenant_id).replace("$S", &site.id);
            rows.insert(table.to_owned(), self.rows(table, &condition).await);
        }
        rows
    }

    async fn rows(&self, table: &str, condition: &str) -> Vec<String> {
        let mut texts: Vec<String> = match self {
            Self::Postgres(connection) => {
                let sql = format!("SELECT t::text FROM {table} t WHERE {condition}");
                let mut connection = connection.lock().await;
                let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut *connection).await.expect("rows");
                rows.iter().map(|row| row.get(0)).collect()
            }
            Self::Sqlite(connection) => {
                let mut connection = connection.lock().await;
                let columns = format!("SELECT name FROM pragma_table_info('{table}')");
                let columns =
                    sqlx::query(AssertSqlSafe(columns)).fetch_all(&mut *connection).await.expect("columns");
                let quoted: Vec<String> =
                    columns.iter().map(|row| format!("quote({})", row.get::<String, _>(0))).collect();
                let sql = format!("SELECT {} FROM {table} WHERE {condition}", quoted.join("||'|'||"));
                let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut *connection).await.expect("rows");
                rows.iter().map(|row| row.get(0)).collect()
            }
        };
        texts.sort();
        texts
    }
}
