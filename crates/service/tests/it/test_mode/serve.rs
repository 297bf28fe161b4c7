//! A service that is not in test mode has nothing of it.

use std::path::Path;

use axum::body::Body;
use axum::http::Request;
use chat_service::test_mode::{LICENSE, TestMode, TestModeError, TestOptions};
use chat_service::{API_BASE, OpenError, Service, ServiceKey, ServiceOptions};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::test_mode::client::{Client, TOKEN};

#[tokio::test]
async fn a_service_has_no_operator_page_and_no_test_paths() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("service.sqlite");
    let options = ServiceOptions::new(file.to_string_lossy(), ServiceKey::random());
    let service = Service::open(options).await.expect("opened");
    for (method, path) in [
        ("GET", "/sandbox/trouble"),
        ("PUT", "/sandbox/trouble"),
        ("GET", "/sandbox/conversations"),
        ("DELETE", "/sandbox/site"),
        ("POST", "/sandbox/jobs"),
        ("PUT", "/sandbox/operator/online"),
        ("GET", "/operator"),
        ("GET", "/operator/console.js"),
        ("GET", "/operator/api/conversations"),
        ("GET", "/operator/api/changes"),
    ] {
        let request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:8090");
        let request = request.header("content-type", "application/json").body(Body::from("{}"));
        let answer = service.router().oneshot(request.expect("a request")).await.expect("an answer");
        assert_eq!(answer.status(), 404, "{method} {path}");
    }
}

/// Opens a service on a file. The lock of the file may be held a moment longer by the one before.
async fn open(file: &Path, key: &ServiceKey) -> Service {
    loop {
        match Service::open(ServiceOptions::new(file.to_string_lossy(), key.clone())).await {
            Err(OpenError::InUse(_)) => tokio::task::yield_now().await,
            opened => return opened.expect("opened"),
        }
    }
}

async fn call(service: &Service, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:8090");
    let request = request.header("content-type", "application/json");
    let request =
        request.header("authorization", format!("Bearer {TOKEN}")).body(Body::from(body.to_string()));
    let answer = service.router().oneshot(request.expect("a request")).await.expect("an answer");
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    (status, serde_json::from_slice(&body).expect("JSON"))
}

#[tokio::test]
async fn a_service_opens_the_file_of_the_demo_without_the_credentials_that_everybody_knows() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("demo.sqlite");
    let options = || TestOptions { data: Some(file.clone()), ..TestOptions::new(TOKEN.into()) };
    let demo = Client::with(options()).await;
    let conversation = demo.begin("Hello").await;
    assert!(!chat_service::ops::has_key(&file).await);
    demo.mode.close().await;
    drop(demo);

    let key = ServiceKey::random();
    let service = open(&file, &key).await;
    assert!(chat_service::ops::has_key(&file).await);
    let site = service.directory().sites(None).await.expect("sites").remove(0);
    let history = format!("/connector/{}/chat/messages?conversationId={conversation}", site.id);
    let (status, history) = call(&service, "GET", &history, &json!({})).await;
    assert_eq!((status, &history["data"]["messages"][0]["content"]), (200, &json!("Hello")));
    let (status, _) = call(&service, "GET", &format!("{API_BASE}/site/status"), &json!({})).await;
    assert_eq!(status, 401, "the demo's token");
    let activation = json!({ "licenseCode": LICENSE, "domain": "https://evil.example" });
    let (status, refused) = call(&service, "POST", &format!("{API_BASE}/auth/activate"), &activation).await;
    assert_eq!((status, &refused["ok"]), (400, &json!(false)), "the demo's license");

    // Its own credentials remain.
    service.directory().create_token(&site.id, "own", None).await.expect("a token");
    service.close().await;
    drop(service);
    let service = open(&file, &key).await;
    assert_eq!(service.directory().tokens(&site.id).await.expect("tokens").len(), 1);
    service.close().await;
    drop(service);

    // The demo does not bring its own back.
    let refused = loop {
        match TestMode::open(options()).await.expect_err("the data of a service") {
            TestModeError::Data { source: OpenError::InUse(_), .. } => tokio::task::yield_now().await,
            refused => break refused,
        }
    };
    assert!(matches!(refused, TestModeError::ServiceData(_)), "{refused}");
    let service = open(&file, &key).await;
    assert_eq!(service.directory().tokens(&site.id).await.expect("tokens").len(), 1);
}
