//! Tests the check of a site's page and proxy against servers that answer in all kinds of ways.

use axum::Router;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;

use super::*;

/// Serves a page and a config on a port of this machine, and returns the address of the page.
async fn site(page: &'static str, config: fn() -> Response) -> String {
    let routes = Router::new()
        .route("/", get(move || async move { Html(page) }))
        .route("/moved", get(async || Redirect::permanent("/")))
        .route("/connector/chat/config", get(move || async move { config() }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, routes).await });
    format!("http://{address}/")
}

const PAGE: &str = r#"<script async src="/chat-widget/chat-widget.js" data-proxy="/connector"></script>"#;

fn json(status: StatusCode, text: &'static str) -> Response {
    (status, [("content-type", "application/json")], text).into_response()
}

fn on() -> Response {
    let config = r#"{"ok":true,"data":{"siteId":"site_1","config":{"enabled":true,"widgetEnabled":true}}}"#;
    json(StatusCode::OK, config)
}

async fn checked(page: &str, proxy: &str) -> Vec<(CheckedPart, Option<ProxyProblem>)> {
    let addresses = Addresses::parse(page, proxy, true).expect("valid addresses");
    let checks = check(&addresses, "site_1", &[], true).await.expect("checked");
    checks.iter().map(|check| (check.part, check.problem)).collect()
}

#[tokio::test]
async fn a_page_with_a_widget_and_a_proxy_passes_all_parts() {
    let page = site(PAGE, on).await;
    let expected = [CheckedPart::Page, CheckedPart::Widget, CheckedPart::Proxy, CheckedPart::Chat];
    assert_eq!(checked(&page, "/connector").await, expected.map(|part| (part, None)));
    assert_eq!(checked(&page, &format!("{page}connector/")).await, expected.map(|part| (part, None)));
}

#[tokio::test]
async fn options_that_the_pages_own_code_sets_are_named() {
    let page = r#"<script src="https://shop.example/other.js" data-greeting="Hi"></script>
        <SCRIPT async src="/chat-widget/chat-widget.js?v=2" data-proxy="/connector" DATA-Theme=rose
            data-load="idle"></SCRIPT>"#;
    let page = site(page, on).await;
    let addresses = Addresses::parse(&page, "/connector", true).expect("valid addresses");
    let attributes = ["data-greeting".to_owned(), "data-theme".to_owned()];
    let checks = check(&addresses, "site_1", &attributes, true).await.expect("checked");
    let own: Vec<_> = checks.iter().flat_map(|check| check.own_options.as_slice()).collect();
    assert_eq!(own, ["data-theme"]);
}

#[tokio::test]
async fn each_problem_is_told_apart() {
    let page =
        site("<h1>No chat</h1>", || json(StatusCode::UNAUTHORIZED, r#"{"ok":false,"error":{}}"#)).await;
    let found = checked(&page, "/connector").await;
    assert_eq!(found[1], (CheckedPart::Widget, Some(ProxyProblem::NoWidget)));
    assert_eq!(found[2], (CheckedPart::Proxy, Some(ProxyProblem::Token)));
    assert_eq!(found.len(), 3, "the chat cannot be checked");
    assert_eq!(checked(&page, "/elsewhere").await[2].1, Some(ProxyProblem::NotFound));
    assert_eq!(checked(&format!("{page}moved"), "/connector").await[0].1, Some(ProxyProblem::Redirect));
    assert_eq!(checked(&format!("{page}missing"), "/connector").await[0].1, Some(ProxyProblem::NotFound));

    let page = site(PAGE, || Html("<h1>All of our pages</h1>").into_response()).await;
    assert_eq!(checked(&page, "/connector").await[2].1, Some(ProxyProblem::NotTheProxy));
    let page =
        site(PAGE, || json(StatusCode::OK, r#"{"ok":true,"data":{"config":{"enabled":false}}}"#)).await;
    assert_eq!(checked(&page, "/connector").await[3], (CheckedPart::Chat, Some(ProxyProblem::SwitchedOff)));
    let page = site(PAGE, || json(StatusCode::INTERNAL_SERVER_ERROR, r#"{"ok":false,"error":{}}"#)).await;
    assert_eq!(checked(&page, "/connector").await[2].1, Some(ProxyProblem::Status));
    let other = || json(StatusCode::OK, r#"{"ok":true,"data":{"siteId":"site_2","config":{}}}"#);
    let page = site(PAGE, other).await;
    assert_eq!(checked(&page, "/connector").await[2].1, Some(ProxyProblem::OtherSite));
    let nobody = "http://127.0.0.1:9/";
    assert_eq!(checked(nobody, "/connector").await[0].1, Some(ProxyProblem::Unreachable));
}

#[test]
fn addresses_of_private_networks_are_refused() {
    for (page, proxy, field) in [
        ("http://127.0.0.1/", "/connector", "page"),
        ("https://localhost/", "/connector", "page"),
        ("https://[::1]/", "/connector", "page"),
        ("https://169.254.169.254/", "/connector", "page"),
        ("https://user:secret@shop.example/", "/connector", "page"),
        ("file:///etc/passwd", "/connector", "page"),
        ("shop", "/connector", "page"),
        ("https://shop.example/", "http://10.0.0.1/connector", "proxy"),
        ("https://shop.example/", "//127.1/connector", "proxy"),
        ("https://shop.example/", " ", "proxy"),
    ] {
        let error = Addresses::parse(page, proxy, false).expect_err(page);
        assert_eq!(error.field, field, "{page} {proxy}");
    }
    assert!(Addresses::parse("https://169.254.169.254/", "/", true).is_err(), "never a metadata service");
    let addresses = Addresses::parse("https://shop.example/a", "/connector/", false).expect("valid");
    assert_eq!(addresses.config.as_str(), "https://shop.example/connector/chat/config");
}
