//! Why an endpoint gave no answer, in the provider's own words.

use std::collections::HashSet;

use chat_protocol::AiStatus;
use reqwest::StatusCode;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::Question;
use crate::text::truncate_words;

/// Maximum characters of the provider's words.
const MAX_WORDS_LENGTH: usize = 300;
/// Letters in a row that a log may have in common with a conversation.
const MAX_COMMON_LETTERS: usize = 11;
/// Letters in a row that anything may have in common with a key.
const MAX_COMMON_KEY_LETTERS: usize = 7;

/// What a failure is about, and so whom it concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The endpoint: the next request would probably fail as well, after a wait.
    Endpoint,
    /// The site's settings or its account: nobody gets an answer until somebody changes them.
    Settings,
    /// This question: another one may well be answered.
    Question,
}

/// The reason why an endpoint gave no answer.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    pub(super) status: AiStatus,
    pub(super) fault: Fault,
    /// What happened, in our words: neither the key nor words of visitors.
    pub(super) reason: String,
    /// What the provider said, which may contain both.
    pub(super) words: Option<String>,
}

impl Failure {
    pub(super) fn new(fault: Fault, reason: impl Into<String>) -> Self {
        Self { status: AiStatus::ProviderError, fault, reason: reason.into(), words: None }
    }

    /// Returns the failure that a response with an error means.
    pub(super) fn of_response(status: StatusCode, words: Option<String>, body: &str) -> Self {
        let is_unpaid = status == StatusCode::PAYMENT_REQUIRED
            || ["insufficient_quota", "credit balance is too low", "Insufficient Balance"]
                .iter()
                .any(|sign| body.contains(sign));
        let fault = match status {
            _ if is_unpaid => Fault::Settings,
            StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::NOT_FOUND
            | StatusCode::METHOD_NOT_ALLOWED => Fault::Settings,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => Fault::Endpoint,
            status if status.is_client_error() => Fault::Question,
            _ => Fault::Endpoint,
        };
        let status_of_reply = if is_unpaid { AiStatus::QuotaInsufficient } else { AiStatus::ProviderError };
        Self { status: status_of_reply, fault, reason: format!("the status is {status}"), words }
    }

    /// Returns the failure of both models.
    pub(super) fn and(self, second: Self) -> Self {
        let words = [self.words, second.words].into_iter().flatten().collect::<Vec<_>>().join(" / ");
        Self {
            reason: format!("{}; the second model: {}", self.reason, second.reason),
            words: (!words.is_empty()).then_some(words),
            ..second
        }
    }

    /// Returns the failure for the operators of the site, without the key.
    pub(super) fn for_operators(&self, key: Option<&SecretString>) -> String {
        let key = key.map(ExposeSecret::expose_secret).unwrap_or_default();
        match &self.words {
            Some(words) => {
                let words = without_copies(words, &[key], MAX_COMMON_KEY_LETTERS);
                format!("{}: {words}", self.reason)
            }
            None => self.reason.clone(),
        }
    }

    /// Returns the failure for the log, without the key and without anything that the conversation or the
    /// site's text says.
    pub(super) fn for_log(&self, key: Option<&SecretString>, question: &Question<'_>) -> String {
        let passages = question.passages.iter().flat_map(|passage| [passage.text.as_str(), &passage.title]);
        let turns = question.history.iter().map(|turn| turn.content.as_str());
        let contents: Vec<&str> = passages.chain(turns).chain(question.visited).collect();
        without_copies(&self.for_operators(key), &contents, MAX_COMMON_LETTERS)
    }
}

/// Returns what the provider says in a response, as one line; `None` if it says nothing.
pub(super) fn words_of(body: &str) -> Option<String> {
    let said = match serde_json::from_str::<Value>(body) {
        Ok(json) => said_in(&json)?,
        // Servers answer with a line of text where nobody listens; a web page says nothing.
        Err(_) if body.trim_start().starts_with(['<', '{', '[']) => return None,
        Err(_) => body.to_owned(),
    };
    let said = said.replace(|letter: char| letter.is_control(), " ");
    let said = truncate_words(&said, MAX_WORDS_LENGTH);
    (!said.is_empty()).then_some(said)
}

