//! Conversations as the inbox shows them.

use serde::{Deserialize, Serialize};

use super::{AnswerOutcome, LeadReason, Typing, Visitor};

/// The state of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Goes on, and nobody waits for a person.
    #[default]
    Open,
    /// The visitor waits for a person.
    Waiting,
    /// Ended. The visitor's next message opens it again.
    Closed,
}

/// A list of conversations in the inbox: the parameter `view` of `GET /conversations`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum ConversationView {
    /// Open ones of the operator who asks.
    Mine,
    /// Open ones without an operator.
    Unassigned,
    /// All open ones.
    #[default]
    Open,
    /// Those whose visitor waits for an answer of ours.
    Waiting,
    /// Those that were put aside until a time.
    Snoozed,
    /// Closed ones.
    Closed,
    /// All, whatever their state.
    All,
}

impl ConversationView {
    /// All views, in the order in which the inbox shows them.
    pub const ALL: [Self; 7] =
        [Self::Mine, Self::Unassigned, Self::Open, Self::Waiting, Self::Snoozed, Self::Closed, Self::All];

    /// Returns the view's name in addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mine => "mine",
            Self::Unassigned => "unassigned",
            Self::Open => "open",
            Self::Waiting => "waiting",
            Self::Snoozed => "snoozed",
            Self::Closed => "closed",
            Self::All => "all",
        }
    }

    /// Returns the view of a name; `None` for an unknown one.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.as_str() == name)
    }
}

/// The last message of a conversation, shortened for a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct LastMessage {
    /// `visitor`, `assistant`, `operator` or `system`.
    pub role: String,
    /// The first 200 characters of the text, in one line.
    pub text: String,
    /// When it was written.
    pub created_at: String,
    /// The operator who wrote it.
    pub operator_id: Option<String>,
    /// Their name at that time.
    pub operator_name: Option<String>,
}

/// The rating of a visitor as a lead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct LeadView {
    /// The intent score, 0 to 100.
    pub score: i64,
    /// Whether there are contact details.
    pub has_contact: bool,
    /// Whether a person should take over.
    pub needs_handoff: bool,
    /// What the visitor wants, in a sentence.
    pub summary: Option<String>,
}

/// A conversation in a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConversationSummary {
    /// The conversation's id.
    pub id: String,
    /// The site's id.
    pub site_id: String,
    /// The state.
    pub status: State,
    /// Until then, the conversation is put aside. A message of the visitor ends it.
    pub snoozed_until: Option<String>,
    /// Whether the visitor is blocked: their messages are refused.
    #[serde(default)]
    pub blocked: bool,
    /// The operator who is responsible.
    pub assignee_id: Option<String>,
    /// The AI is silent until then. A time after the year 9000: until it is told to go on.
    pub ai_paused_until: Option<String>,
    /// The visitor.
    #[serde(default)]
    pub visitor: Visitor,
    /// The visitor's language, a BCP 47 tag.
    pub locale: Option<String>,
    /// The page on which the conversation began.
    pub source_page: Option<String>,
    /// The lead.
    #[serde(default)]
    pub lead: LeadView,
    /// The ids of its labels.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Messages of the visitor that no operator has read.
    pub unread: i64,
    /// The number of messages, which is the sequence of the last one.
    pub message_count: i64,
    /// The visitor's widget has polled past the messages up to this sequence.
    #[serde(default)]
    pub seen_sequence: i64,
    /// The last message.
    pub last_message: Option<LastMessage>,
    /// When it began.
    pub created_at: String,
    /// When its last message was written.
    pub updated_at: String,
    /// When it was closed.
    pub closed_at: Option<String>,
    /// Since then, the visitor has waited for a person.
    pub waiting_since: Option<String>,
}

/// `data` of `GET /conversations`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConversationPage {
    /// The conversations, in the order of the view: those that wait for a person first, the longest waiting
    /// at the top, then by their last message, newest first.
    pub conversations: Vec<ConversationSummary>,
    /// The parameter `before` of the next page; `None` on the last one.
    pub next_before: Option<String>,
}

/// `data` of `GET /conversations/counts`: the number of conversations in each view, at most 1,000 each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ConversationCounts {
    /// Open ones of the operator who asks.
    pub mine: i64,
    /// Open ones without an operator.
    pub unassigned: i64,
    /// All open ones.
    pub open: i64,
    /// Those whose visitor waits for an answer.
    pub waiting: i64,
    /// Those that were put aside.
    pub snoozed: i64,
    /// Unread messages of the operator's own open conversations and of those without an operator.
    pub unread: i64,
}

