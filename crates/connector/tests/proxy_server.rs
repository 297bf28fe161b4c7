//! The proxy as a server of its own, under real traffic.

mod service;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use chat_connector::proxy::{
    self, ClientRate, ConfigCache, ProxyOptions, ProxyServer, ServerError, ServerOptions,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use service::{Service, TOKEN, http};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tower::ServiceExt;

struct Running {
    address: SocketAddr,
    metrics: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    ended: JoinHandle<Result<(), ServerError>>,
}

async fn serve(service: &Service, change: impl FnOnce(&mut ServerOptions)) -> Running {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let mut options = ServerOptions {
        proxy: ProxyOptions::new(service.origin(), TOKEN.into()),
        listen: any,
        prefix: "/connector".to_owned(),
        metrics_listen: Some(any),
        grace: Duration::from_secs(5),
    };
    change(&mut options);
    let server = ProxyServer::bind(options).await.expect("two ports");
    let (address, metrics) =
        (server.address().expect("an address"), server.metrics_address().expect("an address"));
    let (stop, stopped) = oneshot::channel();
    let ended = tokio::spawn(server.serve(async {
        let _ = stopped.await;
    }));
    Running { address, metrics, stop: Some(stop), ended }
}

impl Running {
    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    async fn get(&self, path: &str) -> reqwest::Response {
        http().get(self.url(path)).send().await.expect("an answer")
    }

    async fn assistant(&self) -> Value {
        let config: Value = self.get("/connector/chat/config?locale=en").await.json().await.expect("JSON");
        config["data"]["config"]["assistantName"].clone()
    }
}

fn header<'a>(response: &'a reqwest::Response, name: &str) -> Option<&'a str> {
    response.headers().get(name).and_then(|value| value.to_str().ok())
}

fn rate(per_minute: u32, burst: u32) -> Option<ClientRate> {
    Some(ClientRate { per_minute: NonZeroU32::new(per_minute)?, burst: NonZeroU32::new(burst)? })
}

#[tokio::test]
async fn every_answer_has_the_security_headers_and_healthz_says_that_it_is_up() {
    let service = Service::start().await;
    let proxy = serve(&service, |_| ()).await;
    for path in ["/healthz", "/connector/chat/config", "/elsewhere"] {
        let answer = proxy.get(path).await;
        assert_eq!(
            header(&answer, "content-security-policy"),
            Some("default-src 'none'; frame-ancestors 'none'")
        );
        assert_eq!(header(&answer, "referrer-policy"), Some("no-referrer"), "{path}");
        assert_eq!(header(&answer, "cross-origin-resource-policy"), Some("same-origin"), "{path}");
    }
    assert_eq!(proxy.get("/healthz").await.text().await.expect("text"), "ok\n");
    assert_eq!(proxy.get("/metrics").await.status(), 404, "figures are not for everybody");
}

#[tokio::test]
async fn a_client_past_its_rate_is_429_with_the_time_to_wait_and_others_are_not() {
    let service = Service::start().await;
    let proxy = serve(&service, |options| {
        options.proxy.client_rate = rate(6, 3);
        options.proxy.trusted_hops = vec!["127.0.0.1/32".parse().expect("a network")];
    })
    .await;
    let ask = |client: &'static str| {
        let request = http().get(proxy.url("/connector/chat/presence")).header("x-forwarded-for", client);
        async { request.send().await.expect("an answer") }
    };
    for _ in 0..3 {
        assert_eq!(ask("198.51.100.1").await.status(), 200);
    }
    let over = ask("198.51.100.1").await;
    assert_eq!(over.status(), 429);
    let wait: u64 = header(&over, "retry-after").and_then(|text| text.parse().ok()).expect("seconds");
    assert!((1..=10).contains(&wait), "{wait}");
    let body: Value = over.json().await.expect("JSON");
    assert_eq!(body["error"]["code"], "RATE_LIMITED");
    assert_eq!(ask("198.51.100.2").await.status(), 200);
}

#[tokio::test]
async fn a_client_that_is_no_trusted_hop_cannot_choose_whom_it_is_counted_as() {
    let service = Service::start().await;
    let proxy = serve(&service, |options| options.proxy.client_rate = rate(1, 1)).await;
    let mut statuses = Vec::new();
    for client in ["198.51.100.1", "198.51.100.2"] {
        let request = http().get(proxy.url("/connector/chat/presence")).header("x-forwarded-for", client);
        statuses.push(request.send().await.expect("an answer").status().as_u16());
    }
    assert_eq!(statuses, [200, 429]);
}

