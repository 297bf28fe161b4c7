//! Tests of the admin API of publishing, on both databases.

use axum::http::StatusCode;
use serde_json::{Value as Json, json};

use super::*;
use crate::Service;
use crate::accounts::Role;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::args;
use crate::visitors::fixture::{self, execute, number, operator, service};

pub(super) async fn call(
    service: &Service,
    (tenant, role): (&str, Role),
    method: &str,
    path: &str,
    body: Option<Json>,
) -> (StatusCode, Json) {
    fixture::call(service, routes(), Some(operator(tenant, role)), method, path, body).await
}

pub(super) async fn ok(service: &Service, method: &str, path: &str, body: Option<Json>) -> Json {
    let (status, json) = call(service, ("acme", Role::Admin), method, path, body).await;
    assert_eq!(status, StatusCode::OK, "{method} {path}: {json}");
    json["data"].clone()
}

fn article() -> Json {
    json!({ "title": "News", "path": "/news", "locale": "en", "content": "<p>New</p>" })
}

on_both_databases! {
    async fn a_review_is_shown_beside_the_page_and_the_overlay_of_today(database: &TestDatabase) {
        let service = service(database).await;
        let item = json!({
            "externalId": "7", "type": "page", "path": "/mugs", "locale": "en", "title": "Mugs",
            "summary": "<b>Made</b> by hand", "content": "<h1>Mugs</h1><script>x()</script>",
            "url": "https://shop.example/mugs",
        });
        let row = "INSERT INTO content (site_id, type, external_id, locale, location, title, text, item,
                       snapshot, synced_ms)
                   VALUES ('shop', 'page', '7', 'en', '/mugs', 'Mugs', '', $1, 's', 1)";
        let reviews = "INSERT INTO reviews (id, site_id, kind, status, path, locale, title, body, created_ms,
                           updated_ms)
                       VALUES ('old', 'shop', 'overlay', 'published', '/mugs', 'en', 'Mugs', $1, 1, 1),
                              ('new', 'shop', 'overlay', 'draft', '/mugs', 'en', 'Mugs', $2, 2, 2),
                              ('else', 'rival', 'overlay', 'published', '/mugs', 'en', 'Mugs', $2, 3, 3)";
        execute(service.db(), row, args![item.to_string()]).await;
        let body = |title: &str| json!({ "title": title }).to_string();
        execute(service.db(), reviews, args![body("Old mugs"), body("New mugs")]).await;

        let shown = ok(&service, "GET", "/sites/shop/reviews/new", None).await;
        let page = &shown["before"]["page"];
        assert_eq!((&page["title"], &page["description"]), (&json!("Mugs"), &json!("Made by hand")));
        assert_eq!((&page["text"], &page["url"]), (&json!("Mugs"), &json!("https://shop.example/mugs")));
        assert_eq!(shown["before"]["overlay"]["title"], "Old mugs");
        assert_eq!(shown["jobs"], json!([]));

        let job = ok(&service, "POST", "/sites/shop/reviews/new/approve", None).await["jobId"].clone();
        let shown = ok(&service, "GET", "/sites/shop/reviews/new", None).await;
        assert_eq!((&shown["jobs"][0]["id"], &shown["jobs"][0]["claimToken"]), (&job, &Json::Null));
        assert_eq!(shown["before"]["overlay"], Json::Null, "the new overlay has replaced it");
    }

    async fn an_operator_drafts_approves_and_withdraws_an_article(database: &TestDatabase) {
        let service = service(database).await;
        let id = ok(&service, "POST", "/sites/shop/reviews", Some(article())).await["id"].clone();
        let path = format!("/sites/shop/reviews/{}", id.as_str().expect("an id"));
        let shown = ok(&service, "GET", &path, None).await["review"].clone();
        assert_eq!((&shown["status"], &shown["body"]["content"]), (&json!("draft"), &json!("<p>New</p>")));
        let listed = ok(&service, "GET", "/sites/shop/reviews?status=draft", None).await;
        assert_eq!((&listed["reviews"][0]["id"], &listed["reviews"][0]["body"]), (&id, &Json::Null));

        let job = ok(&service, "POST", &format!("{path}/approve"), None).await["jobId"].clone();
        for step in ["approve", "withdraw", "rollback"] {
            let (status, json) =
                call(&service, ("acme", Role::Admin), "POST", &format!("{path}/{step}"), None).await;
            assert_eq!((status, &json["error"]["code"]), (StatusCode::CONFLICT, &json!("RESOURCE_CONFLICT")));
        }
        let jobs = ok(&service, "GET", "/sites/shop/jobs?status=pending", None).await;
        assert_eq!((&jobs["jobs"][0]["id"], &jobs["pending"]), (&job, &json!(1)));
        assert_eq!(jobs["jobs"][0]["claimToken"], Json::Null);
        let actions = service.db().all("SELECT action, target FROM audit ORDER BY no", vec![]).await.expect("rows");
        let actions: Vec<_> = actions.iter().map(|row| row.text(0).expect("text")).collect();
        assert_eq!(actions, ["review.create", "review.approve"]);
    }

    async fn only_admins_of_the_tenant_change_the_list(database: &TestDatabase) {
        let service = service(database).await;
        let id = ok(&service, "POST", "/sites/shop/reviews", Some(article())).await["id"].clone();
        let path = format!("/sites/shop/reviews/{}", id.as_str().expect("an id"));
        let changes = [
            ("POST", "/sites/shop/reviews".to_owned(), Some(article())),
            ("POST", "/sites/shop/reviews/approve-overlays".to_owned(), None),
            ("POST", format!("{path}/approve"), None),
            ("POST", format!("{path}/withdraw"), None),
            ("POST", format!("{path}/rollback"), None),
        ];
        let reads = [
            ("GET", "/sites/shop/content".to_owned(), None),
            ("GET", "/sites/shop/reviews".to_owned(), None),
            ("GET", path, None),
            ("GET", "/sites/shop/jobs".to_owned(), None),
        ];
        for (method, path, body) in changes.iter().chain(&reads) {
            let (status, _) = call(&service, ("other", Role::Owner), method, path, body.clone()).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{method} {path}");
            let (status, _) = call(&service, ("acme", Role::Agent), method, path, body.clone()).await;
            let expected = if *method == "GET" { StatusCode::OK } else { StatusCode::FORBIDDEN };
            assert_eq!(status, expected, "{method} {path}");
        }
        let blog = format!("/sites/blog/reviews/{}/approve", id.as_str().expect("an id"));
        let (status, _) = call(&service, ("acme", Role::Admin), "POST", &blog, None).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "an entry of another site of the tenant");
        assert_eq!(number(service.db(), "SELECT count(*) FROM jobs", vec![]).await, 0);
        assert_eq!(number(service.db(), "SELECT count(*) FROM audit", vec![]).await, 1);
    }

    async fn refuses_invalid_articles_and_pages(database: &TestDatabase) {
        let service = service(database).await;
        let with = |name: &str, value: Json| {
            let mut article = article();
            article[name] = value;
            article
        };
        for (body, expected) in [
            (with("title", json!("")), StatusCode::BAD_REQUEST),
            (with("title", json!("a\nb")), StatusCode::BAD_REQUEST),
            (with("title", json!("x".repeat(201))), StatusCode::BAD_REQUEST),
            (with("path", json!("news")), StatusCode::BAD_REQUEST),
            (with("locale", json!("not a locale")), StatusCode::BAD_REQUEST),
            (with("content", json!("x".repeat(600 * 1024))), StatusCode::PAYLOAD_TOO_LARGE),
            (with("surprise", json!(1)), StatusCode::BAD_REQUEST),
            (json!([]), StatusCode::BAD_REQUEST),
        ] {
            let (status, json) =
                call(&service, ("acme", Role::Admin), "POST", "/sites/shop/reviews", Some(body)).await;
            assert_eq!((status, &json["ok"]), (expected, &json!(false)), "{json}");
        }
        for query in ["reviews?status=x", "reviews?limit=x", "jobs?before=x", "content?after=x", "content?after=bnVsbA"] {
            let (status, _) =
                call(&service, ("acme", Role::Admin), "GET", &format!("/sites/shop/{query}"), None).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
        }
        let far = ok(&service, "GET", "/sites/shop/reviews?limit=-5&before=-9223372036854775808", None).await;
        assert_eq!(far["reviews"], json!([]));
    }

    async fn pages_through_content_and_the_list(database: &TestDatabase) {
        let service = service(database).await;
        let text = "\u{1f600}".repeat(1000);
        for (site, number) in (0..5).map(|number| ("shop", number)).chain([("rival", 9)]) {
            let sql = "INSERT INTO content (site_id, type, external_id, locale, title, text, item, snapshot, synced_ms)
                       VALUES ($1, 'page', $2, '', $3, $4, '{}', 's', 1)";
            execute(service.db(), sql, args![site, number.to_string(), format!("Page {number}"), &text]).await;
            ok(&service, "POST", "/sites/shop/reviews", Some(article())).await;
        }
        for (list, cursor, shown) in [("content", "after", 5), ("reviews", "before", 6)] {
            let mut ids = Vec::new();
            let mut path = format!("/sites/shop/{list}?limit=2");
            loop {
                let page = ok(&service, "GET", &path, None).await;
                let entries = page.get("items").or(page.get("reviews")).and_then(Json::as_array).expect("a list");
                ids.extend(entries.iter().map(|entry| entry.get("externalId").or(entry.get("id")).cloned()));
                let next = match &page["next"] {
                    Json::Null => break,
                    next => next.as_str().map_or_else(|| next.to_string(), str::to_owned),
                };
                path = format!("/sites/shop/{list}?limit=2&{cursor}={next}");
            }
            let distinct: std::collections::HashSet<_> = ids.iter().map(|id| format!("{id:?}")).collect();
            assert_eq!((ids.len(), distinct.len()), (shown, shown), "{list}");
        }
        let page = ok(&service, "GET", "/sites/shop/content", None).await;
        assert_eq!(page["count"], 5);
        assert_eq!(page["items"][0]["excerpt"].as_str().map(|text| text.chars().count()), Some(300));
    }
}
