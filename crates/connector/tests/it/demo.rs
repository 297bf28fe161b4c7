//! The demo over HTTP: site, widget files, proxy and sandbox on real ports.

use std::net::SocketAddr;
use std::path::Path;

use chat_connector::demo::{Demo, DemoError, DemoOptions};
use chat_service::test_mode::Faults;
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::service::{header, http};

/// A running demo of a small site in a temporary directory.
struct Running {
    site: SocketAddr,
    sandbox: SocketAddr,
    /// The path of the link to the console.
    console: String,
    files: TempDir,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<Result<(), DemoError>>,
}

fn options(files: &Path) -> DemoOptions {
    DemoOptions {
        port: 0,
        sandbox_port: 0,
        site_dir: files.join("site"),
        widget_dir: files.join("dist"),
        docs_dir: files.join("docs"),
        sandbox_only: false,
        faults: Faults::default(),
    }
}

fn site_files() -> TempDir {
    let files = TempDir::new().expect("a directory");
    write(files.path(), "site/index.html", "<!doctype html><title>Shop</title>");
    write(files.path(), "site/404.html", "<!doctype html><title>Not found</title>");
    files
}

fn write(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    std::fs::write(path, text).expect("a file");
}

async fn run(change: impl FnOnce(&mut DemoOptions)) -> Running {
    let files = site_files();
    let mut options = options(files.path());
    change(&mut options);
    let demo = Demo::bind(options).await.expect("two ports");
    let (stop, stopped) = oneshot::channel();
    let (site, sandbox) = (demo.site(), demo.sandbox());
    let console = demo.console_link().await.expect("a link");
    let ended = tokio::spawn(demo.serve(async {
        let _ = stopped.await;
    }));
    Running { site, sandbox, console, files, stop, ended }
}

impl Running {
    async fn get(&self, path: &str) -> Response {
        http().get(format!("http://{}{path}", self.site)).send().await.expect("an answer")
    }

    async fn stop(self) {
        self.stop.send(()).expect("still running");
        self.ended.await.expect("no panic").expect("a clean end");
    }
}

#[tokio::test]
async fn a_visitor_and_an_operator_exchange_messages() {
    let demo = run(|_| ()).await;
    let sent: Value = http()
        .post(format!("http://{}/connector/chat/messages", demo.site))
        .json(&json!({ "message": "How long does delivery take?" }))
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    let conversation = sent["data"]["conversationId"].as_str().expect("an id");
    let path = format!("http://{}/sandbox/operator", demo.sandbox);
    let answer = json!({ "conversationId": conversation, "content": "Anna here" });
    http().post(path).json(&answer).send().await.expect("an answer");

    let history = demo.get(&format!("/connector/chat/messages?conversationId={conversation}")).await;
    let history: Value = history.json().await.expect("JSON");
    let roles: Vec<_> =
        history["data"]["messages"].as_array().expect("messages").iter().map(|one| &one["role"]).collect();
    assert_eq!(roles, ["visitor", "assistant", "operator"]);
    demo.stop().await;
}

#[tokio::test]
async fn every_response_of_the_site_has_the_policy() {
    let demo = run(|_| ()).await;
    for path in ["/", "/nowhere", "/chat-widget/nothing.js", "/connector/chat/config", "/connector/nothing"] {
        let answer = demo.get(path).await;
        let policy = header(&answer, "content-security-policy").unwrap_or_default();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self' 'wasm-unsafe-eval';"),
            "{path}: {policy}"
        );
        assert!(
            policy.contains("require-trusted-types-for 'script'") && !policy.contains("unsafe-inline"),
            "{path}"
        );
        assert_eq!(header(&answer, "x-content-type-options"), Some("nosniff"), "{path}");
        assert_eq!(header(&answer, "referrer-policy"), Some("strict-origin-when-cross-origin"), "{path}");
    }
    demo.stop().await;
}

#[tokio::test]
async fn serves_the_documentation_and_says_how_to_build_it() {
    let demo = run(|_| ()).await;
    let missing = demo.get("/docs/").await;
    assert_eq!(missing.status(), 404);
    assert!(missing.text().await.expect("a text").contains("npm run docs"));

    write(demo.files.path(), "docs/index.html", "<!doctype html><title>Documentation</title>");
    write(demo.files.path(), "docs/decisions/index.html", "<!doctype html><title>Decisions</title>");
    // Without the slash, the relative addresses of the page would lead nowhere.
    let home = demo.get("/docs").await;
    assert_eq!((home.status().as_u16(), home.url().path()), (200, "/docs/"));
    let policy = header(&home, "content-security-policy").unwrap_or_default().to_owned();
    assert!(policy.contains("frame-src 'self'"), "{policy}");
    assert!(home.text().await.expect("a page").contains("Documentation"));
    let decisions = demo.get("/docs/decisions/index.html").await;
    assert!(decisions.text().await.expect("a page").contains("Decisions"));
    demo.stop().await;
}

