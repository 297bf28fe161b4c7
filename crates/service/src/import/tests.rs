//! A file of the sandbox becomes the service's database, with everything that was in it.

use std::path::PathBuf;

use chat_protocol::ConversationId;
use sqlx::{ConnectOptions, SqliteConnection};
use tempfile::TempDir;

use crate::conversations::{self, Status, head, page};
use crate::db::sqlite::options;
use crate::db::{Db, args};
use crate::demo_site::{SITE_ID, TENANT_ID};
use crate::fingerprint::fingerprint;
use crate::{Service, ServiceKey, ServiceOptions};

const FIRST: &str = include_str!("../../tests/sandbox_files/1.sql");
const SECOND: &str = include_str!("../../tests/sandbox_files/2.sql");

/// A time long after the tests, in milliseconds.
const LATER: i64 = 4_000_000_000_000;

struct OldFile {
    folder: TempDir,
    path: PathBuf,
}

async fn connect(path: &std::path::Path) -> SqliteConnection {
    options(path).create_if_missing(true).connect().await.expect("a database")
}

async fn execute(path: &std::path::Path, sql: String) {
    let mut connection = connect(path).await;
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut connection).await.expect("executed");
}

/// Creates a file of the sandbox with these statements.
async fn old_file(statements: &[&str]) -> OldFile {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("sandbox.sqlite");
    execute(&path, statements.join("\n")).await;
    OldFile { folder, path }
}

impl OldFile {
    async fn open(&self) -> Service {
        let options = ServiceOptions::new(self.path.to_string_lossy(), ServiceKey::random());
        let db = Db::open_uncached(&options.database).await.expect("imported");
        Service::start(db, std::sync::Arc::new(crate::caches::Caches::new()), options)
    }

    /// Returns whether a copy of the file with this version is beside it, with the sandbox's tables.
    async fn has_copy(&self, version: i64) -> bool {
        let copy = self.folder.path().join(format!("sandbox.sqlite.sandbox-{version}"));
        if !copy.is_file() {
            return false;
        }
        let mut connection = connect(&copy).await;
        let found: i64 =
            sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut connection).await.expect("a version");
        found == version
    }
}

async fn messages(service: &Service, id: &str) -> Vec<(String, String)> {
    let id = ConversationId::from(id);
    let head = head(service, SITE_ID, &id).await.expect("a conversation");
    let page = page(service.db(), &id, head.no, 0).await.expect("messages");
    page.into_iter().map(|stored| (stored.message.role.as_str().to_owned(), stored.message.content)).collect()
}

async fn count(service: &Service, table: &str) -> i64 {
    let sql = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
    service.db().one(sql, args![]).await.expect("a count").int(0).expect("a number")
}

/// Rows of every table, as the sandbox wrote them.
const DATA: &str = r#"
INSERT INTO conversations (id, created_at, visitor, locale, source_page, notes, unread) VALUES
    ('conv_1', '2026-01-02T03:04:05.678Z', '{"visitorId":"v1","name":"Ann"}', 'en-US', '/mugs',
     '{"email":"ann@example.org","wants_person":true,"messages":1}', 1),
    ('conv_2', '2026-01-03T00:00:00.000Z', '{}', NULL, NULL, '{}', 0);
INSERT INTO messages (conversation, id, role, content, created_at, key) VALUES
    ('conv_1', 'msg_a', 'visitor', 'Do you have mugs?', '2026-01-02T03:04:05.700Z', 'chat-v1-1'),
    ('conv_2', 'msg_b', 'visitor', 'Hello', '2026-01-03T00:00:01.000Z', 'chat-v1-2'),
    ('conv_1', 'msg_c', 'assistant', 'We do.', '2026-01-02T03:04:06.000Z', NULL),
    ('conv_1', 'msg_d', 'operator', 'Anna here', '2026-01-02T03:05:00.000Z', NULL);
INSERT INTO events (body, visitor, conversation, received_at, key) VALUES
    ('{"eventType":"page_view","visitorId":"v1","path":"/mugs"}', 'v1', NULL, '2026-01-02T03:04:00.000Z', 'events-1');
