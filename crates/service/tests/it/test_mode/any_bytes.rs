//! Any request gets an envelope: never a panic, never an internal error.

use crate::test_mode::client::{TOKEN, cases, shared};
use axum::body::Body;
use axum::http::Request;
use chat_protocol::{Endpoint, ServerEndpoint};
use chat_service::API_BASE;
use proptest::prelude::*;

fn paths() -> impl Strategy<Value = String> {
    let mut known: Vec<String> = Endpoint::ALL.iter().map(|endpoint| endpoint.path().to_owned()).collect();
    known.extend(ServerEndpoint::ALL.iter().map(|endpoint| endpoint.path().replace("{id}", "job_1")));
    prop_oneof![proptest::sample::select(known), "/[a-z/%0-9?=&.]{0,40}"]
}

fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let field =
        "(message|events|items|snapshotId|page|ok|claimToken|licenseCode|domain|conversationId|visitor)";
    let value = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| format!("{number:e}")),
        any::<String>().prop_map(|text| serde_json::json!(text).to_string()),
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("[{}]".to_owned()),
        Just(r#"[{"externalId":"1","type":"page","title":"x","path":"/","content":"<p"}]"#.to_owned()),
    ];
    let object = prop::collection::vec((field, value), 0..6).prop_map(|members| {
        let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", members.join(",")).into_bytes()
    });
    prop_oneof![object, prop::collection::vec(any::<u8>(), 0..300)]
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn answers_any_request_with_an_envelope(
        method in "(GET|POST|PUT|DELETE|PATCH)",
        path in paths(),
        query in "[ -~]{0,30}",
        body in bodies(),
        key in proptest::option::of("[ -~]{0,20}"),
    ) {
        let uri = format!("{API_BASE}{path}{}{query}", if path.contains('?') { "&" } else { "?" });
        let mut request = Request::builder()
            .method(method.as_str())
            .uri(uri)
            .header("authorization", format!("Bearer {TOKEN}"))
            .header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        // An invalid address or header cannot be sent.
        let Ok(request) = request.body(Body::from(body)) else { return Ok(()) };
        let (runtime, client) = shared();
        let answer = runtime.block_on(client.send(request));
        let envelope = answer.json();
        prop_assert_eq!(envelope["ok"].as_bool(), Some(answer.status.is_success()));
        prop_assert!(envelope["requestId"].is_string());
        prop_assert!(answer.status.as_u16() < 500, "{} {}", answer.status, envelope);
    }
}
