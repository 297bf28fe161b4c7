//! Tests of pages and websites that are gone, for good or for a while.

use chat_protocol::admin::settings::{SkipReason, SourceState};

use super::website::{Reply, Website};
use super::{found, open, read_again, read_site, source};
use crate::Service;
use crate::clock::millis;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::args;
use crate::sources::outdated::MISSED_TIME;
use crate::visitors::fixture::{execute, number};

/// Lets the time pass after which missed pages are removed.
async fn days_later(service: &Service) {
    let sql = "UPDATE source_pages SET missed_since_ms = missed_since_ms - $1";
    execute(service.db(), sql, args![millis(MISSED_TIME)]).await;
}

fn moved(status: u16, target: &str) -> Reply {
    Reply::of(status, "text/plain", "").with("location", target)
}

on_both_databases! {
    async fn a_page_is_removed_at_once_if_it_is_gone_and_after_days_if_nothing_leads_to_it(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[
            ("/", Reply::page("Home", &["/gone", "/unlinked"])),
            ("/gone", Reply::page("celadon", &[])),
            ("/unlinked", Reply::page("cobalt", &[])),
        ])
        .await;
        let id = read_site(&service, &website.url("/"), 50).await.id;
        website.remove("/gone");
        website.set("/", Reply::page("Home", &["/gone"]));
        for run in 1..4 {
            read_again(&service, "shop", &id).await;
            for (word, pages) in [("celadon", 0), ("cobalt", 1)] {
                assert_eq!(found(&service, "shop", word).await.len(), pages, "{word} after {run} runs on one day");
            }
        }
        days_later(&service).await;
        read_again(&service, "shop", &id).await;
        assert_eq!(found(&service, "shop", "cobalt").await.len(), 0);
        // One that is missed for the first time stays, however long ago it was read.
        website.set("/", Reply::page("Home", &["/unlinked"]));
        read_again(&service, "shop", &id).await;
        website.set("/", Reply::page("Home", &[]));
        days_later(&service).await;
        read_again(&service, "shop", &id).await;
        assert_eq!(found(&service, "shop", "cobalt").await, ["/unlinked"]);
    }

    async fn a_page_that_fails_is_removed_after_days_and_the_pages_behind_it_stay(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[
            ("/", Reply::page("Home", &["/failing"])),
            ("/failing", Reply::page("celadon", &["/behind"])),
            ("/behind", Reply::page("cobalt", &[])),
        ])
        .await;
        let id = read_site(&service, &website.url("/"), 50).await.id;
        website.set("/failing", Reply::of(500, "text/html", ""));
        read_again(&service, "shop", &id).await;
        days_later(&service).await;
        assert_eq!(found(&service, "shop", "celadon").await, ["/failing"], "after one run");
        read_again(&service, "shop", &id).await;
        assert_eq!(found(&service, "shop", "celadon").await, Vec::<String>::new());
        assert_eq!(found(&service, "shop", "cobalt").await, ["/behind"]);
        website.set("/failing", Reply::page("celadon", &["/behind"]));
        read_again(&service, "shop", &id).await;
        assert_eq!(source(&service, "shop", &id).await.pages, 3);
    }

    async fn a_website_that_is_blocked_or_under_maintenance_keeps_its_pages(database: &TestDatabase) {
        let service = open(database).await;
        let paths = ["/", "/a", "/b"];
        let pages = [Reply::page("Home", &["/a", "/b"]), Reply::page("celadon", &[]), Reply::page("cobalt", &[])];
        let website = Website::start(&[("/maintenance", Reply::page("We are back soon", &[]))]).await;
        let restore = || paths.iter().zip(&pages).for_each(|(path, page)| website.set(path, page.clone()));
        restore();
        let id = read_site(&service, &website.url("/"), 50).await.id;
        for (fault, reason) in [
            (Reply::of(403, "text/html", ""), SkipReason::Forbidden),
            (Reply::of(500, "text/html", ""), SkipReason::ServerError),
            (Reply::redirect("/maintenance"), SkipReason::Moved),
            (Reply::of(404, "text/html", "no such site"), SkipReason::NotFound),
            (Reply::html("<meta name=robots content=noindex><p>soon"), SkipReason::Noindex),
        ] {
            for path in paths {
                website.set(path, fault.clone());
            }
            for _ in 0..3 {
                read_again(&service, "shop", &id).await;
                days_later(&service).await;
                let failed = source(&service, "shop", &id).await;
                let state = (failed.state, failed.problem, failed.pages);
                assert_eq!(state, (SourceState::Failed, Some(reason), 3));
            }
            assert_eq!(number(service.db(), "SELECT max(missed) FROM source_pages WHERE stored IS NOT NULL", args![]).await, 0);
            restore();
            read_again(&service, "shop", &id).await;
            let read = source(&service, "shop", &id).await;
            assert_eq!((read.state, read.problem, read.pages), (SourceState::Read, None, 3));
        }
    }

    async fn a_website_whose_pages_are_one_or_gone_keeps_them_for_days(database: &TestDatabase) {
        let service = open(database).await;
        let paths: Vec<String> = (0..6).map(|page| format!("/{page}")).collect();
        let links: Vec<&str> = paths.iter().map(String::as_str).collect();
        let website = Website::start(&[("/", Reply::page("Home", &links))]).await;
        let restore =
            || paths.iter().for_each(|path| website.set(path, Reply::page(&format!("celadon {path}"), &[])));
        restore();
        let id = read_site(&service, &website.url("/"), 50).await.id;
        for (fault, reason, left) in [
            (Reply::page("Are you a robot?", &[]), SkipReason::Duplicate, 2),
            (Reply::of(404, "text/html", ""), SkipReason::NotFound, 1),
        ] {
            for path in &paths {
                website.set(path, fault.clone());
            }
            for _ in 0..3 {
                read_again(&service, "shop", &id).await;
                let failed = source(&service, "shop", &id).await;
                assert_eq!((failed.state, failed.problem, failed.pages), (SourceState::Failed, Some(reason), 7));
                let kept = "SELECT count(*) FROM content WHERE text LIKE '%celadon%'";
                assert_eq!(number(service.db(), kept, args![]).await, 6);
            }
            let sql = "UPDATE sources SET failing_since_ms = failing_since_ms - $1";
            execute(service.db(), sql, args![millis(MISSED_TIME)]).await;
            read_again(&service, "shop", &id).await;
            let changed = source(&service, "shop", &id).await;
            assert_eq!((changed.state, changed.pages), (SourceState::Read, left), "{reason:?}");
            restore();
            read_again(&service, "shop", &id).await;
            assert_eq!(source(&service, "shop", &id).await.pages, 7);
        }
    }

    async fn a_full_website_keeps_its_pages_while_its_sitemap_fails(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[
            ("/", Reply::page("Home", &["/x", "/y"])),
            ("/a", Reply::page("celadon", &[])),
            ("/b", Reply::page("cobalt", &[])),
            ("/x", Reply::page("porcelain", &[])),
            ("/y", Reply::page("stoneware", &[])),
        ])
        .await;
        let urls = ["/a", "/b"].map(|path| format!("<url><loc>{}</loc></url>", website.url(path)));
        let map = Reply::of(200, "text/xml", format!("<urlset>{}</urlset>", urls.concat()));
        website.set("/sitemap.xml", map);
        let id = read_site(&service, &website.url("/"), 3).await.id;
        website.set("/sitemap.xml", Reply::of(500, "text/html", ""));
        read_again(&service, "shop", &id).await;
        for word in ["celadon", "cobalt", "porcelain", "stoneware"] {
            assert_eq!(found(&service, "shop", word).await.len(), 1, "{word}");
        }
    }

    async fn a_page_that_has_moved_for_good_gives_way_at_once(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[
            ("/", Reply::page("Home", &["/old", "/copy", "/lent", "/lost"])),
            ("/old", Reply::page("celadon", &[])),
            ("/copy", Reply::page("celadon copied", &[])),
            ("/lent", Reply::page("cobalt", &[])),
            ("/lost", Reply::page("porcelain", &[])),
        ])
        .await;
        let id = read_site(&service, &website.url("/"), 50).await.id;
        website.set("/old", moved(301, "/new"));
        website.set("/new", Reply::page("celadon anew", &[]));
        website.set("/copy", Reply::html("<link rel=canonical href=/new><p>celadon copied"));
        website.set("/lent", moved(302, "/other"));
        website.set("/other", Reply::page("something else", &[]));
        website.set("/lost", moved(301, "/nowhere"));
        read_again(&service, "shop", &id).await;
        assert_eq!(source(&service, "shop", &id).await.state, SourceState::Read);
        assert_eq!(found(&service, "shop", "celadon").await, ["/new"]);
        assert_eq!(found(&service, "shop", "cobalt").await, ["/lent"], "for a while");
        // The server says that its new address does not exist.
        assert_eq!(found(&service, "shop", "porcelain").await, Vec::<String>::new());
    }

    async fn a_sitemap_that_fails_says_nothing_about_its_pages(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[
            ("/", Reply::page("Home", &[])),
            ("/a", Reply::page("celadon", &[])),
            ("/b", Reply::page("cobalt", &[])),
        ])
        .await;
        let urls = ["/a", "/b"].map(|path| format!("<url><loc>{}</loc></url>", website.url(path)));
        let map = format!("<urlset>{}</urlset>", urls.concat());
        website.set("/sitemap.xml", Reply::of(200, "text/xml", map));
        let id = read_site(&service, &website.url("/"), 50).await.id;
        website.set("/sitemap.xml", Reply::of(500, "text/html", ""));
        for _ in 0..3 {
            read_again(&service, "shop", &id).await;
            days_later(&service).await;
            assert_eq!(source(&service, "shop", &id).await.pages, 3);
        }
        website.remove("/sitemap.xml");
        for pages in [3, 1] {
            read_again(&service, "shop", &id).await;
            days_later(&service).await;
            assert_eq!(source(&service, "shop", &id).await.pages, pages);
        }
    }

    async fn a_website_of_which_nothing_can_be_read_tells_why(database: &TestDatabase) {
        let service = open(database).await;
        let forbidden = Website::start(&[("/", Reply::of(403, "text/html", ""))]).await;
        let robots = Reply::of(200, "text/plain", "User-agent: *\nDisallow: /");
        let disallowed = Website::start(&[("/", Reply::page("celadon", &[])), ("/robots.txt", robots)]).await;
        for (website, reason) in [(forbidden, SkipReason::Forbidden), (disallowed, SkipReason::Robots)] {
            let read = read_site(&service, &website.url("/"), 5).await;
            assert_eq!((read.state, read.problem, read.pages), (SourceState::Failed, Some(reason), 0));
        }
    }
}
