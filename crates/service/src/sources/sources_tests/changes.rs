//! Tests of what changes between two runs, and beside a sync.

use chat_protocol::admin::settings::{SkipReason, SourceState};
use chat_protocol::{ContentItem, ContentKind, ContentPage, TextFormat};

use super::website::{Reply, Website};
use super::{add, found, open, read_again, read_all, read_site, skipped, source};
use crate::Service;
use crate::content;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::{args, transaction};
use crate::error::ApiError;
use crate::storage::Room;
use crate::visitors::fixture::{execute, number};

/// Syncs one page, as a connector does.
async fn sync(service: &Service, url: Option<String>, path: Option<&str>, text: &str) {
    let item = ContentItem {
        url,
        path: path.map(str::to_owned),
        content: Some(text.to_owned()),
        format: Some(TextFormat::Text),
        ..ContentItem::new("1".to_owned(), ContentKind::Page)
    };
    sync_all(service, vec![item]).await;
}

/// Syncs a complete snapshot.
async fn sync_all(service: &Service, items: Vec<ContentItem>) {
    let prepared = content::prepare(items);
    let page = ContentPage {
        snapshot_id: crate::secrets::new_id("s"),
        page: 1,
        complete: true,
        items: Vec::new(),
        refused: Vec::new(),
    };
    let synced: Result<_, ApiError> = transaction!(service.db(), |tx| {
        content::sync(tx, 7, "shop", &page, prepared, &Room::endless()).await
    })
    .await;
    synced.expect("synced");
}

