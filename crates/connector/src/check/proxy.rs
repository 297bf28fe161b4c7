//! The checks of a proxy.

use chat_protocol::{ChatConfig, ConversationId, ErrorCode, History, Presence, SendResult, Tracking, Value};
use reqwest::Method;
use uuid::Uuid;

use super::requests::{ProxyAnswer, ProxyClient};

type Note<'a> = dyn FnMut(&'static str, Result<(), String>) + Send + 'a;

/// Runs the checks that send no messages and no events.
pub(super) async fn reading(client: &ProxyClient, note: &mut Note<'_>) {
    let config = client.get("/chat/config?locale=en-US").await;
    note("GET /chat/config answers with a config in an envelope", said::<ChatConfig>(&config));
    note("an answer carries X-Request-Id and X-Service-API-Version", with(&config, has_headers));
    note("an answer is JSON, and says so", with(&config, is_json));
    note("an answer is stored by no cache", with(&config, is_not_cached));
    note("an answer sets no cookie and gives away no Authorization header", with(&config, keeps_secrets));
    let presence = client.get("/chat/presence").await;
    note("GET /chat/presence answers with a presence in an envelope", said::<Presence>(&presence));
    let unknown = client.get("/chat/messages?conversationId=conv_that_does_not_exist").await;
    note("GET /chat/messages answers in an envelope", with(&unknown, is_envelope));
    // If this were forwarded, it would change nothing: it has no body, and the job does not exist.
    for (sentence, method, path) in [
        ("GET /site/status is not passed on", Method::GET, "/site/status"),
        ("GET /seo/overlays is not passed on", Method::GET, "/seo/overlays"),
        ("POST /content/sync is not passed on", Method::POST, "/content/sync"),
        ("POST /site/jobs/{id}/complete is not passed on", Method::POST, "/site/jobs/none/complete"),
        ("a path that climbs out is not passed on", Method::GET, "/chat/..%2fsite/status"),
    ] {
        let body = (method == Method::POST).then_some("application/json");
        let answer = client.send(method, path, body, None, "").await;
        note(sentence, with(&answer, is_not_passed_on));
    }
    let form = client.send(Method::POST, "/events", Some("text/plain"), None, "{\"events\":[]}").await;
    note("a POST that is no JSON by its type is not passed on", with(&form, is_not_passed_on));
    let large = format!("{{\"message\":\"{}\"}}", "x".repeat(4 * 1024 * 1024));
    let large = client.send(Method::POST, "/chat/messages", Some("application/json"), None, &large).await;
    // Some servers close the connection instead of reading the body, which is a refusal too.
    note("a body of 4 MiB is refused", large.map_or(Ok(()), |answer| is_client_error(&answer)));
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
    note("POST /chat/messages answers with a result in an envelope", said::<SendResult>(&sent));
    let again = client.post("/chat/messages", Some(&key), &body).await;
    note("the same key and body give the same answer", same(&sent, &again));
    let other = Value::object([("message", "Another message under the same key.".into())]);
    let conflict = client.post("/chat/messages", Some(&key), &other).await;
    let is_conflict = |answer: &ProxyAnswer| answer.is_refusal(409, &ErrorCode::IdempotencyConflict);
    note("the same key with another body is 409 IDEMPOTENCY_CONFLICT", with(&conflict, is_conflict));

    match sent.as_ref().map_err(Clone::clone).and_then(ProxyAnswer::data::<SendResult>) {
        Ok(sent) => conversation(client, note, &sent.conversation_id, text).await,
        Err(problem) => note("a conversation can be read back", Err(problem)),
    }

    let invalid = |answer: &ProxyAnswer| answer.is_refusal(400, &ErrorCode::InvalidRequest);
    for (sentence, path, body) in [
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
        let answer = client.post(path, Some(&format!("check-{}", Uuid::new_v4().simple())), &body).await;
        note(sentence, with(&answer, invalid));
    }
    let tracked = client.post("/events", Some(&format!("events-check-{run}")), &events(&run, 50)).await;
    note(
        "50 events are taken",
        with(&tracked, |answer| {
            let tracking: Tracking = answer.data()?;
            let total = tracking.accepted + tracking.rejected;
            if total == 50 { Ok(()) } else { Err(format!("{total} of 50 are accounted for")) }
        }),
    );
}

