//! Sites for tests: `shop` and `blog` belong to the tenant `acme`, `rival` to the tenant `other`.

use std::fmt::Write as _;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::{Extension, Router};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chat_protocol::{EventBatch, Value, VisitorId, VisitorProfile};
use http_body_util::BodyExt;
use ring::hmac;
use tower::ServiceExt;

use crate::accounts::{Operator, Role};
use crate::databases::TestDatabase;
use crate::db::{Arg, Db, DbError, Dialect, Row, Tx, args, transaction};
use crate::error::ApiError;
use crate::secrets::new_id;
use crate::{Service, ServiceKey, ServiceOptions, sites};

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
    let changed: Result<u64, DbError> = transaction!(db, |tx| tx.execute(sql, values).await).await;
    changed.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

pub(crate) async fn rows(db: &Db, sql: &'static str, values: Vec<Arg>) -> Vec<Row> {
    db.all(sql, values).await.unwrap_or_else(|error| panic!("{sql}: {error}"))
}

/// Returns the number that a query such as `SELECT count(*)` gives.
pub(crate) async fn number(db: &Db, sql: &'static str, values: Vec<Arg>) -> i64 {
    rows(db, sql, values).await[0].int(0).expect("a number")
}

/// Opens a service with the tenants and the sites.
pub(crate) async fn service(database: &TestDatabase) -> Service {
    let options = ServiceOptions::new(&database.address, ServiceKey::random());
    let service = Service::open(options).await.expect("opened");
    add_sites(service.db()).await;
    service
}

/// Returns a JWT with these members, signed with HS256.
pub(crate) fn signed_token(secret: &str, claims: &serde_json::Value) -> String {
    let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
    let (header, claims) = (br#"{"alg":"HS256","typ":"JWT"}"#, claims.to_string());
    let message = format!("{}.{}", encode(header), encode(claims.as_bytes()));
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    format!("{message}.{}", encode(hmac::sign(&key, message.as_bytes()).as_ref()))
}

pub(crate) fn operator(tenant: &str, role: Role) -> Operator {
    Operator {
        id: format!("op_{tenant}"),
        account_id: format!("op_{tenant}"),
        tenant_id: tenant.to_owned(),
        email: format!("grace@{tenant}.example"),
        name: "Grace".to_owned(),
        role,
    }
}

/// Calls a route of the admin API as an operator, or as somebody who is not signed in. Returns the status and
/// the envelope.
pub(crate) async fn call(
    service: &Service,
    mut routes: Router<Service>,
    operator: Option<Operator>,
    method: &str,
    path: &str,
    body: Option<serde_json::Value>,
) -> (StatusCode, serde_json::Value) {
    if let Some(operator) = operator {
        routes = routes.layer(Extension(operator));
    }
    let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
    let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
    let request = request.body(body).expect("a request");
    let response = routes.with_state(service.clone()).oneshot(request).await.expect("a response");
    let status = response.status();
    let bytes = response.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

/// A conversation to add with a visitor, who says a word wherever visitors can.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Story<'a> {
    pub(crate) site: &'a str,
    /// `None` for a visitor without an id.
    pub(crate) visitor: Option<&'a str>,
    pub(crate) email: &'a str,
    pub(crate) word: &'a str,
    pub(crate) messages: i64,
    pub(crate) at_ms: i64,
    pub(crate) status: &'a str,
}

impl<'a> Story<'a> {
    pub(crate) fn new(site: &'a str, visitor: &'a str, word: &'a str, at_ms: i64) -> Self {
        let (visitor, email, status) = (Some(visitor), "nobody@shop.example", "closed");
        Self { site, visitor, email, word, messages: 3, at_ms, status }
    }

    /// Stores the conversation in one transaction, and returns its id.
    pub(crate) async fn store(self, db: &Db) -> String {
        let site = sites::find(db, self.site).await.expect("read").expect("a site");
        let Self { visitor, email, word, messages, at_ms, status, .. } = self;
        let visitor = visitor.map(VisitorId::from);
        let (email, word, status) = (email.to_owned(), word.to_owned(), status.to_owned());
        transaction!(db, |tx| {
            let id = new_id("conv");
            let profile = VisitorProfile {
                name: Some(format!("Ada {word}")),
                email: Some(email),
                ..VisitorProfile::default()
            };
            let mut visitor_no = None;
            if let Some(visitor) = &visitor {
                visitor_no =
                    Some(super::upsert(tx, at_ms, &site.id, visitor.as_str(), &profile, None).await?.no);
                let batch = batch(visitor, &id, &word);
                super::events::record(tx, at_ms, &site.id, &batch, None).await?;
            }
            let row = tx
                .one(
                    "INSERT INTO conversations (id, site_id, visitor_no, status, source_page, profile, notes,
                         last_seq, created_ms, updated_ms, tenant_id, search_text)
                     VALUES ($1, $2, $3, $4, $5, $6, '{}', $7, $8, $8, $9, $10) RETURNING no",
                    args![
                        &id,
                        &site.id,
                        visitor_no,
                        status,
                        format!("/{word}"),
                        &Value::from(&profile),
                        messages,
                        at_ms,
                        &site.tenant_id,
                        &word,
                    ],
                )
                .await?;
            let no = row.int(0)?;
            for seq in 1..=messages {
                say(tx, &site.id, no, seq, at_ms, &word).await?;
            }
            let note = "INSERT INTO notes (id, conversation_no, kind, content, after_seq, created_ms)
                        VALUES ($1, $2, 'note', $3, 1, $4)";
            tx.execute(note, args![new_id("note"), no, format!("Wants {word}."), at_ms]).await?;
            let (label, text) = (new_id("label"), "Keen".to_owned());
            let sql =
                "INSERT INTO labels (id, tenant_id, name, name_key, color) VALUES ($1, $2, $3, $1, 'red')";
            tx.execute(sql, args![&label, &site.tenant_id, text]).await?;
            let sql = "INSERT INTO conversation_labels (conversation_no, label_id) VALUES ($1, $2)";
            tx.execute(sql, args![no, label]).await?;
            queue(tx, &site.id, &id, &word, at_ms).await?;
            Ok::<_, ApiError>(id)
        })
        .await
        .expect("stored")
    }
}

