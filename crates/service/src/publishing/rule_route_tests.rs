//! Tests of the admin API of rules, and of what arrives with them, on both databases.

use axum::http::StatusCode;
use chat_protocol::{ContentItem, ContentKind, PageHead};
use chat_test_servers::at_once;
use serde_json::{Value as Json, json};

use super::route_tests::{call, ok};
use super::*;
use crate::Service;
use crate::accounts::Role;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::transaction;
use crate::visitors::fixture::{number, rows, service};

const RULES: &str = "/sites/shop/publishing-rules";
const DRY_RUN: &str = "/sites/shop/publishing-rules/dry-run";

/// Returns rules of version 0: page heads below `/blog` are published.
fn blog_rules() -> Json {
    json!({
        "version": 0, "otherwise": "review", "hourlyLimit": 2,
        "rules": [{ "name": "Blog", "kind": "overlay", "paths": ["/blog"], "action": "publish" }],
    })
}

/// Returns the suggestion for a page with a title and a description, and without a preview.
fn suggestion(path: &str) -> Suggestion {
    let head = PageHead {
        title: Some(format!("The page {path}")),
        description: Some(format!("How we fire celadon, as the page {path} tells at length.")),
        ..PageHead::default()
    };
    with_head(path, head)
}

fn with_head(path: &str, head: PageHead) -> Suggestion {
    let mut item = ContentItem::new(path, ContentKind::Page);
    item.path = Some(path.to_owned());
    item.title = Some(format!("The page {path}"));
    item.data = head.into_data();
    Suggestion::of(&item).expect("a path")
}

/// Lets pages arrive in one sync.
async fn arrive(service: &Service, site: &'static str, now_ms: i64, paths: &[&str]) {
    let suggestions = paths.iter().map(|path| suggestion(path)).collect();
    transaction!(service.db(), |tx| suggest_overlays(tx, now_ms, site, suggestions).await)
        .await
        .expect("suggested");
}

/// Returns the status and the decision of the entry with a path.
async fn entry(service: &Service, path: &str) -> (String, Json) {
    let listed = ok(service, "GET", "/sites/shop/reviews", None).await;
    let entries = listed["reviews"].as_array().expect("a list");
    let entry = entries.iter().find(|entry| entry["path"] == path).expect("the entry");
    (entry["status"].as_str().expect("a status").to_owned(), entry["decision"].clone())
}

