//! A service that is not in test mode has nothing of it.

use axum::body::Body;
use axum::http::Request;
use chat_service::{Service, ServiceKey, ServiceOptions};
use tower::ServiceExt;

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