async fn conversation(client: &ProxyClient, note: &mut Note<'_>, id: &ConversationId, text: &str) {
    let path = format!("/chat/messages?conversationId={}", encoded(id.as_str()));
    let history = client.get(&path).await;
    let read = history.as_ref().map_err(Clone::clone).and_then(ProxyAnswer::data::<History>);
    let first = read.and_then(|history| {
        let written = history.messages.iter().filter(|message| message.content == text);
        match written.count() {
            1 => Ok(history.messages[0].id.clone()),
            count => Err(format!("the message is there {count} times")),
        }
    });
    note("what was sent twice is there once, to the character", first.clone().map(drop));
    if let Ok(Some(after)) = first {
        let path = format!("{path}&after={}", encoded(after.as_str()));
        let newer = client.get(&path).await;
        note(
            "after gives the messages after it",
            with(&newer, |answer| {
                let history: History = answer.data()?;
                let repeated = history.messages.iter().any(|message| message.id.as_ref() == Some(&after));
                if repeated { Err("it gives the message itself again".to_owned()) } else { Ok(()) }
            }),
        );
    }
    let path = format!("/chat/presence?conversationId={}", encoded(id.as_str()));
    let presence = client.get(&path).await;
    note("GET /chat/presence answers for a conversation", said::<Presence>(&presence));
    let body = Value::object([("conversationId", id.into()), ("message", "And this continues it.".into())]);
    let key = format!("chat-check-{}-2", Uuid::new_v4().simple());
    let continued = client.post("/chat/messages", Some(&key), &body).await;
    note(
        "a message with its conversationId continues the conversation",
        with(&continued, |answer| {
            let result: SendResult = answer.data()?;
            if result.conversation_id == *id { Ok(()) } else { Err("it begins another one".to_owned()) }
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

fn said<T: TryFrom<Value, Error = chat_protocol::FieldError>>(
    answer: &Result<ProxyAnswer, String>,
) -> Result<(), String> {
    with(answer, |answer| answer.data::<T>().map(drop))
}

fn with(
    answer: &Result<ProxyAnswer, String>,
    check: impl FnOnce(&ProxyAnswer) -> Result<(), String>,
) -> Result<(), String> {
    answer.as_ref().map_err(Clone::clone).and_then(check)
}

fn same(first: &Result<ProxyAnswer, String>, second: &Result<ProxyAnswer, String>) -> Result<(), String> {
    with(first, |first| {
        with(second, |second| {
            let read = |answer: &ProxyAnswer| {
                answer.data::<SendResult>().map(|sent| (sent.conversation_id, sent.user_message_id))
            };
            if read(first)? == read(second)? {
                Ok(())
            } else {
                Err("it was carried out twice: is Idempotency-Key passed on?".to_owned())
            }
        })
    })
}

fn has_headers(answer: &ProxyAnswer) -> Result<(), String> {
    for name in ["x-request-id", "x-service-api-version"] {
        answer.header(name).ok_or_else(|| format!("{name} is missing: pass it back"))?;
    }
    Ok(())
}

fn is_json(answer: &ProxyAnswer) -> Result<(), String> {
    let told = answer.header("content-type").unwrap_or_default();
    if told.to_ascii_lowercase().starts_with("application/json") {
        Ok(())
    } else {
        Err(format!("Content-Type is {told:?}"))
    }
}

fn is_not_cached(answer: &ProxyAnswer) -> Result<(), String> {
    let told = answer.header("cache-control").unwrap_or_default().to_ascii_lowercase();
    let shared = told.contains("public") || told.contains("s-maxage");
    if told.contains("no-store") || (told.contains("private") && !shared) {
        Ok(())
    } else {
        Err(format!("Cache-Control is {told:?}: say no-store"))
    }
}

fn keeps_secrets(answer: &ProxyAnswer) -> Result<(), String> {
    for name in ["set-cookie", "authorization", "proxy-authorization"] {
        if answer.headers.contains_key(name) {
            return Err(format!("{name} comes back"));
        }
    }
    Ok(())
}

fn is_envelope(answer: &ProxyAnswer) -> Result<(), String> {
    let value: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    match value.get("ok") {
        Some(Value::Bool(_)) => Ok(()),
        _ => Err(format!("it answers {} without an envelope", answer.status)),
    }
}

fn is_not_passed_on(answer: &ProxyAnswer) -> Result<(), String> {
    match answer.status {
        // The service itself has responded, so the proxy has forwarded the request.
        _ if answer.headers.contains_key("x-service-api-version") => {
            Err(format!("the service answers {}: pass on the five paths only", answer.status))
        }
        400..=499 => Ok(()),
        status => Err(format!("it answers {status}, and not 404")),
    }
}

fn is_client_error(answer: &ProxyAnswer) -> Result<(), String> {
    if (400..500).contains(&answer.status) { Ok(()) } else { Err(format!("it answers {}", answer.status)) }
}
