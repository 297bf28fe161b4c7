//! The client makes every call of the contract exactly once, despite failures on the way.

mod service;

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chat_connector::client::{
    BackOff, ClientOptions, ConnectorError, ErrorKind, OverlayQuery, ServerConnectorClient, SyncRun,
};
use chat_protocol::{
    Activation, Completion, ContentItem, ContentKind, Done, ErrorCode, JobStatus, MessageId, Outcome,
    SendMessage, Value, VisitorEvent, VisitorProfile,
};
use chat_sandbox::LICENSE;
use futures_util::stream;
use secrecy::{ExposeSecret, SecretString};
use serde_json::json;
use service::{Service, TOKEN};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tracing_subscriber::fmt::MakeWriter;

fn message(text: &str) -> SendMessage {
    SendMessage {
        conversation_id: None,
        message: text.to_owned(),
        locale: Some("en".to_owned()),
        source_page: None,
        visitor: VisitorProfile { visitor_id: Some("v1".into()), ..VisitorProfile::default() },
    }
}

fn event(number: usize) -> VisitorEvent {
    VisitorEvent {
        event_type: "page_view".to_owned(),
        visitor_id: Some("v1".into()),
        customer_id: None,
        channel: None,
        path: Some(format!("/{number}")),
        url: None,
        title: None,
        referrer: None,
        event_data: Value::Null,
        created_at: None,
    }
}

fn items(count: usize) -> Vec<ContentItem> {
    let item = |number: usize| ContentItem {
        path: Some(format!("/{number}")),
        title: Some(format!("Page {number}")),
        ..ContentItem::new(number.to_string(), ContentKind::Page)
    };
    (0..count).map(item).collect()
}

fn activation(license: &str) -> Activation {
    Activation {
        license_code: license.into(),
        domain: "https://shop.example".to_owned(),
        platform: Some("rust".to_owned()),
        site_name: Some("Shop".to_owned()),
        primary_locale: Some("en".to_owned()),
        supported_locales: vec!["en".to_owned()],
    }
}

/// Makes every call, in the order of the contract, and checks the results.
async fn every_call(service: &Service) {
    let site =
        ServerConnectorClient::activate(&service.options(), &activation(LICENSE)).await.expect("a token");
    assert_eq!(site.token.expose_secret(), TOKEN);
    let client = ServerConnectorClient::new(service.options(), &site.token).expect("a client");

    assert_eq!(client.get_site_status().await.expect("a status").site_name.as_deref(), Some("Shop"));
    assert!(client.get_chat_config(Some("en-GB")).await.expect("a config").shows_widget());
    let sent = client.send_message(&message("How much is a mug?")).await.expect("a reply");
    let history = client.list_messages(&sent.conversation_id, None).await.expect("a history");
    assert_eq!(history.messages.len(), 2);
    let after =
        client.list_messages(&sent.conversation_id, sent.user_message_id.as_ref().map(MessageId::as_str));
    assert_eq!(after.await.expect("a history").messages.len(), 1);
    let presence = client.get_presence(Some(&sent.conversation_id)).await.expect("a presence");
    assert!(presence.should_poll_messages);
    assert_eq!(client.track(event(0)).await.expect("a tracking").accepted, 1);
    assert_eq!(client.track_batch((0..120).map(event).collect()).await.expect("a tracking").accepted, 120);

    let run = SyncRun { page_size: 10, ..SyncRun::new("s1") };
    let done = client.sync_content_pages(stream::iter(items(25)), &run, |_| ()).await.expect("a sync");
    assert_eq!((done.page, done.items, done.accepted), (3, 25, 25));

    service.local("POST", "/operator/api/overlays/publish", None).await;
    let overlays = client.list_seo_overlays(&OverlayQuery::default()).await.expect("overlays").overlays;
    assert_eq!(overlays.len(), 25);

    let claim = client.claim_next_job().await.expect("a claim");
    let job = claim.job.expect("a job");
    let token = job.claim_token.clone().expect("a claim token");
    let body = Completion { claim_token: token, outcome: Outcome::Done(Done::default()) };
    let completed = client.complete_job(&job.id, &body).await.expect("a completion");
    assert_eq!((completed.id.clone(), completed.status), (job.id.clone(), JobStatus::Succeeded));
    client.complete_job(&job.id, &body).await.expect("the same report again is the same");
}

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
    assert_eq!((error.retry_after, error.retryable), (Some(Duration::from_secs(3600)), true));
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
        outcome: Outcome::Failed("no".to_owned()),
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

/// Collects the log of every level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("not poisoned").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn logs_errors_and_debug_output_contain_no_token_and_no_messages() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_span_events(tracing_subscriber::fmt::format::FmtSpan::FULL)
        .with_writer(log.clone())
        .finish();
    let _logging = tracing::subscriber::set_default(subscriber);

    let service = Service::start().await;
    service.inject_faults(json!({ "status": 503, "rate": 0.3, "loseAnswers": 0.2, "seed": 5 })).await;
    every_call(&service).await;
    service.inject_faults(json!({ "status": 401 })).await;
    let client = service.client();
    let error = client.get_site_status().await.expect_err("refused");
    let options = service.options();
    let site = ServerConnectorClient::activate(&options, &activation(LICENSE)).await;

    let logged = String::from_utf8_lossy(&log.0.lock().expect("not poisoned")).into_owned();
    assert!(logged.contains("connector_call") && logged.contains("retrying"), "{logged}");
    let shown = format!("{logged} {error} {error:?} {client:?} {options:?} {site:?}");
    for secret in [TOKEN, LICENSE, "How much is a mug?"] {
        assert!(!shown.contains(secret), "{secret}");
    }
}
