//! A sync of the wrong folder removes nothing without confirmation.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::service::Service;
use crate::site_connector::{self, fails, succeeds};

const SYNC: [&str; 5] = ["sync", "www", "--site-origin", "https://shop.example", "--json"];

fn folder(pages: usize) -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    write_pages(&directory.path().join("www"), "page", pages);
    directory
}

fn write_pages(folder: &Path, name: &str, count: usize) {
    fs::create_dir_all(folder).expect("a folder");
    for number in 0..count {
        let page = format!("<html><head><title>{name} {number}</title></head><body>Words</body></html>");
        fs::write(folder.join(format!("{name}-{number}.html")), page).expect("written");
    }
}

async fn content_items(service: &Service) -> Value {
    service.local("GET", "/sandbox/site", None).await["contentItems"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_a_sync_of_the_wrong_folder_before_pushing() {
    let service = Service::start().await;
    let directory = folder(60);
    let (here, origin) = (directory.path(), service.origin());
    succeeds(here, &origin, &SYNC).await;
    write_pages(&here.join("other"), "other", 5);
    let wrong = ["sync", "other", "--site-origin", "https://shop.example", "--json"];
    let (code, printed) = fails(here, &origin, &wrong).await;
    assert_eq!(code, Some(1));
    assert!(
        printed.contains("60 of the service's 60 items") && printed.contains("--allow-removals 60"),
        "{printed}"
    );
    assert_eq!(content_items(&service).await, 60);
    let (_, printed) = fails(here, &origin, &[&wrong[..], &["--allow-removals", "59"]].concat()).await;
    assert!(printed.contains("--allow-removals 60"), "{printed}");
    assert_eq!(content_items(&service).await, 60);
    let synced = succeeds(here, &origin, &[&wrong[..], &["--allow-removals", "60"]].concat()).await;
    assert_eq!((&synced["accepted"], &synced["removed"]), (&json!(5), &json!(60)));
    assert_eq!(content_items(&service).await, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_without_a_record_uses_the_services_item_count() {
    let service = Service::start().await;
    let (directory, elsewhere) = (folder(60), folder(5));
    succeeds(directory.path(), &service.origin(), &SYNC).await;
    let (code, printed) = fails(elsewhere.path(), &service.origin(), &SYNC).await;
    assert!(code == Some(1) && printed.contains("55 of the service's 60 items"), "{printed}");
    assert_eq!(content_items(&service).await, 60);
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_an_empty_folder_or_file_without_confirmation() {
    let service = Service::start().await;
    let directory = folder(3);
    let (here, origin) = (directory.path(), service.origin());
    fs::create_dir(here.join("empty")).expect("a folder");
    fs::write(here.join("items"), "\n").expect("written");
    for source in
        [&["sync", "empty", "--site-origin", "https://shop.example"][..], &["sync", "--items", "items"]]
    {
        let (code, printed) = fails(here, &origin, source).await;
        assert!(code == Some(1) && printed.contains("nothing to sync"), "{printed}");
        succeeds(here, &origin, &SYNC).await;
        let (_, printed) = fails(here, &origin, source).await;
        assert!(printed.contains("--allow-removals 3"), "{printed}");
        assert_eq!(content_items(&service).await, 3);
        let allowed = [source, &["--allow-removals", "3", "--json"]].concat();
        assert_eq!(succeeds(here, &origin, &allowed).await["removed"], 3);
        assert_eq!(content_items(&service).await, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_a_file_that_lacks_most_items() {
    let service = Service::start().await;
    let directory = folder(0);
    let (here, origin) = (directory.path(), service.origin());
    let lines = |numbers: std::ops::Range<u32>| {
        let line = |number| {
            json!({ "externalId": format!("{number}"), "type": "product", "title": "Mug" }).to_string()
        };
        numbers.map(line).collect::<Vec<_>>().join("\n")
    };
    let sync = ["sync", "--items", "items", "--json"];
    fs::write(here.join("items"), lines(0..40)).expect("written");
    succeeds(here, &origin, &sync).await;
    fs::write(here.join("items"), lines(20..45)).expect("written");
    let (_, printed) = fails(here, &origin, &sync).await;
    assert!(printed.contains("20 of the service's 40 items"), "{printed}");
    assert_eq!(content_items(&service).await, 40);
    succeeds(here, &origin, &[&sync[..], &["--partial"]].concat()).await;
    assert_eq!(content_items(&service).await, 45, "a part removes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_prints_the_plan_and_changes_nothing() {
    let service = Service::start().await;
    let directory = folder(20);
    let (here, origin) = (directory.path(), service.origin());
    succeeds(here, &origin, &SYNC).await;
    for number in 0..2 {
        fs::remove_file(here.join(format!("www/page-{number}.html"))).expect("removed");
    }
    let before = fs::read_dir(here.join(".site-connector")).expect("a folder").count();
    let planned = succeeds(here, &origin, &[&SYNC[..], &["--dry-run"]].concat()).await;
    assert_eq!(
        planned,
        json!({ "dryRun": true, "items": 18, "removed": 2, "removedItems": ["page /page-0.html", "page /page-1.html"] })
    );
    let output = site_connector::run(here, &origin, &[&SYNC[..4], &["--dry-run"]].concat()).await;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        printed.contains("push    page /page-2.html\n") && printed.contains("remove  page /page-1.html\n"),
        "{printed}"
    );
    assert!(printed.ends_with("18 items would be pushed, 2 removed, as far as known\n"), "{printed}");
    assert_eq!(content_items(&service).await, 20);
    assert_eq!(fs::read_dir(here.join(".site-connector")).expect("a folder").count(), before);
    fs::remove_dir_all(here.join("www")).expect("removed");
    write_pages(&here.join("www"), "other", 1);
    let output = site_connector::run(here, &origin, &[&SYNC[..], &["--dry-run"]].concat()).await;
    assert_eq!(output.status.code(), Some(1), "a script learns that it would be refused");
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"removed\":20"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sync_job_in_the_wrong_folder_fails_and_removes_nothing() {
    let service = Service::start().await;
    let directory = folder(30);
    let (here, origin) = (directory.path(), service.origin());
    succeeds(here, &origin, &SYNC).await;
    for (pages, reason) in [(0, "nothing to sync"), (2, "30 of the service's 30 items")] {
        let wrong = format!("wrong-{pages}");
        write_pages(&here.join(&wrong), "other", pages);
        let job = json!({ "type": "sync_content", "payload": {}, "maxAttempts": 1 });
        service.local("POST", "/sandbox/jobs", Some(&job)).await;
        let jobs = ["jobs", "--site", &wrong, "--site-origin", "https://shop.example", "--once", "--json"];
        assert_eq!(succeeds(here, &origin, &jobs).await["failed"], 1);
        let job = service.jobs().await.pop().expect("a job");
        assert!(job["error"].as_str().is_some_and(|error| error.contains(reason)), "{job}");
        assert_eq!(content_items(&service).await, 30);
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_record_of_pushed_items_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let service = Service::start().await;
    let directory = folder(1);
    succeeds(directory.path(), &service.origin(), &SYNC).await;
    let state = directory.path().join(".site-connector");
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&state), 0o700);
    for entry in fs::read_dir(&state).expect("a folder") {
        assert_eq!(mode(&entry.expect("an entry").path()), 0o600);
    }
}