on_both_databases! {
    async fn what_matches_is_published_with_its_rule_and_the_rest_waits(database: &TestDatabase) {
        let service = service(database).await;
        let saved = ok(&service, "PUT", RULES, Some(blog_rules())).await;
        assert_eq!((&saved["version"], &saved["rules"][0]["name"]), (&json!(1), &json!("Blog")));
        assert_eq!(ok(&service, "GET", RULES, None).await, saved);

        let now_ms = service.now_ms();
        arrive(&service, "shop", now_ms, &["/blog/a", "/shop/b"]).await;
        assert_eq!(entry(&service, "/blog/a").await, ("queued".to_owned(), Json::Null));
        let waits = json!({ "action": "review", "rule": null, "reason": "rule" });
        assert_eq!(entry(&service, "/shop/b").await, ("draft".to_owned(), waits));
        let jobs = ok(&service, "GET", "/sites/shop/jobs", None).await;
        assert_eq!((&jobs["jobs"][0]["automatic"], &jobs["jobs"][0]["decidedBy"]), (&json!(true), &json!("Blog")));

        let listed = ok(&service, "GET", "/sites/shop/reviews?status=draft", None).await;
        let approve = format!("/sites/shop/reviews/{}/approve", listed["reviews"][0]["id"].as_str().expect("an id"));
        ok(&service, "POST", &approve, None).await;
        let jobs = ok(&service, "GET", "/sites/shop/jobs", None).await;
        assert_eq!((&jobs["jobs"][0]["automatic"], &jobs["jobs"][0]["decidedBy"]), (&json!(false), &json!("Grace")));
    }

    async fn a_composed_text_waits_for_a_person_or_a_rule_that_names_it(database: &TestDatabase) {
        let service = service(database).await;
        let arrives = async |path: &'static str| {
            let lead = "Each mug is thrown, glazed and fired in our own studio in Leeds.".to_owned();
            let head = PageHead { title: Some("Our mugs".to_owned()), lead: Some(lead), ..PageHead::default() };
            let now_ms = service.now_ms();
            let suggestions = vec![with_head(path, head)];
            transaction!(service.db(), |tx| suggest_overlays(tx, now_ms, "shop", suggestions).await)
                .await
                .expect("suggested");
            entry(&service, path).await
        };
        let mut rules = blog_rules();
        (rules["otherwise"], rules["rules"][0]["paths"]) = (json!("publish"), json!(["/blog"]));
        ok(&service, "PUT", RULES, Some(rules.clone())).await;
        let waits = |rule: Json| json!({ "action": "review", "rule": rule, "reason": "composed" });
        assert_eq!(arrives("/mugs").await, ("draft".to_owned(), waits(json!(null))));
        assert_eq!(arrives("/blog/a").await, ("draft".to_owned(), waits(json!("Blog"))), "it names no part");
        (rules["version"], rules["rules"][0]["fields"]) = (json!(1), json!(["description"]));
        ok(&service, "PUT", RULES, Some(rules.clone())).await;
        assert_eq!(arrives("/blog/b").await.0, "draft", "the preview has the text too");
        (rules["version"], rules["rules"][0]["fields"]) = (json!(2), json!(["description", "openGraph"]));
        ok(&service, "PUT", RULES, Some(rules)).await;
        assert_eq!(arrives("/blog/c").await.0, "queued");
    }

    async fn what_exceeds_the_maximum_of_an_hour_waits_and_says_why(database: &TestDatabase) {
        let service = service(database).await;
        ok(&service, "PUT", RULES, Some(blog_rules())).await;
        let now_ms = service.now_ms();
        arrive(&service, "shop", now_ms, &["/blog/a"]).await;
        arrive(&service, "shop", now_ms, &["/blog/b", "/blog/c"]).await;
        for (path, expected) in [("/blog/a", "queued"), ("/blog/b", "queued"), ("/blog/c", "draft")] {
            assert_eq!(entry(&service, path).await.0, expected, "{path}");
        }
        let limited = json!({ "action": "review", "rule": "Blog", "reason": "limit" });
        assert_eq!(entry(&service, "/blog/c").await.1, limited);
        // Publications by people and of other sites do not count.
        assert_eq!(number(service.db(), "SELECT count(*) FROM jobs WHERE automatic = 1", vec![]).await, 2);

        arrive(&service, "shop", now_ms + 3_600_001, &["/blog/d"]).await;
        assert_eq!(entry(&service, "/blog/d").await.0, "queued", "an hour later");
    }

    async fn syncs_at_the_same_time_share_the_maximum(database: &TestDatabase) {
        let service = service(database).await;
        ok(&service, "PUT", RULES, Some(blog_rules())).await;
        let now_ms = service.now_ms();
        at_once(6, |number| {
            let service = service.clone();
            async move { arrive(&service, "shop", now_ms, &[&format!("/blog/{number}")]).await }
        })
        .await;
        assert_eq!(number(service.db(), "SELECT count(*) FROM jobs", vec![]).await, 2);
        assert_eq!(number(service.db(), "SELECT count(*) FROM reviews WHERE status = 'draft'", vec![]).await, 4);
    }

    async fn an_article_is_published_by_a_rule_that_names_it(database: &TestDatabase) {
        let service = service(database).await;
        let article = |path: &str, content: &str| {
            json!({ "title": "News of the studio", "path": path, "locale": "en", "content": content })
        };
        let mut rules = blog_rules();
        rules["otherwise"] = json!("publish");
        ok(&service, "PUT", RULES, Some(rules)).await;
        ok(&service, "POST", "/sites/shop/reviews", Some(article("/blog/a", "<p>x</p>"))).await;
        assert_eq!(entry(&service, "/blog/a").await.0, "draft", "the rule is about page heads");

        let mut rules = blog_rules();
        (rules["version"], rules["rules"][0]["kind"]) = (json!(1), json!("article"));
        ok(&service, "PUT", RULES, Some(rules)).await;
        ok(&service, "POST", "/sites/shop/reviews", Some(article("/blog/b", "<p>x</p>"))).await;
        assert_eq!(entry(&service, "/blog/b").await.0, "queued");
        ok(&service, "POST", "/sites/shop/reviews", Some(article("/blog/c", "<img src=x onerror=x()>"))).await;
        let problem = json!({ "action": "review", "rule": "Blog", "reason": "problem" });
        assert_eq!(entry(&service, "/blog/c").await, ("draft".to_owned(), problem));
    }

    async fn a_dry_run_decides_about_what_waits_and_changes_nothing(database: &TestDatabase) {
        let service = service(database).await;
        let now_ms = service.now_ms();
        arrive(&service, "shop", now_ms, &["/blog/a", "/blog/b", "/blog/c", "/shop/d", "//evil.example"]).await;
        arrive(&service, "rival", now_ms, &["/blog/e"]).await;
        let mut rules = blog_rules();
        rules["rules"] = json!([
            { "name": "Odd", "paths": ["//evil.example"], "action": "publish" },
            { "name": "Blog", "paths": ["/blog"], "action": "publish" },
        ]);
        let run = ok(&service, "POST", DRY_RUN, Some(rules)).await;
        let counts = ["publishes", "reviews", "problems", "overLimit"].map(|name| run[name].as_i64());
        assert_eq!(counts, [2, 1, 1, 1].map(Some), "{run}");
        let items = run["items"].as_array().expect("a list");
        let decided = |path: &str| {
            items.iter().find(|item| item["path"] == path).map(|item| item["decision"].clone()).expect("the entry")
        };
        assert_eq!(decided("//evil.example"), json!({ "action": "review", "rule": "Odd", "reason": "problem" }));
        assert_eq!(decided("/shop/d"), json!({ "action": "review", "rule": null, "reason": "rule" }));
        // The newest ones come first.
        assert_eq!(decided("/blog/c"), json!({ "action": "publish", "rule": "Blog", "reason": "rule" }));
        assert_eq!(decided("/blog/a"), json!({ "action": "review", "rule": "Blog", "reason": "limit" }));
        assert_eq!((items.len(), &run["hasMore"]), (5, &json!(false)));

        assert_eq!(number(service.db(), "SELECT count(*) FROM jobs", vec![]).await, 0);
        assert_eq!(ok(&service, "GET", RULES, None).await["version"], 0);
        assert_eq!(entry(&service, "/blog/a").await, ("draft".to_owned(), Json::Null));
    }

    async fn a_dry_run_shows_fifty_entries_and_counts_all(database: &TestDatabase) {
        let service = service(database).await;
        let paths: Vec<String> = (0..120).map(|number| format!("/blog/{number}")).collect();
        arrive(&service, "shop", service.now_ms(), &paths.iter().map(String::as_str).collect::<Vec<_>>()).await;
        let run = ok(&service, "POST", DRY_RUN, Some(blog_rules())).await;
        assert_eq!((&run["publishes"], &run["overLimit"]), (&json!(2), &json!(118)));
        assert_eq!(run["items"].as_array().map(Vec::len), Some(50));
    }

    async fn two_editors_do_not_overwrite_each_other(database: &TestDatabase) {
        let service = service(database).await;
        let put = |rules: Json| call(&service, ("acme", Role::Admin), "PUT", RULES, Some(rules));
        let (first, second) = tokio::join!(put(blog_rules()), put(blog_rules()));
        let mut statuses = [first.0, second.0];
        statuses.sort();
        assert_eq!(statuses, [StatusCode::OK, StatusCode::CONFLICT]);
        let (status, json) = put(blog_rules()).await;
        assert_eq!((status, &json["error"]["code"]), (StatusCode::CONFLICT, &json!("RESOURCE_CONFLICT")));

        // The switch among the site's settings is the last rule.
        let sql = "SELECT publishing_version FROM sites WHERE id = 'shop'";
        let site = crate::sites::find(service.db(), "shop").await.expect("read").expect("the site");
        let change = crate::sites::SiteChange { publishing: Some("automatic".to_owned()), ..Default::default() };
        let key = service.0.options.key.clone();
        transaction!(service.db(), |tx| crate::sites::change(tx, &key, &site, change).await)
            .await
            .expect("changed");
        assert_eq!(number(service.db(), sql, vec![]).await, 2);
        assert_eq!(ok(&service, "GET", RULES, None).await["otherwise"], "publish");
        assert_eq!(number(service.db(), "SELECT count(*) FROM audit", vec![]).await, 1, "of the one that was saved");
    }

    async fn the_audit_log_has_the_rules_before_and_after(database: &TestDatabase) {
        let service = service(database).await;
        ok(&service, "PUT", RULES, Some(blog_rules())).await;
        let row = &rows(service.db(), "SELECT action, target, detail FROM audit", vec![]).await[0];
        let detail: Json = serde_json::from_str(&row.text(2).expect("a text")).expect("JSON");
        let texts = [0, 1].map(|column| row.text(column).expect("a text"));
        assert_eq!(texts, ["site.publishing_rules", "shop"]);
        assert_eq!((&detail["before"]["rules"], &detail["before"]["version"]), (&json!([]), &json!(0)));
        assert_eq!((&detail["after"]["rules"][0]["name"], &detail["after"]["version"]), (&json!("Blog"), &json!(1)));
    }

    async fn only_admins_of_the_tenant_change_and_try_rules(database: &TestDatabase) {
        let service = service(database).await;
        for (method, path) in [("GET", RULES), ("PUT", RULES), ("POST", DRY_RUN)] {
            let body = (method != "GET").then(blog_rules);
            let (status, _) = call(&service, ("other", Role::Owner), method, path, body.clone()).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{method} {path}");
            let (status, _) = call(&service, ("acme", Role::Agent), method, path, body).await;
            let expected = if method == "GET" { StatusCode::OK } else { StatusCode::FORBIDDEN };
            assert_eq!(status, expected, "{method} {path}");
        }
        assert_eq!(number(service.db(), "SELECT max(publishing_version) FROM sites", vec![]).await, 0);
    }

    async fn refuses_invalid_rules_and_names_the_field(database: &TestDatabase) {
        let service = service(database).await;
        let with = |name: &str, value: Json| {
            let mut rules = blog_rules();
            rules["rules"][0][name] = value;
            rules
        };
        let paths: Vec<String> = (0..3).map(|tail| format!("/{}{tail}", "x".repeat(290))).collect();
        let many = (0..50).map(|number| json!({ "name": number.to_string(), "paths": paths }));
        let mut large = blog_rules();
        large["rules"] = many.collect();
        for (body, field) in [
            (with("name", json!("")), "rules[0].name"),
            (with("paths", json!(["blog"])), "rules[0].paths"),
            (with("paths", json!(["/a\u{0}b"])), "rules[0].paths"),
            (with("locales", json!(["<b>"])), "rules[0].locales"),
            (with("maxChange", json!(-1)), "rules[0].maxChange"),
            (with("author", json!("Ada")), "author"),
            (with("action", json!("delete")), "delete"),
            (with("paths", json!("/blog")), "paths"),
            (large, "rules must have at most"),
            (json!({ "version": 0, "hourlyLimit": 0 }), "hourlyLimit"),
        ] {
            for (method, path) in [("PUT", RULES), ("POST", DRY_RUN)] {
                if field == "rules must have at most" && method == "POST" {
                    continue;
                }
                let (status, json) = call(&service, ("acme", Role::Admin), method, path, Some(body.clone())).await;
                assert_eq!(status, StatusCode::BAD_REQUEST, "{field}: {json}");
                let message = json["error"]["message"].as_str().expect("a message");
                assert!(message.contains(field), "{field}: {message}");
            }
        }
        assert_eq!(ok(&service, "GET", RULES, None).await["version"], 0);
    }

    async fn hostile_names_and_paths_are_stored_and_matched_as_text(database: &TestDatabase) {
        let service = service(database).await;
        let name = "'); DROP TABLE sites; -- <script>alert(1)</script> {name} \u{202e}";
        let mut rules = blog_rules();
        rules["rules"] = json!([{ "name": name, "paths": ["/%_'\"\\<b>*", "/blog/(a+)+$"], "action": "publish" }]);
        let saved = ok(&service, "PUT", RULES, Some(rules)).await;
        assert_eq!(saved["rules"][0]["name"], name);
        arrive(&service, "shop", service.now_ms(), &["/blog/a", "/blog/(a+)+$"]).await;
        assert_eq!(entry(&service, "/blog/a").await.0, "draft");
        assert_eq!(entry(&service, "/blog/(a+)+$").await.0, "queued");
        assert_eq!(ok(&service, "GET", "/sites/shop/jobs", None).await["jobs"][0]["decidedBy"], name);
    }

    async fn rules_that_cannot_be_read_publish_nothing(database: &TestDatabase) {
        let service = service(database).await;
        let sql = "UPDATE sites SET publishing = 'automatic', publishing_rules = '[{\"name\": 7}]'";
        crate::visitors::fixture::execute(service.db(), sql, vec![]).await;
        arrive(&service, "shop", service.now_ms(), &["/blog/a"]).await;
        assert_eq!(entry(&service, "/blog/a").await.0, "draft");
    }
}
