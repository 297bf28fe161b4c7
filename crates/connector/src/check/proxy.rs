//! The checks of a proxy.

use chat_protocol::{ChatConfig, ConversationId, ErrorCode, History, Presence, SendResult, Tracking, Value};
use reqwest::Method;
use uuid::Uuid;

use super::requests::{ProxyClient, ProxyResponse};

type Note<'a> = dyn FnMut(&'static str, Result<(), String>) + Send + 'a;

/// Runs the checks that send no messages and no events.
pub(super) async fn reading(client: &ProxyClient, note: &mut Note<'_>) {
    let config = client.get("/chat/config?locale=en-US").await;
    note("GET /chat/config responds with a config in an envelope", parses::<ChatConfig>(&config));
    note("responses have X-Request-Id and X-Service-API-Version", with(&config, has_headers));
    note("responses have the content type JSON", with(&config, is_json));
    note("responses are not cached", with(&config, is_not_cached));
    note("responses have neither cookies nor an Authorization header", with(&config, keeps_secrets));
    let presence = client.get("/chat/presence").await;
    note("GET /chat/presence responds with a presence in an envelope", parses::<Presence>(&presence));
    let unknown = client.get("/chat/messages?conversationId=conv_that_does_not_exist").await;
    note("GET /chat/messages responds with an envelope", with(&unknown, is_envelope));
    // If this were forwarded, it would change nothing: it has no body, and the job does not exist.
    for (requirement, method, path) in [
        ("GET /site/status is not forwarded", Method::GET, "/site/status"),
        ("GET /seo/overlays is not forwarded", Method::GET, "/seo/overlays"),
        ("POST /content/sync is not forwarded", Method::POST, "/content/sync"),
        ("POST /site/jobs/{id}/complete is not forwarded", Method::POST, "/site/jobs/none/complete"),
        ("a path with .. is not forwarded", Method::GET, "/chat/..%2fsite/status"),
    ] {
        let body = (method == Method::POST).then_some("application/json");
        let response = client.send(method, path, body, None, "").await;
        note(requirement, with(&response, is_not_forwarded));
    }
    let form = client.send(Method::POST, "/events", Some("text/plain"), None, "{\"events\":[]}").await;
    note("a POST without the content type JSON is not forwarded", with(&form, is_not_forwarded));
    let large = format!("{{\"message\":\"{}\"}}", "x".repeat(4 * 1024 * 1024));
    let large = client.send(Method::POST, "/chat/messages", Some("application/json"), None, &large).await;
    // Some servers refuse the body by closing the connection.
    note("a body of 4 MiB is refused", large.map_or(Ok(()), |response| is_client_error(&response)));
}

/// Runs the checks that start a conversation and send events.
pub(super) async fn writing(client: &ProxyClient, note: &mut Note<'_>) {
    let run = Uuid::new_v4().simple().to_string();
    let text = "This is a check of the chat's proxy: Grüße, 你好, \u{1F44B} & \"quotes\".";
    let key = format!("chat-check-{run}-1");
    let body = Value::object([
        ("message", text.into()),
        ("locale", "en-US".into()),
        ("visitor", Value::object([("visitorId", format!("check-{run}").into())])),
    ]);
    let sent = client.post("/chat/messages", Some(&key), &body).await;
    note("POST /chat/messages responds with a result in an envelope", parses::<SendResult>(&sent));
    let again = client.post("/chat/messages", Some(&key), &body).await;
    note("the same key and body give the same response", same(&sent, &again));
    let other = Value::object([("message", "Another message under the same key.".into())]);
    let conflict = client.post("/chat/messages", Some(&key), &other).await;
    let is_conflict = |response: &ProxyResponse| response.is_failure(409, &ErrorCode::IdempotencyConflict);
    note("the same key with another body is 409 IDEMPOTENCY_CONFLICT", with(&conflict, is_conflict));

    match sent.as_ref().map_err(Clone::clone).and_then(ProxyResponse::data::<SendResult>) {
        Ok(sent) => conversation(client, note, &sent.conversation_id, text).await,
        Err(problem) => note("a conversation can be read", Err(problem)),
    }

    let invalid = |response: &ProxyResponse| response.is_failure(400, &ErrorCode::InvalidRequest);
    for (requirement, path, body) in [
        (
            "an empty message is 400 INVALID_REQUEST",
            "/chat/messages",
            Value::object([("message", "".into())]),
        ),
        (
            "a message of 4,001 characters is 400 INVALID_REQUEST",
            "/chat/messages",
            Value::object([("message", "x".repeat(4001).into())]),
        ),
        ("no events are 400 INVALID_REQUEST", "/events", Value::object([("events", Value::List(vec![]))])),
        ("51 events are 400 INVALID_REQUEST", "/events", events(&run, 51)),
    ] {
        let response = client.post(path, Some(&format!("check-{}", Uuid::new_v4().simple())), &body).await;
        note(requirement, with(&response, invalid));
    }
    let tracked = client.post("/events", Some(&format!("events-check-{run}")), &events(&run, 50)).await;
    note(
        "50 events are accepted",
        with(&tracked, |response| {
            let tracking: Tracking = response.data()?;
            let total = tracking.accepted + tracking.rejected;
            if total == 50 {
                Ok(())
            } else {
                Err(format!("expected accepted and rejected to total 50, got {total}"))
            }
        }),
    );
}

