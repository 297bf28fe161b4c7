//! The files of the console, and those of the widget.

use axum::body::Body;
use axum::http::Request;
use chat_service::{ServiceOptions, SiteChange};

use crate::support::databases::{Kind, TestDatabase};
use crate::support::{Answer, Client, options};

async fn open(database: &TestDatabase, widget: Option<&std::path::Path>) -> Client {
    let public_origin = Some("https://chat.example".to_owned());
    let widget_dir = widget.map(std::path::Path::to_path_buf);
    Client::with(ServiceOptions { public_origin, widget_dir, ..options(database) }, SiteChange::default())
        .await
}

async fn get(client: &Client, path: &str, headers: &[(&'static str, &str)]) -> Answer {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    client.send(request.body(Body::empty()).expect("a request")).await
}

const HOST: (&str, &str) = ("host", "chat.example");

#[tokio::test]
async fn every_page_of_the_console_has_a_strict_policy_and_no_missing_file_is_a_page() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = open(&database, None).await;
    let pages = ["/console/", "/console/inbox/conv_1", "/console/settings/sites/a"];
    for path in pages {
        let answer = get(&client, path, &[HOST]).await;
        // Without `dist/console/`, the page says how to build it.
        assert!([200, 503].contains(&answer.status.as_u16()), "{path}: {}", answer.status);
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(
            policy.contains("default-src 'none'") && policy.contains("trusted-types push-worker;"),
            "{path}"
        );
        assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(answer.header("x-frame-options"), Some("DENY"), "{path}");
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-cache"), "{path}");
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(!text.contains("<script>") && !text.contains(" style="), "{path}");
        for file in text.split('"').filter(|part| part.starts_with("/console/")) {
            let answer = get(&client, file, &[HOST]).await;
            assert_eq!(answer.status, 200, "{file}");
            assert!(answer.header("content-security-policy").is_some(), "{file}");
        }
    }
    for path in ["/console/console.0f1e2d3c4b5a6978.js", "/console/.built", "/console/..%2fsecret.json"] {
        assert_eq!(get(&client, path, &[HOST]).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn the_root_leads_to_the_console() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = open(&database, None).await;
    for path in ["/", "/console"] {
        let answer = get(&client, path, &[HOST]).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (307, Some("/console/")), "{path}");
    }
}

#[tokio::test]
async fn the_console_is_refused_to_other_hosts_and_pages_and_opened_by_links() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = open(&database, None).await;
    let status = async |headers: &[(&'static str, &str)]| {
        let answer = get(&client, "/console/", headers).await;
        // The page that says how to build the console.
        if answer.status == 503 { axum::http::StatusCode::OK } else { answer.status }
    };
    assert_eq!(status(&[("host", "evil.example")]).await, 403);
    assert_eq!(status(&[HOST, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "cors")]).await, 403);
    let link = [
        HOST,
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "document"),
    ];
    assert_eq!(status(&link).await, 200);
    let frame = [
        HOST,
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
        ("sec-fetch-dest", "iframe"),
    ];
    assert_eq!(status(&frame).await, 403);
}

#[tokio::test]
async fn the_widgets_files_have_their_types_caching_and_encodings() {
    let folder = tempfile::tempdir().expect("a folder");
    let widget = folder.path().join("widget");
    std::fs::create_dir_all(widget.join("locales")).expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(widget.join(name), text).expect("written");
    write("chat-widget.js", "plain");
    write("chat-widget.js.br", "brotli");
    write("chat-widget.js.gz", "gzip");
    write("chat-widget.wasm", "wasm");
    write("chat-widget.0f1e2d3c.wasm", "wasm");
    write("locales/de.mjs", "export {}");
    write(".built", "hidden");
    write("index.html", "<p>A page</p>");
    std::fs::write(folder.path().join("secret.txt"), "secret").expect("written");
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = open(&database, Some(&widget)).await;
    let read = async |path: &str, headers: &[(&'static str, &str)]| {
        get(&client, &format!("/chat-widget/{path}"), headers).await
    };
    let page = [("origin", "https://shop.example"), ("sec-fetch-site", "cross-site")];
    for (path, content_type, caching) in [
        ("chat-widget.js", "text/javascript; charset=utf-8", "no-cache"),
        ("chat-widget.wasm", "application/wasm", "no-cache"),
        ("chat-widget.0f1e2d3c.wasm", "application/wasm", "public, max-age=31536000, immutable"),
        ("locales/de.mjs", "text/javascript; charset=utf-8", "no-cache"),
    ] {
        let answer = read(path, &page).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), Some(content_type), "{path}");
        assert_eq!(answer.header("cache-control"), Some(caching), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), Some("cross-origin"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
    }
    for (accepted, body) in [("gzip, br", "brotli"), ("gzip", "gzip"), ("identity", "plain")] {
        let answer = read("chat-widget.js", &[("accept-encoding", accepted)]).await;
        assert_eq!(answer.body, body, "{accepted}");
        assert_eq!(answer.header("content-type"), Some("text/javascript; charset=utf-8"), "{accepted}");
    }
    let modified = read("chat-widget.js", &[]).await.header("last-modified").expect("a date").to_owned();
    assert_eq!(read("chat-widget.js", &[("if-modified-since", &modified)]).await.status, 304);
    for path in [
        "",
        "locales",
        "locales/",
        ".built",
        "%2ebuilt",
        "%2Ebuilt",
        "../secret.txt",
        "%2e%2e/secret.txt",
        "..%2fsecret.txt",
        "..%5csecret.txt",
        "locales/../../secret.txt",
        "/secret.txt",
        "nothing.js",
        "chat-widget.js%00",
    ] {
        let answer = read(path, &page).await;
        assert_eq!(answer.status, 404, "{path}");
        assert_ne!(answer.body, "secret", "{path}");
    }
    let posted = Request::post("/chat-widget/chat-widget.js").body(Body::empty()).expect("a request");
    assert_eq!(client.send(posted).await.status, 405);
}

#[tokio::test]
async fn a_missing_widget_is_named_in_plain_text() {
    let folder = tempfile::tempdir().expect("a folder");
    for widget in [None, Some(folder.path())] {
        let database = TestDatabase::new(Kind::Sqlite).await;
        let client = open(&database, widget).await;
        let answer = get(&client, "/chat-widget/chat-widget.js", &[]).await;
        assert_eq!(answer.status, 404);
        assert!(String::from_utf8_lossy(&answer.body).contains("--widget-dir"));
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
    }
}

#[tokio::test]
async fn only_the_console_frames_the_page_of_the_preview() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let client = open(&database, None).await;
    for (path, content_type) in [
        ("/widget-preview/", "text/html; charset=utf-8"),
        ("/widget-preview/preview.css", "text/css; charset=utf-8"),
        ("/widget-preview/preview.js", "text/javascript; charset=utf-8"),
    ] {
        let answer = get(&client, path, &[HOST]).await;
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), Some(content_type), "{path}");
        let policy = answer.header("content-security-policy").expect("a policy");
        for part in ["default-src 'none'", "frame-ancestors 'self'", "require-trusted-types-for 'script'"] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe-inline"), "{path}: {policy}");
        assert_eq!(answer.header("x-frame-options"), Some("SAMEORIGIN"), "{path}");
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(!text.contains("<script>") && !text.contains("innerHTML") && !text.contains(" style="));
    }
}
