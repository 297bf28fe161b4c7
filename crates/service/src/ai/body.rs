//! The body of a request, in the format of the endpoint.

use chat_protocol::Value;

use super::address::Format;
use super::prompt::{Prompt, Speaker};

/// Maximum tokens of an answer, for the format that must name them. The others have the limit of their model:
/// models that think count their thoughts as well, and refuse the usual name of the limit.
const MAX_ANSWER_TOKENS: i64 = 4096;

/// Returns the body of a request. It has nothing that some model refuses: no temperature, and no limit.
pub(super) fn body(format: Format, model: &str, context_tokens: u32, prompt: &Prompt) -> Value {
    let message =
        |role: &str, content: &str| Value::object([("role", role.into()), ("content", content.into())]);
    let turns = prompt.turns.iter().map(|(speaker, text)| {
        message(if *speaker == Speaker::Visitor { "user" } else { "assistant" }, text)
    });
    let system = prompt.system.as_deref();
    let (model, stream) = (("model", model.into()), ("stream", false.into()));
    if format == Format::Messages {
        let limit = ("max_tokens", MAX_ANSWER_TOKENS.into());
        return Value::object([
            model,
            limit,
            stream,
            ("system", system.into()),
            ("messages", Value::List(turns.collect())),
        ]);
    }
    let messages = system.map(|text| message("system", text)).into_iter().chain(turns);
    let context = || Value::object([("num_ctx", i64::from(context_tokens).into())]);
    let options = (format == Format::Ollama).then(context);
    Value::object([model, stream, ("messages", Value::List(messages.collect())), ("options", options.into())])
}
