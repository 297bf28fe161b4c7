//! The token is written once and completely, for its owner only, and is never printed.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::service::{Service, TOKEN};
use crate::site_connector::{command, error_of, fails, run, succeeds};

fn activate(file: &str) -> [&str; 5] {
    ["activate", "--domain", "https://shop.example", "--token-file", file]
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_the_token_to_a_file_of_any_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let here = directory.path();
    fs::create_dir(here.join("deep")).expect("a folder");
    for file in
        ["token", "token.unfinished", "x.unfinished", ".tmp", "token.tmp", "deep/.unfinished-", "töken 1"]
    {
        let service = Service::start().await;
        succeeds(here, &service.origin(), &activate(file)).await;
        let token = fs::read_to_string(here.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(token.len() > 10 && token.ends_with('\n'), "{file}");
        assert_eq!(
            fs::metadata(here.join(file)).expect("a file").permissions().mode() & 0o777,
            0o600,
            "{file}"
        );
        // It is the token.
        let mut status = command(here, &service.origin(), &["status", "--token-file", file]);
        assert!(status.stdout(Stdio::null()).status().expect("runs").success(), "{file}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keeps_an_existing_file_when_activation_fails() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let here = directory.path();
    fs::write(here.join("x.unfinished"), "of somebody else").expect("written");
    fs::write(here.join("token"), "the old one").expect("written");
    service.inject_faults(json!({ "status": 400, "only": "activate" })).await;
    for arguments in [&activate("x")[..], &[&activate("token")[..], &["--replace"]].concat()] {
        fails(here, &service.origin(), arguments).await;
    }
    assert_eq!(fs::read_to_string(here.join("token")).expect("a file"), "the old one");
    service.inject_faults(json!({})).await;
    succeeds(here, &service.origin(), &activate("x")).await;
    assert_eq!(fs::read_to_string(here.join("x.unfinished")).expect("a file"), "of somebody else");
    let mut names: Vec<_> =
        fs::read_dir(here).expect("a folder").map(|entry| entry.expect("an entry").file_name()).collect();
    names.sort();
    assert_eq!(names, ["token", "x", "x.unfinished"], "nothing else is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn does_not_use_the_license_if_the_token_file_cannot_be_created() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let here = directory.path();
    fs::create_dir(here.join("folder")).expect("a folder");
    for (file, advice) in [
        ("nowhere/token", "cannot write nowhere/token"),
        ("nowhere/token", "create its folder first"),
        ("folder", "folder"),
    ] {
        let (code, printed) =
            fails(here, &service.origin(), &[&activate(file)[..], &["--replace"]].concat()).await;
        assert!(code == Some(1) && printed.contains(advice), "{printed}");
    }
    assert_eq!(service.local("GET", "/sandbox/site", None).await["site"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn configuration_errors_never_show_a_token() {
    let directory = tempfile::tempdir().expect("a directory");
    let here = directory.path();
    for (text, advice) in [
        (format!("token = \"{TOKEN}\""), "line 1: put the token in a separate file"),
        (
            format!("origin = \"http://127.0.0.1:1\"\nsite_token = \"{TOKEN}\""),
            "line 2: put the token in a separate file",
        ),
        (format!("API_TOKEN = \"{TOKEN}\""), "put the token in a separate file"),
        (format!("token = {TOKEN}"), "line 1: "),
        (format!("\n\ntoken_file = \"{TOKEN}"), "line 3: "),
        (format!("origin = \"http://127.0.0.1:1\" {TOKEN}"), "line 1: "),
        (TOKEN.to_owned(), "line 1: "),
        (format!("rate_burst = \"{TOKEN}\""), "line 1: invalid rate_burst: expected"),
        (format!("token_file = [\"{TOKEN}\"]"), "invalid token_file: expected"),
        (format!("timeout = \"{TOKEN}\""), "invalid timeout: expected"),
        (format!("listen = \"{TOKEN}\""), "line 1: "),
        (format!("orgin = \"{TOKEN}\""), "orgin"),
        (format!("[proxy]\ntoken = \"{TOKEN}\""), "proxy"),
    ] {
        fs::write(here.join("proxy.toml"), &text).expect("written");
        let output = run(here, "http://127.0.0.1:1", &["proxy", "--config", "proxy.toml"]).await;
        let printed = error_of(&output);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(!printed.contains(TOKEN) && printed.contains(advice), "{text}: {printed}");
    }
}
