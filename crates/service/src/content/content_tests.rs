//! Tests synced content on both databases.

use chat_protocol::{ContentKind, TextFormat};
use chat_test_servers::at_once;

use super::*;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::transaction;
use crate::knowledge::search::fixture::search;
use crate::visitors::fixture::open;

fn item(id: &str, text: &str) -> ContentItem {
    ContentItem {
        title: Some(format!("Title {id}")),
        path: Some(format!("/{id}")),
        content: Some(text.to_owned()),
        ..ContentItem::new(id, ContentKind::Page)
    }
}

async fn send(
    db: &Db,
    site: &'static str,
    snapshot: &str,
    complete: bool,
    items: Vec<ContentItem>,
) -> Result<SyncOutcome, ApiError> {
    let prepared = prepare(items);
    let page = ContentPage {
        snapshot_id: snapshot.to_owned(),
        page: 1,
        complete,
        items: Vec::new(),
        refused: Vec::new(),
    };
    transaction!(db, |tx| sync(tx, 7, site, &page, prepared, &Room::endless()).await).await
}

async fn found(db: &Db, site: &str, question: &str) -> Vec<String> {
    let passages = search(db, site, question, Some("en")).await.expect("searched");
    passages.into_iter().map(|passage| passage.id).collect()
}

on_both_databases! {
    async fn a_changed_item_is_found_by_its_new_words_only(database: &TestDatabase) {
        let db = open(database).await;
        let outcome = send(&db, "shop", "s", false, vec![item("1", "celadon"), item("2", "cobalt")]).await;
        let outcome = outcome.expect("synced");
        assert_eq!((outcome.accepted, outcome.removed, outcome.suggestions.len()), (2, 0, 2));
        assert_eq!(found(&db, "shop", "celadon").await, ["content:1"]);
        let again = send(&db, "shop", "s", false, vec![item("1", "porcelain"), item("2", "cobalt")]).await;
        assert_eq!(again.expect("synced").suggestions.len(), 1, "the second is unchanged");
        assert_eq!(found(&db, "shop", "celadon").await, Vec::<String>::new());
        assert_eq!(found(&db, "shop", "porcelain").await, ["content:1"]);
        assert_eq!(count(&db, "shop").await.expect("counted"), 2);
    }

    async fn text_is_not_taken_for_html(database: &TestDatabase) {
        let db = open(database).await;
        let text = "# Install\nPut the <script> line before </body>.\n # Returns take 30 days.";
        let items = vec![
            ContentItem { format: Some(TextFormat::Text), ..item("text", text) },
            item("unmarked", "Ann <ann@shop.example> sells teapots."),
            item("html", "<h1>Cups</h1><p>Hold &lt;b&gt; 320 ml</p>"),
        ];
        send(&db, "shop", "s", false, items).await.expect("synced");
        for (question, expected) in [
            ("script line", "Install\nPut the <script> line before </body>.\n# Returns take 30 days."),
            ("returns take", "# Returns take 30 days."),
            ("teapots", "Ann <ann@shop.example> sells teapots."),
            ("320 ml", "Hold <b> 320 ml"),
        ] {
            let found = search(&db, "shop", question, Some("en")).await.expect("searched");
            assert!(expected.ends_with(&found[0].text) || found[0].text.ends_with(expected), "{question}: {found:?}");
        }
    }

    async fn a_complete_snapshot_removes_the_items_of_its_own_site_that_it_lacks(database: &TestDatabase) {
        let db = open(database).await;
        for site in ["shop", "rival"] {
            send(&db, site, "a", true, vec![item("1", "celadon"), item("2", "cobalt")]).await.expect("synced");
        }
        let outcome = send(&db, "shop", "b", true, vec![item("2", "cobalt")]).await.expect("synced");
        assert_eq!(outcome.removed, 1);
        assert_eq!(found(&db, "shop", "celadon").await, Vec::<String>::new());
        assert_eq!(found(&db, "rival", "celadon").await, ["content:1"]);
        let deleted = ContentItem { deleted: true, ..item("2", "") };
        let outcome = send(&db, "shop", "b", false, vec![deleted.clone(), deleted]).await.expect("synced");
        assert_eq!((outcome.accepted, outcome.removed), (2, 1));
        assert_eq!((count(&db, "shop").await.expect("counted"), count(&db, "rival").await.expect("counted")), (0, 2));
        let terms = db.one("SELECT count(*) FROM content_terms", args![]).await.expect("counted");
        assert_eq!(terms.int(0).expect("a number"), 2);
    }

    async fn stores_or_refuses_any_text(database: &TestDatabase) {
        let db = open(database).await;
        let odd = ContentItem {
            title: Some("a\0b".to_owned()),
            path: Some(format!("/{}", "x".repeat(5000))),
            ..item("odd \u{1f600} ' \" \\", "nul \0 celadon \u{fffe}")
        };
        let huge = item("huge", &format!("<p>{}</p>", "celadon word ".repeat(100_000)));
        send(&db, "shop", "\0", true, vec![odd, huge, item("", "")]).await.expect("synced");
        assert_eq!(count(&db, "shop").await.expect("counted"), 3);
        assert_eq!(found(&db, "shop", "celadon").await.len(), 2);
        for id in ["x".repeat(3000), "nul \0".to_owned()] {
            let refused = send(&db, "shop", "s", false, vec![item("1", ""), item(&id, "")]).await;
            let Err(ApiError::InvalidRequest(problem)) = refused else { panic!("{refused:?}") };
            assert!(problem.starts_with("items[1].externalId") && problem.len() < 200, "{problem}");
        }
    }

    async fn syncs_of_one_site_at_the_same_time_do_not_fail(database: &TestDatabase) {
        let db = open(database).await;
        let syncs = at_once(8, |number| {
            let db = db.clone();
            async move {
                let mut items: Vec<ContentItem> =
                    (0..20).map(|id| item(&id.to_string(), &format!("celadon {number}"))).collect();
                if number % 2 == 0 {
                    items.reverse();
                }
                send(&db, "shop", "s", false, items).await.map(|outcome| outcome.accepted)
            }
        });
        for accepted in syncs.await {
            assert_eq!(accepted, Ok(20));
        }
        assert_eq!(count(&db, "shop").await.expect("counted"), 20);
    }
}