fn batch(visitor: &VisitorId, conversation: &str, word: &str) -> EventBatch {
    let events = serde_json::json!({ "events": [
        { "eventType": "page_view", "visitorId": visitor.as_str(), "path": format!("/{word}"), "title": word },
        { "eventType": "chat_opened", "eventData": { "conversationId": conversation, "label": word } },
    ] });
    let events: Value = serde_json::from_value(events).expect("a value");
    EventBatch::try_from(events).expect("a batch")
}

/// Stores a message with its search terms, and the response to its request.
async fn say(tx: &mut Tx, site: &str, no: i64, seq: i64, at_ms: i64, word: &str) -> Result<(), DbError> {
    let key = format!("chat-{no}-{seq}");
    let content = format!("I look for {word} number {seq}.");
    let sql = "INSERT INTO messages (conversation_no, seq, role, content, created_ms, key)
               VALUES ($1, $2, 'visitor', $3, $4, $5) RETURNING no";
    let message = tx.one(sql, args![no, seq, &content, at_ms, &key]).await?.int(0)?;
    let terms = match tx.dialect() {
        Dialect::Sqlite => "INSERT INTO message_terms (rowid, terms) VALUES ($1, $2)",
        Dialect::Postgres => "INSERT INTO message_terms (no, terms) VALUES ($1, CAST($2 AS tsvector))",
    };
    tx.execute(terms, args![message, format!("look {word} number{seq}")]).await?;
    let request = "INSERT INTO idempotency (site_id, scope, key, request, status, request_id, body, progress, expires_ms)
                   VALUES ($1, '/chat/messages', $2, $3, $4, 'req_1', $5, $6, $7)";
    let (hash, body): (Vec<u8>, Vec<u8>) = (vec![0], content.clone().into());
    // The last request is not answered yet.
    let status = (seq < 3).then_some(200_i64);
    let values = args![site, key, hash, status, body, content, at_ms + 24 * 3_600_000];
    tx.execute(request, values).await?;
    Ok(())
}

/// Stores a webhook, deliveries, a notification and a push that tell of a conversation.
async fn queue(tx: &mut Tx, site: &str, conversation: &str, word: &str, at_ms: i64) -> Result<(), DbError> {
    let tenant = tx.one("SELECT tenant_id FROM sites WHERE id = $1", args![site]).await?.text(0)?;
    let webhook = new_id("wh");
    let sql =
        "INSERT INTO webhooks (id, tenant_id, url, secret, created_ms) VALUES ($1, $2, 'https://a', $3, $4)";
    let secret: Vec<u8> = vec![0];
    tx.execute(sql, args![&webhook, &tenant, secret, at_ms]).await?;
    for status in ["pending", "delivered", "failed"] {
        let body = format!(r#"{{"data":{{"conversationId":"{conversation}","message":"{word}"}}}}"#);
        let sql =
            "INSERT INTO deliveries (id, webhook_id, event, body, status, next_ms, created_ms, finished_ms,
                   conversation_id) VALUES ($1, $2, 'message.created', $3, $4, $5, $5, $6, $7)";
        let finished = (status != "pending").then_some(at_ms);
        let delivery = new_id("dlv");
        tx.execute(sql, args![&delivery, &webhook, body, status, at_ms, finished, conversation]).await?;
        // A receiver may repeat what it got.
        let sql = "INSERT INTO delivery_attempts (delivery_no, attempt, at_ms, error, duration_ms)
                   SELECT no, 1, created_ms, CAST($2 AS TEXT), 1 FROM deliveries WHERE id = $1";
        tx.execute(sql, args![delivery, format!("unknown: {word}")]).await?;
    }
    let sql = "INSERT INTO notifications (tenant_id, site_id, conversation_id, kind, created_ms, due_ms)
               VALUES ($1, $2, $3, 'lead', $4, $4) RETURNING no";
    let notification = tx.one(sql, args![&tenant, site, conversation, at_ms]).await?.int(0)?;
    let sql = "INSERT INTO emails (id, tenant_id, recipient, next_ms, created_ms)
               VALUES ($1, $2, 'grace@shop.example', $3, $3) RETURNING no";
    let email = tx.one(sql, args![new_id("mail"), &tenant, at_ms]).await?.int(0)?;
    let sql = "INSERT INTO email_notifications (email_no, notification_no) VALUES ($1, $2)";
    tx.execute(sql, args![email, notification]).await?;
    let sql = "INSERT INTO reply_mails (id, tenant_id, site_id, conversation_no, address, proved, first_seq,
                   last_seq, status, next_ms, created_ms)
               SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), no, $4, 0, 2, 2, 'accepted',
                   CAST($5 AS BIGINT), CAST($5 AS BIGINT) FROM conversations WHERE id = $6";
    let address: Vec<u8> = vec![0];
    tx.execute(sql, args![new_id("reply"), &tenant, site, address, at_ms, conversation]).await?;
    store_push(tx, &tenant, conversation, at_ms).await
}

