//! Section 5.

use chat_protocol::{Endpoint, Method, ServerEndpoint};
use serde_json::json;

use crate::api::{Api, fresh};

sentences! {
    every_endpoint_except_activation_requires_the_bearer_token,
    a_401_has_the_message_of_the_contract,
    activation_needs_no_authorization_header,
}

fn calls() -> Vec<(&'static str, String)> {
    let name = |method| if method == Method::Get { "GET" } else { "POST" };
    let chat = Endpoint::ALL.iter().map(|call| (name(call.method()), call.path().to_owned()));
    let server = ServerEndpoint::ALL.iter().filter(|call| call.needs_token());
    chat.chain(server.map(|call| (name(call.method()), call.path().replace("{id}", "job_1")))).collect()
}

async fn every_endpoint_except_activation_requires_the_bearer_token() {
    let api = Api::connect().await;
    for (method, path) in calls() {
        for token in [None, Some("Bearer wrong"), Some("Basic eDp5")] {
            let answer = api.ask(method, &path, token, None, (method == "POST").then_some(&json!({}))).await;
            answer.is_failure(401, "INVALID_TOKEN");
        }
    }
}

async fn a_401_has_the_message_of_the_contract() {
    let answer = Api::connect().await.ask("GET", "/chat/config", None, None, None).await;
    assert_eq!(answer.json()["error"]["message"], "Missing or invalid API token.");
}

async fn activation_needs_no_authorization_header() {
    let api = Api::connect().await;
    let body = json!({ "licenseCode": "no-such-license", "domain": "https://shop.example" });
    let answer = api.ask("POST", "/auth/activate", None, Some(&fresh("activate")), Some(&body)).await;
    assert_eq!(answer.json()["ok"], false, "the license is invalid");
    assert_ne!(answer.json()["error"]["code"], "INVALID_TOKEN");
}
