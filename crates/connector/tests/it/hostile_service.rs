//! The commands against a hostile service that attacks the terminal, the token, memory and time.

#![cfg(unix)]

use std::fs;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chat_connector::client::{BackOff, ClientOptions, ErrorKind, ServerConnectorClient};
use chat_connector::printable::is_unprintable;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::service;
use crate::site_connector::{error_of, run};

/// Sets the title, rings the bell and clears the screen, in 7-bit and 8-bit codes; forges lines; reverses
/// text.
const HOSTILE: &str = "\x1b]0;pwned\x07\x1b[2J\u{9b}2J\u{9d}0;pwned\u{9c}\r\nerror: forged\n\u{8}\u{7f}\u{202e}gpj\u{2066}.\u{200b}\t";

/// Starts a service that gives this answer to every request, and returns its origin.
async fn serve<F, T>(answer: F) -> String
where
    F: Fn(String) -> T + Clone + Send + Sync + 'static,
    T: IntoResponse,
{
    let router = Router::new().fallback(move |request: Request| {
        let path = request.uri().path();
        let answer =
            answer(path.strip_prefix("/api/connector/v1").unwrap_or(path).to_owned()).into_response();
        async move { answer }
    });
    format!("http://{}", service::serve(router).await)
}

/// Returns a success with the hostile text in every field.
fn success(path: &str) -> Value {
    let overlay = json!({
        "id": HOSTILE, "path": HOSTILE, "locale": HOSTILE, "title": HOSTILE, "description": HOSTILE,
        "canonicalUrl": HOSTILE, "robots": HOSTILE, "openGraph": { HOSTILE: HOSTILE, "title": HOSTILE },
        "structuredData": [{ HOSTILE: HOSTILE }], "updatedAt": HOSTILE,
    });
    let job = json!({
        "id": HOSTILE, "type": HOSTILE, "status": HOSTILE, "title": HOSTILE, "claimToken": HOSTILE,
        "leaseUntil": HOSTILE, "updatedAt": HOSTILE, "createdAt": HOSTILE, "payload": { "path": HOSTILE, HOSTILE: HOSTILE },
    });
    let data = match path {
        "/auth/activate" => json!({ "siteToken": "a-token", "siteId": HOSTILE, "tenantId": HOSTILE }),
        "/site/status" => json!({
            "siteId": HOSTILE, "tenantId": HOSTILE, "siteName": HOSTILE, "domain": HOSTILE, "status": HOSTILE,
            "tracking": HOSTILE, HOSTILE: HOSTILE, "more": { HOSTILE: [HOSTILE] },
        }),
        "/seo/overlays" => json!({ "overlays": [overlay] }),
        "/content/sync" => {
            json!({ "accepted": 1, "rejected": 0, "errors": [HOSTILE], "snapshotId": HOSTILE })
        }
        "/site/jobs/next" => json!({ "siteId": HOSTILE, "job": job }),
        path if path.ends_with("/complete") => json!({ "job": job }),
        "/chat/config" => {
            json!({ "tenantId": HOSTILE, "siteId": HOSTILE, "locale": HOSTILE, "config": { "assistantName": HOSTILE } })
        }
        _ => json!({ HOSTILE: HOSTILE }),
    };
    json!({ "ok": true, "data": data, "requestId": HOSTILE })
}

fn failure() -> Value {
    json!({ "ok": false, "error": { "code": HOSTILE, "message": HOSTILE }, "requestId": HOSTILE })
}

/// Creates a site whose pages and file names contain the hostile text.
fn folder() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let site = directory.path().join("www");
    fs::create_dir(&site).expect("a folder");
    let page = format!("<html><head><title>{HOSTILE}</title></head><body>{HOSTILE}</body></html>");
    for name in ["index.html", "a\x1b[2J.html", "b\u{9b}2J.html"] {
        fs::write(site.join(name), &page).expect("written");
    }
    let item = json!({ "externalId": HOSTILE, "type": HOSTILE, "locale": "en", "title": HOSTILE });
    fs::write(directory.path().join("items"), item.to_string()).expect("written");
    fs::write(directory.path().join("bad-items"), format!("{{\"externalId\":7,\"type\":\"{HOSTILE}\"}}"))
        .expect("written");
    directory
}