#[tokio::test]
async fn pages_of_the_named_origins_may_use_the_proxy_and_others_may_not() {
    let service = Service::start().await;
    let proxy = serve(&service, |options| {
        options.proxy.allowed_origins = vec!["https://www.shop.example/".to_owned()];
    })
    .await;
    let ask = |origin: &'static str, method: &'static str| {
        let request = http()
            .request(method.parse().expect("a method"), proxy.url("/connector/chat/messages"))
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "content-type,idempotency-key");
        async { request.send().await.expect("an answer") }
    };
    let preflight = ask("https://www.shop.example", "OPTIONS").await;
    assert_eq!(header(&preflight, "access-control-allow-origin"), Some("https://www.shop.example"));
    let allowed = header(&preflight, "access-control-allow-headers").expect("headers").to_owned();
    assert!(allowed.contains("idempotency-key") && allowed.contains("content-type"), "{allowed}");
    assert_eq!(header(&preflight, "access-control-allow-credentials"), None);
    let read = ask("https://www.shop.example", "GET").await;
    assert!(header(&read, "access-control-expose-headers").expect("headers").contains("retry-after"));
    for method in ["OPTIONS", "GET"] {
        assert_eq!(header(&ask("https://evil.example", method).await, "access-control-allow-origin"), None);
    }
}

#[tokio::test]
async fn an_allowed_origin_that_is_none_is_refused_by_name() {
    let mut options = ProxyOptions::new("https://service.example", TOKEN.into());
    for wrong in ["*", "shop.example", "https://shop.example/path"] {
        options.allowed_origins = vec![wrong.to_owned()];
        let error = proxy::router(options.clone()).expect_err("refused").to_string();
        assert!(error.starts_with(wrong), "{error}");
    }
}

#[tokio::test]
async fn a_fresh_config_is_given_without_asking_and_an_old_one_while_a_newer_one_is_fetched() {
    let service = Service::start().await;
    let fresh = serve(&service, |options| options.proxy.config_cache = Some(ConfigCache::default())).await;
    let always_old = ConfigCache { fresh: Duration::ZERO, stale: Duration::from_secs(60) };
    let old = serve(&service, |options| options.proxy.config_cache = Some(always_old)).await;
    assert_eq!((fresh.assistant().await, old.assistant().await), (json!("Clover"), json!("Clover")));
    service.trouble(json!({ "config": { "assistantName": "Otto" } })).await;
    assert_eq!(fresh.assistant().await, "Clover");
    assert_eq!(old.assistant().await, "Clover", "at once, and a newer one is on its way");
    let newer = async { while old.assistant().await != "Otto" {} };
    tokio::time::timeout(Duration::from_secs(5), newer).await.expect("it arrives");
    let asked = service.arrived("/chat/config?locale=en").await.len();
    assert_eq!(fresh.assistant().await, "Clover");
    assert_eq!(service.arrived("/chat/config?locale=en").await.len(), asked);
}

#[tokio::test]
async fn an_old_config_is_better_than_none_when_the_service_is_out_of_order() {
    let service = Service::start().await;
    let always_old = ConfigCache { fresh: Duration::ZERO, stale: Duration::from_secs(60) };
    let proxy = serve(&service, |options| options.proxy.config_cache = Some(always_old)).await;
    proxy.assistant().await;
    service.trouble(json!({ "status": 500 })).await;
    for _ in 0..5 {
        assert_eq!(proxy.assistant().await, "Clover");
    }
    let never_asked = proxy.get("/connector/chat/config?locale=de").await;
    assert_eq!(never_asked.status(), 500);
}

