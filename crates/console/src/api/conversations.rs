//! Conversations: lists, messages, and what operators do with them.

use chat_protocol::admin::{
    Conversation, ConversationChange, ConversationCounts, ConversationPage, ConversationSummary, Empty,
    Message, MessagePage, NewMessage, NewNote, Note, TakeOver, TypingState,
};

use super::{ApiError, get, patch, post, post_once};
use crate::location::{InboxQuery, Query, encode};

fn path(id: &str, rest: &str) -> String {
    format!("conversations/{}{rest}", encode(id))
}

/// Returns a page of a list. `before` is `next_before` of the page above it.
pub async fn list_conversations(
    query: &InboxQuery,
    before: Option<&str>,
    limit: u32,
) -> Result<ConversationPage, ApiError> {
    let parameters = Query::default()
        .with("view", Some(query.view.as_str()))
        .with("site", query.site.as_deref())
        .with("label", query.label.as_deref())
        .with("assignee", query.assignee.as_deref())
        .with("q", query.q.as_deref())
        .with("before", before)
        .with("limit", Some(&limit.to_string()));
    get(&format!("conversations{parameters}")).await
}

/// Returns the number of conversations of each view.
pub async fn conversation_counts() -> Result<ConversationCounts, ApiError> {
    get("conversations/counts").await
}

/// Returns a conversation with its last messages.
pub async fn conversation(id: &str) -> Result<Conversation, ApiError> {
    get(&path(id, "")).await
}

/// Returns the messages before a sequence.
pub async fn messages_before(id: &str, sequence: i64) -> Result<MessagePage, ApiError> {
    get(&path(id, &format!("/messages?before={sequence}&limit=50"))).await
}

/// Returns the messages after a sequence.
pub async fn messages_after(id: &str, sequence: i64) -> Result<MessagePage, ApiError> {
    get(&path(id, &format!("/messages?after={sequence}"))).await
}

/// Changes a conversation.
pub async fn change_conversation(
    id: &str,
    change: &ConversationChange,
) -> Result<ConversationSummary, ApiError> {
    patch(&path(id, ""), change).await
}

/// Takes a conversation over from the AI, or from the operator who had it on this screen.
pub async fn take_over(id: &str, from: Option<String>) -> Result<ConversationSummary, ApiError> {
    post(&path(id, "/take-over"), &TakeOver { from }).await
}

/// Sends a reply. The service stores it once for each key.
pub async fn send_reply(id: &str, key: &str, text: &str, close: bool) -> Result<Message, ApiError> {
    post_once(&path(id, "/messages"), key, &NewMessage { text: text.to_owned(), close }).await
}

/// Adds a note, which visitors never see. The service stores it once for each key.
pub async fn add_note(id: &str, key: &str, text: &str) -> Result<Note, ApiError> {
    post_once(&path(id, "/notes"), key, &NewNote { text: text.to_owned() }).await
}

/// Tells the other operators that this one is typing, or has stopped.
pub async fn tell_typing(id: &str, note: bool, stopped: bool) -> Result<Empty, ApiError> {
    post(&path(id, "/typing"), &TypingState { note, stopped }).await
}
