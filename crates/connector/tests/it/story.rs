//! All steps once: from a license code to a visitor who reads the published article.

use std::future::pending;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::Router;
use chat_connector::client::{ServerConnectorClient, SyncRun};
use chat_connector::jobs::{JobRunner, Journal, RunnerOptions};
use chat_connector::proxy::{self, ProxyOptions};
use chat_connector::static_site::{StaticSite, StaticSiteOptions, items};
use chat_protocol::Activation;
use chat_service::test_mode::LICENSE;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tower_http::services::ServeDir;

use crate::service::{Service, http};

const PAGES: i64 = 120;

#[tokio::test]
async fn activates_syncs_chats_and_publishes_end_to_end() {
    let service = Service::start().await;
    let directory = tempfile::tempdir().expect("a directory");
    let root = directory.path().join("www");
    std::fs::create_dir(&root).expect("a directory");
    for number in 0..PAGES {
        let page = format!(
            "<html><head><title>Glaze {number}</title></head><body><main><p>Glaze Celadon{number} is fired at {} \
             degrees.</p></main></body></html>",
            1000 + number
        );
        std::fs::write(root.join(format!("glaze-{number}.html")), page).expect("a page");
    }

    // The server exchanges the license code for the token.
    let body = Activation {
        license_code: LICENSE.into(),
        domain: "https://shop.example".to_owned(),
        platform: None,
        site_name: Some("Shop".to_owned()),
        primary_locale: Some("en".to_owned()),
        supported_locales: vec!["en".to_owned()],
    };
    let site = ServerConnectorClient::activate(&service.options(), &body).await.expect("a token");
    let client = ServerConnectorClient::new(service.options(), &site.token).expect("a client");

    // Pushes the pages to the service.
    let pushed = AtomicI64::new(0);
    let content = items(&root, "https://shop.example").expect("pages");
    let synced = client
        .sync_content_pages(stream::iter(content), &SyncRun::new("first"), |progress| {
            pushed.store(progress.accepted, Ordering::Relaxed);
        })
        .await
        .expect("a sync");
    assert_eq!((synced.accepted, synced.rejected, pushed.into_inner()), (PAGES, 0, PAGES));

    // Serves the site with its pages and the proxy.
    let options = ProxyOptions::new(service.origin(), site.token.clone());
    let app = Router::new()
        .nest("/connector", proxy::router(options).expect("a proxy"))
        .fallback_service(ServeDir::new(&root));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let shop = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(axum::serve(listener, app).into_future());

    // A visitor asks about one of the pages.
    let question = json!({ "message": "At how many degrees is Celadon87 fired?" });
    let url = format!("{shop}/connector/chat/messages");
    let answer = http().post(url).json(&question).send().await.expect("an answer");
    let answer: Value = answer.json().await.expect("JSON");
    let answer_text = answer["data"]["message"]["content"].as_str().expect("text");
    assert!(answer_text.contains("1087 degrees") && answer_text.contains("/glaze-87.html"), "{answer_text}");

    // An operator publishes an article and approves all overlays.
    let article = json!({ "title": "The new kiln", "path": "/kiln", "content": "<p>It is warm.</p>" });
    service.add_job("publish_article", article).await;
    let overlay =
        json!({ "path": "/kiln", "title": "The new kiln of the shop", "description": "Warm since May" });
    service.add_job("apply_seo_overlay", overlay).await;
    service.local("POST", "/sandbox/overlays", None).await;

    // The runner executes the jobs.
    let handler = StaticSite::new(StaticSiteOptions {
        root: root.clone(),
        state: directory.path().join("state"),
        origin: "https://shop.example".to_owned(),
        template: None,
    });
    let options =
        RunnerOptions { until_empty: true, interval: Duration::from_millis(5), ..RunnerOptions::default() };
    let runner = JobRunner::new(client, handler, Journal::in_memory(), options);
    let summary = runner.run(pending()).await.expect("runs");
    assert_eq!((summary.succeeded, summary.failed, summary.unreported), (122, 0, 0));

    // A visitor sees the result.
    let page = http().get(format!("{shop}/kiln/")).send().await.expect("a page").text().await.expect("text");
    assert!(page.contains("It is warm.") && page.contains("content=\"Warm since May\""), "{page}");
    let glaze =
        http().get(format!("{shop}/glaze-7.html")).send().await.expect("a page").text().await.expect("text");
    assert!(glaze.contains("Celadon7 ") && glaze.contains("application/ld+json"), "{glaze}");
}
