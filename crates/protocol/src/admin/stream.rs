//! The events of `GET /stream`, which an open console follows.
//!
//! | event | data |
//! | --- | --- |
//! | `hello` | [`Hello`]: the first event of each connection |
//! | `conversation` | [`ConversationEvent`] |
//! | `removed` | `{"conversationId": "…"}`: it was erased |
//! | `typing` | [`Typing`] |
//! | `team` | a list of [`super::TeamMember`]: somebody came or left |
//! | `site` | `{"siteId": "…"}`: content, reviews, jobs or page views have changed |
//! | `settings` | `{}`: settings, labels, canned replies or people have changed |
//! | `reset` | null: changes were missed, load everything again |
//!
//! Each event has an id. A browser that connects again sends the last one in `Last-Event-ID`, and gets what
//! it has missed, or `reset` if that is too long ago.

use serde::{Deserialize, Serialize};

use super::{ConversationSummary, Message, Note, TeamMember};

/// The first event of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Hello {
    /// The id of this console, for `PUT /stream/{console}`.
    pub console_id: String,
    /// The tenant's operators.
    pub team: Vec<TeamMember>,
}

/// A conversation has changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConversationEvent {
    /// The conversation as it is now.
    pub conversation: ConversationSummary,
    /// Its last messages, oldest first, at most five: those that are new are among them. If the first one
    /// does not follow the last one that the console knows, the console loads what lies between.
    pub messages: Vec<Message>,
    /// Its last notes, oldest first, at most five.
    pub notes: Vec<Note>,
}

/// An operator is typing, in the last ten seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Typing {
    /// The conversation's id.
    pub conversation_id: String,
    /// The operator's id.
    pub operator_id: String,
    /// The operator's name.
    pub name: String,
    /// Whether a note is written, and not a reply.
    #[serde(default)]
    pub note: bool,
    /// Whether they have stopped.
    #[serde(default)]
    pub stopped: bool,
}

/// The body of `POST /conversations/{id}/typing`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TypingState {
    /// Whether it is a note, and not a reply.
    pub note: bool,
    /// Whether the operator has stopped.
    pub stopped: bool,
}

/// The body of `PUT /stream/{console}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConsoleState {
    /// Whether nobody has touched the keyboard or the pointer for five minutes.
    pub idle: bool,
}