async fn conversation(client: &ProxyClient, note: &mut Note<'_>, id: &ConversationId, text: &str) {
    let path = format!("/chat/messages?conversationId={}", encoded(id.as_str()));
    let history = client.get(&path).await;
    let read = history.as_ref().map_err(Clone::clone).and_then(ProxyResponse::data::<History>);
    let first = read.and_then(|history| {
        let written = history.messages.iter().filter(|message| message.content == text);
        match written.count() {
            1 => Ok(history.messages[0].id.clone()),
            count => Err(format!("expected the message once, got it {count} times")),
        }
    });
    note("a message that was sent twice is stored once, unchanged", first.clone().map(drop));
    if let Ok(Some(after)) = first {
        let path = format!("{path}&after={}", encoded(after.as_str()));
        let newer = client.get(&path).await;
        note(
            "after returns the messages after it",
            with(&newer, |response| {
                let history: History = response.data()?;
                let repeated = history.messages.iter().any(|message| message.id.as_ref() == Some(&after));
                if repeated { Err("the response contains the message itself".to_owned()) } else { Ok(()) }
            }),
        );
    }
    let path = format!("/chat/presence?conversationId={}", encoded(id.as_str()));
    let presence = client.get(&path).await;
    note("GET /chat/presence responds for a conversation", parses::<Presence>(&presence));
    let body = Value::object([("conversationId", id.into()), ("message", "And this continues it.".into())]);
    let key = format!("chat-check-{}-2", Uuid::new_v4().simple());
    let continued = client.post("/chat/messages", Some(&key), &body).await;
    note(
        "a message with its conversationId continues the conversation",
        with(&continued, |response| {
            let result: SendResult = response.data()?;
            if result.conversation_id == *id {
                Ok(())
            } else {
                Err("the response names another conversation".to_owned())
            }
        }),
    );
}

fn events(run: &str, count: usize) -> Value {
    let event = || {
        Value::object([
            ("eventType", "page_view".into()),
            ("visitorId", format!("check-{run}").into()),
            ("path", "/check".into()),
        ])
    };
    Value::object([("events", (0..count).map(|_| event()).collect())])
}

fn encoded(text: &str) -> String {
    reqwest::Url::parse_with_params("x:", [("", text)])
        .ok()
        .and_then(|url| url.query().map(|query| query.trim_start_matches('=').to_owned()))
        .unwrap_or_default()
}

fn parses<T: TryFrom<Value, Error = chat_protocol::FieldError>>(
    response: &Result<ProxyResponse, String>,
) -> Result<(), String> {
    with(response, |response| response.data::<T>().map(drop))
}

fn with(
    response: &Result<ProxyResponse, String>,
    check: impl FnOnce(&ProxyResponse) -> Result<(), String>,
) -> Result<(), String> {
    response.as_ref().map_err(Clone::clone).and_then(check)
}

fn same(first: &Result<ProxyResponse, String>, second: &Result<ProxyResponse, String>) -> Result<(), String> {
    with(first, |first| {
        with(second, |second| {
            let read = |response: &ProxyResponse| {
                response.data::<SendResult>().map(|sent| (sent.conversation_id, sent.user_message_id))
            };
            if read(first)? == read(second)? {
                Ok(())
            } else {
                Err("the request was executed twice: forward Idempotency-Key".to_owned())
            }
        })
    })
}

fn has_headers(response: &ProxyResponse) -> Result<(), String> {
    for name in ["x-request-id", "x-service-api-version"] {
        response.header(name).ok_or_else(|| format!("{name} is missing: return it to the browser"))?;
    }
    Ok(())
}

fn is_json(response: &ProxyResponse) -> Result<(), String> {
    let content_type = response.header("content-type").unwrap_or_default();
    if content_type.to_ascii_lowercase().starts_with("application/json") {
        Ok(())
    } else {
        Err(format!("invalid Content-Type: expected application/json, got {content_type:?}"))
    }
}

fn is_not_cached(response: &ProxyResponse) -> Result<(), String> {
    let directives = response.header("cache-control").unwrap_or_default().to_ascii_lowercase();
    let shared = directives.contains("public") || directives.contains("s-maxage");
    if directives.contains("no-store") || (directives.contains("private") && !shared) {
        Ok(())
    } else {
        Err(format!("invalid Cache-Control: expected no-store, got {directives:?}"))
    }
}

fn keeps_secrets(response: &ProxyResponse) -> Result<(), String> {
    for name in ["set-cookie", "authorization", "proxy-authorization"] {
        if response.headers.contains_key(name) {
            return Err(format!("the response has the header {name}: remove it"));
        }
    }
    Ok(())
}

fn is_envelope(response: &ProxyResponse) -> Result<(), String> {
    let value: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    match value.get("ok") {
        Some(Value::Bool(_)) => Ok(()),
        _ => Err(format!("expected an envelope, got {} without one", response.status)),
    }
}

fn is_not_forwarded(response: &ProxyResponse) -> Result<(), String> {
    match response.status {
        // The service itself has responded, so the proxy has forwarded the request.
        _ if response.headers.contains_key("x-service-api-version") => {
            Err(format!("the service answered {}: forward the five paths only", response.status))
        }
        400..=499 => Ok(()),
        status => Err(format!("expected 404, got {status}")),
    }
}

fn is_client_error(response: &ProxyResponse) -> Result<(), String> {
    if (400..500).contains(&response.status) {
        Ok(())
    } else {
        Err(format!("expected a status from 400 to 499, got {}", response.status))
    }
}
