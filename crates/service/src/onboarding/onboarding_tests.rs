//! Tests of the bounds: of the list of refused origins, of what a node holds, and of the writes.

use super::refused::{LIFETIME_MS, MAX_ORIGIN_BYTES, MAX_ORIGINS, Refused, add, read};
use super::{record_refused, record_seen, steps};
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::args;
use crate::sites;
use crate::visitors::fixture::{NOW, execute, number, rows, service};

fn refused(origin: &str, count: i64, last_ms: i64) -> Refused {
    Refused { origin: origin.to_owned(), count, last_ms }
}

#[test]
fn the_origin_with_the_fewest_refusals_makes_way_for_a_new_one() {
    let mut list = Vec::new();
    for second in 0..3 {
        add(&mut list, refused("https://shop.example", 1, second));
    }
    for second in 3..1000 {
        add(&mut list, refused(&format!("https://{second}.example"), 1, second));
        assert!(list.len() <= MAX_ORIGINS);
    }
    assert_eq!(list[0], refused("https://shop.example", 3, 2));
    assert_eq!(list.last(), Some(&refused("https://999.example", 1, 999)));
}

#[test]
fn an_origin_is_forgotten_seven_days_after_its_last_refusal() {
    let list = [refused("https://old.example", 9, NOW - LIFETIME_MS), refused("https://new.example", 1, NOW)];
    let text = serde_json::to_string(&list).expect("JSON");
    assert_eq!(read(&text, NOW), list[1..]);
    assert_eq!(read("no list", NOW), []);
}

on_both_databases! {
    async fn a_flood_of_invented_origins_fills_neither_the_node_nor_the_database(database: &TestDatabase) {
        let service = service(database).await;
        for number in 0..20_000 {
            record_refused(&service, "shop", Some(&format!("https://{number}.example")));
        }
        let long = format!("https://{}.example", "a.".repeat(MAX_ORIGIN_BYTES));
        for origin in [
            "null", "", "https://shop.example/path", "HTTPS://SHOP.EXAMPLE", "file:///tmp", "javascript:alert(1)",
            "https://*.example", "https://user@shop.example", "chrome-extension://abc", &long,
        ] {
            record_refused(&service, "shop", Some(origin));
        }
        record_refused(&service, "shop", None);
        record_refused(&service, "gone", Some("https://shop.example"));
        // Closing waits for the writes.
        service.0.closing.cancel();
        service.0.tasks.close();
        service.0.tasks.wait().await;
        let site = sites::find(service.db(), "shop").await.expect("read").expect("a site");
        let found = steps(&service, &site).await.expect("read").refused_origins;
        assert!((1..=MAX_ORIGINS).contains(&found.len()), "{found:?}");
        assert!(found.iter().all(|refused| refused.origin.ends_with(".example")), "{found:?}");
        let stored = "SELECT count(*) FROM sites WHERE refused_origins <> '[]'";
        assert_eq!(number(service.db(), stored, vec![]).await, 1);
    }

    async fn a_page_is_recorded_once_in_five_minutes_and_keeps_its_first_time(database: &TestDatabase) {
        let service = service(database).await;
        let db = service.db();
        let (first, last) = (NOW, service.now_ms() - 60_000);
        let sql = "UPDATE sites SET page_first_seen_ms = $1, page_last_seen_ms = $2 WHERE id = 'shop'";
        execute(db, sql, args![first, last]).await;
        let sql = "UPDATE sites SET page_first_seen_ms = $1, page_last_seen_ms = $1 WHERE id = 'blog'";
        execute(db, sql, args![first - 1]).await;
        for _ in 0..100 {
            for site in ["shop", "blog", "rival"] {
                record_seen(&service, site);
            }
        }
        service.0.tasks.close();
        service.0.tasks.wait().await;
        let seen = rows(db, "SELECT id, page_first_seen_ms, page_last_seen_ms FROM sites ORDER BY id", vec![]).await;
        let seen: Vec<_> = seen.iter().map(|row| (row.int(1).expect("a time"), row.int(2).expect("a time"))).collect();
        assert_eq!(seen[0].0, first - 1, "the first time stays");
        assert!(seen[0].1 >= last, "the last one is new");
        assert_eq!(seen[1].0, seen[1].1, "a page that was not seen before");
        assert_eq!(seen[2], (first, last), "another node has recorded it a minute ago");
    }
}