/// Stores an operator, whose account has the same id: the id, the tenant, the address, the name and the role.
pub(crate) async fn store_operator(tx: &mut Tx, operator: [&str; 5]) -> Result<(), DbError> {
    let [id, tenant, email, name, role] = operator;
    let sql = "INSERT INTO accounts (id, address, password, created_ms) VALUES ($1, $2, '', 1)
               ON CONFLICT DO NOTHING";
    tx.execute(sql, args![id, email]).await?;
    let sql = "INSERT INTO operators (id, account_id, tenant_id, email, name, role, created_ms)
               VALUES ($1, $1, $2, $3, $4, $5, 1) ON CONFLICT DO NOTHING";
    tx.execute(sql, args![id, tenant, email, name, role]).await?;
    Ok(())
}

/// Stores an operator outside of a transaction.
pub(crate) async fn add_operator(db: &Db, operator: [&str; 5]) {
    let operator = operator.map(str::to_owned);
    let stored: Result<(), DbError> =
        transaction!(db, |tx| store_operator(tx, operator.each_ref().map(String::as_str)).await).await;
    stored.expect("stored");
}

/// Stores a push that told an operator of a conversation.
async fn store_push(tx: &mut Tx, tenant: &str, conversation: &str, at_ms: i64) -> Result<(), DbError> {
    let [operator, session, device] = ["operator", "session", "push"].map(new_id);
    let hash: Vec<u8> = session.clone().into();
    store_operator(tx, [&operator, tenant, &operator, "Grace", "agent"]).await?;
    let sql = "INSERT INTO operator_sessions
                   (id, hash, operator_id, created_ms, seen_ms, rotated_ms, expires_ms, address, user_agent)
               VALUES ($1, $2, $3, $4, $4, $4, $5, '', '')";
    tx.execute(sql, args![&session, &hash[..], &operator, at_ms, i64::MAX]).await?;
    let sql =
        "INSERT INTO push_devices (id, operator_id, session_id, endpoint_hash, subscription, created_ms)
               VALUES ($1, $2, $3, $4, $4, $5)";
    tx.execute(sql, args![&device, operator, session, hash, at_ms]).await?;
    let sql = "INSERT INTO pushes (device_id, conversation_id, cause, queued_ms, sent_ms)
               VALUES ($1, $2, 'message', $3, $3)";
    tx.execute(sql, args![device, conversation, at_ms]).await?;
    Ok(())
}

/// Returns every stored value of the database as text: the rows of all tables and, with SQLite, its files.
pub(crate) async fn everything(database: &TestDatabase, db: &Db) -> Vec<u8> {
    let mut bytes = Vec::new();
    match db.dialect() {
        Dialect::Sqlite => {
            for suffix in ["", "-wal"] {
                bytes.extend(std::fs::read(format!("{}{suffix}", database.address)).unwrap_or_default());
            }
        }
        Dialect::Postgres => {
            let tables = "SELECT CAST(table_name AS TEXT) FROM information_schema.tables
                          WHERE table_schema = 'public' AND table_type = 'BASE TABLE'";
            for table in rows(db, tables, vec![]).await {
                let table = table.text(0).expect("a name");
                let sql = format!("SELECT CAST(t AS TEXT) FROM \"{table}\" t");
                for row in db.all(sqlx::AssertSqlSafe(sql), vec![]).await.expect("rows") {
                    bytes.extend(row.text(0).expect("a row").into_bytes());
                }
            }
        }
    }
    bytes
}

/// Returns how often a word occurs, also where it is written in hexadecimal digits.
pub(crate) fn occurrences(bytes: &[u8], word: &str) -> usize {
    let mut hexadecimal = String::new();
    for byte in word.bytes() {
        let _ = write!(hexadecimal, "{byte:02x}");
    }
    let count = |needle: &[u8]| bytes.windows(needle.len()).filter(|window| *window == needle).count();
    count(word.as_bytes()) + count(hexadecimal.as_bytes())
}
