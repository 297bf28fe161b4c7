//! Sections 2.1 and 9.

use chat_service::API_BASE;
use serde_json::{Value, json};

use crate::api::{Answer, Api, fresh, has, item, send};

sentences! {
    a_success_has_ok_true_data_and_a_request_id,
    a_failure_has_ok_false_a_code_a_message_and_a_request_id,
    every_response_has_x_request_id_and_x_service_api_version,
    every_response_is_json,
    no_response_contains_the_token,
    an_unknown_path_or_method_gets_a_failure_envelope,
    a_body_that_is_not_json_gets_a_failure_envelope,
}

async fn successes(api: &Api) -> Vec<Answer> {
    let event = json!({ "events": [{ "eventType": "page_view" }] });
    let page = json!({ "snapshotId": fresh("snapshot"), "page": 1, "items": [item("A page")] });
    let sent = api.post("/chat/messages", &fresh("chat"), &json!({ "message": "Hello" })).await;
    let id = sent.data()["conversationId"].as_str().expect("an id").to_owned();
    let mut answers = vec![
        sent,
        api.get("/site/status").await,
        api.get("/chat/config").await,
        api.get("/chat/presence").await,
        api.get(&format!("/chat/messages?conversationId={id}")).await,
        api.get("/seo/overlays").await,
        api.post("/events", &fresh("events"), &event).await,
        api.post("/content/sync", &fresh("content-sync"), &page).await,
    ];
    if api.is_built_in() {
        answers.push(api.post("/site/jobs/next", &fresh("job-next"), &json!({})).await);
    }
    answers
}

async fn failures(api: &Api) -> Vec<Answer> {
    let token = format!("Bearer {}", api.token);
    vec![
        api.ask("GET", "/chat/config", None, None, None).await,
        api.get("/no/such/path").await,
        api.ask("DELETE", "/chat/messages", Some(&token), None, None).await,
        not_json(api, "{").await,
        api.get("/chat/messages?conversationId=conv_of_nobody").await,
        api.post("/chat/messages", &fresh("chat"), &json!({})).await,
        api.post("/events", &fresh("events"), &json!({ "events": [] })).await,
        api.post("/events", "short", &json!({ "events": [{ "eventType": "page_view" }] })).await,
        api.post("/site/jobs/job_none/complete", &fresh("job"), &json!({ "ok": true, "claimToken": "x" }))
            .await,
    ]
}

async fn not_json(api: &Api, body: &'static str) -> Answer {
    let request = api.request("POST", &format!("{API_BASE}/chat/messages")).bearer_auth(&api.token);
    send(request.header("content-type", "application/json").body(body)).await
}

async fn all(api: &Api) -> Vec<Answer> {
    let mut answers = successes(api).await;
    answers.extend(failures(api).await);
    answers
}

async fn a_success_has_ok_true_data_and_a_request_id(api: Api) {
    for answer in successes(&api).await {
        answer.data();
        has(&answer.json(), &[("/data", Value::is_object), ("/requestId", Value::is_string)]);
    }
}

async fn a_failure_has_ok_false_a_code_a_message_and_a_request_id(api: Api) {
    for answer in failures(&api).await {
        let body = answer.json();
        assert_eq!(body["ok"], false);
        for name in ["/error/code", "/error/message", "/requestId"] {
            has(&body, &[(name, Value::is_string)]);
        }
    }
}

async fn every_response_has_x_request_id_and_x_service_api_version(api: Api) {
    for answer in all(&api).await {
        assert!(answer.header("x-request-id").is_some(), "{answer:?}");
        if api.is_built_in() {
            assert_eq!(answer.header("x-request-id"), answer.json()["requestId"].as_str());
        }
        assert!(answer.header("x-service-api-version").is_some(), "{answer:?}");
    }
}

async fn every_response_is_json(api: Api) {
    for answer in all(&api).await {
        let content_type = answer.header("content-type").unwrap_or_default();
        assert!(content_type.starts_with("application/json"), "{answer:?}");
    }
}

async fn no_response_contains_the_token(api: Api) {
    for answer in all(&api).await {
        assert!(!format!("{answer:?}").contains(&api.token), "{answer:?}");
    }
}

async fn an_unknown_path_or_method_gets_a_failure_envelope(api: Api) {
    for path in ["/no/such/path", "/site/jobs", "/site/jobs//complete", "/chat", "/"] {
        api.get(path).await.is_failure(404, "NOT_FOUND");
    }
    let token = format!("Bearer {}", api.token);
    for (method, path) in [("DELETE", "/chat/messages"), ("GET", "/events"), ("POST", "/chat/config")] {
        api.ask(method, path, Some(&token), None, None).await.is_refused();
    }
}

async fn a_body_that_is_not_json_gets_a_failure_envelope(api: Api) {
    for body in ["", "{", "message=Hello", "{\"message\":\"Hello\"} {}", "{\"message\":\"\\ud800\"}"] {
        not_json(&api, body).await.is_failure(400, "INVALID_REQUEST");
    }
}
