//! Tests of export and erasure through the admin API, on both databases.

use axum::http::StatusCode;
use http_body_util::BodyExt;
use serde_json::{Value as Json, json};

use super::fixture::{Story, call, everything, execute, number, occurrences, operator, service};
use super::*;
use crate::Service;
use crate::accounts::Role;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::transaction;

/// A word that nobody else says. The index stores the beginning of a word once for several words, so the
/// search is for its end.
const WORD: &str = "wqzjxvkqpyhm";
const END: &str = "jxvkqpyhm";

async fn admin(service: &Service, method: &str, path: &str, body: Option<Json>) -> (StatusCode, Json) {
    call(service, routes(), Some(operator("acme", Role::Admin)), method, path, body).await
}

pub(super) async fn ok(service: &Service, method: &str, path: &str, body: Option<Json>) -> Json {
    let (status, json) = admin(service, method, path, body).await;
    assert_eq!(status, StatusCode::OK, "{method} {path}: {json}");
    json
}

on_both_databases! {
    async fn no_byte_of_an_erased_visitor_is_left(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db(), service.now_ms());
        // Others write before and after, so that rows move between the pages of the file.
        for round in 0..30 {
            for number in 0..10 {
                let visitor = format!("v-{round}-{number}");
                Story::new("shop", &visitor, "celadon", now_ms).store(db).await;
            }
            Story::new("shop", "v-erased", WORD, now_ms + round).store(db).await;
            Story::new("rival", "v-erased", "theirs", now_ms).store(db).await;
            // Rows that grow are stored elsewhere.
            let grow = "UPDATE conversations SET source_page = source_page || source_page WHERE site_id = 'shop'
                        AND length(source_page) < 500";
            execute(db, grow, vec![]).await;
        }
        assert!(occurrences(&everything(database, db).await, END) > 300);

        let json = ok(&service, "DELETE", "/sites/shop/visitors/v-erased", None).await;
        let erased = &json["data"]["erased"];
        assert_eq!(erased, &json!({ "visitors": 1, "conversations": 30, "messages": 90, "events": 60 }));
        let left = everything(database, db).await;
        assert_eq!(occurrences(&left, END), 0);
        assert!(occurrences(&left, "celadon") > 300 && occurrences(&left, "theirs") > 30);

        let (status, _) = admin(&service, "DELETE", "/sites/shop/visitors/v-erased", None).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        let audit = db.all("SELECT action, target, actor, tenant_id FROM audit", vec![]).await.expect("rows");
        let entry: Vec<_> = (0..4).map(|column| audit[0].text(column).expect("text")).collect();
        assert_eq!((audit.len(), entry.join(" ")), (1, "visitor.erase shop/v-erased Grace <grace@acme.example> acme".to_owned()));
        assert!(find(db, "rival", "v-erased").await.expect("read").is_some());
        assert_eq!(number(db, "SELECT count(*) FROM conversations", vec![]).await, 330);
        assert_eq!(number(db, "SELECT count(*) FROM webhooks", vec![]).await, 360);
    }

    async fn a_repeated_request_of_an_erased_visitor_is_not_executed_again(database: &TestDatabase) {
        let service = service(database).await;
        let db = service.db();
        Story::new("shop", "v-1", WORD, service.now_ms()).store(db).await;
        ok(&service, "DELETE", "/sites/shop/visitors/v-1", None).await;
        let stored = db.all("SELECT status, body, progress FROM idempotency", vec![]).await.expect("rows");
        assert_eq!(stored.len(), 2, "a request in progress stores no response");
        for row in stored {
            let body: Json = serde_json::from_slice(&row.bytes(1).expect("a body")).expect("JSON");
            assert_eq!((row.int(0).expect("a status"), &body["error"]["code"]), (404, &json!("NOT_FOUND")));
            assert!(row.is_null(2).expect("a column"));
        }
    }

    async fn erases_by_email_address_in_any_case(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db(), service.now_ms());
        let story = |visitor: &'static str, email: &'static str| Story { email, ..Story::new("shop", visitor, WORD, now_ms) };
        story("verified:1", "Ada_%O'Neil@shop.example").store(db).await;
        story("verified:2", "ada_%o'neil@SHOP.example").store(db).await;
        // Anybody can claim the id of this visitor, whose other conversation is not that of the address.
        story("v-1", "ada_%o'neil@shop.example").store(db).await;
        story("v-1", "eve@shop.example").store(db).await;
        Story { visitor: None, ..story("", "ADA_%o'neil@shop.example") }.store(db).await;
        // Other people, whose address contains this one, or matches it as a pattern.
        story("v-3", "not-ada_%o'neil@shop.example").store(db).await;
        story("v-4", "adaXYo'neil@shop.example").store(db).await;
        Story { email: "ada_%o'neil@shop.example", ..Story::new("blog", "v-1", WORD, now_ms) }.store(db).await;

        let body = json!({ "email": " ada_%o'neil@shop.example " });
        let found = ok(&service, "POST", "/sites/shop/privacy/search", Some(body.clone())).await;
        assert_eq!(found["data"]["visitors"], json!(["verified:1", "verified:2"]));
        assert_eq!(found["data"]["conversations"].as_array().map(Vec::len), Some(2));
        let json = ok(&service, "POST", "/sites/shop/privacy/erase", Some(body.clone())).await;
        assert_eq!(json["data"]["erased"]["visitors"], 2);
        assert_eq!(json["data"]["erased"]["conversations"], 4);
        let (status, _) = admin(&service, "POST", "/sites/shop/privacy/search", Some(body)).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert_eq!(number(db, "SELECT count(*) FROM conversations WHERE site_id = 'shop'", vec![]).await, 3);
        assert_eq!(number(db, "SELECT count(*) FROM conversations WHERE site_id = 'blog'", vec![]).await, 1);
        for email in ["", "ada", &format!("{}@x", "a".repeat(300))] {
            let (status, _) =
                admin(&service, "POST", "/sites/shop/privacy/erase", Some(json!({ "email": email }))).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{email}");
        }
    }

    async fn exports_everything_of_a_visitor_and_nothing_of_others(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db(), service.now_ms());
        Story { messages: 1234, ..Story::new("shop", "v-1", WORD, now_ms) }.store(db).await;
        for _ in 0..150 {
            Story::new("shop", "v-1", WORD, now_ms).store(db).await;
        }
        Story::new("shop", "verified:2", "celadon", now_ms).store(db).await;
        Story::new("rival", "v-1", "theirs", now_ms).store(db).await;
        let document = ok(&service, "GET", "/sites/shop/visitors/v-1/export", None).await;
        let visitor = &document["visitors"][0];
        assert_eq!((&document["siteId"], &visitor["profile"]["name"]), (&json!("shop"), &json!(format!("Ada {WORD}"))));
        let conversations = visitor["conversations"].as_array().expect("conversations");
        assert_eq!(conversations.len(), 151);
        let messages = conversations[0]["messages"].as_array().expect("messages");
        assert_eq!(messages.len(), 1234);
        assert_eq!(messages[1233]["content"], format!("I look for {WORD} number 1234."));
        assert_eq!(conversations[150]["notes"][0]["content"], format!("Wants {WORD}."));
        assert_eq!(visitor["events"].as_array().map(Vec::len), Some(151));
        let text = document.to_string();
        assert!(!text.contains("celadon") && !text.contains("theirs"));
        assert_eq!(number(db, "SELECT count(*) FROM audit WHERE action = 'visitor.export'", vec![]).await, 1);

        let nameless = Story { visitor: None, ..Story::new("shop", "", "cobalt", now_ms) }.store(db).await;
        let sql = "INSERT INTO events (site_id, conversation_id, type, event, received_ms)
                   VALUES ('shop', $1, 'chat_opened', '{\"eventType\":\"chat_opened\",\"title\":\"cobalt\"}', 1)";
        execute(db, sql, args![nameless]).await;
        let body = json!({ "email": "nobody@shop.example" });
        let document = ok(&service, "POST", "/sites/shop/privacy/export", Some(body)).await;
        assert_eq!(document["visitors"].as_array().map(Vec::len), Some(1), "only the verified one");
        let conversations = document["conversations"].as_array().expect("conversations");
        assert_eq!(conversations.len(), 152, "each that has the address");
        assert_eq!(conversations[151]["events"][0]["title"], "cobalt");
        assert!(conversations[0]["events"].as_array().is_some_and(|events| !events.is_empty()));
    }

    async fn an_export_is_valid_json_when_its_data_is_erased_meanwhile(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db(), service.now_ms());
        for visitor in [None, None, Some("verified:1")] {
            Story { visitor, ..Story::new("shop", "", WORD, now_ms) }.store(db).await;
        }
        let name = subject::Name::email("nobody@shop.example").expect("an address");
        let subject = subject::find(db, "shop", &name).await.expect("read");
        execute(db, "DELETE FROM conversations WHERE no = (SELECT min(no) FROM conversations)", vec![]).await;
        execute(db, "DELETE FROM visitors", vec![]).await;
        let turn = crate::long_reads::turn(&service, "acme").await.expect("a turn");
        let body = super::export::document(turn, db.for_long_reads(), now_ms, "shop", subject);
        let bytes = body.collect().await.expect("a body").to_bytes();
        let document: Json = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(document["visitors"], json!([null]));
        assert_eq!(document["conversations"].as_array().map(Vec::len), Some(1));
    }

    async fn refuses_agents_strangers_and_other_tenants(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db(), service.now_ms());
        Story::new("shop", "v-1", WORD, now_ms).store(db).await;
        let email = Some(json!({ "email": "nobody@shop.example" }));
        let calls = [
            ("GET", "/sites/shop/visitors", None),
            ("GET", "/sites/shop/visitors/v-1", None),
            ("GET", "/sites/shop/visitors/v-1/export", None),
            ("DELETE", "/sites/shop/visitors/v-1", None),
            ("POST", "/sites/shop/privacy/search", email.clone()),
            ("POST", "/sites/shop/privacy/export", email.clone()),
            ("POST", "/sites/shop/privacy/erase", email),
        ];
        for (index, (method, path, body)) in calls.into_iter().enumerate() {
            let stranger = call(&service, routes(), None, method, path, body.clone()).await;
            assert_eq!(stranger.0, StatusCode::UNAUTHORIZED, "{method} {path}");
            let rival = Some(operator("other", Role::Owner));
            let rival = call(&service, routes(), rival, method, path, body.clone()).await;
            assert_eq!(rival.0, StatusCode::NOT_FOUND, "{method} {path}");
            let agent = Some(operator("acme", Role::Agent));
            let agent = call(&service, routes(), agent, method, path, body).await;
            let expected = if index < 2 { StatusCode::OK } else { StatusCode::FORBIDDEN };
            assert_eq!(agent.0, expected, "{method} {path}");
        }
        // A visitor of this tenant's other site has the same id nowhere else.
        let (status, _) = admin(&service, "DELETE", "/sites/blog/visitors/v-1", None).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert!(find(db, "shop", "v-1").await.expect("read").is_some());
        assert_eq!(number(db, "SELECT count(*) FROM audit", vec![]).await, 0);
    }

    async fn odd_ids_name_visitors_and_nothing_else(database: &TestDatabase) {
        let service = service(database).await;
        let db = service.db();
        let long = "x".repeat(5000);
        for id in ["search", "a/b", "../../v", "%", "\u{1f600}", "' OR '1'='1", long.as_str()] {
            let encoded = id.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02X}"));
            let path = format!("/sites/shop/visitors/{encoded}");
            let (status, _) = admin(&service, "DELETE", &path, None).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{id}");
            let visitor = id.to_owned();
            let profile = VisitorProfile::default();
            let added = transaction!(db, |tx| upsert(tx, 1, "shop", &visitor, &profile, None).await);
            added.await.expect("added");
            let shown = ok(&service, "GET", &path, None).await;
            assert_eq!(shown["data"]["visitor"]["id"], truncated_id(id));
            let json = ok(&service, "DELETE", &path, None).await;
            assert_eq!(json["data"]["erased"]["visitors"], 1, "{id}");
        }
        for path in ["/sites/shop/visitors/%FF", "/sites/shop/visitors/%00", "/sites/%00/visitors"] {
            assert_eq!(admin(&service, "GET", path, None).await.0, StatusCode::NOT_FOUND, "{path}");
        }
        assert_eq!(number(db, "SELECT count(*) FROM visitors", vec![]).await, 0);
    }

    async fn lists_visitors_page_by_page(database: &TestDatabase) {
        let service = service(database).await;
        for number in 0..5 {
            Story::new("shop", &format!("v-{number}"), "celadon", number).store(service.db()).await;
        }
        let mut ids = Vec::new();
        let mut path = "/sites/shop/visitors?limit=2".to_owned();
        loop {
            let page = ok(&service, "GET", &path, None).await;
            for visitor in page["data"]["visitors"].as_array().expect("visitors") {
                ids.push(visitor["id"].as_str().expect("an id").to_owned());
            }
            let Some(next) = page["data"]["next"].as_str() else { break };
            path = format!("/sites/shop/visitors?limit=2&after={next}");
        }
        assert_eq!(ids, ["v-4", "v-3", "v-2", "v-1", "v-0"]);
        for query in ["after=x", "after=1-", "limit=x", "surprise=1"] {
            let path = format!("/sites/shop/visitors?{query}");
            assert_eq!(admin(&service, "GET", &path, None).await.0, StatusCode::BAD_REQUEST, "{query}");
        }
        let shown = ok(&service, "GET", "/sites/shop/visitors/v-1", None).await;
        assert_eq!(shown["data"]["conversations"][0]["messages"], 3);
        assert_eq!(shown["data"]["events"][0]["eventType"], "page_view");
    }

    async fn a_visitor_who_writes_during_an_erasure_is_erased_or_new(database: &TestDatabase) {
        let service = service(database).await;
        let (db, now_ms) = (service.db().clone(), service.now_ms());
        for _ in 0..40 {
            Story::new("shop", "v-1", WORD, now_ms).store(&db).await;
        }
        let writing = tokio::spawn({
            let db = db.clone();
            async move {
                for _ in 0..20 {
                    Story { messages: 1, ..Story::new("shop", "v-1", "later", now_ms) }.store(&db).await;
                }
            }
        });
        ok(&service, "DELETE", "/sites/shop/visitors/v-1", None).await;
        writing.await.expect("no panic");
        let orphans = "SELECT count(*) FROM conversations WHERE visitor_no IS NULL";
        assert_eq!(number(&db, orphans, vec![]).await, 0);
        assert_eq!(occurrences(&everything(database, &db).await, END), 0);
    }
}
