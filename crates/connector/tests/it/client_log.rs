//! The client's log contains no secrets.

use std::io;
use std::sync::{Arc, Mutex};

use chat_connector::client::ServerConnectorClient;
use chat_service::test_mode::LICENSE;
use serde_json::json;
use tracing::Dispatch;
use tracing::subscriber::NoSubscriber;
use tracing_subscriber::fmt::MakeWriter;

use crate::calls::{activation, every_call};
use crate::service::{Service, TOKEN};

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
    // While a process has one subscriber only, a call site that another thread reaches first stays disabled.
    let _second = Dispatch::new(NoSubscriber::new());
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
