//! Fills a database with conversations, without the API: five million messages in a minute.

use std::error::Error;
use std::fmt::Write as _;

use ring::digest::{SHA256, digest};
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};

use crate::arguments::Arguments;
use crate::query::{Database, rows};

/// The number of conversations of one transaction.
const CONVERSATIONS: u64 = 2_000;
/// The terms of a message in the search index, as the service splits its text.
const TERMS: &str = "bowl celadon deliveri larg messag still take";

pub(crate) async fn run(mut arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let mut database = Database::open(&arguments.required("database")?).await?;
    let site = arguments.required("site")?;
    let conversations: u64 = arguments.parsed("conversations", 1_000)?;
    let messages: u64 = arguments.parsed("messages", 50)?;
    let list = arguments.optional("list");
    let listed: u64 = arguments.parsed("listed", 1_000)?;
    let is_searchable = arguments.optional("searchable").is_some();
    arguments.finish()?;
    if !site.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
        return Err(format!("invalid --site: got {site}").into());
    }

    let mut left = conversations;
    while left > 0 {
        let count = left.min(CONVERSATIONS);
        for statement in statements(&database, &site, count, messages, is_searchable) {
            database.execute(statement).await?;
        }
        left -= count;
    }
    database.execute("ANALYZE".to_owned()).await?;
    if let Some(file) = list {
        std::fs::write(file, list_of(&mut database, &site, listed).await?)?;
    }
    Ok(())
}

/// Returns the ids of conversations, spread over all of a site, each on a line.
async fn list_of(database: &mut Database, site: &str, listed: u64) -> Result<String, Box<dyn Error>> {
    let order = "ORDER BY substr(id, 12)";
    let sql = format!("SELECT id FROM conversations WHERE site_id = '{site}' {order} LIMIT {listed}");
    let mut ids = String::new();
    for row in rows(database, sql).await? {
        writeln!(ids, "{}", row.into_iter().next().flatten().unwrap_or_default())?;
    }
    Ok(ids)
}

/// Returns the statements that add conversations with their messages. Ids are random, as the service's are,
/// so that the index is as scattered as a real one.
fn statements(
    database: &Database,
    site: &str,
    conversations: u64,
    messages: u64,
    is_searchable: bool,
) -> Vec<String> {
    let random = match database {
        Database::Sqlite(_) => "lower(hex(randomblob(16)))",
        Database::Postgres(_) => "replace(CAST(gen_random_uuid() AS TEXT), '-', '')",
    };
    let numbers = |count: u64| {
        format!(
            "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) SELECT i FROM n)"
        )
    };
    let mut statements = vec![
        format!(
            "INSERT INTO conversations (id, site_id, tenant_id, status, last_seq, created_ms, updated_ms)
             SELECT 'conv_' || {random}, '{site}', (SELECT tenant_id FROM sites WHERE id = '{site}'), 'closed', 0, 1750000000000 + i, 1750000000000 + i
             FROM {} numbers",
            numbers(conversations)
        ),
        format!(
            "INSERT INTO messages (conversation_no, seq, role, content, created_ms)
             SELECT c.no, i, CASE i % 2 WHEN 1 THEN 'visitor' ELSE 'assistant' END,
                 'Message ' || i || ': is the large celadon bowl still there, and how long does the delivery take?',
                 1750000000000 + i
             FROM conversations c, {} numbers
             WHERE c.last_seq = 0 AND c.site_id = '{site}' AND c.status = 'closed'
             ORDER BY c.no, i",
            numbers(messages)
        ),
    ];
    let is_new = format!("last_seq = 0 AND site_id = '{site}' AND status = 'closed'");
    if is_searchable {
        let terms = format!("{} {TERMS}", site_term(site));
        let (no, terms) = match database {
            Database::Sqlite(_) => ("rowid", format!("'{terms}'")),
            Database::Postgres(_) => ("no", format!("CAST('{terms}' AS TSVECTOR)")),
        };
        statements.push(format!(
            "INSERT INTO message_terms ({no}, terms) SELECT m.no, {terms} FROM messages m
             WHERE m.conversation_no IN (SELECT no FROM conversations WHERE {is_new})"
        ));
    }
    statements.push(format!("UPDATE conversations SET last_seq = {messages} WHERE {is_new}"));
    statements
}

/// Returns the term that the service writes into the index of all texts of a site.
fn site_term(site: &str) -> String {
    let hash = digest(&SHA256, format!("site {site}").as_bytes());
    hash.as_ref()[..8].iter().fold("5".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Database {
    async fn execute(&mut self, sql: String) -> Result<(), sqlx::Error> {
        match self {
            Self::Sqlite(connection) => sqlite(connection, sql).await,
            Self::Postgres(connection) => postgres(connection, sql).await,
        }
    }
}

async fn sqlite(connection: &mut SqliteConnection, sql: String) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin().await?;
    sqlx::query(AssertSqlSafe(sql)).execute(&mut *transaction).await?;
    transaction.commit().await
}

async fn postgres(connection: &mut PgConnection, sql: String) -> Result<(), sqlx::Error> {
    let mut transaction = connection.begin().await?;
    sqlx::query(AssertSqlSafe(sql)).execute(&mut *transaction).await?;
    transaction.commit().await
}