/// The knowledge that an answer of the AI is based on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Source {
    /// The title of the page, or the question.
    pub title: String,
    /// The page's path or address; `None` for one of the site's own answers.
    pub location: Option<String>,
}

/// A message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The message's id.
    pub id: Option<String>,
    /// Its number in the conversation, from 1.
    pub sequence: i64,
    /// `visitor`, `assistant`, `operator` or `system`.
    pub role: String,
    /// The text, in Markdown.
    pub content: String,
    /// When it was written.
    pub created_at: Option<String>,
    /// The operator who wrote it.
    pub operator_id: Option<String>,
    /// The name of that operator at that time.
    pub operator_name: Option<String>,
    /// The idempotency key that it was sent with.
    pub idempotency_key: Option<String>,
    /// The knowledge that an answer of the AI is based on.
    #[serde(default, deserialize_with = "super::visitor::null_is_empty")]
    pub sources: Vec<Source>,
    /// Of a visitor's message that the AI answered: what became of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<AnswerOutcome>,
}

/// What operators write to each other, or what happened. Visitors never see it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Note {
    /// The note's id.
    pub id: String,
    /// `note`, or `activity` for what happened.
    pub kind: String,
    /// The text. That of an activity is English, for readers that do not know its `activity`.
    pub text: String,
    /// What happened, so that a reader writes it in the operator's language; `None` for notes.
    pub activity: Option<Activity>,
    /// The author of the entry.
    pub operator_name: Option<String>,
    /// The sequence of the message that it follows.
    pub after_sequence: i64,
    /// When it was written.
    pub created_at: String,
    /// The idempotency key that it was sent with.
    pub idempotency_key: Option<String>,
}

/// What happened to a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Activity {
    /// `opened`, `waiting`, `closed`, `assigned`, `unassigned`, `ai_paused`, `ai_resumed`, `snoozed`,
    /// `snooze_ended`, `labeled`, `labels_removed`, `blocked`, `unblocked`, `took_over`, `mailed`,
    /// `mail_failed`, `mail_unknown`, `mail_limited`, `mail_stopped` or `mail_opened`. Others may come.
    pub event: String,
    /// To whom it was assigned, until when it was snoozed (RFC 3339), the names of its labels, the address to
    /// which replies were mailed, or why not.
    pub detail: Option<String>,
}

/// `data` of `GET /conversations/{id}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// The conversation, as lists show it. Its members stand beside the others.
    #[serde(flatten)]
    pub summary: ConversationSummary,
    /// The last 50 messages, oldest first. Earlier ones: `GET /conversations/{id}/messages?before=…`.
    pub messages: Vec<Message>,
    /// The notes that stand between these messages or after them, oldest first.
    pub notes: Vec<Note>,
    /// Other conversations of the same visitor, newest first, at most 50.
    pub other_conversations: Vec<ConversationSummary>,
    /// Why the lead has its score.
    #[serde(default)]
    pub lead_reasons: Vec<LeadReason>,
    /// Operators who are typing.
    #[serde(default)]
    pub typing: Vec<Typing>,
}

/// `data` of `GET /conversations/{id}/messages`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MessagePage {
    /// Messages, oldest first.
    pub messages: Vec<Message>,
    /// The notes between them.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// The parameter `before` of the page of earlier messages; `None` when the first message is here.
    pub next_before: Option<i64>,
}

/// The body of `PATCH /conversations/{id}`. A missing member changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ConversationChange {
    /// The new state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<State>,
    /// The id of the operator who is responsible; an empty text is nobody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assignee_id: Option<String>,
    /// `true` silences the AI until it is told to go on, `false` tells it to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ai_paused: Option<bool>,
    /// `true`: the operator has read the conversation; `false`: it is marked as unread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<bool>,
    /// Puts the conversation aside until this time, in RFC 3339; an empty text ends that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snoozed_until: Option<String>,
    /// The ids of all of its labels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
    /// Blocks the visitor, or ends that. Blocking closes the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked: Option<bool>,
}

/// The body of `POST /conversations/{id}/take-over`, by which an operator takes a conversation from the AI or
/// from somebody else. If another one was faster, the answer is 409 `CONVERSATION_TAKEN` and names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TakeOver {
    /// The operator who was responsible on the screen of the one who takes over; `None` for nobody.
    pub from: Option<String>,
}

/// The body of `POST /conversations/{id}/messages`: a reply to the visitor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewMessage {
    /// The text, 1 to 16,000 characters.
    pub text: String,
    /// Whether the conversation is closed with it.
    #[serde(default)]
    pub close: bool,
}

/// The body of `POST /conversations/{id}/notes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewNote {
    /// The text, 1 to 16,000 characters.
    pub text: String,
}