/// Returns the message of an error, in the formats of all providers.
fn said_in(json: &Value) -> Option<String> {
    match json {
        Value::String(text) => Some(text.clone()),
        // Gemini sends a list with one error, and frameworks a list of what is wrong with a request.
        Value::Array(items) => {
            let said: Vec<String> = items.iter().filter_map(said_in).take(3).collect();
            (!said.is_empty()).then(|| said.join("; "))
        }
        Value::Object(members) => {
            // OpenRouter passes on the message of the provider behind it.
            let inner = json.pointer("/metadata/raw").and_then(Value::as_str);
            let members =
                ["error", "message", "msg", "detail", "errors"].iter().filter_map(|name| members.get(*name));
            let said = members.filter(|value| !value.is_null()).find_map(said_in)?;
            Some(inner.map_or(said.clone(), |inner| format!("{said}: {inner}")))
        }
        _ => None,
    }
}

/// Returns a text with an ellipsis in place of everything that it has in common with other texts for more
/// than `max` letters in a row.
fn without_copies(text: &str, others: &[&str], max: usize) -> String {
    let letters = |text: &str| {
        let folded = text.char_indices().filter(|(_, letter)| letter.is_alphanumeric());
        folded.map(|(at, letter)| (at, letter.to_lowercase().next().unwrap_or(letter))).collect::<Vec<_>>()
    };
    let length = max + 1;
    let mut known: HashSet<String> = HashSet::new();
    for other in others {
        let other: Vec<char> = letters(other).into_iter().map(|(_, letter)| letter).collect();
        known.extend(other.windows(length).map(String::from_iter));
    }
    let own = letters(text);
    let mut is_copied = vec![false; own.len()];
    for (from, window) in own.windows(length).enumerate() {
        if known.contains(&window.iter().map(|(_, letter)| *letter).collect::<String>()) {
            is_copied[from..from + length].fill(true);
        }
    }
    let mut clean = String::with_capacity(text.len());
    let mut from = 0;
    let mut index = 0;
    while index < own.len() {
        if !is_copied[index] {
            index += 1;
            continue;
        }
        let end =
            is_copied[index..].iter().position(|copied| !copied).map_or(own.len(), |count| index + count);
        clean.push_str(&text[from..own[index].0]);
        clean.push('…');
        let last = own[end - 1].0;
        from = last + text[last..].chars().next().map_or(0, char::len_utf8);
        index = end;
    }
    clean.push_str(&text[from..]);
    clean
}

#[cfg(test)]
mod tests {
    use chat_protocol::Role;

    use super::super::Turn;
    use super::*;

    #[test]
    fn finds_the_words_of_every_provider() {
        for (body, expected) in [
            (
                r#"{"error":{"message":"Incorrect API key","type":"invalid_request_error","code":"invalid_api_key"}}"#,
                "Incorrect API key",
            ),
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "Overloaded"),
            (
                r#"[{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]"#,
                "API key not valid.",
            ),
            (
                r#"{"object":"error","message":"Invalid model: x","type":"invalid_model","code":"1500"}"#,
                "Invalid model: x",
            ),
            (
                r#"{"detail":[{"type":"extra_forbidden","loc":["body","x"],"msg":"Extra inputs are not permitted"}]}"#,
                "Extra inputs are not permitted",
            ),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (
                r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"System role not supported","provider_name":"x"}}}"#,
                "Provider returned error: System role not supported",
            ),
            (r#"{"error":"model 'x' not found"}"#, "model 'x' not found"),
            ("404 page not found\n", "404 page not found"),
            (r#"{"error":{"message":"two\nlines"}}"#, "two lines"),
        ] {
            assert_eq!(words_of(body).as_deref(), Some(expected), "{body}");
        }
        for body in ["", "{}", "<!doctype html><h1>Not found</h1>", "{\"cut", "[]", "{\"error\":null}", "7"] {
            assert_eq!(words_of(body), None, "{body}");
        }
        assert!(words_of(&"word ".repeat(1000)).expect("words").chars().count() <= MAX_WORDS_LENGTH + 1);
    }

    #[test]
    fn the_log_has_neither_the_key_nor_the_conversation() {
        let key = SecretString::from("sk-1234567890abcdef");
        let history = [Turn { role: Role::Visitor, content: "My order 4711 of Ann Lee is late".to_owned() }];
        let question = Question { history: &history, ..Question::default() };
        let words =
            "System role not supported, in 'my order 4711, of Ann Lee' with sk-1234567890abcdef".to_owned();
        let failure = Failure::of_response(StatusCode::BAD_REQUEST, Some(words), "");
        let reason = "the status is 400 Bad Request: System role not supported, in '";
        assert_eq!(failure.for_log(Some(&key), &question), format!("{reason}…' with …"));
        assert_eq!(failure.for_operators(Some(&key)), format!("{reason}my order 4711, of Ann Lee' with …"));
    }
}
