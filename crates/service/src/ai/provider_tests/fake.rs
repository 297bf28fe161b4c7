//! A server that speaks a provider's published format, and is as strict as the strictest of them.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router};
use chat_protocol::admin::settings::AiProvider;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// The key that the provider expects.
pub(super) const KEY: &str = "sk-a-key-of-the-site";
/// The question that a provider's filter or model refuses.
pub(super) const BAD_QUESTION: &str = "How do I do harm?";
/// A message that a provider refuses to read anywhere in a conversation.
pub(super) const BAD_HISTORY: &str = "unreadable";

/// What a model or its server does that others do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quirk {
    /// It answers.
    None,
    /// Its template has no system role.
    NoSystem,
    /// It sends its thoughts as text before the answer.
    Thinks,
    /// It sends its thoughts as text and no answer.
    OnlyThinks,
    /// It sends its thoughts in a part or a member of their own.
    Parts,
    /// It refuses [`BAD_QUESTION`].
    Refuses,
    /// A filter of the provider refuses [`BAD_QUESTION`].
    Filters,
    /// It calls a tool.
    CallsTool,
    /// Its answer is cut off.
    IsCut,
    /// It sends a stream of events whatever was asked for.
    Streams,
    /// It compresses whatever was asked for.
    Compresses,
    /// It is busy once, with 429.
    IsBusy,
    /// It is overloaded once, with 503.
    IsOverloaded,
    /// It does not know the first model.
    HasNoFirstModel,
    /// It refuses [`BAD_HISTORY`].
    RefusesHistory,
    /// It does not take the key.
    RefusesKey,
    /// It has no balance left.
    IsUnpaid,
}

pub(super) const ANSWER: &str = "Yes, within 30 days.";
pub(super) const REFUSAL: &str = "I can't help with that.";

/// A fake provider.
#[derive(Clone)]
pub(super) struct Fake {
    provider: AiProvider,
    quirk: Quirk,
    /// The bodies that were received.
    pub(super) received: Arc<Mutex<Vec<Value>>>,
}

impl Fake {
    /// Starts a provider. Returns it, and the base address that a site stores.
    pub(super) async fn start(provider: AiProvider, quirk: Quirk) -> (Self, String) {
        let fake = Self { provider, quirk, received: Arc::default() };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let router = Router::new().fallback(answer).with_state(fake.clone());
        tokio::spawn(axum::serve(listener, router).into_future());
        let path: reqwest::Url = provider.base.parse().expect("an address");
        (fake, format!("{origin}{}", path.path()))
    }

    fn is(&self, id: &str) -> bool {
        self.provider.id == id
    }

