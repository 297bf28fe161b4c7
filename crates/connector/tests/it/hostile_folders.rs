//! Links, pipes, sockets and unusual names in the site's folder: nothing outside of it is read or written,
//! and nothing blocks.

#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chat_connector::jobs::JobHandler;
use chat_connector::static_site::items;
use chat_protocol::{ContentItem, Done, Overlay};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::static_site::{job, static_site};

const PAGE: &str = "<html><head><title>A page</title></head><body>Words</body></html>";
const SECRET: &str = "<html><head><title>A secret</title></head><body>Secret words</body></html>";

/// Creates the site's folder `www` beside an unrelated folder `outside`.
fn site() -> TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    for folder in ["www/plain", "outside"] {
        fs::create_dir_all(directory.path().join(folder)).expect("a folder");
    }
    fs::write(directory.path().join("www/index.html"), PAGE).expect("written");
    fs::write(directory.path().join("www/plain/a.html"), PAGE).expect("written");
    fs::write(directory.path().join("outside/secret.html"), SECRET).expect("written");
    directory
}

async fn publish(directory: &Path, path: &str) -> Result<Done, String> {
    let payload = json!({ "contentId": path, "path": path, "title": "T", "content": "published" });
    let job = job(&format!("publish {path}"), "publish_article", &payload);
    within_a_minute(static_site(directory).execute(&job)).await.map_err(|failure| failure.reason)
}

async fn within_a_minute<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_mins(1), work).await.expect("reading does not block")
}

/// Reads the items of the site on a separate thread, since reading may hang.
fn items_of(directory: &Path) -> Vec<ContentItem> {
    let root = directory.join("www");
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(items(&root, "https://shop.example")));
    let items = receiver.recv_timeout(Duration::from_mins(1)).expect("reading does not block");
    items.expect("items")
}

fn paths(directory: &Path) -> Vec<String> {
    items_of(directory).into_iter().map(|item| item.external_id).collect()
}

#[test]
fn syncs_only_regular_files_in_the_folder() {
    let directory = site();
    let www = directory.path().join("www");
    symlink("../outside", www.join("linked")).expect("a link");
    symlink("../outside/secret.html", www.join("linked.html")).expect("a link");
    symlink("/dev/zero", www.join("zero.html")).expect("a link");
    symlink(".", www.join("loop")).expect("a link");
    symlink("plain", www.join("within")).expect("a link");
    symlink("nowhere", www.join("broken.html")).expect("a link");
    assert!(Command::new("mkfifo").arg(www.join("pipe.html")).status().expect("mkfifo").success());
    let _socket = UnixListener::bind(www.join("socket.html")).expect("a socket");
    fs::create_dir(www.join("folder.html")).expect("a folder");
    fs::write(www.join(OsStr::from_bytes(b"\xff.html")), PAGE).expect("written");
    fs::write(www.join("a\x1b[2J.html"), PAGE).expect("written");
    fs::write(www.join(".hidden.html"), PAGE).expect("written");
    assert_eq!(paths(directory.path()), ["/", "/plain/a.html"]);
}

#[test]
fn syncs_a_site_whose_folder_is_a_link() {
    let directory = site();
    fs::rename(directory.path().join("www"), directory.path().join("release-7")).expect("renamed");
    symlink("release-7", directory.path().join("www")).expect("a link");
    assert_eq!(paths(directory.path()), ["/", "/plain/a.html"]);
}

#[test]
fn skips_a_too_large_page_and_refuses_a_too_deep_folder() {
    let directory = site();
    let www = directory.path().join("www");
    let large = fs::File::create(www.join("large.html")).expect("a file");
    large.set_len(17 * 1024 * 1024).expect("a hole");
    assert_eq!(paths(directory.path()), ["/", "/plain/a.html"]);
    fs::create_dir_all(www.join("d/".repeat(40))).expect("folders");
    let error = items(&www, "https://shop.example").expect_err("refused");
    assert!(error.to_string().contains("more than 32 deep"), "{error}");
}

#[tokio::test]
async fn never_publishes_through_a_link_or_over_a_file_that_is_not_a_page() {
    let directory = site();
    let www = directory.path().join("www");
    symlink("../outside", www.join("linked")).expect("a link");
    symlink("plain", www.join("within")).expect("a link");
    symlink("../outside/secret.html", www.join("linked.html")).expect("a link");
    symlink("../outside/new.html", www.join("dangling.html")).expect("a link");
    symlink("..", www.join("up")).expect("a link");
    fs::create_dir(www.join("folder.html")).expect("a folder");
    assert!(Command::new("mkfifo").arg(www.join("pipe.html")).status().expect("mkfifo").success());
    for (path, reason) in [
        ("/linked/news", "a link"),
        ("/linked/secret.html", "a link"),
        ("/within/a.html", "a link"),
        ("/linked.html", "a link"),
        ("/dangling.html", "a link"),
        ("/up/outside/secret.html", "a link"),
        ("/folder.html", "a folder"),
        ("/pipe.html", "a pipe"),
        ("/plain/a.html/b", "a file"),
    ] {
        let failure = publish(directory.path(), path).await.expect_err(path);
        assert!(failure.contains(reason), "{path}: {failure}");
        let overlay = Overlay { path: Some(path.to_owned()), title: Some("T".into()), ..Overlay::default() };
        within_a_minute(static_site(directory.path()).apply_overlay(&overlay)).await.expect_err(path);
    }
    let outside: Vec<_> = fs::read_dir(directory.path().join("outside")).expect("a folder").collect();
    assert_eq!(outside.len(), 1);
    assert_eq!(fs::read_to_string(directory.path().join("outside/secret.html")).expect("text"), SECRET);
    assert_eq!(fs::read_to_string(www.join("plain/a.html")).expect("text"), PAGE);
}

