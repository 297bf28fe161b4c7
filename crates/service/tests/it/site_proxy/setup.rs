//! The first steps of a site: its page is seen, and a website that was refused can be allowed.

use axum::body::Body;
use axum::http::HeaderValue;
use serde_json::{Value, json};

use crate::inbox::desk::{Desk, eventually};
use crate::site_proxy::page::{SHOP, get, of_page, request, shop_with, site_of};
use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::{Client, options};

const OTHER: &str = "https://www.shop.example";

/// Opens a service with a site whose pages are at [`SHOP`], and signs its owner in.
async fn desk(database: &TestDatabase) -> Desk {
    Desk::of(shop_with(options(database)).await, "Olga").await
}

async fn setup(desk: &Desk) -> Value {
    desk.get(&format!("/sites/{}/setup", desk.client.site.id)).await
}

/// Returns the status of a page's request for the config.
async fn ask(client: &Client, origin: &str) -> u16 {
    let request = of_page(client, "GET", "/chat/config", origin).body(Body::empty()).expect("a request");
    client.send(request).await.status.as_u16()
}

on_both_databases! {
    async fn a_page_of_an_allowed_origin_is_seen(database: &TestDatabase) {
        let desk = desk(database).await;
        let before = setup(&desk).await;
        assert_eq!((&before["hasAddress"], &before["pageFirstSeenAt"]), (&json!(true), &json!(null)));
        // A preview in the console has the service's own origin, or none.
        let own = request(&desk.client, "GET", "/chat/config").header("origin", "http://localhost");
        let mut own = own.body(Body::empty()).expect("a request");
        own.headers_mut().insert("host", HeaderValue::from_static("localhost"));
        assert_eq!(desk.client.send(own).await.status, 200);
        get(&desk.client, "/chat/presence").await.data();
        assert_eq!(setup(&desk).await["pageFirstSeenAt"], json!(null));
        assert_eq!(ask(&desk.client, SHOP).await, 200);
        eventually("seen", async || setup(&desk).await["pageLastSeenAt"].is_string()).await;
        let seen = setup(&desk).await;
        assert_eq!(seen["pageFirstSeenAt"], seen["pageLastSeenAt"]);
        assert_eq!(seen["refusedOrigins"], json!([]));
    }

    async fn a_config_that_the_sites_server_reads_for_a_page_is_a_page_that_is_seen(database: &TestDatabase) {
        let desk = desk(database).await;
        desk.client.get("/site/status").await.data();
        desk.client.get("/chat/presence").await.data();
        // A proxy that starts checks its token.
        desk.client.get("/chat/config").await.data();
        assert_eq!(setup(&desk).await["pageFirstSeenAt"], json!(null));
        desk.client.get("/chat/config?locale=en").await.data();
        eventually("seen", async || setup(&desk).await["pageFirstSeenAt"].is_string()).await;
    }

    async fn a_refused_website_is_shown_until_it_is_allowed(database: &TestDatabase) {
        let desk = desk(database).await;
        for _ in 0..3 {
            assert_eq!(ask(&desk.client, OTHER).await, 403);
        }
        eventually("refused", async || setup(&desk).await["refusedOrigins"][0]["count"] == 3).await;
        let refused = setup(&desk).await["refusedOrigins"].clone();
        assert_eq!((refused.as_array().map(Vec::len), &refused[0]["origin"]), (Some(1), &json!(OTHER)));
        assert!(refused[0]["lastAt"].is_string());
        let change = json!({ "allowedOrigins": [SHOP, OTHER] });
        desk.patch(&format!("/sites/{}", desk.client.site.id), &change).await.data();
        assert_eq!(setup(&desk).await["refusedOrigins"], json!([]));
        assert_eq!(ask(&desk.client, OTHER).await, 200);
        eventually("seen", async || setup(&desk).await["pageLastSeenAt"].is_string()).await;
    }

    async fn only_who_manages_the_site_is_told_and_no_other_tenant(database: &TestDatabase) {
        let desk = desk(database).await;
        let rival = Desk::of(site_of(&desk.client.service, &["https://rival.example"]).await, "Rita").await;
        assert_eq!(ask(&desk.client, OTHER).await, 403);
        eventually("refused", async || setup(&desk).await["refusedOrigins"][0]["origin"] == OTHER).await;
        let path = format!("/sites/{}/setup", desk.client.site.id);
        assert_eq!(rival.call("GET", &path, None).await.status, 404);
        let own = setup(&rival).await;
        assert_eq!((&own["refusedOrigins"], &own["operators"]), (&json!([]), &json!(1)));
        let ben = desk.invite("Ben", "agent").await;
        assert_eq!(ben.call("GET", &path, None).await.status, 403);
        let ada = desk.invite("Ada", "admin").await;
        assert_eq!(ada.call("GET", &path, None).await.status, 200);
    }

    async fn each_step_is_told_once_it_is_done(database: &TestDatabase) {
        let desk = desk(database).await;
        let site = desk.client.site.id.clone();
        let steps = async || {
            let setup = setup(&desk).await;
            let names = ["answers", "pages", "sources", "operators", "invitations", "hasConversations"];
            names.map(|name| setup[name].clone())
        };
        assert_eq!(steps().await, [json!(0), json!(0), json!(0), json!(1), json!(0), json!(false)]);
        let answer = json!({ "question": "Do you ship?", "answer": "Yes.", "locale": "en" });
        desk.post(&format!("/sites/{site}/answers"), &answer).await.data();
        let page = json!({ "snapshotId": "s", "page": 1, "items": [{
            "externalId": "1", "type": "page", "path": "/glaze", "title": "Glaze", "content": "<p>Celadon.</p>"
        }] });
        desk.client.post("/content/sync", None, &page).await.data();
        desk.post("/invitations", &json!({ "email": "ben@shop.example", "role": "agent" })).await.data();
        desk.client.begin("Hello").await;
        assert_eq!(steps().await, [json!(1), json!(1), json!(0), json!(1), json!(1), json!(true)]);
    }

    async fn a_new_site_takes_the_origin_of_its_address(database: &TestDatabase) {
        let desk = desk(database).await;
        let new = json!({ "name": "Bowls", "address": "Bowls.example/en" });
        let site = desk.post("/sites", &new).await.data();
        assert_eq!(site["allowedOrigins"], json!(["https://bowls.example"]));
        let settings = json!({ "allowedOrigins": ["https://shop.example"] });
        let new = json!({ "name": "Cups", "address": "http://localhost:8080", "settings": settings });
        let site = desk.post("/sites", &new).await.data();
        assert_eq!(site["allowedOrigins"], json!(["https://shop.example", "http://localhost:8080"]));
        let refused = desk.post("/sites", &json!({ "name": "Cups", "address": "*.shop.example" })).await;
        assert_eq!(refused.status, 400);
        assert!(refused.json()["error"]["message"].to_string().contains("address"), "{:?}", refused.body);
        assert_eq!(desk.get("/sites").await.as_array().map(Vec::len), Some(3));
    }
}
