//! A damaged journal or a full disk neither loses a job nor publishes one twice.

#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::service::{Service, TOKEN};
use crate::site_connector::{error_of, output, succeeds};

const JOBS: [&str; 7] =
    ["jobs", "--site", "www", "--site-origin", "https://shop.example", "--once", "--json"];
const ARTICLES: usize = 12;

async fn with_articles(service: &Service, here: &Path) {
    fs::create_dir(here.join("www")).expect("a folder");
    for number in 0..ARTICLES {
        let payload = json!({ "contentId": number.to_string(), "path": format!("/{number}"), "title": "A", "content": "A" });
        service.add_job("publish_article", payload).await;
    }
}

/// Returns the number of stored versions of each article.
fn versions(here: &Path) -> Vec<usize> {
    let records = fs::read_dir(here.join(".site-connector/articles")).expect("records");
    let records = records.map(|record| fs::read(record.expect("a record").path()).expect("a file"));
    let records = records.map(|record| serde_json::from_slice::<Value>(&record).expect("JSON"));
    records.map(|record| record["versions"].as_array().expect("versions").len()).collect()
}

/// Runs `jobs --once` until all jobs have succeeded.
async fn run_until_done(service: &Service, here: &Path) {
    while !service.jobs().await.iter().all(|job| job["status"] == "succeeded") {
        succeeds(here, &service.origin(), &JOBS).await;
    }
    assert_eq!(versions(here), [1; ARTICLES]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_stops_the_runner_and_the_next_run_continues() {
    let service = Service::start().await;
    // Unreported jobs are returned again soon.
    service.inject_faults(json!({ "leaseMs": 2000 })).await;
    let directory = tempfile::tempdir().expect("a directory");
    let here = directory.path();
    with_articles(&service, here).await;
    let mut limited = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f 2; exec \"$0\" \"$@\"";
    limited.args(["-c", script, env!("CARGO_BIN_EXE_site-connector")]).args(JOBS).current_dir(here);
    limited.env("CONNECTOR_ORIGIN", service.origin()).env("CONNECTOR_TOKEN", TOKEN);
    let output = output(limited).await;
    assert_eq!(output.status.code(), Some(1), "{}", error_of(&output));
    assert!(error_of(&output).contains("cannot read or write the journal"), "{}", error_of(&output));
    let journal = fs::read_to_string(here.join(".site-connector/journal.jsonl")).expect("text");
    assert!(journal.ends_with('\n'), "no half line is left: {journal}");

    run_until_done(&service, here).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_with_a_damaged_line_is_executed_again_but_not_published_twice() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let here = directory.path();
    with_articles(&service, here).await;
    service
        .inject_faults(
            json!({ "leaseMs": 2000, "only": "complete", "status": 409, "code": "RESOURCE_CONFLICT" }),
        )
        .await;
    // Every job is done, but none is reported.
    succeeds(here, &service.origin(), &JOBS).await;
    let path = here.join(".site-connector/journal.jsonl");
    let journal = fs::read_to_string(&path).expect("text");
    let damaged: String = journal.replace("\"executed\"", "\"exec\u{fffd}").replace("true", "tru");
    fs::write(&path, damaged).expect("written");
    service.inject_faults(json!({})).await;
    run_until_done(&service, here).await;
    assert!(here.join(".site-connector/journal.jsonl.damaged").is_file());
}
