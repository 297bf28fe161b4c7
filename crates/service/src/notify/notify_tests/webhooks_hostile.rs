//! Receivers that mean harm, or are broken.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::receiver::{Receiver, Socket};
use super::webhooks::{create, deliver, log};
use super::*;
use crate::databases::Kind;
use crate::notify::webhooks::WebhookQueue;

async fn service() -> (TestDatabase, Service) {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let service = open(&database).await;
    (database, service)
}

/// Returns the error of the only attempt of a webhook's only delivery.
async fn error_of(service: &Service, webhook: &chat_protocol::admin::settings::Webhook) -> String {
    let log = log(service, webhook).await;
    assert_eq!((log.len(), log[0].status.as_str(), log[0].attempts.len()), (1, "pending", 1), "{log:?}");
    log[0].attempts[0].error.clone().expect("an error")
}

#[tokio::test]
async fn a_receiver_that_never_answers_times_out_and_holds_up_nobody() {
    let (_database, service) = service().await;
    let silent = Socket::bind().await;
    let receiver = Receiver::start().await;
    let (dead, _) = create(&service, "a", &format!("http://127.0.0.1:{}", silent.port)).await;
    create(&service, "b", &receiver.url).await;
    report(&service, "a", EventName::MessageCreated, "one").await;
    let mut deliverer = worker::<WebhookQueue>(&service);
    deliverer.start_due(service.now_ms()).await.expect("started");
    let _connection = silent.accept().await;
    for _ in 0..20 {
        report(&service, "b", EventName::MessageCreated, "two").await;
    }
    // More than one round: the places of one webhook are few.
    while receiver.received().len() < 20 {
        deliverer.start_due(service.now_ms()).await.expect("started");
        in_time(deliverer.finish_one()).await;
    }
    assert!(log(&service, &dead).await[0].attempts.is_empty(), "still in progress");
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(11)).await;
    tokio::time::resume();
    in_time(deliverer.finish_all()).await;
    assert!(error_of(&service, &dead).await.contains("no response within 10 s"));
}

#[tokio::test]
async fn webhooks_that_fail_get_one_place_each() {
    let (_database, service) = service().await;
    let silent = Socket::bind().await;
    create(&service, "a", &format!("http://127.0.0.1:{}", silent.port)).await;
    for _ in 0..10 {
        report(&service, "a", EventName::MessageCreated, "one").await;
    }
    let leased = "SELECT count(*) FROM deliveries WHERE lease_until_ms > 0";
    let mut deliverer = worker::<WebhookQueue>(&service);
    deliverer.start_due(service.now_ms()).await.expect("started");
    assert_eq!(number(&service, leased).await, 4);
    drop(deliverer);
    execute(&service, "UPDATE deliveries SET lease_until_ms = 0, next_ms = 0", args![]).await;
    execute(&service, "UPDATE webhooks SET failing_since_ms = 1", args![]).await;
    let mut deliverer = worker::<WebhookQueue>(&service);
    deliverer.start_due(service.now_ms()).await.expect("started");
    assert_eq!(number(&service, leased).await, 1);
}

#[tokio::test]
async fn an_endless_response_is_read_to_its_bound() {
    let (_database, service) = service().await;
    let socket = Socket::bind().await;
    let (webhook, _) = create(&service, "a", &format!("http://127.0.0.1:{}", socket.port)).await;
    report(&service, "a", EventName::MessageCreated, "one").await;
    let endless = async {
        let mut connection = socket.accept().await;
        let head = b"HTTP/1.1 500 Error\r\nContent-Type: text/plain\r\n\r\n";
        connection.write_all(head).await.expect("written");
        let mut written = 0_usize;
        // Ends when the client has read enough.
        while connection.write_all(&[b'x'; 4096]).await.is_ok() {
            written += 4096;
        }
        written
    };
    let (written, _) = tokio::join!(in_time(endless), deliver(&service, service.now_ms()));
    assert!(written < 64 * 1024 * 1024, "{written}");
    assert_eq!(error_of(&service, &webhook).await, "x".repeat(200));
}

#[tokio::test]
async fn endless_headers_are_an_error() {
    let (_database, service) = service().await;
    let socket = Socket::bind().await;
    let (webhook, _) = create(&service, "a", &format!("http://127.0.0.1:{}", socket.port)).await;
    report(&service, "a", EventName::MessageCreated, "one").await;
    let endless = async {
        let mut connection = socket.accept().await;
        connection.write_all(b"HTTP/1.1 200 OK\r\n").await.expect("written");
        while connection.write_all(&b"X-More: 0123456789\r\n".repeat(100)).await.is_ok() {}
    };
    tokio::join!(in_time(endless), deliver(&service, service.now_ms()));
    assert!(error_of(&service, &webhook).await.starts_with("no valid response"));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (_database, service) = service().await;
    let receiver = Receiver::start().await;
    let (webhook, _) = create(&service, "a", &receiver.url).await;
    for status in [301, 302, 303, 307, 308] {
        receiver.answer(status, Some("/internal"));
    }
    report(&service, "a", EventName::MessageCreated, "one").await;
    deliver(&service, service.now_ms()).await;
    assert_eq!(receiver.received().len(), 1);
    assert!(error_of(&service, &webhook).await.contains("redirects are not followed"));
}

#[tokio::test]
async fn a_broken_connection_and_wrong_tls_are_retried() {
    let (_database, service) = service().await;
    for scheme in ["http", "https"] {
        let socket = Socket::bind().await;
        let (webhook, _) =
            create(&service, "a", &format!("{scheme}://127.0.0.1:{}/?key=1", socket.port)).await;
        report(&service, "a", EventName::MessageCreated, "one").await;
        let drops = async {
            let mut connection = socket.accept().await;
            let mut request = [0; 64];
            let read = connection.read(&mut request).await.expect("read");
            assert!(read > 0);
            connection.write_all(b"HTTP/1.1 ").await.expect("written");
        };
        tokio::join!(drops, deliver(&service, service.now_ms()));
        let error = error_of(&service, &webhook).await;
        assert!(!error.contains("key=1"), "{error}");
        execute(&service, "DELETE FROM webhooks", args![]).await;
    }
}

#[tokio::test]
async fn a_stored_url_is_checked_again_when_private_targets_are_no_longer_allowed() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let mut options = options(&database);
    options.allow_private_webhooks = false;
    let service = open_with(options).await;
    let receiver = Receiver::start().await;
    let (webhook, _) = create(&service, "a", &receiver.url).await;
    report(&service, "a", EventName::MessageCreated, "one").await;
    deliver(&service, service.now_ms()).await;
    assert!(error_of(&service, &webhook).await.contains("expected https://"));
    assert!(receiver.received().is_empty());
}
