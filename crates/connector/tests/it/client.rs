//! The client makes every call of the contract exactly once, despite failures on the way.

use std::sync::Mutex;
use std::time::Duration;

use chat_connector::client::{
    BackOff, ClientOptions, ConnectorError, ErrorKind, ServerConnectorClient, SyncRun,
};
use chat_protocol::{Completion, ErrorCode, Outcome};
use futures_util::stream;
use secrecy::SecretString;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::calls::{activation, every_call, items, message};
use crate::service::{self, Service, TOKEN};

#[tokio::test]
async fn makes_every_call_of_the_contract() {
    every_call(&Service::start().await).await;
}

#[tokio::test]
async fn every_call_succeeds_despite_lost_responses_and_failures() {
    let service = Service::start().await;
    for (seed, status) in [(1, 503), (2, 429), (3, 500)] {
        service.local("DELETE", "/sandbox/conversations", None).await;
        service.local("DELETE", "/sandbox/site", None).await;
        let faults =
            json!({ "status": status, "rate": 0.3, "loseAnswers": 0.2, "dropRequests": 0.1, "seed": seed });
        service.inject_faults(faults).await;
        every_call(&service).await;
        let everything = service.local("GET", "/sandbox/conversations", None).await;
        assert_eq!(everything["conversations"].as_array().map(Vec::len), Some(1), "one message was sent");
        assert_eq!(everything["events"].as_array().map(Vec::len), Some(121));
        service.local("DELETE", "/sandbox/trouble", None).await;
    }
}

#[tokio::test]
async fn attempts_share_a_key_in_the_format_of_the_contract() {
    let service = Service::start().await;
    service.inject_faults(json!({ "status": 503, "times": 2, "only": "send" })).await;
    let client = service.client();
    client.send_message_as(&message("Hello"), "m1").await.expect("a reply");
    let sends = service.arrived("/chat/messages").await;
    let key = "chat-v1-m1".to_owned();
    assert_eq!(sends, [(key.clone(), Some(503)), (key.clone(), Some(503)), (key, Some(200))]);

    let run = SyncRun::new("2026-01");
    client.sync_content_pages(stream::iter(items(60)), &run, |_| ()).await.expect("a sync");
    let keys: Vec<_> = service.arrived("/content/sync").await.into_iter().map(|(key, _)| key).collect();
    let site = "site_kiln_and_clover";
    assert_eq!(keys, [format!("content-sync-{site}-2026-01-1"), format!("content-sync-{site}-2026-01-2")]);

    client.claim_next_job().await.expect("a claim");
    client.claim_next_job().await.expect("a claim");
    let claims = service.arrived("/site/jobs/next").await;
    assert!(claims.iter().all(|(key, _)| key.starts_with("job-next-")));
    assert_ne!(claims[0].0, claims[1].0, "two claims are two requests");
}

#[tokio::test]
async fn resumes_a_sync_at_the_page_where_it_stopped() {
    let service = Service::start().await;
    let client = service.client();
    let run = SyncRun { page_size: 10, ..SyncRun::new("s1") };
    let seen = Mutex::new(Vec::new());
    // The service stops after the second page, when the items of the third are read.
    let address = service.origin();
    let flaky = stream::iter(items(50));
    let flaky = futures_util::StreamExt::then(flaky, |item| {
        let address = address.clone();
        async move {
            if item.external_id == "25" {
                let faults = json!({ "status": 503 });
                service::http()
                    .put(format!("{address}/sandbox/trouble"))
                    .json(&faults)
                    .send()
                    .await
                    .expect("an answer");
            }
            item
        }
    });
    let stopped = client
        .sync_content_pages(flaky, &run, |progress| seen.lock().expect("not poisoned").push(progress.page))
        .await
        .expect_err("stopped");
    assert_eq!((stopped.page, stopped.progress.items, stopped.error.status), (3, 20, Some(503)));
    assert_eq!(*seen.lock().expect("not poisoned"), [1, 2]);

    service.local("DELETE", "/sandbox/trouble", None).await;
    let rest = SyncRun { first_page: stopped.page, ..run };
    let done = client.sync_content_pages(stream::iter(items(50)), &rest, |_| ()).await.expect("a sync");
    assert_eq!((done.page, done.items, done.removed), (5, 30, 0));
    let site = service.local("GET", "/sandbox/site", None).await;
    assert_eq!(site["contentItems"], 50);
}

