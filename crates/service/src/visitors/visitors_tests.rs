//! Tests of visitors and their events, on both databases.

use chat_protocol::{EventBatch, IdempotencyKey, Tracking, Value, VisitorProfile};
use chat_test_servers::at_once;

use super::events::{MAX_DATA_BYTES, bounded, recent, record};
use super::fixture::{NOW, number, open};
use super::*;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::transaction;

fn profile(name: Option<&str>, email: Option<&str>) -> VisitorProfile {
    let text = |text: Option<&str>| text.map(str::to_owned);
    VisitorProfile { name: text(name), email: text(email), ..VisitorProfile::default() }
}

async fn upserted(db: &Db, now_ms: i64, site: &'static str, id: &str, profile: VisitorProfile) -> i64 {
    let id = id.to_owned();
    transaction!(db, |tx| upsert(tx, now_ms, site, &id, &profile, Some("customer")).await)
        .await
        .expect("stored")
        .no
}

fn batch(json: &str) -> EventBatch {
    bounded(EventBatch::try_from(serde_json::from_str::<Value>(json).expect("JSON")).expect("a batch"))
}

async fn recorded(db: &Db, now_ms: i64, site: &'static str, batch: EventBatch) -> Tracking {
    let key = IdempotencyKey::new("events-0001").expect("a key");
    transaction!(db, |tx| record(tx, now_ms, site, &batch, Some(&key)).await).await.expect("stored")
}

