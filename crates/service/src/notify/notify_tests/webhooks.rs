//! Deliveries: signatures, retries, and several nodes.

use chat_protocol::admin::settings::{Delivery, NewWebhook, Webhook, WebhookChange};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::receiver::Receiver;
use super::*;
use crate::databases::{Kind, on_both_databases};
use crate::db::transaction;
use crate::notify::webhooks::deliveries::{self, LogPage};
use crate::notify::webhooks::{WebhookQueue, WebhookSecret, store};

const HOUR_MS: i64 = 60 * 60 * 1000;

/// Creates a webhook of a tenant for all events.
pub(super) async fn create(service: &Service, tenant: &str, url: &str) -> (Webhook, WebhookSecret) {
    create_for(service, tenant, NewWebhook { url: url.to_owned(), site_id: None, events: Vec::new() }).await
}

async fn create_for(service: &Service, tenant: &str, new: NewWebhook) -> (Webhook, WebhookSecret) {
    let (tenant, options, now_ms) = (tenant.to_owned(), service.0.options.clone(), service.now_ms());
    transaction!(service.db(), |tx| store::create(tx, &new, &options.key, true, now_ms, &tenant).await)
        .await
        .expect("created")
}

pub(super) async fn log(service: &Service, webhook: &Webhook) -> Vec<Delivery> {
    deliveries::list(service.db(), service.now_ms(), &webhook.id, &LogPage::default())
        .await
        .expect("a log")
        .deliveries
}

async fn replay(service: &Service, webhook: &Webhook, delivery: &Delivery, now_ms: i64) {
    let (webhook_id, id) = (webhook.id.clone(), delivery.id.clone());
    transaction!(service.db(), |tx| deliveries::replay(tx, now_ms, &webhook_id, &id).await)
        .await
        .expect("replayed");
}

/// Delivers what is due at a time, and returns when something is due again.
pub(super) async fn deliver(service: &Service, now_ms: i64) -> Option<i64> {
    drain(&mut worker::<WebhookQueue>(service), now_ms).await
}

