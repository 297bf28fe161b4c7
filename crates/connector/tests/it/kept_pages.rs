//! The site's own page is restored byte for byte when the article over it is removed.

use std::fs;
use std::path::PathBuf;

use chat_connector::jobs::JobHandler;
use chat_protocol::Done;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::static_site::{job, static_site};

const OWN: &[u8] = b"<html><head><title>By hand</title></head><body>Gr\xc3\xbc\xc3\x9fe</body></html>\r\n";

struct Site {
    directory: TempDir,
    number: u32,
}

impl Site {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        fs::create_dir_all(directory.path().join("www/news")).expect("a folder");
        Self { directory, number: 0 }
    }

    fn path(&self, below: &str) -> PathBuf {
        self.directory.path().join(below)
    }

    fn page(&self) -> Option<Vec<u8>> {
        fs::read(self.path("www/news/index.html")).ok()
    }

    fn write_by_hand(&self, html: &[u8]) {
        fs::write(self.path("www/news/index.html"), html).expect("written");
    }

    /// Executes a job twice: the second execution must change nothing.
    async fn job(&mut self, job_type: &str, payload: &Value) -> Result<Done, String> {
        self.number += 1;
        let job = job(&self.number.to_string(), job_type, payload);
        let site = static_site(self.directory.path());
        let done = site.execute(&job).await;
        let before = self.page();
        assert_eq!(site.execute(&job).await.is_ok(), done.is_ok());
        assert_eq!(self.page(), before);
        done.map_err(|failure| failure.reason)
    }

    async fn publish(&mut self, content: &str) {
        let payload = json!({ "contentId": "c1", "path": "/news", "title": "News", "content": content });
        self.job("publish_article", &payload).await.expect("published");
        let page = String::from_utf8(self.page().expect("a page")).expect("text");
        assert!(page.contains(content), "{page}");
    }

    async fn delete(&mut self) -> Done {
        self.job("delete_article", &json!({ "contentId": "c1" })).await.expect("deleted")
    }

    async fn roll_back(&mut self) -> Result<Done, String> {
        self.job("rollback_article", &json!({ "contentId": "c1" })).await
    }

    async fn overlay(&mut self, title: Option<&str>) {
        let payload = json!({ "path": "/news", "title": title });
        self.job("apply_seo_overlay", &payload).await.expect("applied");
    }
}

#[tokio::test]
async fn deleting_an_article_restores_the_original_page() {
    let mut site = Site::new();
    for round in ["One", "Two"] {
        site.write_by_hand(OWN);
        site.publish(round).await;
        site.publish("Again").await;
        let done = site.delete().await;
        assert_eq!(site.page().as_deref(), Some(OWN));
        assert_eq!(done.message.as_deref(), Some("The page that was there before is back."));
    }
}

#[tokio::test]
async fn rolling_back_the_first_version_restores_the_original_page() {
    let mut site = Site::new();
    site.write_by_hand(OWN);
    site.publish("One").await;
    site.publish("Two").await;
    site.roll_back().await.expect("rolled back");
    assert!(String::from_utf8_lossy(&site.page().expect("a page")).contains("One"));
    let done = site.roll_back().await.expect("rolled back");
    assert_eq!((site.page().as_deref(), done.status.as_deref()), (Some(OWN), Some("restored")));
    assert_eq!(site.roll_back().await, Err("There is no earlier version to go back to.".to_owned()));
    site.publish("Three").await;
    site.delete().await;
    assert_eq!(site.page().as_deref(), Some(OWN));
}

#[tokio::test]
async fn refuses_to_roll_back_the_first_version_without_an_original_page() {
    let mut site = Site::new();
    site.publish("One").await;
    assert!(site.roll_back().await.is_err());
    site.delete().await;
    assert_eq!(site.page(), None);
}

#[tokio::test]
async fn a_deletion_succeeds_only_if_the_page_is_gone_and_says_whether_it_removed_it() {
    let mut site = Site::new();
    let delete = json!({ "contentId": "c1", "path": "/news" });
    let removed = |done: &Done| done.data.get("removed").cloned();
    site.publish("One").await;
    let done = site.delete().await;
    assert_eq!((site.page(), removed(&done)), (None, Some(true.into())));
    let again = site.job("delete_article", &delete).await.expect("gone");
    assert_eq!(removed(&again), Some(false.into()));
    assert_eq!(again.message.as_deref(), Some("The page was gone already."));

    site.publish("Two").await;
    let written = site.page();
    fs::rename(site.path("state"), site.path("elsewhere")).expect("moved");
    let failure = site.job("delete_article", &delete).await.expect_err("the page is still there");
    assert!(failure.contains("/news is still there"), "{failure}");
    assert_eq!(site.page(), written);
    fs::remove_dir_all(site.path("state")).ok();
    fs::rename(site.path("elsewhere"), site.path("state")).expect("moved back");
    let done = site.job("delete_article", &delete).await.expect("the runner that knows it");
    assert_eq!((site.page(), removed(&done)), (None, Some(true.into())));
    assert!(site.job("rollback_article", &json!({ "contentId": "unknown" })).await.is_err());
}

