//! A static site: its pages, the jobs that publish into it, and the journal of jobs.

use std::cell::LazyCell;
use std::fs;
use std::path::{Path, PathBuf};

use chat_connector::jobs::{JobHandler, Journal};
use chat_connector::static_site::{StaticSite, StaticSiteOptions, apply_to_head, items};
use chat_protocol::{Job, Overlay, Value};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::service::runtime;

const ORIGIN: &str = "https://shop.example";

thread_local! {
    static FOLDER: LazyCell<TempDir> = LazyCell::new(|| {
        // In memory, if the system has such a folder.
        let memory = Path::new("/dev/shm");
        if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.expect("a folder")
    });
    static RUNTIME: LazyCell<Runtime> = LazyCell::new(runtime);
}

/// Returns a folder for this thread.
fn folder(name: &str) -> PathBuf {
    let folder = FOLDER.with(|folder| folder.path().join(name));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Returns an overlay in which every text tries to inject an element.
fn overlay() -> Overlay {
    let text = "</title></script><x-injected a='\"'>".to_owned();
    Overlay {
        title: Some(text.clone()),
        description: Some(text.clone()),
        robots: Some(text.clone()),
        canonical_url: Some(format!("{ORIGIN}/{text}")),
        open_graph: vec![("title".to_owned(), text.clone())],
        structured_data: vec![Value::object([("name", text.into())])],
        ..Overlay::default()
    }
}

/// Converts a page to an item, and applies an overlay, which must not inject elements.
pub fn page(data: &[u8]) {
    let root = folder("pages");
    fs::write(root.join("page.html"), data).expect("a page");
    for item in items(&root, ORIGIN).expect("a readable folder") {
        assert_eq!(item.path.as_deref(), Some("/page.html"));
        let length = item.content.unwrap_or_default().len();
        // An invalid byte becomes a character of three bytes, and a table repeats its headers in each row.
        assert!(length <= 3 * data.len() + (1 << 20), "{length} bytes of text in {} of HTML", data.len());
    }
    if let Ok(page) = apply_to_head(data, &overlay()) {
        let injected = |page: &[u8]| page.windows(11).filter(|bytes| bytes == b"<x-injected").count();
        assert_eq!(injected(&page), injected(data), "an overlay injected an element");
    }
}

/// Executes a job of the service. Nothing is written outside of the site and its state.
pub fn job(data: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(data) else { return };
    let Ok(job) = Job::try_from(value) else { return };
    let around = folder("publishing");
    let (root, state) = (around.join("site"), around.join("state"));
    let _ = fs::remove_dir_all(&around);
    fs::create_dir_all(&root).expect("a folder");
    fs::write(root.join("index.html"), "<html><head></head><body>Home</body></html>").expect("a page");
    let options = StaticSiteOptions { root, state, origin: ORIGIN.to_owned(), template: None };
    let site = StaticSite::new(options);
    RUNTIME.with(|runtime| {
        let first = runtime.block_on(site.execute(&job));
        let second = runtime.block_on(site.execute(&job));
        assert!(first.is_err() || second == first, "the second execution changed {first:?} to {second:?}");
    });
    for entry in fs::read_dir(&around).expect("a folder").flatten() {
        let name = entry.file_name();
        assert!(name == "site" || name == "state", "written outside of the site: {}", entry.path().display());
    }
    for file in files(&around.join("site")) {
        let is_page = file.extension().is_some_and(|extension| extension == "html" || extension == "htm");
        assert!(is_page, "written into the site, but not a page: {}", file.display());
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

/// Opens a damaged journal of jobs. Opened again, it must be the same.
pub fn journal(data: &[u8]) {
    let path = folder("journal").join("journal");
    fs::write(&path, data).expect("a file");
    let Ok(journal) = Journal::open(&path) else { return };
    let first = format!("{journal:?}");
    drop(journal);
    let second = format!("{:?}", Journal::open(&path).expect("it was opened before"));
    // Maps have no order.
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().filter(|letter| !letter.is_ascii_digit()).collect();
        letters.sort_unstable();
        letters
    };
    assert_eq!(sorted(&first), sorted(&second), "the journal changed when it was opened again");
}
