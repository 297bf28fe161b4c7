//! Tests of the workers: turns, restarts, several nodes; and of the admin API.

use std::time::Duration;

use axum::http::StatusCode;
use chat_protocol::admin::settings::{SkipReason, SourceState};
use serde_json::{Value as JsonValue, json};

use super::website::{Reply, Website};
use super::{PACE, add, end_leases, found, once, open, open_with, options, read_all, read_site, source};
use crate::accounts::{Operator, Role};
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::args;
use crate::sources::claim::claim;
use crate::sources::routes;
use crate::visitors::fixture::{self, execute, number, operator};
use crate::{CrawlPace, Service, ServiceOptions, purge, sites};

/// A website of this many pages, each linked from the first.
async fn website_of(pages: usize, delay: Duration) -> Website {
    let website = Website::start(&[]).await;
    website.set_rule(move |path| {
        if path == "/" {
            let links: Vec<String> = (1..pages).map(|page| format!("/page/{page}")).collect();
            let links: Vec<&str> = links.iter().map(String::as_str).collect();
            return Some(Reply::page("Home", &links).after(delay));
        }
        let page: usize = path.strip_prefix("/page/")?.parse().ok()?;
        Some(Reply::page(&format!("celadon number {page}"), &[]).after(delay))
    });
    website
}

