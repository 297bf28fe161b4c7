//! Tests of webhooks and e-mails on both databases, with real receivers on loopback.

mod docs;
mod mail;
mod mail_server;
mod push;
mod push_mail;
mod receiver;
pub(crate) mod smtp;
mod targets;
mod verify;
mod webhook_routes;
mod webhooks;
mod webhooks_hostile;

use std::time::Duration;

use chat_protocol::Value;

use super::{Event, EventName, event};
use crate::accounts::{Operator, Role};
use crate::databases::TestDatabase;
use crate::db::{Arg, DbError, Row, args, transaction};
use crate::queue_runner::{Queue, QueueRunner};
use crate::visitors::fixture;
use crate::{Service, ServiceKey, ServiceOptions};

/// The key of all nodes of a test.
const KEY: [u8; 32] = [7; 32];

pub(crate) fn options(database: &TestDatabase) -> ServiceOptions {
    let key = ServiceKey::new(&KEY).expect("a key");
    let mut options = ServiceOptions::new(&database.address, key);
    options.allow_private_webhooks = true;
    options.public_origin = Some("https://chat.example".to_owned());
    options
}

/// Opens a service, with the tenants `a` and `b`, that each have a site and two operators.
pub(crate) async fn open_with(options: ServiceOptions) -> Service {
    let service = Service::open(options).await.expect("opened");
    for tenant in ["a", "b"] {
        add_tenant(&service, tenant).await;
    }
    service
}

/// Adds a tenant with a site and two operators.
async fn add_tenant(service: &Service, tenant: &str) {
    let sql = "INSERT INTO tenants (id, name, created_ms) VALUES ($1, $1, 1) ON CONFLICT DO NOTHING";
    execute(service, sql, args![tenant]).await;
    let sql = "INSERT INTO sites (id, tenant_id, name, created_ms) VALUES ($1, $2, $3, 1) \
                   ON CONFLICT DO NOTHING";
    let (site, name) = (format!("site_{tenant}"), format!("Shop {tenant}"));
    execute(service, sql, args![site, tenant, name]).await;
    for role in ["owner", "agent"] {
        let (id, email) = (format!("{role}_{tenant}"), format!("{role}@{tenant}.example"));
        fixture::add_operator(service.db(), [&id, tenant, &email, &id, role]).await;
    }
}

async fn open(database: &TestDatabase) -> Service {
    open_with(options(database)).await
}

pub(crate) async fn execute(service: &Service, sql: &'static str, args: Vec<Arg>) {
    fixture::execute(service.db(), sql, args).await;
}

pub(crate) async fn rows(service: &Service, sql: &'static str) -> Vec<Row> {
    fixture::rows(service.db(), sql, args![]).await
}

pub(crate) async fn number(service: &Service, sql: &'static str) -> i64 {
    fixture::number(service.db(), sql, args![]).await
}

/// Returns the signed-in operator of a test.
fn operator(tenant: &str, role: Role) -> Operator {
    let name = role.as_str().to_owned();
    let (id, email) = (format!("{name}_{tenant}"), format!("{name}@{tenant}.example"));
    Operator { account_id: id.clone(), id, tenant_id: tenant.to_owned(), email, name, role }
}

/// Reports an event of a tenant's site, as the conversations do.
async fn report(service: &Service, tenant: &str, name: EventName, text: &str) {
    let reported = Event {
        tenant_id: tenant.to_owned(),
        site_id: format!("site_{tenant}"),
        name,
        data: Value::object([("text", text.into())]),
        conversation_id: Some("conv_1".to_owned()),
    };
    let now_ms = service.now_ms();
    let written: Result<(), DbError> =
        transaction!(service.db(), |tx| event(tx, now_ms, &reported).await).await;
    written.expect("reported");
}

/// Returns the worker of a node.
pub(crate) fn worker<Q: Queue>(service: &Service) -> QueueRunner<Q> {
    QueueRunner::new(Q::open(service).expect("valid options").expect("switched on"))
}

/// Finishes everything that is due at a time, and returns when something is due again.
pub(crate) async fn drain(runner: &mut QueueRunner<impl Queue>, now_ms: i64) -> Option<i64> {
    loop {
        let next_ms = in_time(runner.start_due(now_ms)).await.expect("the queue is read");
        if !runner.is_busy() {
            return next_ms;
        }
        in_time(runner.finish_all()).await;
    }
}

/// Waits for something that must not take longer than 20 s.
pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work).await.expect("in time")
}
