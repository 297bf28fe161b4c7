//! Arbitrary requests and bytes sent to the proxy.

use std::sync::OnceLock;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use chat_connector::proxy::{self, ProxyOptions};
use proptest::prelude::*;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Runtime;
use tower::ServiceExt;

use crate::proxy_server::{Running, serve};
use crate::service::{Service, TOKEN};

/// Both forms of the proxy, for all cases, with what earlier cases left in them.
struct Proxies {
    runtime: Runtime,
    router: Router,
    server: Running,
}

impl Proxies {
    fn shared() -> &'static Self {
        static SHARED: OnceLock<Proxies> = OnceLock::new();
        SHARED.get_or_init(|| {
            let runtime = Runtime::new().expect("a runtime");
            let (router, server) = runtime.block_on(async {
                let service = Service::start().await;
                let options = ProxyOptions::new(service.origin(), TOKEN.into());
                (proxy::router(options).expect("a proxy"), serve(&service, |_| ()).await)
            });
            Self { runtime, router: Router::new().nest("/connector", router), server }
        })
    }
}

/// Generates bytes and almost valid requests.
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
    fn any_request_to_the_proxy_gets_an_envelope(
        method in "(GET|POST|PUT|DELETE|OPTIONS|PATCH|TRACE|[A-Z]{1,12})",
        path in prop_oneof!["/connector/(chat/config|chat/messages|chat/presence|events)", "/connector/[a-z/%0-9.]{1,30}"],
        query in "[ -~]{0,30}",
        kind in proptest::option::of("(application/json|text/plain|[ -~]{0,20})"),
        key in proptest::option::of("[ -~]{0,20}"),
        others in prop::collection::vec(("[a-zA-Z-]{1,20}", prop::collection::vec(any::<u8>(), 0..30)), 0..4),
        body in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        // The response to HEAD has no body.
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
        // An invalid address or header cannot be sent.
        let Ok(request) = request.body(Body::from(body)) else { return Ok(()) };
        let proxies = Proxies::shared();
        let (status, text): (u16, Vec<u8>) = proxies.runtime.block_on(async {
            let response: Response<Body> = proxies.router.clone().oneshot(request).await.expect("an answer");
            let status = response.status().as_u16();
            (status, axum::body::to_bytes(response.into_body(), usize::MAX).await.expect("a body").to_vec())
        });
        let envelope: Value = serde_json::from_slice(&text).expect("JSON");
        prop_assert_eq!(envelope["ok"].as_bool(), Some((200..300).contains(&status)));
        prop_assert!(envelope["requestId"].is_string() && status < 500, "{} {}", status, envelope);
        prop_assert!(!String::from_utf8_lossy(&text).contains(TOKEN));
    }

    #[test]
    fn any_bytes_get_an_http_response_or_none_and_affect_nobody_else(bytes in connections()) {
        let Proxies { runtime, server: proxy, .. } = Proxies::shared();
        let (read, after): (Vec<u8>, u16) = runtime.block_on(async {
            let mut connection = proxy.connect().await;
            let mut read = Vec::new();
            // The proxy may close the connection before the whole request is sent.
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