#[tokio::test]
async fn a_refusal_has_code_status_and_request_id_and_is_not_retried() {
    let service = Service::start().await;
    let wrong: SecretString = "another-token".into();
    let client = ServerConnectorClient::new(service.options(), &wrong).expect("a client");
    let error = client.get_site_status().await.expect_err("refused");
    assert_eq!(
        (error.kind, error.status, &error.code),
        (ErrorKind::Refused, Some(401), &ErrorCode::InvalidToken)
    );
    assert!(error.request_id.as_deref().is_some_and(|id| id.starts_with("req_")) && !error.retryable);
    assert_eq!(service.arrived("/site/status").await.len(), 1);

    let error =
        ServerConnectorClient::activate(&service.options(), &activation("wrong")).await.expect_err("refused");
    assert_eq!(error.status, Some(400));
    let too_long = message(&"x".repeat(4001));
    let error = service.client().send_message(&too_long).await.expect_err("refused");
    assert_eq!(error.code, ErrorCode::InvalidRequest);
}

#[tokio::test]
async fn obeys_retry_after_or_reports_it_if_too_long() {
    let service = Service::start().await;
    service.inject_faults(json!({ "status": 429, "times": 1, "retryAfter": 1 })).await;
    let before = std::time::Instant::now();
    service.client().get_site_status().await.expect("a status");
    assert!(before.elapsed() >= Duration::from_secs(1));

    service.inject_faults(json!({ "status": 429, "retryAfter": 3600 })).await;
    let error = service.client().get_site_status().await.expect_err("too long");
    assert_eq!((error.retry_after, error.retryable), (Some(Duration::from_hours(1)), true));
    assert_eq!(service.arrived("/site/status").await.len(), 3);
}

#[tokio::test]
async fn distinguishes_a_lost_claim_from_other_failures() {
    let service = Service::start().await;
    service.add_job("publish_article", json!({})).await;
    service.inject_faults(json!({ "leaseMs": 0 })).await;
    let client = service.client();
    let job = client.claim_next_job().await.expect("a claim").job.expect("a job");
    let body = Completion {
        claim_token: job.claim_token.clone().expect("a token"),
        outcome: Outcome::Failed { reason: "no".to_owned(), permanent: false },
    };
    assert!(client.complete_job(&job.id, &body).await.expect_err("expired").is_job_lost());
    assert!(client.complete_job(&"job_0".into(), &body).await.expect_err("unknown").is_job_lost());
}

#[tokio::test]
async fn reports_responses_that_are_not_of_the_api() {
    for (response, kind) in [
        ("HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n<html>hi</html>", ErrorKind::InvalidResponse),
        ("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{", ErrorKind::Unreachable),
        (
            "HTTP/1.1 301 Moved\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n",
            ErrorKind::InvalidResponse,
        ),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 9\r\n\r\nNot found", ErrorKind::InvalidResponse),
        ("HTTP/1.1 503 Busy\r\ncontent-length: 4\r\n\r\nBusy", ErrorKind::Refused),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 24\r\n\r\n{\"ok\":true,\"data\":\"what\"}",
            ErrorKind::InvalidResponse,
        ),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move {
            loop {
                let (mut connection, _) = listener.accept().await.expect("a connection");
                let _ = connection.read(&mut [0; 4096]).await;
                let _ = connection.write_all(response.as_bytes()).await;
            }
        });
        let back_off = BackOff { attempts: 2, initial: Duration::ZERO, ..BackOff::default() };
        let options = ClientOptions { back_off, ..ClientOptions::new(origin) };
        let client = ServerConnectorClient::new(options, &TOKEN.into()).expect("a client");
        assert_eq!(client.get_site_status().await.expect_err(response).kind, kind, "{response}");
    }
}

#[test]
fn refuses_an_origin_with_the_base_path_and_says_what_to_do() {
    let refused = |origin: &str, token: &str| -> ConnectorError {
        ServerConnectorClient::new(ClientOptions::new(origin), &token.into()).expect_err("refused")
    };
    let error = refused("https://service.example/api/connector/v1", TOKEN);
    assert_eq!(
        error.to_string(),
        "invalid origin of the service: leave /api/connector/v1 out, it is added automatically"
    );
    assert_eq!(error.kind, ErrorKind::Setup);
    let error = refused("https://service.example", "two words");
    assert!(error.to_string().contains("site token") && !error.to_string().contains("two words"));
}