#[tokio::test]
async fn an_empty_overlay_restores_the_original_page() {
    let mut site = Site::new();
    site.write_by_hand(OWN);
    site.overlay(Some("Better")).await;
    site.overlay(Some("Best")).await;
    assert!(String::from_utf8_lossy(&site.page().expect("a page")).contains("Best"));
    site.overlay(None).await;
    assert_eq!(site.page().as_deref(), Some(OWN));
}

#[tokio::test]
async fn deleting_an_article_keeps_the_overlay() {
    let mut site = Site::new();
    site.write_by_hand(OWN);
    site.overlay(Some("Better")).await;
    let with_overlay = site.page();
    site.publish("One").await;
    site.delete().await;
    assert_eq!(site.page(), with_overlay);
    site.overlay(None).await;
    assert_eq!(site.page().as_deref(), Some(OWN));
}

#[tokio::test]
async fn a_sync_reads_the_sites_own_head_and_not_an_overlay() {
    let mut site = Site::new();
    let titles = async |site: &Site| -> Vec<Option<String>> {
        let items = static_site(site.directory.path()).items().await.expect("items");
        items.into_iter().map(|item| item.title).collect()
    };
    site.write_by_hand(OWN);
    site.overlay(Some("Better")).await;
    assert_eq!(titles(&site).await, [Some("By hand".to_owned())]);
    let article =
        json!({ "contentId": "c1", "path": "/news", "title": "News", "content": "<html><title>One</title>" });
    site.job("publish_article", &article).await.expect("published");
    assert_eq!(titles(&site).await, [Some("One".to_owned())]);
    site.write_by_hand(b"<title>Newer, by hand</title>");
    assert_eq!(titles(&site).await, [Some("Newer, by hand".to_owned())]);
}

#[tokio::test]
async fn restores_the_latest_manual_edit() {
    let mut site = Site::new();
    site.write_by_hand(OWN);
    site.publish("One").await;
    site.write_by_hand(b"<html><head></head>Newer, by hand</html>");
    site.publish("Two").await;
    site.delete().await;
    assert_eq!(site.page().as_deref(), Some(&b"<html><head></head>Newer, by hand</html>"[..]));
    let originals = fs::read_dir(site.path("state/originals")).expect("a folder");
    let originals = originals.map(|entry| fs::read(entry.expect("an entry").path()).expect("a page"));
    assert!(originals.collect::<Vec<_>>().iter().any(|page| page == OWN), "the older one is kept");
}

#[tokio::test]
async fn restores_pages_of_any_encoding() {
    let mut site = Site::new();
    let latin = b"<html><head></head>Gr\xfc\xdfe\0\x80</html>";
    site.write_by_hand(latin);
    site.publish("One").await;
    site.delete().await;
    assert_eq!(site.page().as_deref(), Some(&latin[..]));
    site.overlay(Some("Öl")).await;
    let expected = b"<html><head><title data-seo-overlay>\xd6l</title></head>Gr\xfc\xdfe\0\x80</html>";
    assert_eq!(site.page().as_deref(), Some(&expected[..]));
    site.overlay(None).await;
    assert_eq!(site.page().as_deref(), Some(&latin[..]));
}

#[tokio::test]
async fn moving_an_article_restores_the_original_page() {
    let mut site = Site::new();
    site.write_by_hand(OWN);
    site.publish("One").await;
    let elsewhere = json!({ "contentId": "c1", "path": "/elsewhere", "title": "News", "content": "Two" });
    site.job("publish_article", &elsewhere).await.expect("published");
    assert_eq!(site.page().as_deref(), Some(OWN));
    assert!(site.path("www/elsewhere/index.html").is_file());
}

#[cfg(unix)]
#[tokio::test]
async fn state_is_private_and_published_pages_are_not() {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    let mut site = Site::new();
    site.write_by_hand(OWN);
    fs::set_permissions(site.path("www/news/index.html"), fs::Permissions::from_mode(0o640))
        .expect("changed");
    site.publish("One").await;
    site.overlay(Some("Better")).await;
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&site.path("www/news/index.html")), 0o640, "as it was");
    assert_eq!(mode(&site.path("state")), 0o700);
    for folder in ["articles", "pages", "originals"] {
        assert_eq!(mode(&site.path("state").join(folder)), 0o700, "{folder}");
        for entry in fs::read_dir(site.path("state").join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    }
}