#[tokio::test]
async fn refuses_a_name_that_differs_only_in_case_or_accents() {
    let directory = site();
    publish(directory.path(), "/Grüße").await.expect("published");
    for twin in ["/grüße", "/GRÜßE/", "/Gru\u{308}ße", "/Plain/b.html", "/plain/A.html", "/INDEX.html"] {
        let failure = publish(directory.path(), twin).await.expect_err(twin);
        assert!(failure.contains("differs from"), "{twin}: {failure}");
    }
    publish(directory.path(), "/Grüße/mehr").await.expect("published");
}

#[test]
fn never_leaves_the_site_when_a_folder_becomes_a_link() {
    let directory = site();
    let www = directory.path().join("www");
    symlink("../outside", www.join("link")).expect("a link");
    fs::create_dir(www.join("turning")).expect("a folder");
    let is_over = AtomicBool::new(false);
    let published = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                // The folder and the link replace each other repeatedly.
                for (from, to) in
                    [("turning", "aside"), ("link", "turning"), ("turning", "link"), ("aside", "turning")]
                {
                    let _ = fs::rename(www.join(from), www.join(to));
                }
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let published = (0..200).filter(|number| {
            runtime.block_on(publish(directory.path(), &format!("/turning/{number}"))).is_ok()
        });
        let published = published.count();
        is_over.store(true, Ordering::Relaxed);
        published
    });
    let outside = fs::read_dir(directory.path().join("outside")).expect("a folder").count();
    assert_eq!(outside, 1, "after {published} pages");
}

proptest! {
    #![proptest_config(some_cases())]

    #[test]
    fn any_payload_leaves_everything_outside_of_the_folders_unchanged(
        jobs in proptest::collection::vec((job_type(), payload()), 1..5),
    ) {
        let directory = site();
        let handler = static_site(directory.path());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        for (number, (job_type, payload)) in jobs.into_iter().enumerate() {
            let job = job(&number.to_string(), &job_type, &payload);
            // An error is fine; a panic would fail the test.
            let _ = runtime.block_on(handler.execute(&job));
        }
        let here: Vec<_> = fs::read_dir(directory.path()).expect("a folder").map(|entry| entry.expect("an entry")).collect();
        for entry in here {
            prop_assert!(["www", "outside", "state"].contains(&entry.file_name().to_str().expect("a name")));
        }
        prop_assert_eq!(fs::read_dir(directory.path().join("outside")).expect("a folder").count(), 1);
        items_of(directory.path());
    }
}

fn some_cases() -> ProptestConfig {
    let all = ProptestConfig::default();
    ProptestConfig { cases: all.cases.div_ceil(4), failure_persistence: None, ..all }
}

fn job_type() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "(publish_article|delete_article|rollback_article|apply_seo_overlay)",
        1 => "[a-z_]{1,12}",
    ]
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => "[a-z<>&{}\"/. -]{0,20}".prop_map(Value::from),
        1 => any::<String>().prop_map(Value::from),
        1 => Just(json!("<html><head></head></html>")),
        1 => Just(Value::Null),
        1 => any::<i64>().prop_map(Value::from),
        1 => Just(json!([{ "a": [] }])),
    ]
}

fn payload() -> impl Strategy<Value = Value> {
    let path = prop_oneof![
        3 => "/[ab]{0,2}(\\.html|/)?".prop_map(Value::from),
        1 => "(/|\\.\\.|%2e|[a-zA-Z.~ ]{1,3}){1,6}".prop_map(Value::from),
        1 => text(),
    ];
    let id = prop_oneof![Just(json!("c1")), Just(json!("c2")), text()];
    let action = prop_oneof![Just(json!("publish")), Just(json!("delete")), Just(json!("rollback")), text()];
    (id, path, text(), text(), action).prop_map(|(id, path, title, content, action)| {
        json!({
            "contentId": id, "path": path, "title": title, "description": title, "locale": title, "content": content,
            "action": action, "openGraph": { "title": title, "x y": content }, "structuredData": [content, {}],
        })
    })
}
