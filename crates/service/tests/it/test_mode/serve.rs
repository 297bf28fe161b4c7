//! A service that is not in test mode has nothing of it.

use std::path::Path;

use axum::body::Body;
use axum::http::Request;
use chat_service::test_mode::{TestMode, TestModeError, TestOptions};
use chat_service::{OpenError, Service, ServiceKey, ServiceOptions};
use tower::ServiceExt;

use crate::test_mode::client::{Client, TOKEN};

#[tokio::test]
async fn a_service_has_no_test_paths() {
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
    ] {
        let request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:8090");
        let request = request.header("content-type", "application/json").body(Body::from("{}"));
        let answer = service.router().oneshot(request.expect("a request")).await.expect("an answer");
        assert_eq!(answer.status(), 404, "{method} {path}");
    }
}

/// Opens a service on a file. The lock of the file may be held a moment longer by the one before.
async fn open(file: &Path, key: &ServiceKey) -> Result<Service, OpenError> {
    loop {
        match Service::open(ServiceOptions::new(file.to_string_lossy(), key.clone())).await {
            Err(OpenError::InUse(_)) => tokio::task::yield_now().await,
            opened => return opened,
        }
    }
}

#[tokio::test]
async fn a_service_and_a_test_mode_refuse_the_data_of_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("demo.sqlite");
    let options = || TestOptions { data: Some(file.clone()), ..TestOptions::new(TOKEN.into()) };
    let demo = Client::with(options()).await;
    demo.mode.close().await;
    drop(demo);
    // A service would accept the demo's license, which everybody knows.
    assert!(matches!(open(&file, &ServiceKey::random()).await, Err(OpenError::Key)));

    let file = folder.path().join("service.sqlite");
    let options = || TestOptions { data: Some(file.clone()), ..TestOptions::new(TOKEN.into()) };
    let service = open(&file, &ServiceKey::random()).await.expect("opened");
    service.close().await;
    drop(service);
    let refused = loop {
        match TestMode::open(options()).await.expect_err("the data of a service") {
            TestModeError::Data { source: OpenError::InUse(_), .. } => tokio::task::yield_now().await,
            refused => break refused,
        }
    };
    assert!(matches!(refused, TestModeError::ServiceData(_)), "{refused}");
}
