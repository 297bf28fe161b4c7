//! The member `data` of each event, as `docs/webhooks.md` describes it.

use chat_protocol::Value;

use crate::clock::iso;

/// `conversation.created`. `verified` are the fields of the visitor's profile that the site has proved.
pub(crate) fn conversation_created(
    conversation_id: &str,
    visitor_id: Option<&str>,
    verified: &[String],
    locale: Option<&str>,
    source_page: Option<&str>,
) -> Value {
    Value::object([
        ("conversationId", conversation_id.into()),
        ("visitorId", visitor_id.into()),
        ("verifiedFields", texts(verified)),
        ("locale", locale.into()),
        ("sourcePage", source_page.into()),
    ])
}

/// A message, as `message.created` describes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MessageData<'a> {
    pub(crate) conversation_id: &'a str,
    /// The message's number in its conversation.
    pub(crate) seq: i64,
    /// visitor, assistant, operator or system
    pub(crate) role: &'a str,
    pub(crate) content: &'a str,
    pub(crate) operator_name: Option<&'a str>,
    /// What became of the visitor's message, in the AI's answer to it.
    pub(crate) outcome: Option<&'static str>,
    pub(crate) created_ms: i64,
}

/// `message.created`
pub(crate) fn message_created(message: MessageData<'_>) -> Value {
    Value::object([
        ("conversationId", message.conversation_id.into()),
        ("number", message.seq.into()),
        ("role", message.role.into()),
        ("content", message.content.into()),
        ("operatorName", message.operator_name.into()),
        ("outcome", message.outcome.into()),
        ("createdAt", iso(message.created_ms).into()),
    ])
}

/// `conversation.assigned`; `None` when the conversation is given back to everybody.
pub(crate) fn conversation_assigned(conversation_id: &str, operator: Option<(&str, &str)>) -> Value {
    Value::object([
        ("conversationId", conversation_id.into()),
        ("operatorId", operator.map(|(id, _)| id).into()),
        ("operatorName", operator.map(|(_, name)| name).into()),
    ])
}

/// `conversation.closed`, `conversation.reopened` and `handoff.requested`
pub(crate) fn conversation_changed(conversation_id: &str) -> Value {
    Value::object([("conversationId", conversation_id.into())])
}

/// `lead.updated`. `lead` is what is known, such as name and e-mail address, and `verified` are the fields of
/// the visitor's profile that the site has proved.
pub(crate) fn lead_updated(conversation_id: &str, verified: &[String], lead: Value, score: i64) -> Value {
    Value::object([
        ("conversationId", conversation_id.into()),
        ("verifiedFields", texts(verified)),
        ("lead", lead),
        ("score", score.into()),
    ])
}

fn texts(list: &[String]) -> Value {
    Value::List(list.iter().map(|text| text.as_str().into()).collect())
}

/// `job.completed`
pub(crate) fn job_completed(job_id: &str, kind: &str, status: &str, title: &str) -> Value {
    Value::object([
        ("jobId", job_id.into()),
        ("jobType", kind.into()),
        ("status", status.into()),
        ("title", title.into()),
    ])
}