    fn path(&self) -> &'static str {
        match self.provider.id {
            "anthropic" => "/v1/messages",
            "ollama" => "/api/chat",
            "azure" | "groq" => "/openai/v1/chat/completions",
            "gemini" => "/v1beta/openai/chat/completions",
            "openrouter" => "/api/v1/chat/completions",
            _ => "/v1/chat/completions",
        }
    }

    fn has_key(&self, headers: &HeaderMap) -> bool {
        let (name, value) = match self.provider.id {
            "azure" => ("api-key", KEY.to_owned()),
            "anthropic" => ("x-api-key", KEY.to_owned()),
            _ => ("authorization", format!("Bearer {KEY}")),
        };
        headers.get(name).is_some_and(|header| header == value.as_str())
            && (!self.is("anthropic") || headers.get("anthropic-version").is_some())
    }

    /// Returns an error in the provider's format.
    fn error(&self, status: u16, code: &str, message: &str) -> Response {
        let body = match self.provider.id {
            "anthropic" => json!({ "type": "error", "error": { "type": code, "message": message } }),
            "gemini" => json!([{ "error": { "code": status, "message": message, "status": code } }]),
            "mistral" => {
                json!({ "object": "error", "message": message, "type": code, "param": null, "code": "1500" })
            }
            "ollama" | "lmstudio" => json!({ "error": message }),
            "openrouter" => {
                let metadata = json!({ "raw": message, "provider_name": "Some" });
                json!({ "error": { "code": status, "message": "Provider returned error",
                    "metadata": metadata } })
            }
            "llamacpp" => json!({ "error": { "code": status, "message": message, "type": "server_error" } }),
            _ => {
                json!({ "error": { "message": message, "type": "invalid_request_error",
                "param": null, "code": code } })
            }
        };
        (StatusCode::from_u16(status).expect("a status"), Json(body)).into_response()
    }

    /// Returns what is wrong with a request, as the strictest provider finds.
    fn problem(&self, body: &Value) -> Option<String> {
        let allowed: &[&str] = match self.provider.id {
            "anthropic" => &["model", "messages", "system", "stream", "max_tokens"],
            "ollama" => &["model", "messages", "stream", "options"],
            // Models that think take neither a temperature nor max_tokens.
            _ => &["model", "messages", "stream"],
        };
        let members = body.as_object()?;
        if let Some(name) = members.keys().find(|name| !allowed.contains(&name.as_str())) {
            return Some(format!("Unsupported parameter: '{name}' is not supported with this model."));
        }
        if self.is("anthropic") && body["max_tokens"].as_u64().is_none() {
            return Some("max_tokens: Field required".to_owned());
        }
        let messages = body["messages"].as_array()?;
        let roles: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
        if self.is("anthropic") && roles.contains(&"system") {
            return Some("messages: Unexpected role \"system\".".to_owned());
        }
        if self.quirk == Quirk::NoSystem && (roles.contains(&"system") || !body["system"].is_null()) {
            return Some(
                match self.provider.id {
                    "openai" => {
                        "Unsupported value: 'messages[0].role' does not support 'system' with this model."
                    }
                    "gemini" => "Developer instruction is not enabled for models/gemma-3-27b-it",
                    "mistral" => "Conversation roles must alternate user/assistant/user/assistant/...",
                    "llamacpp" => "Jinja Exception: System role not supported",
                    _ => "System role not supported",
                }
                .to_owned(),
            );
        }
        let turns = roles.strip_prefix(&["system"]).unwrap_or(&roles);
        let alternates = turns.iter().enumerate().all(|(at, role)| *role == ["user", "assistant"][at % 2]);
        if !alternates || turns.last() != Some(&"user") {
            return Some("Conversation roles must alternate user/assistant/user/assistant/...".to_owned());
        }
        if self.quirk == Quirk::RefusesHistory && body["messages"].to_string().contains(BAD_HISTORY) {
            return Some("Invalid input in the conversation".to_owned());
        }
        None
    }

    /// Returns a response in the provider's format.
    fn completion(&self, content: &Value, finish: &str, members: &Value) -> Value {
        let mut message = json!({ "role": "assistant", "content": content });
        for (name, value) in members.as_object().into_iter().flatten() {
            message[name.as_str()] = value.clone();
        }
        match self.provider.id {
            "anthropic" => {
                let blocks = match content {
                    Value::String(text) => json!([{ "type": "text", "text": text }]),
                    Value::Null => json!([]),
                    blocks => blocks.clone(),
                };
                let finish = match finish {
                    "stop" => "end_turn",
                    "length" => "max_tokens",
                    "content_filter" => "refusal",
                    finish => finish,
                };
                json!({ "id": "msg_1", "type": "message", "role": "assistant", "content": blocks,
                    "stop_reason": finish, "usage": { "input_tokens": 9, "output_tokens": 9 } })
            }
            "ollama" => {
                json!({ "model": "m", "created_at": "2026-11-27T12:00:00Z", "message": message,
                    "done": true, "done_reason": finish, "eval_count": 9 })
            }
            _ => {
                json!({ "id": "1", "object": "chat.completion", "choices": [{ "index": 0, "message": message,
                "finish_reason": finish }], "usage": { "total_tokens": 18 } })
            }
        }
    }

    /// Returns a stream in the provider's format.
    fn stream(&self) -> Response {
        let mut text = String::new();
        if self.is("ollama") {
            for (content, done) in [("Yes, ", false), ("within 30 days.", false), ("", true)] {
                let chunk = json!({ "message": { "role": "assistant", "content": content }, "done": done });
                let _ = writeln!(text, "{chunk}");
            }
            return ([(header::CONTENT_TYPE, "application/x-ndjson")], text).into_response();
        }
        // OpenRouter keeps the connection open with comments.
        text.push_str(": OPENROUTER PROCESSING\n\n");
        for delta in [
            json!({ "role": "assistant", "content": "" }),
            json!({ "content": "Yes, " }),
            json!({ "content": "within 30 days." }),
        ] {
            let chunk = json!({ "object": "chat.completion.chunk",
                "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
            let _ = write!(text, "data: {chunk}\r\n\r\n");
        }
        text.push_str(
            "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        );
        ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
    }

    fn respond(&self, body: &Value, count: usize) -> Response {
        let text = |content: &str| Json(self.completion(&content.into(), "stop", &json!({}))).into_response();
        let question = body["messages"].as_array().and_then(|messages| messages.last()).map(Value::to_string);
        let is_bad = question.is_some_and(|question| question.contains(BAD_QUESTION));
        match self.quirk {
            Quirk::Thinks => text("<think>SECRET</think>\n\nYes, within 30 days."),
            Quirk::OnlyThinks if is_bad => text("<think>SECRET"),
            Quirk::Parts if self.is("ollama") => {
                Json(self.completion(&ANSWER.into(), "stop", &json!({ "thinking": "SECRET" })))
                    .into_response()
            }
            Quirk::Parts
                if ["deepseek", "vllm", "llamacpp", "lmstudio", "openrouter", "groq"]
                    .contains(&self.provider.id) =>
            {
                let thoughts = json!({ "reasoning_content": "SECRET", "reasoning": "SECRET" });
                Json(self.completion(&ANSWER.into(), "stop", &thoughts)).into_response()
            }
            Quirk::Parts => {
                let thoughts = match self.provider.id {
                    "mistral" => {
                        json!({ "type": "thinking", "thinking": [{ "type": "text", "text": "SECRET" }] })
                    }
                    _ => json!({ "type": "thinking", "thinking": "SECRET", "signature": "x" }),
                };
                let parts = json!([thoughts, { "type": "text", "text": "Yes, " },
                    { "type": "text", "text": "within 30 days." }]);
                Json(self.completion(&parts, "stop", &json!({}))).into_response()
            }
            Quirk::Refuses if is_bad && self.is("anthropic") => {
                Json(self.completion(&Value::Null, "content_filter", &json!({}))).into_response()
            }
            Quirk::Refuses if is_bad => {
                Json(self.completion(&Value::Null, "stop", &json!({ "refusal": REFUSAL }))).into_response()
            }
            Quirk::Filters if is_bad && self.is("azure") => self.error(
                400,
                "content_filter",
                "The response was filtered due to the prompt triggering a policy.",
            ),
            Quirk::Filters if is_bad && self.is("gemini") => {
                let filtered = json!({ "choices": [{ "index": 0,
                    "finish_reason": "content_filter: PROHIBITED_CONTENT" }] });
                Json(filtered).into_response()
            }
            Quirk::Filters if is_bad => {
                Json(self.completion(&"".into(), "content_filter", &json!({}))).into_response()
            }
            Quirk::CallsTool if is_bad && self.is("anthropic") => {
                let call = json!([{ "type": "tool_use", "id": "1", "name": "search", "input": {} }]);
                Json(self.completion(&call, "tool_use", &json!({}))).into_response()
            }
            Quirk::CallsTool if is_bad => {
                let calls = json!({ "tool_calls": [{ "id": "1", "type": "function",
                    "function": { "name": "search", "arguments": "{}" } }] });
                Json(self.completion(&Value::Null, "tool_calls", &calls)).into_response()
            }
            Quirk::IsCut => {
                Json(self.completion(&"Yes, within".into(), "length", &json!({}))).into_response()
            }
            Quirk::Streams if !self.is("anthropic") => self.stream(),
            Quirk::Compresses => compressed(&self.completion(&ANSWER.into(), "stop", &json!({}))),
            Quirk::IsBusy if count == 1 => {
                ([("retry-after", "0")], self.error(429, "rate_limit_exceeded", "Rate limit reached"))
                    .into_response()
            }
            Quirk::IsOverloaded if count == 1 => {
                let status = if self.is("anthropic") { 529 } else { 503 };
                ([("retry-after-ms", "5")], self.error(status, "overloaded_error", "Overloaded"))
                    .into_response()
            }
            Quirk::HasNoFirstModel if body["model"] == "first" => {
                let status =
                    if ["mistral", "openrouter", "lmstudio"].contains(&self.provider.id) { 400 } else { 404 };
                self.error(status, "model_not_found", "The model 'first' does not exist")
            }
            Quirk::IsUnpaid if self.is("anthropic") => {
                self.error(400, "invalid_request_error", "Your credit balance is too low to access the API.")
            }
            Quirk::IsUnpaid if ["deepseek", "openrouter"].contains(&self.provider.id) => {
                self.error(402, "payment_required", "Insufficient Balance")
            }
            Quirk::IsUnpaid => {
                self.error(429, "insufficient_quota", "You exceeded your quota (insufficient_quota).")
            }
            // DeepSeek keeps the connection open with blank lines.
            _ if self.is("deepseek") => {
                format!("\n\n\n{}", self.completion(&ANSWER.into(), "stop", &json!({}))).into_response()
            }
            _ => text(ANSWER),
        }
    }
}

fn compressed(body: &Value) -> Response {
    use std::io::Write;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(body.to_string().as_bytes()).expect("written");
    let bytes = gzip.finish().expect("compressed");
    ([(header::CONTENT_ENCODING, "gzip"), (header::CONTENT_TYPE, "application/json")], bytes).into_response()
}

async fn answer(State(fake): State<Fake>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).expect("JSON");
    let count = {
        let mut received = fake.received.lock().expect("not poisoned");
        received.push(body.clone());
        received.len()
    };
    if uri.path() != fake.path() {
        return fake.error(404, "not_found", "Not found");
    }
    if fake.quirk == Quirk::RefusesKey || !fake.has_key(&headers) {
        let words = format!("Incorrect API key provided: {KEY}");
        return fake.error(401, "invalid_api_key", &words);
    }
    if body["stream"] != false {
        return fake.stream();
    }
    if let Some(problem) = fake.problem(&body) {
        // llama.cpp answers with 500 when a template fails.
        let status = if fake.is("llamacpp") && problem.contains("Jinja") { 500 } else { 400 };
        return fake.error(status, "invalid_request_error", &problem);
    }
    fake.respond(&body, count)
}