on_both_databases! {
    async fn delivers_an_event_with_a_signature_that_the_receiver_can_check(database: &TestDatabase) {
        let service = open(database).await;
        let receiver = Receiver::start().await;
        let (webhook, secret) = create(&service, "a", &receiver.url).await;
        report(&service, "a", EventName::MessageCreated, "Grüße \u{1f600}").await;
        assert_eq!(deliver(&service, service.now_ms()).await, None);
        let requests = receiver.received();
        assert_eq!(requests.len(), 1);
        assert!(requests[0].is_signed_with(secret.expose()));
        assert_eq!(requests[0].header("content-type"), "application/json");
        let timestamp: i64 = requests[0].header("webhook-timestamp").parse().expect("seconds");
        assert!((service.now_ms() / 1000 - timestamp).abs() < 60);
        let body: Value = serde_json::from_str(&requests[0].body).expect("JSON");
        let text = |name| body.get(name).and_then(Value::as_text).expect("a text");
        assert_eq!((text("type"), text("siteId")), ("message.created", "site_a"));
        assert_eq!(text("id"), requests[0].id());
        assert_eq!(body.get("data").and_then(|data| data.get("text")), Some(&"Grüße \u{1f600}".into()));
        let log = log(&service, &webhook).await;
        assert_eq!((log[0].status.as_str(), log[0].attempts[0].status), ("delivered", Some(200)));
        let stored = rows(&service, "SELECT secret FROM webhooks").await[0].bytes(0).expect("bytes");
        let exposed = secret.expose().as_bytes();
        assert!(!stored.windows(exposed.len()).any(|window| window == exposed), "stored encrypted");
    }

    async fn an_event_reaches_the_webhooks_that_want_it_and_no_other_tenant(database: &TestDatabase) {
        let service = open(database).await;
        let sql = "INSERT INTO sites (id, tenant_id, name, created_ms) VALUES ('site_a2', 'a', 'Two', 1)";
        execute(&service, sql, args![]).await;
        let receiver = Receiver::start().await;
        let webhook = |site: Option<&str>, events: &[&str]| NewWebhook {
            url: receiver.url.clone(),
            site_id: site.map(str::to_owned),
            events: events.iter().map(|event| (*event).to_owned()).collect(),
        };
        let (all, _) = create_for(&service, "a", webhook(None, &[])).await;
        let (site, _) = create_for(&service, "a", webhook(Some("site_a"), &["message.created"])).await;
        let (other_site, _) = create_for(&service, "a", webhook(Some("site_a2"), &[])).await;
        let (other_event, _) = create_for(&service, "a", webhook(None, &["lead.updated"])).await;
        let (other_tenant, _) = create(&service, "b", &receiver.url).await;
        let (disabled, _) = create(&service, "a", &receiver.url).await;
        let id = disabled.id.clone();
        let change = WebhookChange { enabled: Some(false), ..WebhookChange::default() };
        transaction!(service.db(), |tx| store::change(tx, &change, true, 1, "a", &id).await)
            .await
            .expect("disabled");
        report(&service, "a", EventName::MessageCreated, "one").await;
        let mut events = std::collections::HashSet::new();
        for (webhook, expected) in
            [(all, 1), (site, 1), (other_site, 0), (other_event, 0), (other_tenant, 0), (disabled, 0)]
        {
            let log = log(&service, &webhook).await;
            assert_eq!(log.len(), expected, "{webhook:?}");
            events.extend(log.into_iter().map(|delivery| delivery.event_id));
        }
        assert_eq!(events.len(), 1, "an event has one id");
    }

    async fn a_change_that_is_rolled_back_sends_nothing(database: &TestDatabase) {
        let service = open(database).await;
        create(&service, "a", "https://hooks.example").await;
        transaction!(service.db(), |tx| {
            let event_of_a = Event {
                tenant_id: "a".to_owned(),
                site_id: "site_a".to_owned(),
                name: EventName::JobCompleted,
                data: Value::Null,
                conversation_id: None,
            };
            event(tx, 1, &event_of_a).await?;
            Err::<(), _>(DbError::from(sqlx::Error::RowNotFound))
        })
        .await
        .expect_err("rolled back");
        assert_eq!(number(&service, "SELECT count(*) FROM deliveries").await, 0);
    }

    async fn retries_the_same_request_until_it_fails_and_a_replay_begins_again(database: &TestDatabase) {
        let service = open(database).await;
        let receiver = Receiver::start().await;
        let (webhook, secret) = create(&service, "a", &receiver.url).await;
        (0..9).for_each(|_| receiver.answer(500, None));
        report(&service, "a", EventName::MessageCreated, "one").await;
        let mut now_ms = service.now_ms();
        for schedule_s in [5, 30, 120, 600, 3600, 21_600, 86_400] {
            let next_ms = deliver(&service, now_ms).await.expect("a retry");
            let delay_s = (next_ms - now_ms) / 1000;
            assert!((schedule_s * 8 / 10..=schedule_s * 12 / 10 + 10).contains(&delay_s), "{delay_s}");
            let before = receiver.received().len();
            assert_eq!(deliver(&service, next_ms - 1).await, Some(next_ms));
            assert_eq!(receiver.received().len(), before, "not before it is due");
            now_ms = next_ms;
        }
        assert_eq!(deliver(&service, now_ms).await, None);
        let requests = receiver.received();
        assert_eq!(requests.len(), 8);
        assert!(requests.iter().all(|request| request.is_signed_with(secret.expose())));
        assert!(requests.iter().all(|request| request.id() == requests[0].id()));
        assert!(requests.iter().all(|request| request.body == requests[0].body));
        let timestamps: std::collections::HashSet<_> =
            requests.iter().map(|request| request.header("webhook-timestamp").to_owned()).collect();
        assert_eq!(timestamps.len(), 8, "each attempt is signed with its time");
        let failed = &log(&service, &webhook).await[0];
        assert_eq!((failed.status.as_str(), failed.attempts.len()), ("failed", 8));
        assert_eq!(failed.attempts[0].error.as_deref(), Some("no words "), "PostgreSQL stores no NUL");

        replay(&service, &webhook, failed, now_ms).await;
        let next_ms = deliver(&service, now_ms).await.expect("the schedule begins again");
        assert!(next_ms - now_ms < 16_000);
        assert_eq!(deliver(&service, next_ms).await, None);
        assert_eq!(receiver.received()[9].id(), requests[0].id());
        let delivered = &log(&service, &webhook).await[0];
        assert_eq!((delivered.status.as_str(), delivered.attempts.len()), ("delivered", 10));
    }

    async fn a_receiver_that_is_gone_disables_its_webhook(database: &TestDatabase) {
        let service = open(database).await;
        let receiver = Receiver::start().await;
        let (webhook, _) = create(&service, "a", &receiver.url).await;
        receiver.answer(410, None);
        report(&service, "a", EventName::MessageCreated, "one").await;
        deliver(&service, service.now_ms()).await;
        let disabled = store::get(service.db(), "a", &webhook.id).await.expect("a webhook");
        assert!(!disabled.enabled && disabled.disabled_reason.expect("a reason").contains("410"));
        let audit = rows(&service, "SELECT tenant_id, actor_id, action FROM audit").await;
        assert_eq!((audit.len(), audit[0].text(2).expect("text").as_str()), (1, "webhook.disable"));
        report(&service, "a", EventName::MessageCreated, "two").await;
        assert_eq!(deliver(&service, service.now_ms()).await, None);
        assert_eq!(receiver.received().len(), 1);
    }

    async fn a_webhook_that_failed_for_five_days_is_disabled_and_its_queue_fails(database: &TestDatabase) {
        let service = open(database).await;
        let receiver = Receiver::start().await;
        let (webhook, _) = create(&service, "a", &receiver.url).await;
        let start_ms = service.now_ms() + HOUR_MS;
        (0..6).for_each(|_| receiver.answer(500, None));
        for day in 0..6 {
            for _ in 0..2 {
                report(&service, "a", EventName::MessageCreated, "one").await;
            }
            // Only deliveries of this day are tried, so that each day has one answer.
            execute(&service, "UPDATE deliveries SET next_ms = 9000000000000000 WHERE attempts > 0", args![]).await;
            deliver_one(&service, start_ms + day * 25 * HOUR_MS).await;
            let webhook = store::get(service.db(), "a", &webhook.id).await.expect("a webhook");
            assert_eq!(!webhook.enabled, day == 5, "{webhook:?}");
            assert!(webhook.failing_since.is_some(), "day {day} {webhook:?}");
        }
        assert_eq!(number(&service, "SELECT count(*) FROM audit").await, 1);
        assert_eq!(deliver(&service, start_ms + 6 * 25 * HOUR_MS).await, None);
        assert_eq!(number(&service, "SELECT count(*) FROM deliveries WHERE status = 'failed'").await, 12);

        // Enabled again, it begins anew.
        let id = webhook.id.clone();
        let change = WebhookChange { enabled: Some(true), ..WebhookChange::default() };
        let enabled = transaction!(service.db(), |tx| store::change(tx, &change, true, 1, "a", &id).await)
            .await
            .expect("enabled");
        assert!(enabled.enabled && enabled.failing_since.is_none());
        replay(&service, &webhook, &log(&service, &webhook).await[0], start_ms).await;
        deliver(&service, start_ms).await;
        assert_eq!(log(&service, &webhook).await[0].status, "delivered");
    }

    async fn retry_after_pauses_the_whole_webhook(database: &TestDatabase) {
        let service = open(database).await;
        let receiver = Receiver::start().await;
        create(&service, "a", &receiver.url).await;
        receiver.answer(429, Some("100"));
        report(&service, "a", EventName::MessageCreated, "one").await;
        let now_ms = service.now_ms();
        deliver(&service, now_ms).await;
        report(&service, "a", EventName::MessageCreated, "two").await;
        let next_ms = deliver(&service, service.now_ms()).await.expect("a retry");
        assert!((100_000..110_000).contains(&(next_ms - now_ms)), "{}", next_ms - now_ms);
        assert_eq!(receiver.received().len(), 1);
        assert_eq!(deliver(&service, next_ms).await, None);
        assert_eq!(receiver.received().len(), 3);
    }

    async fn a_delivery_of_a_node_that_died_is_taken_over(database: &TestDatabase) {
        let service = open(database).await;
        let receiver = Receiver::start().await;
        let (webhook, _) = create(&service, "a", &receiver.url).await;
        report(&service, "a", EventName::MessageCreated, "one").await;
        let now_ms = service.now_ms();
        let silent = super::receiver::Socket::bind().await;
        execute(&service, "UPDATE webhooks SET url = $1", args![format!("http://127.0.0.1:{}", silent.port)]).await;
        let mut dying = worker::<WebhookQueue>(&service);
        dying.start_due(now_ms).await.expect("started");
        let _connection = silent.accept().await;
        drop(dying);
        execute(&service, "UPDATE webhooks SET url = $1", args![&receiver.url]).await;
        let lease_ms = deliver(&service, now_ms + 1000).await.expect("the end of the lease");
        assert!(receiver.received().is_empty());
        deliver(&service, lease_ms).await;
        assert_eq!(receiver.received().len(), 1);
        let log = log(&service, &webhook).await;
        assert_eq!((log[0].status.as_str(), log[0].attempts.len()), ("delivered", 1));
    }

    async fn after_a_rotation_both_secrets_verify_for_a_day(database: &TestDatabase) {
        let service = open(database).await;
        let receiver = Receiver::start().await;
        let (webhook, old) = create(&service, "a", &receiver.url).await;
        let (key, now_ms, id) = (service.0.options.key.clone(), service.now_ms(), webhook.id.clone());
        let new = transaction!(service.db(), |tx| store::rotate(tx, &key, now_ms, &id).await)
            .await
            .expect("rotated");
        for later_ms in [0, 25 * HOUR_MS] {
            report(&service, "a", EventName::MessageCreated, "one").await;
            deliver(&service, service.now_ms() + later_ms).await;
        }
        let requests = receiver.received();
        assert!(requests.iter().all(|request| request.is_signed_with(new.expose())));
        assert!(requests[0].is_signed_with(old.expose()) && !requests[1].is_signed_with(old.expose()));
    }

    async fn erasing_a_conversation_removes_its_words_from_the_queue_and_the_log(database: &TestDatabase) {
        let service = open(database).await;
        let receiver = Receiver::start().await;
        create(&service, "a", &receiver.url).await;
        report(&service, "a", EventName::MessageCreated, "delivered").await;
        deliver(&service, service.now_ms()).await;
        report(&service, "a", EventName::MessageCreated, "pending").await;
        transaction!(service.db(), |tx| crate::notify::erase(tx, "conv_1").await).await.expect("erased");
        assert_eq!(number(&service, "SELECT count(*) FROM deliveries").await, 0);
        assert_eq!(number(&service, "SELECT count(*) FROM delivery_attempts").await, 0);
    }
}