fn assert_harmless(arguments: &[&str], output: &Output) {
    for bytes in [&output.stdout, &output.stderr] {
        let text = String::from_utf8(bytes.clone()).expect("text");
        let bad = text.chars().find(|one| *one != '\n' && is_unprintable(*one));
        assert_eq!(bad, None, "{arguments:?}: {}", text.escape_debug());
        assert!(!text.lines().any(|line| line == "error: forged"), "{arguments:?}: {text}");
    }
}

const COMMANDS: [&[&str]; 9] = [
    &["status"],
    &["overlays"],
    &["overlays", "--apply", "www"],
    &["sync", "www", "--site-origin", "https://shop.example"],
    &["sync", "www", "--site-origin", "https://shop.example", "--dry-run"],
    &["sync", "--items", "items", "--dry-run"],
    &["sync", "--items", "bad-items"],
    &["jobs", "--site", "www", "--site-origin", "https://shop.example", "--once"],
    &["activate", "--token-file", "token", "--replace", "--domain", "https://shop.example"],
];

#[tokio::test(flavor = "multi_thread")]
async fn text_of_the_service_cannot_control_the_terminal() {
    let answers = serve(|path| axum::Json(success(&path))).await;
    let refuses = serve(|_| (StatusCode::BAD_REQUEST, axum::Json(failure()))).await;
    let conflicts = serve(|_| (StatusCode::CONFLICT, axum::Json(failure()))).await;
    let is_html = serve(|_| (StatusCode::OK, HOSTILE)).await;
    for origin in [&answers, &refuses, &conflicts, &is_html] {
        for arguments in COMMANDS {
            // A conflict is retried for ever, and jobs are for the next test.
            if arguments[0] == "jobs" && (*origin == conflicts || *origin == answers) {
                continue;
            }
            for more in
                [&[][..], &["--json"], &["--log", "trace"], &["--log", "trace", "--log-format", "json"]]
            {
                let directory = folder();
                let arguments = [more, arguments].concat();
                // `--json` belongs to the subcommand.
                let arguments: Vec<_> =
                    if more == ["--json"] { [&arguments[1..], more].concat() } else { arguments };
                assert_harmless(&arguments, &run(directory.path(), origin, &arguments).await);
            }
        }
        for more in [&["--read-only"][..], &["--json"]] {
            let directory = folder();
            let arguments = [&["--log", "trace", "check", origin], more].concat();
            assert_harmless(&arguments, &run(directory.path(), origin, &arguments).await);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn text_of_a_job_cannot_control_the_terminal() {
    let claims = Arc::new(AtomicU64::new(0));
    let origin = serve(move |path| {
        let mut answer = success(&path);
        if path == "/site/jobs/next" {
            let types = [
                "publish_article",
                "delete_article",
                "rollback_article",
                "apply_seo_overlay",
                "sync_content",
                HOSTILE,
            ];
            let claim = usize::try_from(claims.fetch_add(1, Ordering::Relaxed)).expect("few");
            let id = format!("{HOSTILE}{claim}");
            match types.get(claim % (types.len() + 1)) {
                Some(job_type) => {
                    answer["data"]["job"]["id"] = id.into();
                    answer["data"]["job"]["type"] = (*job_type).into();
                }
                None => answer["data"]["job"] = Value::Null,
            }
        }
        axum::Json(answer)
    })
    .await;
    for more in [&["--log", "trace"][..], &["--log", "info"], &["--log", "trace", "--log-format", "json"]] {
        let directory = folder();
        let jobs = ["jobs", "--site", "www", "--site-origin", "https://shop.example", "--once"];
        let arguments = [more, &jobs].concat();
        let output = run(directory.path(), &origin, &arguments).await;
        assert!(output.status.success(), "{}", error_of(&output));
        assert_harmless(&arguments, &output);
        let printed = error_of(&output);
        assert!(printed.contains("pwned"), "the output names the jobs: {printed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_once_ends_with_an_error_when_the_response_to_a_claim_is_invalid() {
    let envelope = |data: Value| json!({ "ok": true, "data": data, "requestId": "req_1" });
    for (body, problem) in [
        (
            envelope(json!({ "job": { "id": "job_1", "type": "publish_article" } })),
            "job.claimToken is missing",
        ),
        (envelope(json!({ "job": 7 })), "job must be an object, not a number"),
        (json!({ "job": null }), "not a response of the connector API"),
    ] {
        let origin = serve(move |_| axum::Json(body.clone())).await;
        let directory = folder();
        let arguments = ["jobs", "--site", "www", "--site-origin", "https://shop.example", "--once"];
        let output = run(directory.path(), &origin, &arguments).await;
        let error = error_of(&output);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains("error: cannot claim jobs: ") && error.contains(problem), "{error}");
        assert!(output.stdout.is_empty());
    }
}

fn client(origin: &str) -> ServerConnectorClient {
    let back_off = BackOff { attempts: 2, ..BackOff::default() };
    let options = ClientOptions { back_off, answer_limit: 1024 * 1024, ..ClientOptions::new(origin) };
    ServerConnectorClient::new(options, &service::TOKEN.into()).expect("a client")
}

#[tokio::test]
async fn does_not_follow_redirects_with_the_token() {
    let requests = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&requests);
    let elsewhere = serve(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        axum::Json(success("/site/status"))
    })
    .await;
    for status in [301, 302, 303, 307, 308] {
        let (location, to) = (elsewhere.clone(), StatusCode::from_u16(status).expect("a status"));
        let origin =
            serve(move |path| (to, [(header::LOCATION, format!("{location}/api/connector/v1{path}"))])).await;
        let error = client(&origin).get_site_status().await.expect_err("refused");
        assert_eq!((error.kind, error.status), (ErrorKind::InvalidResponse, Some(status)));
        client(&origin).claim_next_job().await.expect_err("refused");
    }
    assert_eq!(requests.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn stops_reading_a_response_over_the_limit() {
    let sent = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&sent);
    let endless = serve(move |_| {
        let counted = Arc::clone(&counted);
        let chunk = Bytes::from(vec![b' '; 64 * 1024]);
        Body::from_stream(stream::repeat(chunk).map(move |chunk| {
            counted.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            Ok::<_, std::io::Error>(chunk)
        }))
    })
    .await;
    let error = client(&endless).get_site_status().await.expect_err("refused");
    assert!(error.to_string().contains("at most 1048576 bytes"), "{error}");
    assert!(sent.load(Ordering::Relaxed) < 64 * 1024 * 1024, "{} bytes", sent.load(Ordering::Relaxed));

    // The body never arrives.
    let declared = serve(|_| -> Response {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_LENGTH, "10000000000".parse().expect("a value"));
        let body = Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>());
        (headers, body).into_response()
    })
    .await;
    let started = Instant::now();
    let error = client(&declared).get_site_status().await.expect_err("refused");
    assert!(error.to_string().contains("at most 1048576 bytes"), "{error}");
    assert!(started.elapsed() < Duration::from_secs(20), "the body is not awaited");
}

#[tokio::test]
async fn refuses_compressed_responses() {
    // A gzip header only: decompressing it would give a different error.
    let gzip: &[u8] = b"\x1f\x8b\x08\0\0\0\0\0\0\x03";
    let router = Router::new().fallback(move |headers: HeaderMap| async move {
        assert_eq!(headers.get(header::ACCEPT_ENCODING).expect("a header"), "identity");
        ([(header::CONTENT_ENCODING, "gzip")], gzip)
    });
    let origin = format!("http://{}", service::serve(router).await);
    let error = client(&origin).get_site_status().await.expect_err("refused");
    assert_eq!((error.kind, error.status), (ErrorKind::InvalidResponse, Some(200)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_very_long_retry_after_ends_the_command_with_75() {
    for value in
        ["18446744073709551615", "99999999999999999999999999", "86400", "Thu, 31 Dec 9998 23:59:59 GMT"]
    {
        let origin = serve(move |_| {
            (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, value)], axum::Json(failure()))
        })
        .await;
        for arguments in COMMANDS {
            // The runner keeps waiting.
            if arguments[0] != "jobs" && !arguments.contains(&"bad-items") {
                let directory = folder();
                let output = run(directory.path(), &origin, arguments).await;
                assert_eq!(output.status.code(), Some(75), "{value}: {arguments:?}: {output:?}");
            }
        }
        let error = client(&origin).claim_next_job().await.expect_err("refused");
        assert_eq!(error.retry_after, Some(Duration::from_hours(24)), "{value}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_ends_if_the_proxy_always_answers_429() {
    let requests = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&requests);
    let origin = serve(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "0")], axum::Json(failure()))
    })
    .await;
    let directory = folder();
    let output = run(directory.path(), &origin, &["check", &origin, "--read-only", "--timeout", "1"]).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(requests.load(Ordering::Relaxed) < 60, "{} requests", requests.load(Ordering::Relaxed));
}
