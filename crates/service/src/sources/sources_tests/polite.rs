//! Tests of a run: what is read, and by which rules.

use std::sync::Arc;

use chat_page::Robots;
use chat_protocol::admin::settings::{SkipReason, SourceState};

use super::website::{Reply, Website};
use super::{PACE, add, found, open, open_with, options, read_again, read_all, read_site, skipped, source};
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::args;
use crate::sources::fetch::AGENT;
use crate::sources::{MAX_ROBOTS_BYTES, Sources};
use crate::visitors::fixture::{execute, number, rows};
use crate::{CrawlPace, ServiceOptions};

const SHARED: &str = "<header><a href=/>Home</a><a href=/mugs>Mugs</a></header>";

on_both_databases! {
    async fn a_website_is_read_by_its_links_and_answers_questions(database: &TestDatabase) {
        let service = open(database).await;
        let page = |title: &str, body: &str| {
            Reply::html(&format!("<html lang=en><title>{title}</title>{SHARED}<main><h1>{title}</h1>{body}</main>"))
        };
        let website = Website::start(&[
            ("/robots.txt", Reply::of(200, "text/plain", "User-agent: *\nDisallow: /private")),
            ("/", page("Home", "<p>We sell teapots. <a href=mugs?utm_source=home>All</a> <a href=/private/x>Secret</a>\
                <a href=/hidden>Hidden</a> <a href=/price.pdf>Prices</a> <a href=/list.json2>Data</a>\
                <a href=https://other.example/>Other</a> <a rel=nofollow href=/unfollowed>No</a> <a href=/moved>Moved</a>")),
            ("/mugs?utm_source=home", page("Mugs", "<p>Mugs hold 320 ml. <a href=/cups/index.html>Cups</a>")),
            ("/mugs", page("Mugs", "<p>Mugs hold 320 ml. <a href=/cups/index.html>Cups</a>")),
            ("/cups/index.html", page("Cups", "<p>Cups are glazed in celadon.")),
            ("/hidden", Reply::page("secret wombat", &["/deep"]).with("x-robots-tag", "noindex, nofollow")),
            ("/list.json2", Reply::of(200, "application/json", "{}")),
            ("/moved", Reply::redirect("/cups/")),
            ("/cups/", page("Cups", "<p>Cups are glazed in celadon.")),
        ])
        .await;
        let source = read_site(&service, &website.url("/"), 50).await;
        assert_eq!((source.state, source.problem, source.pages), (SourceState::Read, None, 3), "{source:?}");
        let reasons = [
            ("/hidden", SkipReason::Noindex),
            ("/list.json2", SkipReason::NotPage),
            ("/private/x", SkipReason::Robots),
        ];
        assert_eq!(skipped(&source), reasons.map(|(path, reason)| (path.to_owned(), reason)));
        assert_eq!(found(&service, "shop", "celadon").await.len(), 1);
        assert_eq!(found(&service, "shop", "wombat").await, Vec::<String>::new());
        assert_eq!(found(&service, "rival", "celadon").await, Vec::<String>::new());
        let agent = website.header("/", "user-agent").expect("a name");
        assert!(agent.starts_with("site-connector/") && agent.ends_with("(+https://chat.example/)"), "{agent}");
        let requested = website.requested();
        let count = |path: &str| requested.iter().filter(|known| known.starts_with(path)).count();
        assert_eq!((count("/robots.txt"), count("/private"), count("/unfollowed"), count("/deep")), (1, 0, 0, 0));
        assert_eq!((count("/price.pdf"), website.most_at_a_time()), (0, 1), "{requested:?}");
        // The menu is on all pages, and on none of those that were stored.
        let texts = rows(service.db(), "SELECT text FROM content", args![]).await;
        assert!(texts.iter().all(|row| !row.text(0).expect("a text").contains("Mugs\nHome")));
    }

    async fn a_sitemap_is_read_instead_of_links(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[("/", Reply::page("Home", &["/linked"])), ("/a", Reply::page("celadon", &["/b"]))]).await;
        website.set("/b", Reply::page("cobalt", &[]));
        website.set("/linked", Reply::page("linked", &[]));
        let robots = format!("Sitemap: {}", website.url("/maps/index.xml"));
        website.set("/robots.txt", Reply::of(200, "text/plain", robots));
        let index = format!("<sitemapindex><sitemap><loc>{}</loc></sitemap></sitemapindex>", website.url("/maps/1.xml.gz"));
        website.set("/maps/index.xml", Reply::of(200, "application/xml", index));
        let pages = format!(
            "<urlset><url><loc>{}</loc></url><url><loc>{}</loc></url><url><loc>https://other.example/x</loc></url></urlset>",
            website.url("/a"),
            website.url("/gone")
        );
        website.set("/maps/1.xml.gz", Reply::of(200, "application/xml", pages).zipped());
        let source = read_site(&service, &website.url("/"), 50).await;
        assert_eq!((source.pages, skipped(&source)), (2, vec![("/gone".to_owned(), SkipReason::NotFound)]));
        assert!(!website.requested().contains(&"/b".to_owned()), "links are not followed");
    }

    async fn an_address_can_be_that_of_a_sitemap(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[("/a", Reply::page("celadon", &[])), ("/", Reply::page("Home", &[]))]).await;
        let map = format!("<urlset><url><loc>{}</loc></url></urlset>", website.url("/a"));
        website.set("/my/map.xml", Reply::of(200, "text/xml", map));
        let read = read_site(&service, &website.url("/my/map.xml"), 50).await;
        assert_eq!((read.state, read.pages), (SourceState::Read, 1));
        assert_eq!(found(&service, "shop", "celadon").await, ["/a"]);
        let missing = read_site(&service, &website.url("/none.xml"), 50).await;
        assert_eq!((missing.state, missing.problem), (SourceState::Failed, Some(SkipReason::NotFound)));
    }

    async fn canonical_addresses_and_copies_are_stored_once(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[
            ("/", Reply::page("Home", &["/p?color=blue", "/copy", "/same", "/elsewhere", "/refresh"])),
            ("/p", Reply::page("celadon", &[])),
            ("/p?color=blue", Reply::html("<link rel=canonical href=/p><p>celadon, blue")),
            ("/copy", Reply::html("<title>A</title><main><p>A text that two pages have.</main>")),
            ("/same", Reply::html("<title>B</title><main><p>A text that two pages have.</main>")),
            ("/elsewhere", Reply::html("<link rel=canonical href=https://other.example/x><p>celadon")),
            ("/refresh", Reply::html("<meta http-equiv=refresh content='0; url=/p'><p>celadon")),
        ])
        .await;
        let source = read_site(&service, &website.url("/"), 50).await;
        let reasons = [
            ("/elsewhere", SkipReason::Elsewhere),
            ("/p", SkipReason::Duplicate),
            ("/same", SkipReason::Duplicate),
        ];
        assert_eq!(skipped(&source), reasons.map(|(path, reason)| (path.to_owned(), reason)));
        assert_eq!((source.pages, found(&service, "shop", "celadon").await), (3, vec!["/p".to_owned()]));
    }

    async fn no_more_pages_are_read_than_the_maximum(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[]).await;
        // A calendar that never ends.
        website.set_rule(|path| {
            let day: u32 = path.strip_prefix("/day/").unwrap_or("0").parse().ok()?;
            let links: Vec<String> = (1..100).map(|next| format!("/day/{}", day + next)).collect();
            let links: Vec<&str> = links.iter().map(String::as_str).collect();
            Some(Reply::page(&format!("Nothing happens on day {day}"), &links))
        });
        let read = read_site(&service, &website.url("/day/1"), 12).await;
        let expected = (SourceState::Read, Some(SkipReason::MaxPages), 12);
        assert_eq!((read.state, read.problem, read.pages), expected);
        let addresses = number(service.db(), "SELECT count(*) FROM source_pages", args![]).await;
        assert!(addresses <= 2 * 12 + 50, "{addresses}");
        assert!(website.requested().len() <= 12 + 2);
        // Fewer are kept when the maximum is lowered.
        execute(service.db(), "UPDATE sources SET max_pages = 3", args![]).await;
        read_again(&service, "shop", &read.id).await;
        assert_eq!(source(&service, "shop", &read.id).await.pages, 3);
    }

    async fn a_website_whose_rules_cannot_be_read_is_left_alone(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[("/", Reply::page("celadon", &[]))]).await;
        let read = read_site(&service, &website.url("/"), 5).await;
        assert_eq!((read.pages, read.state), (1, SourceState::Read), "without a robots.txt");
        website.requested();
        website.set("/robots.txt", Reply::of(503, "text/plain", ""));
        read_again(&service, "shop", &read.id).await;
        let failed = source(&service, "shop", &read.id).await;
        assert_eq!((failed.state, failed.problem), (SourceState::Failed, Some(SkipReason::RobotsUnavailable)));
        assert_eq!((failed.pages, website.requested()), (1, vec!["/robots.txt".to_owned()]));
    }

    async fn rules_that_lead_to_another_website_forbid_everything(database: &TestDatabase) {
        let service = open(database).await;
        let elsewhere = Website::start(&[("/robots.txt", Reply::of(200, "text/plain", ""))]).await;
        let website = Website::start(&[("/", Reply::page("celadon", &[]))]).await;
        website.set("/robots.txt", Reply::redirect(&elsewhere.url("/robots.txt")));
        let read = read_site(&service, &website.url("/"), 5).await;
        assert_eq!((read.state, read.problem), (SourceState::Failed, Some(SkipReason::RobotsUnavailable)));
        assert_eq!((website.requested(), elsewhere.request_count()), (vec!["/robots.txt".to_owned()], 0));
    }

    async fn redirects_to_a_known_page_count_as_no_page(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[
            ("/", Reply::page("Home", &["/a", "/one", "/two", "/b"])),
            ("/a", Reply::page("celadon", &[])),
            ("/one", Reply::redirect("/a")),
            ("/two", Reply::redirect("/a")),
            ("/b", Reply::page("cobalt", &[])),
        ])
        .await;
        let read = read_site(&service, &website.url("/"), 3).await;
        assert_eq!((read.pages, read.problem), (3, None));
        assert_eq!(found(&service, "shop", "cobalt").await, ["/b"]);
    }

    async fn answers_link_to_no_session(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[
            ("/", Reply::page("Home", &["/a?PHPSESSID=1f&x=1&utm_source=home"])),
            ("/a?x=1", Reply::page("celadon", &[])),
        ])
        .await;
        read_site(&service, &website.url("/"), 5).await;
        let sql = "SELECT location FROM content WHERE text LIKE '%celadon%'";
        let locations = rows(service.db(), sql, args![]).await;
        assert_eq!(locations[0].text(0).expect("a location"), website.url("/a?x=1"));
    }

    async fn a_busy_server_is_asked_again_later(database: &TestDatabase) {
        let service = open(database).await;
        let busy = Reply::of(429, "text/html", "").with("retry-after", "600");
        let website = Website::start(&[("/", busy), ("/sitemap.xml", Reply::of(404, "text/html", ""))]).await;
        let id = add(&service, "shop", &website.url("/"), 5).await;
        read_all(&service).await;
        let waiting = source(&service, "shop", &id).await;
        assert_eq!((waiting.state, waiting.done), (SourceState::Reading, 0));
        let due_ms = number(service.db(), "SELECT due_ms FROM sources", args![]).await;
        assert!((500_000..=600_000).contains(&(due_ms - service.now_ms())), "{due_ms}");
        // Others that read the same host wait for a minute at most.
        let next_ms = number(service.db(), "SELECT next_ms FROM crawl_hosts", args![]).await;
        assert!(next_ms - service.now_ms() <= 60_000, "{next_ms}");
        website.set("/", Reply::page("celadon", &[]));
        for sql in ["UPDATE crawl_hosts SET next_ms = 0", "UPDATE sources SET due_ms = 0"] {
            execute(service.db(), sql, args![]).await;
        }
        read_all(&service).await;
        assert_eq!(source(&service, "shop", &id).await.pages, 1);
    }

    async fn pauses_lie_between_the_requests_to_a_host(database: &TestDatabase) {
        let pause = std::time::Duration::from_millis(120);
        let service = open_with(ServiceOptions { crawl: CrawlPace { pause, ..PACE }, ..options(database) }).await;
        let website = Website::start(&[("/", Reply::page("Home", &["/a", "/b"])), ("/a", Reply::page("a", &[]))]).await;
        let began = std::time::Instant::now();
        read_site(&service, &website.url("/"), 5).await;
        let requests = u32::try_from(website.requested().len()).expect("few");
        assert!(requests >= 5 && began.elapsed() >= pause * (requests - 1), "{:?}", began.elapsed());
    }
}

#[test]
fn remembered_rules_are_bounded_in_bytes() {
    let sources = Sources::default();
    let robots = Arc::new(Robots::parse("#".repeat(Robots::MAX_BYTES).as_bytes(), AGENT));
    for host in 0..50 {
        sources.keep_robots(("source".to_owned(), 1, host.to_string()), Ok(Arc::clone(&robots)));
        let bytes: usize = sources.known_robots().values().flatten().map(|robots| robots.bytes()).sum();
        assert!((1..=MAX_ROBOTS_BYTES).contains(&bytes), "{bytes}");
    }
}
