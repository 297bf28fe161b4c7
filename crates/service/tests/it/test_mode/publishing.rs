//! From content to a published page: sync, review, job, overlay (1.3, 4.2, 4.3, 4.9, 4.10).

use crate::test_mode::client::{Client, TOKEN};
use axum::body::Body;
use axum::http::Request;
use chat_service::API_BASE;
use chat_service::test_mode::{LICENSE, Publishing, TestMode, TestModeError, TestOptions};
use serde_json::{Value, json};

fn glaze() -> Value {
    json!({
        "externalId": "glaze", "type": "article", "path": "/glaze", "title": "How we glaze",
        "content": "<p>Every pot is dipped twice.</p><p>Celadon is fired at 1280 degrees.</p>",
        "url": "https://shop.example/glaze",
        "data": { "head": { "title": "How we glaze", "description": "Every pot is dipped twice and fired once.",
            "canonical": "http://localhost:1313/glaze" } }
    })
}

async fn sync(client: &Client, items: &[Value]) -> Value {
    let page = json!({ "snapshotId": "s1", "page": 1, "items": items });
    client.post("/content/sync", None, &page).await.data()
}

async fn ask(client: &Client, question: &str) -> String {
    let data = client.post("/chat/messages", None, &json!({ "message": question })).await.data();
    data["message"]["content"].as_str().expect("text").to_owned()
}

#[tokio::test]
async fn activation_exchanges_a_license_code_for_the_token() {
    let client = Client::new().await;
    let activate = |license: &'static str| {
        let body = json!({
            "licenseCode": license, "domain": "https://shop.example", "platform": "rust",
            "siteName": "Shop", "primaryLocale": "de-DE", "supportedLocales": ["de-DE", "en"]
        });
        let request = Request::post(format!("{API_BASE}/auth/activate"))
            .header("content-type", "application/json")
            .body(Body::from(body.to_string()));
        let client = client.clone();
        async move { client.send(request.expect("a request")).await }
    };
    assert_eq!(activate("wrong").await.failure(), (400, "INVALID_REQUEST".to_owned()));
    assert_eq!(activate(LICENSE).await.data()["siteToken"], TOKEN);

    let status = client.get("/site/status").await.data();
    assert_eq!((&status["siteName"], &status["domain"]), (&json!("Shop"), &json!("https://shop.example")));
    assert_eq!(status["tracking"], "enabled");
    let config = client.get("/chat/config").await.data();
    assert_eq!(config["supportedLocales"], json!(["de-DE", "en"]));
    assert_eq!(config["locale"], "de-DE");
}

#[tokio::test]
async fn the_assistant_answers_from_synced_content() {
    let client = Client::new().await;
    assert!(ask(&client, "How long does delivery take?").await.contains("working days"));
    let receipt = sync(&client, &[glaze()]).await;
    assert_eq!((&receipt["accepted"], &receipt["rejected"]), (&json!(1), &json!(0)));
    let answer = ask(&client, "At how many degrees is the celadon fired?").await;
    assert_eq!(
        answer, "Every pot is dipped twice.\nCeladon is fired at 1280 degrees.",
        "a path is no link while the site's origin is unknown"
    );
    let activation = json!({ "licenseCode": LICENSE, "domain": "https://shop.example/", "platform": "rust", "siteName": "Shop" });
    client.post("/auth/activate", None, &activation).await.data();
    let answer = ask(&client, "At how many degrees is the celadon fired?").await;
    let expected = "Every pot is dipped twice.\nCeladon is fired at 1280 degrees.\n\n\
        [How we glaze](https://shop.example/glaze)";
    assert_eq!(answer, expected);
    let unknown = ask(&client, "How long does delivery take?").await;
    assert!(
        unknown.contains("nothing about that on this site"),
        "the demo's shop is not this site: {unknown}"
    );
}

#[tokio::test]
async fn rejects_invalid_items_and_accepts_the_others() {
    let client = Client::new().await;
    let foreign = json!({ "externalId": "2", "type": "page", "locale": "en_US" });
    let receipt = sync(&client, &[glaze(), json!({ "type": "page" }), foreign]).await;
    assert_eq!((&receipt["accepted"], &receipt["rejected"]), (&json!(1), &json!(2)));
}

#[tokio::test]
async fn automatic_mode_queues_suggestions() {
    let publishing = Publishing::Automatic;
    let client = Client::with(TestOptions { publishing, ..TestOptions::new(TOKEN.into()) }).await;
    sync(&client, &[glaze()]).await;
    let job = client.post("/site/jobs/next", None, &json!({})).await.data()["job"].clone();
    assert_eq!(job["type"], "apply_seo_overlay");
    assert_eq!(job["payload"]["canonicalUrl"], "https://shop.example/glaze");
}

#[tokio::test]
async fn keeps_its_data_after_a_restart() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = Some(directory.path().join("sandbox.sqlite"));
    let options = || TestOptions { data: data.clone(), ..TestOptions::new(TOKEN.into()) };
    let key = Some("chat-v1-0001");
    let hello = json!({ "message": "At how many degrees is the celadon fired?" });
    let before = {
        let client = Client::with(options()).await;
        sync(&client, &[glaze()]).await;
        client.local("POST", "/sandbox/overlays", None).await;
        let answer = client.post("/chat/messages", key, &hello).await;
        client.mode.close().await;
        answer
    };
    let client = Client::with(options()).await;
    assert_eq!(client.post("/chat/messages", key, &hello).await.body, before.body, "the key is remembered");
    let conversation = before.data()["conversationId"].as_str().expect("an id").to_owned();
    assert_eq!(client.history(&conversation).await.len(), 2);
    assert_eq!(client.get("/seo/overlays").await.data()["overlays"][0]["path"], "/glaze");
    assert_eq!(client.post("/site/jobs/next", None, &json!({})).await.data()["job"]["status"], "running");
}

#[tokio::test]
async fn refuses_an_invalid_data_file_by_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("notes.txt");
    std::fs::write(&file, "not a database, but long enough to look like one. ".repeat(40)).expect("a file");
    let refused = TestMode::open(TestOptions { data: Some(file), ..TestOptions::new(TOKEN.into()) }).await;
    let error = refused.expect_err("refused");
    assert!(matches!(error, TestModeError::Data { .. }));
    assert!(error.to_string().contains("notes.txt"), "{error}");
}