INSERT INTO site VALUES (1, 'shop.example', 'wordpress', 'The shop', 'en', '["en","de"]', '2026-01-01T00:00:00.000Z');
INSERT INTO content (external_id, type, locale, path, title, text, body, snapshot, synced_at) VALUES
    ('7', 'page', 'en', '/glaze', 'Glaze', 'Celadon is fired at 1280 degrees.',
     '{"externalId":"7","type":"page","locale":"en","path":"/glaze","title":"Glaze","content":"<p>Celadon is fired at 1280 degrees.</p>"}',
     's1', '2026-01-01T00:00:00.000Z');
INSERT INTO reviews (id, kind, status, path, locale, title, body, created_at, updated_at) VALUES
    ('overlay_1', 'overlay', 'queued', '/glaze', 'en', 'Glaze', '{"id":"overlay_1","path":"/glaze"}',
     '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z');
INSERT INTO jobs (id, type, status, title, payload, review, attempts, max_attempts, created_at, updated_at) VALUES
    ('job_1', 'apply_seo_overlay', 'pending', 'Overlay: Glaze', '{"id":"overlay_1"}', 'overlay_1', 1, 3,
     '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z');
"#;

async fn everything_is_imported(service: &Service) {
    let texts = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(role, text)| ((*role).to_owned(), (*text).to_owned())).collect()
    };
    assert_eq!(
        messages(service, "conv_1").await,
        texts(&[("visitor", "Do you have mugs?"), ("assistant", "We do."), ("operator", "Anna here")])
    );
    assert_eq!(messages(service, "conv_2").await, texts(&[("visitor", "Hello")]));
    let conversation =
        conversations::find(service.db(), SITE_ID, &"conv_1".into()).await.expect("a conversation");
    assert_eq!(conversation.status, Status::Waiting);
    assert_eq!((conversation.created_ms, conversation.updated_ms), (1_767_323_045_678, 1_767_323_100_000));
    assert_eq!((conversation.unread, conversation.locale.as_deref()), (1, Some("en-US")));
    assert_eq!(conversation.profile.name.as_deref(), Some("Ann"));
    assert_eq!(conversation.notes.email.as_deref(), Some("ann@example.org"));
    let site = crate::sites::find(service.db(), SITE_ID).await.expect("read").expect("a site");
    assert_eq!((site.tenant_id.as_str(), site.name.as_str()), (TENANT_ID, "The shop"));
    assert_eq!(site.supported_locales, ["en", "de"]);
    let found = crate::knowledge::find(service, SITE_ID, "How is celadon fired?", None).await;
    assert_eq!(found.expect("searched").first().map(|passage| passage.title.as_str()), Some("Glaze"));
    for (table, rows) in [("events", 1), ("visitors", 1), ("reviews", 1), ("jobs", 1), ("content", 1)] {
        assert_eq!(count(service, table).await, rows, "{table}");
    }
    let left = "sqlite_schema WHERE name LIKE 'sandbox%'";
    assert_eq!(count(service, left).await, 0, "no old table is left");
}

#[tokio::test]
async fn imports_everything_of_schema_2_once() {
    let file = old_file(&[SECOND, DATA, "PRAGMA user_version = 2;"]).await;
    assert!(super::is_sandbox_file(&file.path).await);
    let service = file.open().await;
    everything_is_imported(&service).await;
    assert!(file.has_copy(2).await);
    service.close().await;
    drop(service);
    // The writer gives the lock back when its queue is closed.
    let again = reopened(&file).await;
    everything_is_imported(&again).await;
}