#[tokio::test]
async fn figures_tell_calls_and_statuses_and_nothing_of_visitors() {
    let service = Service::start().await;
    let proxy = serve(&service, |options| options.proxy.config_cache = Some(ConfigCache::default())).await;
    proxy.assistant().await;
    proxy.assistant().await;
    let body = json!({ "message": "A secret of mine", "visitor": { "email": "ann@example.org" } });
    http().post(proxy.url("/connector/chat/messages")).json(&body).send().await.expect("an answer");
    proxy.get("/connector/chat/messages?conversationId=conv_secret").await;
    let text = http().get(format!("http://{}/metrics", proxy.metrics)).send().await.expect("an answer");
    let text = text.text().await.expect("text");
    for line in [
        "site_connector_proxy_requests_total{call=\"config\",status=\"200\"} 2",
        "site_connector_proxy_requests_total{call=\"send\",status=\"200\"} 1",
        "site_connector_proxy_requests_total{call=\"messages\",status=\"404\"} 1",
        "site_connector_proxy_configs_total{found=\"fresh\"} 1",
        "site_connector_proxy_request_seconds_count{call=\"send\"} 1",
    ] {
        assert!(text.contains(line), "{line} in\n{text}");
    }
    for secret in ["secret", "ann@", TOKEN] {
        assert!(!text.contains(secret), "{secret}");
    }
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_ends_what_is_under_way() {
    let service = Service::start().await;
    service.trouble(json!({ "delayMs": 300, "only": "presence" })).await;
    let mut proxy = serve(&service, |_| ()).await;
    let request = http().get(proxy.url("/connector/chat/presence")).send();
    let under_way = tokio::spawn(request);
    while service.arrived("/chat/presence").await.is_empty() {
        tokio::task::yield_now().await;
    }
    proxy.stop.take().expect("running").send(()).expect("running");
    assert_eq!(under_way.await.expect("no panic").expect("an answer").status(), 200);
    proxy.ended.await.expect("no panic").expect("a clean end");
}

/// Ended, whatever becomes of the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_takes_its_settings_from_flags_before_variables_before_the_file_and_logs_no_secrets() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a file");
    write("token", &format!("{TOKEN}\n"));
    write(
        "proxy.toml",
        "origin = \"http://127.0.0.1:1\"\nlisten = \"127.0.0.1:0\"\nprefix = \"/from-file\"\ntoken_file = \"token\"\n\
         trusted_hops = [\"127.0.0.1/32\"]\nrate_per_minute = 60\n",
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_site-connector"));
    command
        .current_dir(directory.path())
        .args([
            "--log",
            "trace",
            "--log-format",
            "json",
            "proxy",
            "--config",
            "proxy.toml",
            "--prefix",
            "/chat-proxy",
        ])
        .env("CONNECTOR_ORIGIN", service.origin())
        .env("CONNECTOR_PREFIX", "/from-environment")
        .env_remove("CONNECTOR_TOKEN")
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(directory.path().join("log")).expect("a file"));
    let mut process = Process(command.spawn().expect("runs"));
    let mut line = String::new();
    BufReader::new(process.0.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    let address = line.trim().trim_start_matches("Proxy").trim().to_owned();
    let body = json!({ "message": "A secret of mine", "visitor": { "email": "ann@example.org" } });
    let url = format!("{address}/chat-proxy/chat/messages");
    let request = http().post(url).header("x-forwarded-for", "198.51.100.77").json(&body);
    let answer = request.send().await.expect("an answer");
    assert_eq!(answer.status(), 200);
    assert!(!format!("{answer:?}").contains(TOKEN));
    let read = format!("{address}/chat-proxy/chat/messages?conversationId=conv_secret");
    http().get(read).send().await.expect("an answer");
    #[cfg(unix)]
    {
        let pid = process.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().expect("kill").success());
        assert!(process.0.wait().expect("ends").success());
    }
    let log = std::fs::read_to_string(directory.path().join("log")).expect("a log");
    let answered: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .filter(|line| line["message"] == "answered")
        .collect();
    assert_eq!((&answered[0]["call"], &answered[0]["status"]), (&json!("send"), &json!(200)));
    assert!(answered[0]["request_id"].as_str().is_some_and(|id| id.starts_with("req_")));
    for secret in [TOKEN, "A secret of mine", "ann@example.org", "conv_secret", "198.51.100.77"] {
        assert!(!log.contains(secret), "{secret}");
    }
}

#[test]
fn a_configuration_that_makes_no_sense_is_refused_with_what_to_do() {
    let directory = tempfile::tempdir().expect("a directory");
    let refusal = |text: &str| {
        std::fs::write(directory.path().join("proxy.toml"), text).expect("a file");
        let mut command = Command::new(env!("CARGO_BIN_EXE_site-connector"));
        command.current_dir(directory.path()).args([
            "proxy",
            "--config",
            "proxy.toml",
            "--listen",
            "127.0.0.1:0",
        ]);
        for variable in ["CONNECTOR_ORIGIN", "CONNECTOR_TOKEN", "CONNECTOR_TOKEN_FILE"] {
            command.env_remove(variable);
        }
        let output = command.output().expect("runs");
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refusal("").contains("--origin"));
    assert!(refusal("orgin = \"x\"").contains("orgin"));
    assert!(refusal("origin = \"https://service.example\"").contains("--token-file"));
    let complete =
        |rest: &str| format!("origin = \"https://service.example\"\ntoken_file = \"proxy.toml\"\n{rest}");
    assert!(refusal(&complete("prefix = \"connector/\"")).contains("prefix"));
}

