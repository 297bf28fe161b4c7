//! How the command `site-connector` describes itself, and how it fails.

use serde_json::{Value, json};

use crate::service::{Service, TOKEN};
use crate::site_connector::{fails, run};

#[tokio::test(flavor = "multi_thread")]
async fn with_json_each_failure_is_one_line_of_json() {
    let service = Service::start().await;
    service.inject_faults(json!({ "status": 503, "retryAfter": 3600, "only": "status" })).await;
    let directory = tempfile::tempdir().expect("a folder");
    std::fs::write(directory.path().join("token"), TOKEN).expect("written");
    for (arguments, code, text) in [
        (&["status", "--json", "--token-file", "token"][..], 75, "503"),
        (&["status", "--json", "--token-file", "missing"], 1, "cannot read missing"),
        (&["status", "--json", "--no-such-flag"], 2, "--no-such-flag"),
        (&["proxy", "--json"], 2, "--json"),
        (&["check", "nowhere", "--json"], 2, "https://shop.example/connector"),
        (&["serve", "--json", "--listen", "nowhere"], 2, "localhost:8081"),
        (&["admin", "site", "create", "--json"], 2, "--name"),
    ] {
        let (exited, printed) = fails(directory.path(), &service.origin(), arguments).await;
        assert_eq!(exited, Some(code), "{arguments:?}: {printed}");
        assert_eq!(printed.lines().count(), 1, "{arguments:?}: {printed}");
        let failure: Value = serde_json::from_str(&printed).expect("JSON");
        assert_eq!(failure["exitCode"], code);
        let error = failure["error"].as_str().expect("a text");
        assert!(error.contains(text) && !error.starts_with("error:"), "{arguments:?}: {error}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_command_describes_itself() {
    let directory = tempfile::tempdir().expect("a folder");
    let here = directory.path();
    let print = async |arguments: &[&str]| {
        let output = run(here, "http://127.0.0.1:1", arguments).await;
        assert!(output.status.success(), "{arguments:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert_eq!(print(&["--version"]).await.trim(), concat!("site-connector ", env!("CARGO_PKG_VERSION")));
    for shell in ["bash", "zsh", "fish"] {
        let completions = print(&["completions", shell]).await;
        assert!(completions.contains("trusted-hop"), "{shell}: {completions}");
    }
    assert!(print(&["man"]).await.contains(".TH site-connector 1"));
    let pages = here.join("man1");
    std::fs::create_dir(&pages).expect("a folder");
    print(&["man", "--dir", "man1"]).await;
    let page = std::fs::read_to_string(pages.join("site-connector-proxy.1")).expect("a page");
    assert!(page.contains("trusted"), "{page}");
}
