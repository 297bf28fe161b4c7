//! Sections 2.1 and 9.

use serde_json::{Value, json};

use crate::api::{Answer, Api, fresh, has};

sentences! {
    a_success_has_ok_true_data_and_a_request_id,
    a_failure_has_ok_false_a_code_a_message_and_a_request_id,
    every_response_has_x_request_id_and_x_service_api_version,
}

async fn successes(api: &Api) -> Vec<Answer> {
    let event = json!({ "events": [{ "eventType": "page_view" }] });
    vec![
        api.get("/site/status").await,
        api.get("/chat/config").await,
        api.get("/chat/presence").await,
        api.get("/seo/overlays").await,
        api.post("/chat/messages", &fresh("chat"), &json!({ "message": "Hello" })).await,
        api.post("/events", &fresh("events"), &event).await,
    ]
}

async fn failures(api: &Api) -> Vec<Answer> {
    vec![
        api.ask("GET", "/chat/config", None, None, None).await,
        api.post("/chat/messages", &fresh("chat"), &json!({})).await,
        api.post("/events", &fresh("events"), &json!({ "events": [] })).await,
        api.post("/site/jobs/job_none/complete", &fresh("job"), &json!({ "ok": true, "claimToken": "x" }))
            .await,
    ]
}

async fn a_success_has_ok_true_data_and_a_request_id() {
    for answer in successes(&Api::connect().await).await {
        answer.data();
        has(&answer.json(), &[("/data", Value::is_object), ("/requestId", Value::is_string)]);
    }
}

async fn a_failure_has_ok_false_a_code_a_message_and_a_request_id() {
    for answer in failures(&Api::connect().await).await {
        let body = answer.json();
        assert_eq!(body["ok"], false);
        for name in ["/error/code", "/error/message", "/requestId"] {
            has(&body, &[(name, Value::is_string)]);
        }
    }
}

async fn every_response_has_x_request_id_and_x_service_api_version() {
    let api = Api::connect().await;
    let mut answers = successes(&api).await;
    answers.extend(failures(&api).await);
    for answer in answers {
        assert!(answer.header("x-request-id").is_some(), "{answer:?}");
        assert!(answer.header("x-service-api-version").is_some(), "{answer:?}");
    }
}