/// The settings as docs/server.md shows them, all but the places that are the test's own.
#[test]
fn the_settings_in_the_documentation_are_taken() {
    let document = include_str!("../../../docs/server.md");
    let (_, settings) = document.split_once("```toml\n").expect("settings");
    let (settings, _) = settings.split_once("```").expect("an end");
    let directory = tempfile::tempdir().expect("a directory");
    let settings = settings
        .replace("127.0.0.1:8081", "127.0.0.1:0")
        .replace("127.0.0.1:9464", "127.0.0.1:0")
        .replace("/run/secrets/site-token", "token");
    std::fs::write(directory.path().join("proxy.toml"), settings).expect("a file");
    std::fs::write(directory.path().join("token"), TOKEN).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_site-connector"));
    for variable in ["CONNECTOR_ORIGIN", "CONNECTOR_TOKEN", "CONNECTOR_TOKEN_FILE"] {
        command.env_remove(variable);
    }
    command.current_dir(directory.path()).args(["proxy", "--config", "proxy.toml"]).stdout(Stdio::piped());
    let mut process = Process(command.spawn().expect("runs"));
    let mut line = String::new();
    BufReader::new(process.0.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    assert!(line.starts_with("Proxy    http://127.0.0.1:"), "{line}");
}

/// Bytes, and requests that are almost some.
fn connections() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        6 => "(GET|POST) /connector/(chat/config|chat/messages|chat/presence|events) HTTP/1\\.[01]",
        1 => "[!-~]{0,8} [ -~]{0,20} [ -~]{0,8}",
    ];
    let header = prop_oneof![
        12 => "(content-length: [0-9]{1,3}|transfer-encoding: chunked|content-type: application/json|expect: 100-continue)",
        6 => "(host|accept-language|idempotency-key|x-[a-z]{1,8}): [ -~]{0,12}",
        1 => "[ -~]{0,20}",
    ];
    let request = (line, prop::collection::vec(header, 0..6), prop::collection::vec(any::<u8>(), 0..200))
        .prop_map(|(line, headers, body)| {
            let mut bytes = format!("{line}\r\n{}\r\n\r\n", headers.join("\r\n")).into_bytes();
            bytes.extend(body);
            bytes
        });
    prop_oneof![request, prop::collection::vec(any::<u8>(), 0..400)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_request_to_the_proxy_is_answered_with_an_envelope(
        method in "(GET|POST|PUT|DELETE|OPTIONS|PATCH|TRACE|[A-Z]{1,12})",
        path in prop_oneof!["/connector/(chat/config|chat/messages|chat/presence|events)", "/connector/[a-z/%0-9.]{1,30}"],
        query in "[ -~]{0,30}",
        kind in proptest::option::of("(application/json|text/plain|[ -~]{0,20})"),
        key in proptest::option::of("[ -~]{0,20}"),
        others in prop::collection::vec(("[a-zA-Z-]{1,20}", prop::collection::vec(any::<u8>(), 0..30)), 0..4),
        body in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        // What answers it has no body.
        prop_assume!(method != "HEAD");
        let mut request = Request::builder().method(method.as_str()).uri(format!("{path}?{query}"));
        for (name, value) in [("content-type", kind), ("idempotency-key", key)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        for (name, value) in others {
            request = request.header(name, value);
        }
        // What is no address or no header never becomes a request.
        let Ok(request) = request.body(Body::from(body)) else { return Ok(()) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (status, text): (u16, Vec<u8>) = runtime.block_on(async {
            let service = Service::start().await;
            let options = ProxyOptions::new(service.origin(), TOKEN.into());
            let site = Router::new().nest("/connector", proxy::router(options).expect("a proxy"));
            let response: Response<Body> = site.oneshot(request).await.expect("an answer");
            let status = response.status().as_u16();
            (status, axum::body::to_bytes(response.into_body(), usize::MAX).await.expect("a body").to_vec())
        });
        let envelope: Value = serde_json::from_slice(&text).expect("JSON");
        prop_assert_eq!(envelope["ok"].as_bool(), Some((200..300).contains(&status)));
        prop_assert!(envelope["requestId"].is_string() && status < 500, "{} {}", status, envelope);
        prop_assert!(!String::from_utf8_lossy(&text).contains(TOKEN));
    }

    #[test]
    fn any_bytes_on_a_connection_get_an_answer_of_http_or_none_and_harm_nobody_else(bytes in connections()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (read, after): (Vec<u8>, u16) = runtime.block_on(async {
            let service = Service::start().await;
            let proxy = serve(&service, |_| ()).await;
            let mut connection = TcpStream::connect(proxy.address).await.expect("a connection");
            let mut read = Vec::new();
            // Whoever is refused half-way may find the connection closed.
            if connection.write_all(&bytes).await.is_ok() && connection.shutdown().await.is_ok() {
                let all = connection.read_to_end(&mut read);
                let _ = tokio::time::timeout(Duration::from_secs(5), all).await.expect("an end");
            }
            (read, proxy.get("/connector/chat/presence").await.status().as_u16())
        });
        prop_assert!(read.is_empty() || read.starts_with(b"HTTP/1."), "{}", String::from_utf8_lossy(&read));
        prop_assert!(read.get(8..10) != Some(b" 5"), "{}", String::from_utf8_lossy(&read));
        prop_assert!(!String::from_utf8_lossy(&read).contains(TOKEN));
        prop_assert_eq!(after, 200);
    }
}