on_both_databases! {
    async fn a_later_profile_adds_to_an_earlier_one(database: &TestDatabase) {
        let db = open(database).await;
        let first = upserted(&db, NOW, "shop", "v-1", profile(Some("Ada"), None)).await;
        let second = upserted(&db, NOW + 5, "shop", "v-1", profile(None, Some("ada@shop.example"))).await;
        upserted(&db, NOW + 3, "shop", "v-1", profile(None, None)).await;
        assert_eq!(first, second);
        let visitor = find(&db, "shop", "v-1").await.expect("read").expect("known");
        let expected = VisitorProfile {
            visitor_id: Some("v-1".into()),
            ..profile(Some("Ada"), Some("ada@shop.example"))
        };
        assert_eq!(visitor.profile, expected);
        assert_eq!((visitor.first_seen_ms, visitor.last_seen_ms), (NOW, NOW + 5));
        assert_eq!(visitor.customer_id.as_deref(), Some("customer"));
    }

    async fn the_same_id_on_another_site_is_another_visitor(database: &TestDatabase) {
        let db = open(database).await;
        let one = upserted(&db, NOW, "shop", "v-1", profile(Some("Ada"), None)).await;
        let other = upserted(&db, NOW, "rival", "v-1", profile(Some("Eve"), None)).await;
        assert_ne!(one, other);
        let visitor = find(&db, "shop", "v-1").await.expect("read").expect("known");
        assert_eq!(visitor.profile.name.as_deref(), Some("Ada"));
        assert!(earlier(&db, "rival", one, i64::MAX, 10).await.expect("read").is_empty());
        assert_eq!(find(&db, "blog", "v-1").await.expect("read"), None);
    }

    async fn cuts_long_ids_and_fields(database: &TestDatabase) {
        let db = open(database).await;
        let long = "\u{1f600}x".repeat(10_000);
        let first = upserted(&db, NOW, "shop", &long, profile(Some(&long), Some("a\0b"))).await;
        let second = upserted(&db, NOW, "shop", &format!("{long}2"), profile(None, None)).await;
        assert_eq!(first, second);
        let visitor = find(&db, "shop", &long).await.expect("read").expect("known");
        assert!(visitor.id.len() <= 500);
        assert_eq!(visitor.profile.name.map(|name| name.chars().count()), Some(500));
        assert_eq!(visitor.profile.email.as_deref(), Some("a\0b"), "JSON escapes it");
    }

    async fn counts_page_views_and_remembers_the_last_page(database: &TestDatabase) {
        let db = open(database).await;
        let events = r#"{"events":[
            {"eventType":"page_view","visitorId":"v-1","path":"/a","customerId":"c-1"},
            {"eventType":"page_view","visitorId":"v-1","path":"/b"},
            {"eventType":"chat_opened","visitorId":"v-1","eventData":{"conversationId":"conv_1"}},
            {"eventType":"page_view","visitorId":"v-2","path":"/c"},
            {"eventType":"page_view","path":"/d"},
            {"eventType":"page_view","visitorId":"","path":"/e"}]}"#;
        let tracking = recorded(&db, NOW, "shop", batch(events)).await;
        assert_eq!((tracking.accepted, tracking.rejected, tracking.enabled), (6, 0, true));
        recorded(&db, NOW + 1, "shop", batch(events)).await;
        let visitor = find(&db, "shop", "v-1").await.expect("read").expect("known");
        assert_eq!((visitor.page_views, visitor.last_path.as_deref()), (4, Some("/b")));
        assert_eq!((visitor.first_seen_ms, visitor.last_seen_ms), (NOW, NOW + 1));
        assert_eq!(visitor.customer_id.as_deref(), Some("c-1"));
        assert_eq!(number(&db, "SELECT count(*) FROM visitors", vec![]).await, 2);
        assert_eq!(number(&db, "SELECT count(*) FROM events", vec![]).await, 12);
        let of_conversation = "SELECT count(*) FROM events WHERE conversation_id = 'conv_1' AND key IS NOT NULL";
        assert_eq!(number(&db, of_conversation, vec![]).await, 2);

        let latest = recent(&db, "shop", "v-1", 2).await.expect("read");
        let types: Vec<_> =
            latest.iter().map(|event| event.event.get("eventType").and_then(Value::as_text)).collect();
        assert_eq!(types, [Some("page_view"), Some("chat_opened")], "oldest first");
        assert!(recent(&db, "rival", "v-1", 10).await.expect("read").is_empty());
    }

    async fn refuses_events_that_are_too_large_and_stores_the_others(database: &TestDatabase) {
        let db = open(database).await;
        let large = format!(
            r#"{{"events":[{{"eventType":"note","eventData":{{"text":"{}"}}}},{{"eventType":"x"}},{{"eventType":""}}]}}"#,
            "a".repeat(MAX_DATA_BYTES)
        );
        let tracking = recorded(&db, NOW, "shop", batch(&large)).await;
        assert_eq!((tracking.accepted, tracking.rejected), (1, 2));
        let none = r#"{"events":[{"eventType":""}]}"#;
        let tracking = recorded(&db, NOW, "shop", batch(none)).await;
        assert_eq!((tracking.accepted, tracking.rejected), (0, 1));
        assert_eq!(number(&db, "SELECT count(*) FROM events", vec![]).await, 1);
    }

    async fn stores_no_more_of_an_event_than_is_shown(database: &TestDatabase) {
        let db = open(database).await;
        let long = "\u{e4}".repeat(8000);
        let event = format!(
            r#"{{"events":[{{"eventType":"{long}","visitorId":"{long}","customerId":"{long}","channel":"{long}",
                "path":"{long}","url":"{long}","title":"{long}","referrer":"{long}","createdAt":"{long}"}}]}}"#
        );
        assert_eq!(recorded(&db, NOW, "shop", batch(&event)).await.accepted, 1);
        let sql = "SELECT CAST(octet_length(event) AS BIGINT) FROM events";
        let stored = number(&db, sql, vec![]).await;
        assert!((3500..4500).contains(&stored), "{stored}");
    }

    async fn stores_every_text_that_json_can_hold(database: &TestDatabase) {
        let db = open(database).await;
        let odd = r#"{"events":[{"eventType":"a\u0000b'; DROP TABLE events; --","visitorId":"v\u0000","path":"\u0000\ud83d\ude00",
            "eventData":{"conversationId":"\u0000","text":"\u0000$1"}}]}"#;
        assert_eq!(recorded(&db, NOW, "shop", batch(odd)).await.accepted, 1);
        let stored = recent(&db, "shop", "v\0", 10).await.expect("read");
        let text = stored[0].event.get("eventData").and_then(|data| data.get("text"));
        assert_eq!(text.and_then(Value::as_text), Some("\0$1"));
    }

    async fn batches_at_the_same_time_count_every_page_view(database: &TestDatabase) {
        let db = open(database).await;
        // Half of the batches name the visitors in the opposite order.
        let both = [
            r#"{"events":[{"eventType":"page_view","visitorId":"a"},{"eventType":"page_view","visitorId":"b"}]}"#,
            r#"{"events":[{"eventType":"page_view","visitorId":"b"},{"eventType":"page_view","visitorId":"a"}]}"#,
        ];
        at_once(40, |number| {
            let db = db.clone();
            async move { recorded(&db, NOW, "shop", batch(both[number % 2])).await }
        })
        .await;
        for id in ["a", "b"] {
            let visitor = find(&db, "shop", id).await.expect("read").expect("known");
            assert_eq!(visitor.page_views, 40);
        }
        assert_eq!(number(&db, "SELECT count(*) FROM events", vec![]).await, 80);
    }

    async fn lists_visitors_by_the_time_they_were_last_seen(database: &TestDatabase) {
        let db = open(database).await;
        for number in 0..5 {
            // Three were seen at the same time.
            upserted(&db, NOW + number / 3, "shop", &format!("v-{number}"), profile(None, None)).await;
        }
        upserted(&db, NOW, "rival", "v-9", profile(None, None)).await;
        let mut listed = Vec::new();
        let mut after = (i64::MAX, i64::MAX);
        loop {
            let page = list(&db, "shop", after, 2).await.expect("read");
            let Some(last) = page.last() else { break };
            after = (last.last_seen_ms, last.no);
            listed.extend(page.into_iter().map(|visitor| visitor.id));
        }
        assert_eq!(listed, ["v-4", "v-3", "v-2", "v-1", "v-0"]);
    }
}

#[test]
fn a_site_without_tracking_stores_nothing() {
    let tracking = events::discard(&batch(r#"{"events":[{"eventType":"page_view"},{"eventType":""}]}"#));
    assert_eq!((tracking.accepted, tracking.rejected, tracking.enabled), (0, 2, false));
}
