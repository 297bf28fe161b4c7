//! Section 4.13: the proxy paths that `serve` has for the pages of its sites.

use serde_json::json;

use crate::api::{Api, fresh, send};

sentences! {
    [administered]
    the_proxy_paths_answer_as_the_api_does_without_the_token,
    only_the_paths_of_browsers_are_forwarded,
}

async fn the_proxy_paths_answer_as_the_api_does_without_the_token(api: Api) {
    let read = async |path: &str| send(api.of_page("GET", path)).await.data();
    for path in ["/chat/config?locale=en-US", "/chat/presence"] {
        assert_eq!(read(path).await, api.get(path).await.data());
    }
    let (key, body) = (fresh("chat"), json!({ "message": "Hello" }));
    let write = async |body| {
        let request = api.of_page("POST", "/chat/messages").header("idempotency-key", &key);
        send(request.json(body)).await
    };
    let sent = write(&body).await.data();
    for _ in 0..api.nodes() {
        assert_eq!(write(&body).await.data(), sent);
    }
    write(&json!({ "message": "Hello again" })).await.is_failure(409, "IDEMPOTENCY_CONFLICT");
    let id = sent["conversationId"].as_str().expect("an id");
    for path in [format!("/chat/messages?conversationId={id}"), format!("/chat/presence?conversationId={id}")]
    {
        assert_eq!(read(&path).await, api.get(&path).await.data());
    }
    let events = json!({ "events": [{ "eventType": "page_view", "visitorId": "v", "path": "/" }] });
    let request = api.of_page("POST", "/events").header("idempotency-key", fresh("events"));
    assert_eq!(send(request.json(&events)).await.data()["accepted"], 1);
}

async fn only_the_paths_of_browsers_are_forwarded(api: Api) {
    for (method, path) in [
        ("GET", "/site/status"),
        ("GET", "/seo/overlays"),
        ("POST", "/site/jobs/next"),
        ("POST", "/content/sync"),
        ("POST", "/auth/activate"),
    ] {
        send(api.of_page(method, path).json(&json!({}))).await.is_failure(404, "NOT_FOUND");
    }
}
