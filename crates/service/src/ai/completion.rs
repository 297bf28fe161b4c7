//! Reads what an endpoint answers: every format that is in use, whole or as a stream of events.

use reqwest::StatusCode;
use serde_json::Value;

use super::failure::{Failure, Fault, words_of};
use super::thinking::without_thoughts;

/// What an endpoint answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Completion {
    /// An answer.
    Answer(String),
    /// The model or a filter refuses to answer, with a text for the visitor if it gave one.
    Refusal(Option<String>),
}

/// The parts of a response, put together.
#[derive(Debug, Default)]
struct Parts {
    has_message: bool,
    text: String,
    refusal: String,
    /// Why the model stopped, in the provider's word.
    finish: String,
    has_tool_call: bool,
    has_thoughts: bool,
}

/// Reads the response to a request.
pub(super) fn read(status: StatusCode, body: &str) -> Result<Completion, Failure> {
    let chunks = chunks(body);
    let parts = chunks.iter().fold(Parts::default(), Parts::with);
    if !status.is_success() || (!parts.has_message && chunks.iter().any(has_error)) {
        return read_error(status, body, &chunks);
    }
    if !parts.has_message {
        let mut failure = Failure::new(Fault::Endpoint, "the response contains no message");
        failure.words = words_of(body).filter(|_| !chunks.is_empty());
        return Err(failure);
    }
    parts.completion()
}

/// Reads a response that is an error. Some servers send it with the status 200.
fn read_error(status: StatusCode, body: &str, chunks: &[Value]) -> Result<Completion, Failure> {
    let member = |name: &str| {
        chunks.iter().find_map(|chunk| {
            let chunk = chunk.get(0).unwrap_or(chunk);
            chunk.pointer(&format!("/error/{name}")).or_else(|| chunk.get(name))
        })
    };
    if member("code").and_then(Value::as_str) == Some("content_filter") {
        return Ok(Completion::Refusal(None));
    }
    let code = member("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
    let code = code.and_then(|code| StatusCode::from_u16(code).ok()).filter(|code| !code.is_success());
    let words = words_of(body).or_else(|| chunks.iter().find_map(|chunk| words_of(&chunk.to_string())));
    let is_ok = status.is_success();
    let status = if is_ok { code.unwrap_or(StatusCode::BAD_GATEWAY) } else { status };
    let failure = Failure::of_response(status, words, body);
    Err(if is_ok { Failure { reason: "the response is an error".to_owned(), ..failure } } else { failure })
}

fn has_error(chunk: &Value) -> bool {
    let chunk = chunk.get(0).unwrap_or(chunk);
    chunk.get("error").is_some_and(|error| !error.is_null())
}

/// Returns the JSON values of a body: one, or those of the events of a stream, or one on each line.
fn chunks(body: &str) -> Vec<Value> {
    // A byte order mark, and the blank lines by which some providers keep a connection open.
    let body = body.trim_start_matches('\u{feff}').trim();
    if let Ok(whole) = serde_json::from_str(body) {
        return vec![whole];
    }
    let data = |line: &str| line.strip_prefix("data:").unwrap_or(line).trim().to_owned();
    body.lines()
        .map(data)
        .filter_map(|line| serde_json::from_str::<Value>(&line).ok())
        .filter(Value::is_object)
        .collect()
}

impl Parts {
    fn with(mut self, chunk: &Value) -> Self {
        let choice = chunk.pointer("/choices/0");
        let message = choice.and_then(|choice| choice.get("message").or_else(|| choice.get("delta")));
        let message = message.filter(|message| message.is_object());
        // Ollama and Anthropic have no choices.
        let message = message.or_else(|| chunk.get("message").filter(|message| message.is_object()));
        let message = message.or_else(|| (chunk.get("type")? == "message").then_some(chunk));
        let reasons = [
            choice.and_then(|choice| choice.get("finish_reason")),
            chunk.get("done_reason"),
            chunk.get("stop_reason"),
        ];
        if let Some(reason) = reasons.into_iter().flatten().find_map(Value::as_str) {
            reason.clone_into(&mut self.finish);
        }
        // A filter may leave a choice without a message.
        self.has_message |=
            message.is_some() || choice.is_some_and(|choice| choice.get("finish_reason").is_some());
        let Some(message) = message else { return self };
        let text = |name: &str| message.get(name).and_then(Value::as_str).unwrap_or_default();
        self.push_content(message.get("content"));
        self.refusal.push_str(text("refusal"));
        self.has_thoughts |=
            ["reasoning_content", "reasoning", "thinking"].iter().any(|name| !text(name).is_empty());
        let calls =
            message.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty());
        self.has_tool_call |= calls || message.get("function_call").is_some_and(Value::is_object);
        self
    }

    fn push_content(&mut self, content: Option<&Value>) {
        let parts = match content {
            Some(Value::String(text)) => return self.text.push_str(text),
            Some(Value::Array(parts)) => parts,
            _ => return,
        };
        for part in parts {
            let text = |name: &str| part.get(name).and_then(Value::as_str).unwrap_or_default();
            match part.get("type").and_then(Value::as_str) {
                Some("refusal") => self.refusal.push_str(text("refusal")),
                Some("thinking" | "reasoning" | "redacted_thinking") => self.has_thoughts = true,
                Some("tool_use") => self.has_tool_call = true,
                Some("text" | "output_text") | None => {
                    self.text.push_str(part.as_str().unwrap_or_else(|| text("text")));
                }
                Some(_) => {}
            }
        }
    }

    fn completion(self) -> Result<Completion, Failure> {
        let finish = self.finish.to_ascii_lowercase();
        // Gemini appends the reason, such as `content_filter: PROHIBITED_CONTENT`.
        if ["content_filter", "safety", "prohibited_content"].iter().any(|filter| finish.starts_with(filter))
            || (finish == "refusal" && self.refusal.trim().is_empty())
        {
            return Ok(Completion::Refusal(None));
        }
        let refusal = self.refusal.trim();
        let text = without_thoughts(&self.text);
        if text.is_empty() && !refusal.is_empty() {
            return Ok(Completion::Refusal(Some(refusal.to_owned())));
        }
        let was_cut = matches!(finish.as_str(), "length" | "max_tokens" | "model_length");
        if text.is_empty() {
            let why = if self.has_tool_call {
                "the model calls a tool that nobody offered"
            } else if self.has_thoughts || !self.text.trim().is_empty() {
                "the model thought and gave no answer; another model, or a shorter thinking time, may help"
            } else if was_cut {
                "the answer was cut off before its first word; a longer context may help"
            } else {
                "the answer is empty"
            };
            return Err(Failure::new(Fault::Question, why));
        }
        let is_whole = !was_cut || text.ends_with(['.', '!', '?', '…', '。', '！', '？', '।', '؟', '`']);
        Ok(Completion::Answer(if is_whole { text } else { format!("{text} …") }))
    }
}
