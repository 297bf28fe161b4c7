//! The calls of a page are those of the connector API, for its site alone.

use axum::body::Body;
use serde_json::json;

use crate::site_proxy::page::{SHOP, get, of_page, of_page_of, post, preflight, shop, site_of};
use crate::support::Client;
use crate::support::databases::{Kind, TestDatabase, on_both_databases};

async fn begin(client: &Client, message: &str) -> String {
    let data = post(client, "/chat/messages", &json!({ "message": message })).await.data();
    data["conversationId"].as_str().expect("an id").to_owned()
}

on_both_databases! {
    async fn links_in_answers_lead_to_the_origin_of_the_page(database: &TestDatabase) {
        let staging = "https://staging.shop.example";
        let client = site_of(&shop(database).await.service, &[staging, SHOP]).await;
        let page = json!({ "snapshotId": "s", "page": 1, "items": [{
            "externalId": "1", "type": "page", "path": "/glaze", "title": "Glaze",
            "content": "<p>Celadon is fired at 1280 degrees.</p>"
        }] });
        client.post("/content/sync", None, &page).await.data();
        let question = json!({ "message": "How is celadon fired?", "sourcePage": "/glaze" });
        for origin in [staging, SHOP] {
            let request = of_page(&client, "POST", "/chat/messages", origin)
                .header("content-type", "application/json")
                .body(Body::from(question.to_string()));
            let answer = client.send(request.expect("a request")).await.data();
            let text = answer["message"]["content"].as_str().expect("text").to_owned();
            assert!(text.ends_with(&format!("[Glaze]({origin}/glaze)")), "{text}");
        }
        // The site's server does not tell the origin.
        let answer = client.post("/chat/messages", None, &question).await.data();
        let text = answer["message"]["content"].as_str().expect("text").to_owned();
        assert!(text.ends_with(&format!("[Glaze]({staging}/glaze)")), "{text}");
    }

    async fn a_page_reads_and_changes_nothing_of_another_site(database: &TestDatabase) {
        let one = shop(database).await;
        let other = site_of(&one.service, &[SHOP]).await;
        let conversation = begin(&one, "Hello").await;
        let path = format!("/chat/messages?conversationId={conversation}");
        assert_eq!(get(&other, &path).await.failure(), (404, "NOT_FOUND".to_owned()));
        let body = json!({ "message": "Let me in", "conversationId": conversation });
        assert_eq!(post(&other, "/chat/messages", &body).await.failure(), (404, "NOT_FOUND".to_owned()));
        let presence = get(&other, &format!("/chat/presence?conversationId={conversation}")).await.data();
        assert_eq!(presence["shouldPollMessages"], false);
        assert_eq!(one.history(&conversation).await[0].1, "Hello");
        assert_eq!(get(&one, &path).await.data()["messages"].as_array().map(Vec::len), Some(2));
    }

    async fn unknown_disabled_and_deleted_sites_are_alike(database: &TestDatabase) {
        let client = shop(database).await;
        let directory = client.service.directory();
        let look = async |site_id: &str| {
            let mut seen = Vec::new();
            for (method, path) in [
                ("GET", "/chat/config"),
                ("POST", "/chat/messages"),
                ("GET", "/chat/messages?conversationId=conv_1"),
                ("GET", "/chat/presence"),
                ("POST", "/events"),
                ("GET", "/site/status"),
            ] {
                let request = of_page_of(site_id, method, path, SHOP).body(Body::empty()).expect("a request");
                let answer = client.send(request).await;
                let mut headers: Vec<_> = answer.headers.keys().map(ToString::to_string).collect();
                headers.sort();
                let mut body = answer.json();
                body["requestId"].take();
                seen.push((answer.status.as_u16(), headers, body));
            }
            seen
        };
        let expected = look("site_00000000000000000000000000000000").await;
        assert_ne!(look(&client.site.id).await, expected);
        directory.set_site_disabled(&client.site.id, true).await.expect("disabled");
        assert_eq!(look(&client.site.id).await, expected);
        directory.set_site_disabled(&client.site.id, false).await.expect("enabled");
        assert_ne!(look(&client.site.id).await, expected);
        directory.set_tenant_disabled(&client.site.tenant_id, true).await.expect("disabled");
        assert_eq!(look(&client.site.id).await, expected);
        directory.set_tenant_disabled(&client.site.tenant_id, false).await.expect("enabled");
        directory.delete_site(&client.site.id).await.expect("deleted");
        assert_eq!(look(&client.site.id).await, expected);
    }

    async fn a_page_of_a_disabled_site_has_no_chat_and_keeps_its_conversation(database: &TestDatabase) {
        let client = shop(database).await;
        let conversation = begin(&client, "Hello").await;
        let directory = client.service.directory();
        directory.set_site_disabled(&client.site.id, true).await.expect("disabled");
        let config = get(&client, "/chat/config").await;
        assert_eq!(config.header("access-control-allow-origin"), Some("*"));
        let switches = &config.data()["config"];
        assert_eq!((&switches["enabled"], &switches["widgetEnabled"]), (&json!(false), &json!(false)));
        let preflight = preflight(&client, "/chat/messages", SHOP).await;
        assert_eq!((preflight.status.as_u16(), preflight.header("access-control-allow-origin")), (204, Some("*")));
        // After 404 NOT_FOUND, a widget would begin another conversation.
        let path = format!("/chat/messages?conversationId={conversation}");
        let body = json!({ "message": "Again", "conversationId": conversation });
        for refused in [get(&client, &path).await, post(&client, "/chat/messages", &body).await] {
            assert_eq!(refused.failure(), (403, "FORBIDDEN".to_owned()));
            assert_eq!(refused.header("access-control-allow-origin"), Some("*"));
        }
        directory.set_site_disabled(&client.site.id, false).await.expect("enabled");
        assert_eq!(get(&client, &path).await.data()["messages"].as_array().map(Vec::len), Some(2));
    }
}