/// Delivers one of the due deliveries, whose others wait.
async fn deliver_one(service: &Service, now_ms: i64) {
    let sql = "UPDATE deliveries SET next_ms = 9000000000000000 \
               WHERE attempts = 0 AND no <> (SELECT max(no) FROM deliveries)";
    execute(service, sql, args![]).await;
    deliver(service, now_ms).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_deliver_each_event_once() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let nodes = [open(&database).await, open(&database).await];
    let receivers = [Receiver::start().await, Receiver::start().await, Receiver::start().await];
    for receiver in &receivers {
        create(&nodes[0], "a", &receiver.url).await;
    }
    let running: Vec<_> = nodes.iter().map(|node| tokio::spawn(crate::notify::run(node.clone()))).collect();
    for number in 0..100 {
        report(&nodes[number % 2], "a", EventName::MessageCreated, &number.to_string()).await;
    }
    for receiver in &receivers {
        receiver.wait_for(100).await;
    }
    for (node, running) in nodes.iter().zip(running) {
        node.0.closing.cancel();
        in_time(running).await.expect("no panic");
    }
    for receiver in &receivers {
        let ids: std::collections::HashSet<_> =
            receiver.received().iter().map(|request| request.id().to_owned()).collect();
        assert_eq!((receiver.received().len(), ids.len()), (100, 100));
    }
    let sql = "SELECT count(*) FROM deliveries WHERE status = 'delivered' AND attempts = 1";
    assert_eq!(number(&nodes[0], sql).await, 300);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_closes_finishes_the_requests_in_progress() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let service = open(&database).await;
    let slow = super::receiver::Socket::bind().await;
    let (webhook, _) = create(&service, "a", &format!("http://127.0.0.1:{}", slow.port)).await;
    report(&service, "a", EventName::MessageCreated, "one").await;
    let running = tokio::spawn(crate::notify::run(service.clone()));
    let mut connection = slow.accept().await;
    // A response before its request would be an error of the protocol.
    connection.read_u8().await.expect("a request");
    service.0.closing.cancel();
    connection.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.expect("written");
    in_time(running).await.expect("no panic");
    assert_eq!(log(&service, &webhook).await[0].status, "delivered");
}