on_both_databases! {
    async fn pages_that_have_not_changed_cost_no_write(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[
            ("/", Reply::page("Home", &["/a", "/b"]).with("etag", "\"1\"")),
            ("/a", Reply::page("celadon", &["/c"]).with("last-modified", "Tue, 01 Sep 2026 10:00:00 GMT")),
            ("/b", Reply::page("cobalt", &[])),
            ("/c", Reply::page("only linked from a page without a change", &[])),
        ])
        .await;
        let id = read_site(&service, &website.url("/"), 50).await.id;
        execute(service.db(), "UPDATE content SET synced_ms = 1", args![]).await;
        read_again(&service, "shop", &id).await;
        assert_eq!(website.header("/", "if-none-match").as_deref(), Some("\"1\""));
        assert!(website.header("/a", "if-modified-since").is_some());
        assert_eq!(source(&service, "shop", &id).await.pages, 4);
        let written = "SELECT count(*) FROM content WHERE synced_ms <> 1";
        assert_eq!(number(service.db(), written, args![]).await, 0);
        website.set("/b", Reply::page("porcelain", &[]));
        read_again(&service, "shop", &id).await;
        assert_eq!(number(service.db(), written, args![]).await, 1);
        assert_eq!(found(&service, "shop", "porcelain").await, ["/b"]);
        assert_eq!(found(&service, "shop", "cobalt").await, Vec::<String>::new());
    }

    async fn links_are_known_again_when_a_website_loses_its_sitemap(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[
            ("/", Reply::page("Home", &["/a"]).with("etag", "\"1\"")),
            ("/a", Reply::page("celadon", &[])),
            ("/b", Reply::page("cobalt", &[])),
        ])
        .await;
        let map = format!("<urlset><url><loc>{}</loc></url></urlset>", website.url("/b"));
        website.set("/sitemap.xml", Reply::of(200, "text/xml", map));
        let read = read_site(&service, &website.url("/"), 50).await;
        assert_eq!(read.pages, 2);
        website.remove("/sitemap.xml");
        read_again(&service, "shop", &read.id).await;
        assert_eq!(found(&service, "shop", "celadon").await, ["/a"]);
    }

    async fn a_page_without_a_change_can_ask_not_to_be_indexed(database: &TestDatabase) {
        let service = open(database).await;
        let page = Reply::page("celadon", &[]).with("etag", "\"1\"");
        let website = Website::start(&[("/", Reply::page("Home", &["/a"])), ("/a", page.clone())]).await;
        let id = read_site(&service, &website.url("/"), 50).await.id;
        website.set("/a", page.with("x-robots-tag", "noindex"));
        read_again(&service, "shop", &id).await;
        assert!(website.header("/a", "if-none-match").is_some());
        assert_eq!(found(&service, "shop", "celadon").await, Vec::<String>::new());
        let reasons = skipped(&source(&service, "shop", &id).await);
        assert_eq!(reasons, [("/a".to_owned(), SkipReason::Noindex)]);
    }

    async fn a_sync_and_a_run_do_not_wait_for_each_other(database: &TestDatabase) {
        let service = open(database).await;
        let paths: Vec<String> = (0..30).map(|page| format!("/{page}")).collect();
        let links: Vec<&str> = paths.iter().map(String::as_str).collect();
        let website = Website::start(&[("/", Reply::page("Home", &links))]).await;
        let id = add(&service, "shop", &website.url("/"), 50).await;
        for round in 0..3 {
            sync_all(&service, vec![]).await;
            for path in &paths {
                website.set(path, Reply::page(&format!("celadon {round} {path}"), &[]));
            }
            read_again(&service, "shop", &id).await;
            assert_eq!(source(&service, "shop", &id).await.pages, 31, "round {round}");
            for path in &paths {
                website.set(path, Reply::of(301, "text/plain", "").with("location", "/"));
            }
            // The sync takes the places of the pages that the run removes, in another order.
            let item = |path: &String| ContentItem {
                url: Some(website.url(path)),
                content: Some("synced".to_owned()),
                format: Some(TextFormat::Text),
                ..ContentItem::new(path.clone(), ContentKind::Page)
            };
            let items = paths.iter().rev().map(item).collect();
            tokio::join!(sync_all(&service, items), read_again(&service, "shop", &id));
            assert_eq!(source(&service, "shop", &id).await.state, SourceState::Read, "round {round}");
            let synced = "SELECT count(*) FROM content WHERE source_page IS NULL";
            assert_eq!(number(service.db(), synced, args![]).await, 30);
        }
    }

    async fn items_without_an_address_are_looked_at_once(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[("/", Reply::page("celadon", &[]))]).await;
        sync(&service, None, Some("/mugs"), "synced").await;
        let sql = "UPDATE content SET address_key = NULL, path_key = NULL, location = 'http://['";
        execute(service.db(), sql, args![]).await;
        read_site(&service, &website.url("/"), 50).await;
        let left = "SELECT count(*) FROM content WHERE address_key IS NULL AND path_key IS NULL";
        assert_eq!(number(service.db(), left, args![]).await, 0);
    }

    async fn a_page_that_no_longer_wants_to_be_read_is_removed(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[("/", Reply::page("Home", &["/a", "/b"])), ("/a", Reply::page("celadon", &[]))]).await;
        website.set("/b", Reply::page("cobalt", &[]));
        let id = read_site(&service, &website.url("/"), 50).await.id;
        website.set("/a", Reply::html("<meta name=robots content=noindex><p>celadon"));
        website.set("/robots.txt", Reply::of(200, "text/plain", "User-agent: *\nDisallow: /b"));
        read_again(&service, "shop", &id).await;
        assert_eq!(found(&service, "shop", "celadon").await.len() + found(&service, "shop", "cobalt").await.len(), 0);
        let reasons = [("/a", SkipReason::Noindex), ("/b", SkipReason::Robots)];
        assert_eq!(
            skipped(&source(&service, "shop", &id).await),
            reasons.map(|(path, reason)| (path.to_owned(), reason))
        );
    }

    async fn a_page_of_the_sync_wins_however_it_is_spelled(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[("/", Reply::page("Home", &["/mugs/"])), ("/mugs/", Reply::page("read celadon", &[]))]).await;
        let synced = |text: &str| format!("synced celadon {text}");
        // First the sync, with an address.
        sync(&service, Some(website.url("/mugs/index.html?utm_source=x")), None, &synced("one")).await;
        let id = read_site(&service, &website.url("/"), 50).await.id;
        let count = "SELECT count(*) FROM content WHERE text LIKE '%celadon%'";
        assert_eq!(number(service.db(), count, args![]).await, 1);
        let synced_one = "SELECT count(*) FROM content WHERE text LIKE '%synced%'";
        assert_eq!(number(service.db(), synced_one, args![]).await, 1);
        // The sync no longer has it: the next run brings it back.
        sync_all(&service, vec![]).await;
        assert_eq!(number(service.db(), count, args![]).await, 0);
        assert_eq!(source(&service, "shop", &id).await.pages, 1, "a complete snapshot leaves pages of sources");
        read_again(&service, "shop", &id).await;
        assert_eq!(found(&service, "shop", "celadon").await, ["/mugs/"]);
        // Then the sync again, with a path alone, while the read page is there.
        sync(&service, None, Some("/mugs"), &synced("two")).await;
        assert_eq!(number(service.db(), count, args![]).await, 1);
        assert_eq!(found(&service, "shop", "celadon").await, ["/mugs"]);
        read_again(&service, "shop", &id).await;
        assert_eq!(found(&service, "shop", "celadon").await, ["/mugs"]);
        let reasons = skipped(&source(&service, "shop", &id).await);
        assert_eq!(reasons, [("/mugs/".to_owned(), SkipReason::Duplicate)]);
    }

    async fn items_that_were_synced_before_sources_existed_win_as_well(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[("/", Reply::page("read celadon", &[]))]).await;
        sync(&service, Some(website.url("/index.html")), None, "synced celadon").await;
        execute(service.db(), "UPDATE content SET address_key = NULL, path_key = NULL", args![]).await;
        let read = read_site(&service, &website.url("/"), 50).await;
        assert_eq!((read.pages, found(&service, "shop", "celadon").await.len()), (0, 1));
    }

    async fn two_sources_never_store_one_page_twice(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[("/", Reply::page("Home", &["/a"])), ("/a", Reply::page("celadon", &["/"]))]).await;
        let first = add(&service, "shop", &website.url("/"), 50).await;
        let second = add(&service, "shop", &website.url("/a"), 50).await;
        read_all(&service).await;
        assert_eq!(found(&service, "shop", "celadon").await, ["/a"]);
        let pages = [source(&service, "shop", &first).await.pages, source(&service, "shop", &second).await.pages];
        assert_eq!(pages.iter().sum::<i64>(), 2, "{pages:?}");
    }
}
