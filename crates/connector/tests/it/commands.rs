//! The command `site-connector`, from activation to a published page.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Output, Stdio};

use chat_service::test_mode::LICENSE;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::service::{self, Service, TOKEN, free_port};
use crate::site_connector::{self, command, error_of};

/// Runs the command in a directory, and checks that it prints neither the token nor the license.
async fn run(directory: &Path, origin: &str, arguments: &[&str]) -> Output {
    let mut command = command(directory, origin, arguments);
    command.env_remove("CONNECTOR_TOKEN");
    let output = site_connector::output(command).await;
    for text in [&output.stdout, &output.stderr] {
        let text = String::from_utf8_lossy(text);
        assert!(!text.contains(TOKEN) && !text.contains(LICENSE), "{text}");
    }
    output
}

async fn succeeds(directory: &Path, service: &Service, arguments: &[&str]) -> Value {
    site_connector::json(&run(directory, &service.origin(), arguments).await, arguments)
}

async fn fails(directory: &Path, origin: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = run(directory, origin, arguments).await;
    assert!(!output.status.success() && output.stdout.is_empty());
    (output.status.code(), error_of(&output))
}

fn folder() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let site = directory.path().join("www");
    std::fs::create_dir(&site).expect("a directory");
    for number in 0..120 {
        let page = format!(
            "<html><head><title>Glaze {number}</title></head><body><p>Glaze number {number} is fired at {} degrees, \
             and nobody else has its colour.</p></body></html>",
            1000 + number
        );
        std::fs::write(site.join(format!("glaze-{number}.html")), page).expect("a page");
    }
    directory
}

const ACTIVATE: [&str; 7] =
    ["activate", "--token-file", "token", "--domain", "https://shop.example", "--site-name", "Shop"];
const SITE: [&str; 2] = ["--site-origin", "https://shop.example"];