#[tokio::test]
async fn widget_files_have_runnable_types_and_are_revalidated() {
    let demo = run(|_| ()).await;
    for (file, content_type) in [
        ("chat-widget.js", "text/javascript; charset=utf-8"),
        ("index.mjs", "text/javascript; charset=utf-8"),
        ("chat_widget_bg.wasm", "application/wasm"),
        ("theme.css", "text/css; charset=utf-8"),
        ("index.d.ts", "text/plain; charset=utf-8"),
        ("package.json", "application/json"),
        ("chat-widget.js.map", "application/json"),
    ] {
        write(demo.files.path(), &format!("dist/{file}"), "{}");
        let answer = demo.get(&format!("/chat-widget/{file}")).await;
        assert_eq!(answer.status(), 200, "{file}");
        assert_eq!(header(&answer, "content-type"), Some(content_type), "{file}");
        assert_eq!(header(&answer, "cache-control"), Some("no-cache"), "{file}");
        let tag = header(&answer, "etag").expect("a tag").to_owned();
        let again = http()
            .get(format!("http://{}/chat-widget/{file}", demo.site))
            .header("if-none-match", tag)
            .send()
            .await
            .expect("an answer");
        assert_eq!(again.status(), 304, "{file}");
    }
    assert_eq!(header(&demo.get("/").await, "content-type"), Some("text/html; charset=utf-8"));
    demo.stop().await;
}

#[tokio::test]
async fn serves_brotli_files_to_clients_that_accept_them() {
    let demo = run(|_| ()).await;
    write(demo.files.path(), "dist/chat_widget_bg.wasm", "plain");
    write(demo.files.path(), "dist/chat_widget_bg.wasm.br", "pressed");
    let ask = |encoding: &'static str| {
        let request = http().get(format!("http://{}/chat-widget/chat_widget_bg.wasm", demo.site));
        request.header("accept-encoding", encoding).send()
    };
    let pressed = ask("gzip, br").await.expect("an answer");
    assert_eq!(header(&pressed, "content-encoding"), Some("br"));
    assert_eq!(header(&pressed, "content-type"), Some("application/wasm"));
    assert!(header(&pressed, "vary").is_some_and(|vary| vary.contains("accept-encoding")));
    let plain = ask("identity").await.expect("an answer");
    assert_eq!(plain.text().await.expect("text"), "plain");
    demo.stop().await;
}

#[tokio::test]
async fn explains_how_to_build_a_missing_widget() {
    let demo = run(|_| ()).await;
    let answer = demo.get("/chat-widget/chat-widget.js").await;
    assert_eq!(answer.status(), 404);
    assert!(answer.text().await.expect("text").contains("npm run build"));
    write(demo.files.path(), "dist/chat-widget.js", "");
    let other = demo.get("/chat-widget/other.js").await;
    assert_eq!(other.status(), 404);
    assert!(!other.text().await.expect("text").contains("npm run build"));
    demo.stop().await;
}

#[tokio::test]
async fn sandbox_only_serves_the_proxy_but_no_site() {
    let demo = run(|options| {
        options.sandbox_only = true;
        options.site_dir = "nowhere".into();
    })
    .await;
    assert_eq!(demo.get("/connector/chat/config").await.status(), 200);
    assert_eq!(demo.get("/").await.status(), 404);
    demo.stop().await;
}

#[tokio::test]
async fn the_link_signs_in_to_the_console_and_its_stream_ends_with_the_demo() {
    let demo = run(|_| ()).await;
    let browser =
        Client::builder().no_proxy().tls_certs_only([]).redirect(Policy::none()).build().expect("a client");
    let opened =
        browser.get(format!("http://{}{}", demo.sandbox, demo.console)).send().await.expect("an answer");
    assert!(header(&opened, "location").is_some_and(|page| page.starts_with("/console/inbox/conv_")));
    let cookies = opened.headers().get_all("set-cookie").iter().filter_map(|cookie| cookie.to_str().ok());
    let session =
        cookies.filter_map(|cookie| cookie.split(';').next()).find(|cookie| cookie.starts_with("session="));
    let stream = http().get(format!("http://{}/api/admin/v1/stream", demo.sandbox));
    let stream = stream.header("cookie", session.expect("a session")).send().await.expect("a stream");
    assert_eq!(stream.status(), 200);
    let presence: Value = demo.get("/connector/chat/presence").await.json().await.expect("JSON");
    assert_eq!(presence["data"]["operatorOnline"], true);
    demo.stop().await;
    stream.text().await.expect("a stream that was ended, not cut off");
}

#[tokio::test]
async fn a_port_in_use_names_the_flag_for_another_port() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let files = site_files();
    let site =
        Demo::bind(DemoOptions { port, ..options(files.path()) }).await.expect_err("refused").to_string();
    assert!(site.contains(&port.to_string()) && site.contains("choose another with --port"), "{site}");
    let sandbox =
        Demo::bind(DemoOptions { sandbox_port: port, ..options(files.path()) }).await.expect_err("refused");
    assert!(sandbox.to_string().contains("--sandbox-port"), "{sandbox}");
}

#[tokio::test]
async fn refuses_a_site_without_pages_with_advice() {
    let files = TempDir::new().expect("a directory");
    let refused = Demo::bind(options(files.path())).await.expect_err("refused").to_string();
    assert!(refused.contains("index.html") && refused.contains("--site-dir"), "{refused}");
}
