//! Tests of websites that break or trap their reader.

use std::time::Duration;

use chat_protocol::admin::settings::{SkipReason, SourceState};

use super::website::{Reply, Website};
use super::{PACE, add, found, open, open_with, options, read_all, read_site, skipped, source};
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::args;
use crate::visitors::fixture::number;
use crate::{CrawlPace, ServiceOptions, StorageBudgets};

on_both_databases! {
    async fn a_page_that_cannot_be_read_is_skipped_with_its_reason(database: &TestDatabase) {
        let timeout = Duration::from_millis(700);
        let service = open_with(ServiceOptions { crawl: CrawlPace { timeout, ..PACE }, ..options(database) }).await;
        let elsewhere = Website::start(&[("/", Reply::page("the secret wombat", &[]))]).await;
        let paths = [
            "/bomb", "/big", "/slow", "/endless", "/error", "/away", "/metadata", "/loop", "/chain/1", "/packed",
            "/binary", "/password", "/empty", "/latin", "/good", "/deep",
        ];
        let website = Website::start(&[
            ("/", Reply::page("Home", &paths)),
            ("/bomb", Reply::html(&"<p>x".repeat(5_000_000)).zipped()),
            ("/big", Reply::html(&"<p>word".repeat(400_000))),
            ("/slow", Reply::page("slow", &[]).after(4 * timeout)),
            ("/endless", Reply::html("<p>never ends").endless()),
            ("/error", Reply::of(500, "text/html", "")),
            ("/away", Reply::redirect(&elsewhere.url("/"))),
            ("/metadata", Reply::redirect("http://169.254.169.254/latest/meta-data/")),
            ("/loop", Reply::redirect("/loop/")),
            ("/loop/", Reply::redirect("/loop")),
            ("/packed", Reply::page("packed", &[]).with("content-encoding", "br")),
            ("/binary", Reply::of(200, "text/html", vec![0xff; 1000])),
            ("/password", Reply::of(401, "text/html", "")),
            ("/empty", Reply::html("<nav></nav>")),
            ("/latin", Reply::of(200, "text/html; charset=iso-8859-1", b"<p>Gr\xfc\xdfe aus K\xf6ln".to_vec())),
            ("/good", Reply::page("celadon", &[])),
            ("/deep", Reply::html(&format!("{}end", "<div>".repeat(200_000)))),
        ])
        .await;
        website.set_rule(|path| {
            let step: u32 = path.strip_prefix("/chain/")?.parse().ok()?;
            Some(Reply::redirect(&format!("/chain/{}", step + 1)))
        });
        let source = read_site(&service, &website.url("/"), 50).await;
        assert_eq!(source.state, SourceState::Read);
        let skipped = skipped(&source);
        for (path, reason) in [
            ("/bomb", SkipReason::TooLarge),
            ("/big", SkipReason::TooLarge),
            ("/slow", SkipReason::Timeout),
            ("/endless", SkipReason::Timeout),
            ("/error", SkipReason::ServerError),
            ("/away", SkipReason::Elsewhere),
            ("/metadata", SkipReason::Elsewhere),
            ("/loop", SkipReason::Redirects),
            ("/chain/1", SkipReason::Redirects),
            ("/packed", SkipReason::NotPage),
            ("/password", SkipReason::Forbidden),
            ("/empty", SkipReason::Empty),
        ] {
            assert!(skipped.contains(&(path.to_owned(), reason)), "{path} {reason:?}: {skipped:?}");
        }
        assert_eq!(found(&service, "shop", "celadon").await, ["/good"]);
        assert_eq!(found(&service, "shop", "Grüße Köln").await, ["/latin"]);
        assert_eq!(elsewhere.requested(), Vec::<String>::new());
    }

    async fn a_website_in_a_private_network_is_not_read(database: &TestDatabase) {
        let service = open(database).await;
        let website = Website::start(&[("/", Reply::page("the secret wombat", &[]))]).await;
        let id = add(&service, "shop", &website.url("/"), 5).await;
        service.close().await;
        drop(service);
        // The host no longer allows its own network.
        let closed = ServiceOptions { allow_private_webhooks: false, ..options(database) };
        let service = crate::Service::open(closed).await.expect("opened");
        read_all(&service).await;
        let source = source(&service, "shop", &id).await;
        let expected = (SourceState::Failed, Some(SkipReason::Elsewhere), 0);
        assert_eq!((source.state, source.problem, source.pages), expected);
        assert_eq!(website.requested(), Vec::<String>::new());
    }

    async fn the_links_of_a_page_are_bounded(database: &TestDatabase) {
        let service = open(database).await;
        let links: Vec<String> = (0..400).map(|link| format!("/{}{link}", "x".repeat(500))).collect();
        let links: Vec<&str> = links.iter().map(String::as_str).collect();
        let website = Website::start(&[("/", Reply::page("celadon", &links))]).await;
        read_site(&service, &website.url("/"), 300).await;
        let addresses = number(service.db(), "SELECT count(*) FROM source_pages", args![]).await;
        assert!((100..=1 + 64 * 1024 / 500).contains(&addresses), "{addresses}");
    }

    async fn a_sitemap_that_does_not_fit_is_refused(database: &TestDatabase) {
        let storage = StorageBudgets::new(200_000, 200_000);
        let service = open_with(ServiceOptions { storage, ..options(database) }).await;
        let website = Website::start(&[("/", Reply::page("celadon", &[]))]).await;
        let pages: Vec<String> =
            (0..400).map(|page| format!("<url><loc>{}</loc></url>", website.url(&format!("/{page}")))).collect();
        let map = format!("<urlset>{}</urlset>", pages.concat());
        website.set("/sitemap.xml", Reply::of(200, "text/xml", map));
        let full = read_site(&service, &website.url("/"), 300).await;
        assert_eq!((full.state, full.problem), (SourceState::Failed, Some(SkipReason::Storage)));
        assert!(number(service.db(), "SELECT count(*) FROM source_pages", args![]).await <= 2);
    }

    async fn a_full_site_keeps_what_it_has_and_tells_so(database: &TestDatabase) {
        let storage = StorageBudgets::new(200_000, 200_000);
        let service = open_with(ServiceOptions { storage, ..options(database) }).await;
        let website = Website::start(&[]).await;
        website.set_rule(|path| {
            let page: u32 = path.strip_prefix("/").unwrap_or("0").parse().unwrap_or_default();
            let text: Vec<String> = (0..900).map(|word| format!("word{}", page * 7919 + word)).collect();
            let text = text.join(" ");
            Some(Reply::html(&format!("<main><p>{text}</p><a href=/{}>next</a>", page + 1)))
        });
        let full = read_site(&service, &website.url("/1"), 300).await;
        assert_eq!((full.state, full.problem), (SourceState::Read, Some(SkipReason::Storage)));
        let used = "SELECT CAST(sum(bytes) AS BIGINT) FROM storage WHERE site_id = 'shop'";
        let used = number(service.db(), used, args![]).await;
        assert!((20_000..=160_000).contains(&used), "{used}");
        let elsewhere = add(&service, "rival", &website.url("/1"), 3).await;
        read_all(&service).await;
        assert_eq!(source(&service, "rival", &elsewhere).await.pages, 3);
    }
}