async fn until(mut is_so: impl AsyncFnMut() -> bool) {
    while !is_so().await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

on_both_databases! {
    async fn a_run_goes_on_after_its_node_has_died(database: &TestDatabase) {
        let service = open(database).await;
        let website = website_of(12, Duration::from_millis(20)).await;
        let id = add(&service, "shop", &website.url("/"), 50).await;
        let reading = tokio::spawn({
            let service = service.clone();
            async move { read_all(&service).await }
        });
        until(async || website.request_count() >= 7).await;
        reading.abort();
        let _ = reading.await;
        service.close().await;
        drop(service);
        let before = website.requested();
        let service = Service::open(options(database)).await.expect("opened");
        let read = number(service.db(), "SELECT count(*) FROM source_pages WHERE state = 'read'", args![]).await;
        assert!(read > 0, "what was read stays");
        read_all(&service).await;
        assert_eq!(source(&service, "shop", &id).await.state, SourceState::Reading, "the other's lease holds");
        end_leases(&service).await;
        read_all(&service).await;
        let done = source(&service, "shop", &id).await;
        assert_eq!((done.state, done.pages), (SourceState::Read, 12));
        let again: Vec<String> = website.requested().into_iter().filter(|path| before.contains(path)).collect();
        let pages: Vec<&String> = again.iter().filter(|path| path.as_str() != "/robots.txt").collect();
        assert!(pages.len() <= 1, "only the request in flight is repeated: {pages:?}");
    }

    async fn tenants_take_turns_and_have_one_run_at_a_time(database: &TestDatabase) {
        let service = open(database).await;
        for (site, address) in [
            ("shop", "https://one.example/"),
            ("shop", "https://two.example/"),
            ("blog", "https://three.example/"),
            ("rival", "https://four.example/"),
        ] {
            add(&service, site, address, 5).await;
        }
        let next = async || claim(&service).await.expect("read").0;
        let first = next().await.expect("a source");
        let second = next().await.expect("a source of the other tenant");
        let tenant = |site: &str| if site == "rival" { "other" } else { "acme" };
        assert_ne!(tenant(&first.site_id), tenant(&second.site_id));
        assert!(next().await.is_none(), "each tenant has one");
        for claimed in [&first, &second] {
            claimed.lease.give_back(service.db(), 0, Duration::ZERO).await.expect("given back");
        }
        // However many sources a tenant has, the other one is next after each of them.
        let mut sites = Vec::new();
        for turn in 1..7 {
            let claimed = next().await.expect("a source");
            claimed.lease.give_back(service.db(), 0, Duration::ZERO).await.expect("given back");
            let sql = "UPDATE sources SET turn_ms = $2 WHERE id = $1";
            execute(service.db(), sql, args![&claimed.lease.source_id, service.now_ms() + turn]).await;
            sites.push(tenant(&claimed.site_id));
        }
        assert!(sites.windows(2).all(|pair| pair[0] != pair[1]), "{sites:?}");
    }

    async fn turns_that_are_over_at_once_still_get_on(database: &TestDatabase) {
        let turn = CrawlPace { turn: Duration::ZERO, ..PACE };
        let service = open_with(ServiceOptions { crawl: turn, ..options(database) }).await;
        let website = website_of(5, Duration::ZERO).await;
        let maps: Vec<String> = (0..5)
            .map(|map| format!("<sitemap><loc>{}</loc></sitemap>", website.url(&format!("/{map}.xml"))))
            .collect();
        let maps = maps.concat();
        website.set("/sitemap.xml", Reply::of(200, "text/xml", format!("<sitemapindex>{maps}</sitemapindex>")));
        for map in 0..5 {
            let page = format!("<urlset><url><loc>{}</loc></url></urlset>", website.url(&format!("/page/{map}")));
            website.set(&format!("/{map}.xml"), Reply::of(200, "text/xml", page));
        }
        let source = read_site(&service, &website.url("/"), 50).await;
        assert_eq!((source.state, source.pages), (SourceState::Read, 6), "{source:?}");
        let requested = website.requested();
        assert_eq!(requested.len(), requested.iter().collect::<std::collections::HashSet<_>>().len(), "{requested:?}");
    }

    async fn a_run_counts_the_time_that_workers_spend_on_it(database: &TestDatabase) {
        let turn = CrawlPace { turn: Duration::ZERO, ..PACE };
        let service = open_with(ServiceOptions { crawl: turn, ..options(database) }).await;
        let website = website_of(5, Duration::from_millis(10)).await;
        let hour_ms: i64 = 60 * 60 * 1000;
        for (site, sql, expected) in [
            // Others had their turns for hours.
            ("shop", "UPDATE sources SET started_ms = started_ms - $1", (None, 5)),
            ("rival", "UPDATE sources SET active_ms = active_ms + $1", (Some(SkipReason::Timeout), 2)),
        ] {
            let id = add(&service, site, &website.url("/"), 50).await;
            // Each turn ends after one sitemap or one page.
            for _ in 0..3 {
                once(&service).await.expect("read");
            }
            let active_ms = number(service.db(), "SELECT max(active_ms) FROM sources", args![]).await;
            assert!(active_ms >= 10, "{active_ms}");
            execute(service.db(), sql, args![3 * hour_ms]).await;
            read_all(&service).await;
            let source = source(&service, site, &id).await;
            assert_eq!((source.state, (source.problem, source.pages)), (SourceState::Read, expected), "{site}");
        }
    }

    async fn a_removed_source_takes_its_pages_with_it(database: &TestDatabase) {
        let service = open(database).await;
        let website = website_of(120, Duration::ZERO).await;
        let id = read_site(&service, &website.url("/"), 120).await.id;
        assert_eq!(number(service.db(), "SELECT count(*) FROM content", args![]).await, 120);
        let path = format!("/sites/shop/sources/{id}");
        let owner = Some(operator("acme", Role::Owner));
        assert_eq!(fixture::call(&service, routes(), owner, "DELETE", &path, None).await.0, StatusCode::OK);
        for table in ["content", "content_terms", "source_pages", "sources"] {
            let sql = sqlx::AssertSqlSafe(format!("SELECT count(*) FROM {table}"));
            let count = service.db().one(sql, vec![]).await.expect("a row").int(0).expect("a number");
            assert_eq!(count, 0, "{table}");
        }
        let bytes = "SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM storage";
        assert_eq!(number(service.db(), bytes, args![]).await, 0);
    }

    async fn a_source_that_is_removed_while_it_is_read_stays_removed(database: &TestDatabase) {
        let service = open(database).await;
        let website = website_of(30, Duration::from_millis(10)).await;
        let id = add(&service, "shop", &website.url("/"), 50).await;
        let reading = tokio::spawn({
            let service = service.clone();
            async move { read_all(&service).await }
        });
        until(async || website.request_count() >= 5).await;
        let path = format!("/sites/shop/sources/{id}");
        let owner = Some(operator("acme", Role::Owner));
        assert_eq!(fixture::call(&service, routes(), owner, "DELETE", &path, None).await.0, StatusCode::OK);
        reading.await.expect("no panic");
        assert_eq!(number(service.db(), "SELECT count(*) FROM source_pages", args![]).await, 0);
        assert_eq!(number(service.db(), "SELECT count(*) FROM content", args![]).await, 0);
    }

    async fn a_deleted_site_is_purged_with_its_sources(database: &TestDatabase) {
        let service = open(database).await;
        let website = website_of(8, Duration::ZERO).await;
        read_site(&service, &website.url("/"), 50).await;
        let site = sites::find(service.db(), "shop").await.expect("read").expect("a site");
        let now_ms = service.now_ms();
        let deleted: Result<(), crate::ApiError> =
            crate::db::transaction!(service.db(), |tx| sites::delete(tx, now_ms, &site).await).await;
        deleted.expect("deleted");
        purge::once(&service).await.expect("purged");
        for sql in ["SELECT count(*) FROM sources", "SELECT count(*) FROM source_pages", "SELECT count(*) FROM content"] {
            assert_eq!(number(service.db(), sql, args![]).await, 0, "{sql}");
        }
    }

    async fn a_site_that_is_switched_off_is_not_read(database: &TestDatabase) {
        let service = open(database).await;
        let website = website_of(3, Duration::ZERO).await;
        let id = add(&service, "shop", &website.url("/"), 5).await;
        execute(service.db(), "UPDATE sites SET disabled_ms = 1 WHERE id = 'shop'", args![]).await;
        read_all(&service).await;
        assert_eq!((source(&service, "shop", &id).await.state, website.request_count()), (SourceState::Waiting, 0));
        execute(service.db(), "UPDATE sites SET disabled_ms = NULL WHERE id = 'shop'", args![]).await;
        read_all(&service).await;
        assert_eq!(source(&service, "shop", &id).await.pages, 3);
    }

    async fn the_api_adds_changes_and_refuses_sources(database: &TestDatabase) {
        let service = open(database).await;
        let ann = || Some(operator("acme", Role::Admin));
        let call = async |operator: Option<Operator>, method: &str, path: &str, body: JsonValue| {
            let body = Some(body).filter(|body| !body.is_null());
            fixture::call(&service, routes(), operator, method, path, body).await
        };
        let new = json!({ "address": "https://shop.example/#top", "refresh": "daily" });
        let (status, added) = call(ann(), "POST", "/sites/shop/sources", new.clone()).await;
        let shown = &added["data"]["source"];
        assert_eq!((status, &shown["address"], &shown["maxPages"]), (StatusCode::OK, &json!("https://shop.example/"), &json!(200)));
        assert_eq!((&shown["state"], &shown["refresh"]), (&json!("waiting"), &json!("daily")), "{added}");
        let path = format!("/sites/shop/sources/{}", shown["id"].as_str().expect("an id"));
        for body in [
            json!({}),
            json!({ "address": "" }),
            json!({ "address": "shop" }),
            json!({ "address": "ftp://shop.example/" }),
            json!({ "address": "https://ann:secret@shop.example/" }),
            json!({ "address": "http://169.254.169.254/" }),
            json!({ "address": "https://www.shop.example/index.html" }),
            json!({ "address": "https://blog.example/", "maxPages": 0 }),
            json!({ "address": "https://blog.example/", "maxPages": 501 }),
            json!({ "address": "https://blog.example/", "refresh": "hourly" }),
            json!({ "address": "https://blog.example/", "surprise": 1 }),
            json!({ "address": format!("https://blog.example/{}", "x".repeat(3000)) }),
        ] {
            let (status, refused) = call(ann(), "POST", "/sites/shop/sources", body.clone()).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{body} {refused}");
        }
        let change = json!({ "maxPages": 7, "refresh": "off" });
        let (_, changed) = call(ann(), "PATCH", &path, change.clone()).await;
        assert_eq!(changed["data"]["source"]["maxPages"], json!(7), "{changed}");
        for (method, path, body) in [
            ("GET", "/sites/shop/sources", JsonValue::Null),
            ("POST", "/sites/shop/sources", new),
            ("PATCH", path.as_str(), change),
            ("POST", &format!("{path}/run"), JsonValue::Null),
            ("DELETE", path.as_str(), JsonValue::Null),
        ] {
            assert_eq!(call(None, method, path, body.clone()).await.0, StatusCode::UNAUTHORIZED);
            let stranger = Some(operator("other", Role::Owner));
            assert_eq!(call(stranger, method, path, body.clone()).await.0, StatusCode::NOT_FOUND, "{method} {path}");
            let expected = if method == "GET" { StatusCode::OK } else { StatusCode::FORBIDDEN };
            assert_eq!(call(Some(operator("acme", Role::Agent)), method, path, body).await.0, expected, "{method} {path}");
        }
        let elsewhere = path.replace("shop", "blog");
        for (method, path) in [("DELETE", elsewhere.clone()), ("POST", format!("{elsewhere}/run"))] {
            assert_eq!(call(ann(), method, &path, JsonValue::Null).await.0, StatusCode::NOT_FOUND);
        }
        for number in 1..10 {
            let new = json!({ "address": format!("https://shop{number}.example/") });
            assert_eq!(call(ann(), "POST", "/sites/shop/sources", new).await.0, StatusCode::OK);
        }
        let (status, _) = call(ann(), "POST", "/sites/shop/sources", json!({ "address": "https://more.example/" })).await;
        assert_eq!(status, StatusCode::CONFLICT);
    }

    async fn the_running_service_reads_what_was_added(database: &TestDatabase) {
        let service = open(database).await;
        let running = tokio::spawn({
            let service = service.clone();
            async move { service.run().await }
        });
        let website = website_of(4, Duration::ZERO).await;
        let id = add(&service, "shop", &website.url("/"), 5).await;
        until(async || source(&service, "shop", &id).await.state == SourceState::Read).await;
        assert_eq!(found(&service, "shop", "celadon number 2").await[0], "/page/2");
        service.close().await;
        running.await.expect("no panic");
    }
}

#[tokio::test]
async fn two_nodes_ask_a_host_one_request_at_a_time() {
    let database = TestDatabase::new(Kind::Postgres).await;
    let one = open(&database).await;
    let other = Service::open(options(&database)).await.expect("opened");
    let website = website_of(15, Duration::from_millis(10)).await;
    let shop = add(&one, "shop", &website.url("/"), 50).await;
    let rival = add(&one, "rival", &website.url("/"), 50).await;
    let work = async |node: &Service| {
        until(async || {
            read_all(node).await;
            source(&one, "shop", &shop).await.state == SourceState::Read
                && source(&one, "rival", &rival).await.state == SourceState::Read
        })
        .await;
    };
    tokio::join!(work(&one), work(&other));
    assert_eq!(website.most_at_a_time(), 1);
    for (site, id) in [("shop", &shop), ("rival", &rival)] {
        assert_eq!(source(&one, site, id).await.pages, 15);
    }
}