async fn reopened(file: &OldFile) -> Service {
    loop {
        let options = ServiceOptions::new(file.path.to_string_lossy(), ServiceKey::random());
        match Db::open_uncached(&options.database).await {
            Ok(db) => {
                return Service::start(db, std::sync::Arc::new(crate::caches::Caches::new()), options);
            }
            Err(crate::OpenError::InUse(_)) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn recognises_a_file_whose_data_is_still_in_its_log() {
    let file = old_file(&[]).await;
    let mut killed = connect(&file.path).await;
    let sql = format!("{SECOND}\nPRAGMA user_version = 2;");
    sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut killed).await.expect("executed");
    assert!(super::is_sandbox_file(&file.path).await);
}

#[tokio::test]
async fn no_other_file_is_one_of_the_sandbox() {
    let folder = TempDir::new().expect("a folder");
    std::fs::write(folder.path().join("text"), "A letter.").expect("written");
    assert!(!super::is_sandbox_file(&folder.path().join("text")).await);
    let file = old_file(&["PRAGMA user_version = 2;"]).await;
    assert!(!super::is_sandbox_file(&file.path).await);
}

#[tokio::test]
async fn imports_everything_of_schema_1() {
    let file = old_file(&[FIRST, DATA]).await;
    let service = file.open().await;
    everything_is_imported(&service).await;
    assert!(file.has_copy(1).await);
    assert_eq!(messages(&service, "asked").await.len(), 1);
    assert_eq!(messages(&service, "empty").await.len(), 0);
}

#[tokio::test]
async fn goes_on_with_an_import_that_was_interrupted() {
    let file = old_file(&[SECOND, DATA, "PRAGMA user_version = 2;"]).await;
    let mut connection = connect(&file.path).await;
    super::set_aside(&mut connection, &file.path).await.expect("renamed");
    drop(connection);
    everything_is_imported(&file.open().await).await;
}

#[tokio::test]
async fn a_repeated_request_gets_the_response_from_before_the_import() {
    let request = fingerprint(&[b"\n{\"message\":\"Do you have mugs?\"}"]);
    let hash = request.iter().fold(String::new(), |hash, byte| hash + &format!("{byte:02x}"));
    let body = r#"{"ok":true,"data":{"userMessageId":"msg_a","message":{"id":"msg_c","role":"assistant"}}}"#;
    let keys = format!(
        "INSERT INTO answers (scope, key, request, status, request_id, body, until_ms) VALUES
             ('/chat/messages', 'chat-v1-1', x'{hash}', 200, 'req_1', CAST('{body}' AS BLOB), {LATER}),
             ('/chat/messages', 'chat-v1-2', x'{hash}', NULL, NULL, NULL, {LATER}),
             ('/chat/messages', 'expired', x'{hash}', 200, 'req_2', x'', 1),
             ('/auth/activate', 'activation', x'{hash}', 200, 'req_3', x'', {LATER});"
    );
    let file = old_file(&[SECOND, DATA, &keys, "PRAGMA user_version = 2;"]).await;
    let service = file.open().await;
    let sql = "SELECT key, request, status, CAST(body AS TEXT), progress FROM idempotency ORDER BY key";
    let rows = service.db().all(sql, args![]).await.expect("keys");
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0].bytes(1).expect("a hash"), request);
    let body = rows[0].text(3).expect("a body");
    assert!(body.contains(r#""userMessageId":"msg_1_1""#) && body.contains(r#""id":"msg_2_1""#), "{body}");
    // Its message was stored and not answered.
    assert!(rows[1].is_null(2).expect("no status"));
    assert!(rows[1].text(4).expect("progress").contains(r#""conversationId":"conv_2""#));
}

#[tokio::test]
async fn requests_of_schema_1_become_hashes() {
    let keys = format!(
        "INSERT INTO answers (scope, key, request, status, request_id, body, until_ms)
         VALUES ('/events', 'events-1', CAST('a request' AS BLOB), 200, 'req_1', x'7b7d', {LATER});"
    );
    let file = old_file(&[FIRST, &keys]).await;
    let service = file.open().await;
    let row = service.db().one("SELECT request FROM idempotency", args![]).await.expect("a key");
    assert_eq!(row.bytes(0).expect("a hash"), fingerprint(&[b"a request"]));
}

#[tokio::test]
async fn other_files_are_left_alone() {
    let file = old_file(&["CREATE TABLE answers (id); PRAGMA user_version = 2;"]).await;
    let mut connection = connect(&file.path).await;
    super::set_aside(&mut connection, &file.path).await.expect("nothing to do");
    assert!(!super::is_sandbox_file(&file.folder.path().join("missing.sqlite")).await);
    assert!(!file.has_copy(2).await);
}