#[tokio::test(flavor = "multi_thread")]
async fn activates_syncs_and_publishes_a_page_with_its_overlay() {
    let service = Service::start().await;
    let directory = folder();
    let here = directory.path();
    let activated = succeeds(here, &service, &[&ACTIVATE[..], &["--json"]].concat()).await;
    assert_eq!(activated["tokenFile"], "token");
    let mode = std::fs::metadata(here.join("token")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let token = ["--token-file", "token", "--json"];
    let status = succeeds(here, &service, &[&["status"], &token[..]].concat()).await;
    assert_eq!((&status["siteName"], &status["contentItems"]), (&json!("Shop"), &json!(0)));

    let synced = succeeds(here, &service, &[&["sync", "www"], &SITE[..], &token[..]].concat()).await;
    assert_eq!(
        (&synced["items"], &synced["pages"], &synced["accepted"]),
        (&json!(120), &json!(3), &json!(120))
    );

    let article = json!({ "title": "News", "path": "/news", "content": "<p>New glaze</p>" });
    service.add_job("publish_article", article).await;
    service.local("POST", "/sandbox/overlays", None).await;
    let overlays =
        succeeds(here, &service, &[&["overlays", "--path", "/glaze-7.html"], &token[..]].concat()).await;
    let overlay = &overlays["overlays"][0];
    assert_eq!((&overlay["title"], &overlay["openGraph"]["title"]), (&json!(null), &json!("Glaze 7")));

    let jobs =
        succeeds(here, &service, &[&["jobs", "--site", "www", "--once"], &SITE[..], &token[..]].concat())
            .await;
    assert_eq!(jobs, json!({ "succeeded": 121, "failed": 0, "owed": 0 }));
    let page = std::fs::read_to_string(here.join("www/glaze-7.html")).expect("a page");
    assert!(page.contains("property=\"og:description\" content=\"Glaze number 7 is fired"), "{page}");
    assert!(std::fs::read_to_string(here.join("www/news/index.html")).expect("a page").contains("New glaze"));
}

#[tokio::test(flavor = "multi_thread")]
async fn syncs_a_file_of_items() {
    let service = Service::start().await;
    let directory = folder();
    let here = directory.path();
    succeeds(here, &service, &ACTIVATE).await;
    let line =
        |id: usize| json!({ "externalId": id.to_string(), "type": "product", "title": "Mug" }).to_string();
    std::fs::write(here.join("items"), format!("{}\n\n{}\n", line(1), line(2))).expect("a file");
    let sync = ["sync", "--items", "items", "--partial", "--token-file", "token", "--json"];
    assert_eq!(succeeds(here, &service, &sync).await["accepted"], 2);
    std::fs::write(here.join("items"), format!("{}\n{{\"type\":\"page\"}}\n", line(1))).expect("a file");
    let (code, printed) = fails(here, &service.origin(), &sync).await;
    let failure: Value = serde_json::from_str(&printed).expect("JSON");
    let error = "invalid item in items, line 2: externalId is missing";
    assert_eq!((code, failure), (Some(1), json!({ "error": error, "exitCode": 1 })));
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_give_advice_and_an_exit_code() {
    let service = Service::start().await;
    let directory = folder();
    let here = directory.path();
    let origin = service.origin();
    let (code, printed) = fails(here, &origin, &["status"]).await;
    assert_eq!(code, Some(2));
    assert!(printed.contains("--token-file") && printed.contains("CONNECTOR_TOKEN"), "{printed}");

    let (_, printed) = fails(here, &format!("{origin}/api/connector/v1"), &ACTIVATE).await;
    assert!(printed.contains("leave /api/connector/v1 out"), "{printed}");

    succeeds(here, &service, &ACTIVATE).await;
    let (code, printed) = fails(here, &origin, &ACTIVATE).await;
    assert_eq!(code, Some(1));
    assert!(printed.contains("--replace"), "{printed}");

    service.inject_faults(json!({ "status": 503, "retryAfter": 3600, "only": "status" })).await;
    let (code, _) = fails(here, &origin, &["status", "--token-file", "token"]).await;
    assert_eq!(code, Some(75));
    service.inject_faults(json!({ "status": 401, "only": "status" })).await;
    let (code, printed) = fails(here, &origin, &["status", "--token-file", "token"]).await;
    assert_eq!(code, Some(1));
    assert!(printed.contains("INVALID_TOKEN") && printed.contains("request req_"), "{printed}");

    assert_eq!(fails(here, &origin, &["sync"]).await.0, Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_sync_prints_how_to_resume() {
    let service = Service::start().await;
    let directory = folder();
    let here = directory.path();
    succeeds(here, &service, &ACTIVATE).await;
    service.inject_faults(json!({ "status": 503, "retryAfter": 3600, "only": "sync" })).await;
    let sync = [&["sync", "www", "--snapshot", "s1", "--token-file", "token", "--json"], &SITE[..]].concat();
    let (code, printed) = fails(here, &service.origin(), &sync).await;
    assert_eq!(code, Some(75));
    assert!(printed.contains("--snapshot s1 --first-page 1"), "{printed}");
    service.inject_faults(json!({})).await;
    let rest = [&sync[..], &["--first-page", "2"]].concat();
    assert_eq!(succeeds(here, &service, &rest).await["items"], 70);
}

#[tokio::test(flavor = "multi_thread")]
async fn check_fails_for_a_service_that_is_not_a_proxy() {
    let service = Service::start().await;
    let directory = folder();
    let output = run(directory.path(), &service.origin(), &["check", &service.origin(), "--read-only"]).await;
    assert_eq!(output.status.code(), Some(1));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(printed.contains("FAILED  GET /chat/config responds"), "{printed}");
    let summary = error_of(&output);
    assert!(
        summary.lines().count() == 1 && summary.contains("checks failed: no proxy responds"),
        "{summary}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeatedly_killed_runner_publishes_every_article_once() {
    const ARTICLES: usize = 100;
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let here = directory.path();
    std::fs::create_dir(here.join("www")).expect("a directory");
    succeeds(here, &service, &ACTIVATE).await;
    service.inject_faults(json!({ "leaseMs": 400 })).await;
    for number in 0..ARTICLES {
        let payload = json!({ "contentId": number.to_string(), "path": format!("/{number}"), "title": "A", "content": "A" });
        service.add_job("publish_article", payload).await;
    }
    let jobs = [&["jobs", "--site", "www", "--token-file", "token", "--once"], &SITE[..]].concat();
    let mut kills = 0;
    while !service.jobs().await.iter().all(|job| job["status"] == "succeeded") {
        let mut command = command(here, &service.origin(), &jobs);
        command.env_remove("CONNECTOR_TOKEN").stdout(Stdio::null()).stderr(Stdio::null());
        let mut running = command.spawn().expect("runs");
        let mut ended = || running.try_wait().expect("a process").is_some();
        service.steps(fastrand::u64(1..60), fastrand::u64(0..2000), &mut ended).await;
        kills += usize::from(!ended());
        running.kill().expect("killed");
        running.wait().expect("ended");
    }
    assert!(kills > 1, "{kills} kills");
    let mut records = 0;
    for record in std::fs::read_dir(here.join(".site-connector/articles")).expect("records") {
        let path = record.expect("a record").path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let record: Value = serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON");
            assert_eq!(record["versions"].as_array().map(Vec::len), Some(1), "published once: {record}");
            records += 1;
        }
    }
    assert_eq!(records, ARTICLES);
    for number in 0..ARTICLES {
        assert!(here.join(format!("www/{number}/index.html")).is_file(), "{number}");
    }
}

/// Runs the commands of docs/server.md, with other ports and with `jobs --once`.
#[test]
fn the_documented_commands_work_in_order() {
    let document = include_str!("../../../../docs/server.md");
    let (_, commands) = document.split_once("The whole way, against a service").expect("the commands");
    let (_, commands) = commands.split_once("```sh\n").expect("the commands");
    let (commands, _) = commands.split_once("```").expect("an end");
    let port = free_port().to_string();
    // The commands that follow need the database, which the service creates.
    let created = "until site-connector admin license list >&2; do sleep 0.1; done";
    let commands = commands
        .replace("serve &", &format!("serve --listen 127.0.0.1:{port} &\n{created}"))
        .replace("8090", &port)
        .replace("site-connector jobs", "site-connector jobs --once");
    let directory = folder();
    let binaries =
        Path::new(env!("CARGO_BIN_EXE_site-connector")).parent().expect("a folder").display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = std::process::Command::new("sh")
        .args(["-e", "-c", &format!("trap 'kill $!; wait' EXIT\n{commands}")])
        .current_dir(directory.path())
        .env("PATH", format!("{binaries}:{path}"))
        .output()
        .expect("runs");
    let (printed, failed) = (String::from_utf8_lossy(&output.stdout), error_of(&output));
    assert!(output.status.success(), "{printed}\n{failed}");
    for outcome in ["Activated as ", "120 accepted, 0 rejected", "0 jobs done, 0 failed"] {
        assert!(printed.contains(outcome), "{outcome} in\n{printed}\n{failed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_an_invalid_origin_folder_or_api_with_advice() {
    let service = Service::start().await;
    let directory = folder();
    let here = directory.path();
    succeeds(here, &service, &ACTIVATE).await;
    let token = ["--token-file", "token"];
    for wrong in
        ["shop.example", "https://shop.example/shop", "mailto:a@shop.example", "https://me@shop.example"]
    {
        for command in [&["sync", "www"][..], &["jobs", "--site", "www"]] {
            let arguments = [command, &["--site-origin", wrong], &token].concat();
            let (code, printed) = fails(here, &service.origin(), &arguments).await;
            assert!(
                code == Some(2) && printed.contains("such as https://shop.example"),
                "{arguments:?}: {printed}"
            );
        }
    }
    let arguments = [&["overlays", "--apply", "nowhere"], &token[..]].concat();
    assert!(fails(here, &service.origin(), &arguments).await.1.contains("nowhere is not a folder"));
    let arguments = [&["sync", "www", "--snapshot", "s", "--first-page", "9"], &SITE[..], &token].concat();
    assert!(
        fails(here, &service.origin(), &arguments)
            .await
            .1
            .contains("invalid --first-page: expected at most 3, got 9")
    );

    let elsewhere = format!("http://{}", service::serve(axum::Router::new()).await);
    let (code, printed) = fails(here, &elsewhere, &["status", "--token-file", "token"]).await;
    assert!(code == Some(1) && printed.contains("404 is not a response of the connector API"), "{printed}");
    let (code, printed) = fails(here, &service.origin(), &["check", "http://127.0.0.1:1/connector"]).await;
    assert!(
        code == Some(75) && printed.contains("no response from http://127.0.0.1:1/connector"),
        "{printed}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn two_consecutive_syncs_are_two_snapshots() {
    let service = Service::start().await;
    let directory = folder();
    let here = directory.path();
    succeeds(here, &service, &ACTIVATE).await;
    let sync = [&["sync", "www", "--token-file", "token", "--json"], &SITE[..]].concat();
    let first = succeeds(here, &service, &sync).await;
    std::fs::remove_file(here.join("www/glaze-0.html")).expect("removed");
    let second = succeeds(here, &service, &sync).await;
    assert_ne!(first["snapshotId"], second["snapshotId"]);
    assert_eq!(second["removed"], 1);
    let again = [&sync[..], &["--snapshot", first["snapshotId"].as_str().expect("an id")]].concat();
    let (_, printed) = fails(here, &service.origin(), &again).await;
    assert!(printed.contains("start a new snapshot"), "{printed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_log_level_shows_the_token_or_the_license() {
    let service = Service::start().await;
    let directory = folder();
    let here = directory.path();
    let log = ["--log", "trace", "--log-format", "json"];
    let token = ["--token-file", "token"];
    for arguments in [
        &ACTIVATE[..],
        &[&["status"], &token[..]].concat(),
        &[&["sync", "www"], &SITE[..], &token].concat(),
        &[&["overlays"], &token[..]].concat(),
        &[&["jobs", "--site", "www", "--once"], &SITE[..], &token].concat(),
    ] {
        // `run` checks that the output contains neither.
        let output = run(here, &service.origin(), &[&log[..], arguments].concat()).await;
        assert!(output.status.success(), "{arguments:?}");
        let log = error_of(&output);
        assert!(log.contains("\"level\":\"TRACE\"") && !log.contains('\u{1b}'), "{log}");
    }
}
