//! `site-connector audit`, on folders and websites, as docs/audit.md shows it.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::IntoResponse;
use serde_json::Value;
use tempfile::TempDir;

use crate::site_connector::{error_of, run};

const DOCS: &str = include_str!("../../../../docs/audit.md");

const GOOD: &str = "<!doctype html><html lang=en><head><meta charset=utf-8><title>Mugs by hand</title>\
    <meta name=viewport content='width=device-width'></head><body><main><h1>Mugs</h1><p>All our mugs.</p>\
    <a href=/about.html>About the studio</a></main></body></html>";

fn folder(pages: &[(&str, &str)]) -> TempDir {
    let directory = tempfile::tempdir().expect("a folder");
    for (name, html) in pages {
        let file = directory.path().join("www").join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("created");
        fs::write(file, html).expect("written");
    }
    directory
}

async fn audit(directory: &Path, arguments: &[&str]) -> Output {
    run(directory, "http://127.0.0.1:1", &[&["audit"], arguments].concat()).await
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", error_of(output)))
}

fn rules_of(report: &Value) -> Vec<&str> {
    let findings = report["findings"].as_array().expect("findings");
    findings.iter().filter_map(|finding| finding["rule"].as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_audited_and_the_exit_code_follows_the_severity() {
    let directory =
        folder(&[("index.html", GOOD), ("about.html", GOOD), ("a/index.html", "<p>x<a href=b.html>B</a>")]);
    let here = directory.path();
    fs::write(here.join("www/robots.txt"), "User-agent: GPTBot\nDisallow: /\n").expect("written");
    let output = audit(here, &["www", "--json"]).await;
    assert_eq!(output.status.code(), Some(1), "{}", error_of(&output));
    let report = json_of(&output);
    let rules = rules_of(&report);
    for rule in ["link-broken", "title-missing", "title-duplicate", "ai-crawler-blocked", "page-orphan"] {
        assert!(rules.contains(&rule), "{rule}: {rules:?}");
    }
    let link =
        &report["findings"].as_array().expect("findings").iter().find(|one| one["rule"] == "link-broken");
    assert_eq!(link.expect("a finding")["places"][0]["file"], "a/index.html");
    let output = audit(here, &["www", "--fail-on", "never"]).await;
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(printed.contains("ERROR link-broken") && printed.contains("Score "), "{printed}");
    fs::remove_dir_all(here.join("www/a")).expect("removed");
    assert!(audit(here, &["www"]).await.status.success());
    assert_eq!(audit(here, &["www", "--fail-on", "warning"]).await.status.code(), Some(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_rules_folders_and_odd_names_make_no_false_errors() {
    let links = "<a href=/kept/>Kept</a><a href=/moved>Moved</a><a href='/a b.html'>AB</a><a href=/100%25.html>100</a>\
                 <a href=/q%3Fa.html>Q</a><a href=../above.html>Above</a><a href=/files/list.pdf>List</a>\
                 <a href=/about>About</a><a href=/.well-known/x>X</a><a href=/404.html>Error</a>";
    let directory = folder(&[
        ("index.html", &GOOD.replace("</main>", &format!("{links}</main>"))),
        ("about.html", GOOD),
        ("a b.html", GOOD),
        ("100%.html", GOOD),
        ("q?a.html", GOOD),
        ("kept/x.txt", ""),
        ("files/list.pdf", ""),
        ("404.html", "<p>Not found"),
        ("google123.html", "google-site-verification: google123.html"),
        ("_redirects", "/moved /about 301\n"),
    ]);
    let output = audit(directory.path(), &["www", "--json"]).await;
    let report = json_of(&output);
    assert_eq!(report["counts"]["error"], 0, "{report}");
    assert_eq!(report["pages"].as_array().map(Vec::len), Some(5));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_audited_is_said() {
    let directory = folder(&[("a.txt", "")]);
    let here = directory.path();
    for (arguments, code, text) in [
        (&["www"][..], 1, "no HTML pages in www"),
        (&["nowhere"], 1, "cannot read nowhere"),
        (&["https://"], 2, "invalid address"),
        (&["www", "--format", "xml"], 2, "xml"),
        (&["www", "--site-origin", "shop"], 2, "origin"),
        (&["http://127.0.0.1:1/", "--pause", "0"], 75, "cannot read http://127.0.0.1:1/robots.txt"),
    ] {
        let output = audit(here, arguments).await;
        let printed = error_of(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
        assert!(printed.contains(text) && output.stdout.is_empty(), "{arguments:?}: {printed}");
    }
}

type Requested = Arc<Mutex<Vec<String>>>;

async fn respond(State(requested): State<Requested>, uri: Uri) -> axum::response::Response {
    requested.lock().expect("not poisoned").push(uri.to_string());
    let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8")];
    let links = "<a href=/b>B</a><a href=/old>Old</a><a href=/gone>Gone</a><a href=/private/x>Private</a>\
                 <a href=/c.pdf>PDF</a><a href=/busy>Busy</a><a href=https://other.example/>Other</a>";
    match uri.path() {
        "/robots.txt" => "User-agent: *\nDisallow: /private\n".into_response(),
        "/" => (html, GOOD.replace("</main>", &format!("{links}</main>"))).into_response(),
        "/b" | "/about.html" => (html, GOOD).into_response(),
        "/old" => (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, "/older")]).into_response(),
        "/older" => (StatusCode::FOUND, [(header::LOCATION, "/b")]).into_response(),
        "/busy" => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        _ => (StatusCode::NOT_FOUND, html, "<p>No").into_response(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_website_is_crawled_as_its_robots_txt_allows() {
    let requested = Requested::default();
    let app = axum::Router::new().fallback(respond).with_state(Arc::clone(&requested));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move { axum::serve(listener, app).await });
    let directory = tempfile::tempdir().expect("a folder");
    let output = audit(directory.path(), &[&address, "--json", "--pause", "0"]).await;
    let report = json_of(&output);
    let rules = rules_of(&report);
    for rule in ["link-broken", "redirect-chain", "title-duplicate", "page-error"] {
        assert!(rules.contains(&rule), "{rule}: {rules:?}");
    }
    assert_eq!(report["pages"].as_array().map(Vec::len), Some(3), "{report}");
    let asked = requested.lock().expect("not poisoned").clone();
    assert!(!asked.iter().any(|path| path.starts_with("/private") || path == "/c.pdf"), "{asked:?}");
    assert_eq!(asked.iter().filter(|path| *path == "/b").count(), 1, "{asked:?}");
    let output = audit(directory.path(), &[&address, "--json", "--pause", "0", "--pages", "1"]).await;
    let report = json_of(&output);
    assert_eq!(report["pages"].as_array().map(Vec::len), Some(1));
    assert!(!rules_of(&report).iter().any(|rule| ["link-broken", "page-orphan"].contains(rule)), "{report}");
}

/// Returns the text of a snippet under a heading.
fn snippet(heading: &str, language: &str) -> &'static str {
    let section = DOCS.split(&format!("# {heading}\n")).nth(1).expect("a heading");
    let text = section.split(&format!("```{language}\n")).nth(1).expect("a snippet");
    text.split("```").next().expect("an end")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_commands_of_docs_audit_md_run() {
    let directory = folder(&[("index.html", GOOD), ("about.html", GOOD)]);
    let here = directory.path();
    // "docs/audit.md", "Audit a site: sh"
    let commands =
        snippet("Audit a site", "sh").lines().map(|line| line.split('#').next().unwrap_or_default());
    let commands: Vec<Vec<&str>> = commands
        .map(|line| line.split('>').next().unwrap_or_default().split_whitespace().collect())
        .collect();
    assert_eq!(commands.len(), 4);
    for command in commands.iter().filter(|command| !command[2].starts_with("https:")) {
        assert_eq!(command[..2], ["site-connector", "audit"]);
        let output = audit(here, &command[2..]).await;
        let fails = command.contains(&"warning");
        assert_eq!(output.status.code(), Some(i32::from(fails)), "{command:?}: {}", error_of(&output));
        if let Some(at) = command.iter().position(|part| *part == "--format") {
            let value = json_of(&output);
            let is_sarif = value["version"] == "2.1.0" && value["runs"][0]["results"].is_array();
            assert_eq!(is_sarif, command[at + 1] == "sarif");
        }
    }
    // "docs/audit.md", "Use it in CI: yaml"
    let workflow = snippet("Use it in CI", "yaml");
    let line = workflow
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("- run: site-connector audit public "))
        .expect("a command");
    let arguments: Vec<&str> = line.split('>').next().unwrap_or_default().split_whitespace().collect();
    let output = audit(here, &[&["www"], arguments.as_slice()].concat()).await;
    assert!(output.status.success(), "{}", error_of(&output));
    assert!(workflow.contains("sarif_file: audit.sarif") && line.ends_with("> audit.sarif"));
}
