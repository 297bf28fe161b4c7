//! Section 5.

use chat_protocol::{Endpoint, Method, ServerEndpoint};
use serde_json::json;

use crate::api::{Api, fresh};

sentences! {
    every_endpoint_except_activation_requires_the_bearer_token,
    [administered]
    a_revoked_token_is_refused,
    the_token_of_a_disabled_site_is_refused,
    a_token_reads_and_changes_nothing_of_another_site,
}

/// The message of a 401.
const MISSING_TOKEN: &str = "Missing or invalid API token.";

fn calls() -> Vec<(&'static str, String)> {
    let name = |method| if method == Method::Get { "GET" } else { "POST" };
    let chat = Endpoint::ALL.iter().map(|call| (name(call.method()), call.path().to_owned()));
    let server = ServerEndpoint::ALL.iter().filter(|call| call.needs_token());
    chat.chain(server.map(|call| (name(call.method()), call.path().replace("{id}", "job_1")))).collect()
}

async fn every_endpoint_except_activation_requires_the_bearer_token(api: Api) {
    for (method, path) in calls() {
        let wrong = ["Bearer wrong", "Basic eDp5", "Bearer", "Bearer ", &api.token];
        for token in wrong.map(Some).into_iter().chain([None]) {
            let answer = api.ask(method, &path, token, None, (method == "POST").then_some(&json!({}))).await;
            answer.is_failure(401, "INVALID_TOKEN");
            assert_eq!(answer.json()["error"]["message"], MISSING_TOKEN);
        }
    }
}

/// Waits until all nodes refuse the token of the site.
async fn is_refused(api: &Api) {
    api.until_all_nodes(async || api.get("/chat/config").await.status == 401).await;
    for _ in 0..api.nodes() {
        let answer = api.get("/site/status").await;
        answer.is_failure(401, "INVALID_TOKEN");
        assert_eq!(answer.json()["error"]["message"], MISSING_TOKEN);
    }
}

async fn a_revoked_token_is_refused(api: Api) {
    for _ in 0..api.nodes() {
        api.get("/site/status").await.data();
    }
    let site = api.site();
    api.administer("DELETE", &format!("/sites/{}/tokens/{}", site.id, site.token_id), &json!({})).await;
    is_refused(&api).await;
}

async fn the_token_of_a_disabled_site_is_refused(api: Api) {
    for _ in 0..api.nodes() {
        api.get("/site/status").await.data();
    }
    let site = format!("/sites/{}", api.site().id);
    api.administer("POST", &format!("{site}/disable"), &json!({})).await;
    is_refused(&api).await;
    api.administer("POST", &format!("{site}/enable"), &json!({})).await;
    api.until_all_nodes(async || api.get("/chat/config").await.status == 200).await;
}

async fn a_token_reads_and_changes_nothing_of_another_site(api: Api) {
    let other = api.other_site("semi_automatic").await;
    let sent = api.say("Mine", None).await;
    let id = sent["conversationId"].as_str().expect("an id");
    let path = format!("/chat/messages?conversationId={id}");
    // Cached for the one, and still not there for the other.
    api.read(id, None).await;
    let unknown = "/chat/messages?conversationId=conv_of_nobody";
    for _ in 0..api.nodes() {
        let refused = other.get(&path).await;
        refused.is_failure(404, "NOT_FOUND");
        assert_eq!(refused.json()["error"], other.get(unknown).await.json()["error"]);
        let body = json!({ "message": "Theirs", "conversationId": id });
        other.post("/chat/messages", &fresh("chat"), &body).await.is_failure(404, "NOT_FOUND");
        let presence = other.get(&format!("/chat/presence?conversationId={id}")).await.data();
        assert_eq!(presence["shouldPollMessages"], false);
    }
    let job = api.claimed_job().await.expect("a job");
    let report = api.report(&job);
    other.complete(&job, &fresh("job-complete"), &report).await.is_failure(404, "NOT_FOUND");
    assert!(!api.read(id, None).await.to_string().contains("Theirs"));
    api.complete(&job, &fresh("job-complete"), &report).await.data();
}
