//! The conversations of a tenant: lists, and what the inbox shows of one.

pub(super) mod actions;

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::{get, patch, post};
use chat_protocol::ConversationId;
use chat_protocol::admin::{
    Conversation, ConversationPage, ConversationView, MessagePage, TimelineEntry, TimelinePage,
};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::Service;
use crate::accounts::{Operator, Right};
use crate::clock::iso;
use crate::conversations::list::{self, Filter};
use crate::conversations::summary::{self, Listed, message};
use crate::conversations::{self, Status, StoredMessage, notes, page, page_before, sequence_of};
use crate::error::ApiError;
use crate::input::{Params, success};
use crate::lead::Behaviour;
use crate::limits::check_search;
use crate::long_reads::{self, SEARCH_TIMEOUT};
use crate::response::ApiResponse;
use crate::visitors::events as visitor_events;

/// Entries on a page, if the request names no other number.
const PAGE: i64 = 50;
/// Maximum entries on a page.
const MAX_PAGE: i64 = 200;

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/conversations", get(list))
        .route("/conversations/counts", get(counts))
        .route("/conversations/{conversation}", get(show).patch(actions::change))
        .route("/conversations/{conversation}/messages", get(messages).post(actions::send))
        .route("/conversations/{conversation}/notes", post(actions::add_note))
        .route("/conversations/{conversation}/take-over", post(actions::take_over))
        .route("/conversations/{conversation}/timeline", get(timeline))
        .route("/conversations/{conversation}/typing", post(actions::typing))
        .route("/conversations/{conversation}/visitor", patch(actions::edit_visitor))
}

/// The conversations to list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListParams {
    /// `mine`, `unassigned`, `open`, `waiting`, `snoozed`, `closed` or `all`; without it, `all` with a
    /// `status` and otherwise `open`.
    view: Option<String>,
    /// Only those of this site.
    site: Option<String>,
    /// Only `open`, `waiting` or `closed` ones.
    status: Option<String>,
    /// Only those with the label with this id.
    label: Option<String>,
    /// Only those of this operator; `me` is the operator who asks, `nobody` those without one.
    assignee: Option<String>,
    /// Only those with all of these words in their messages, or with this text in their notes or in the
    /// visitor's name or contact details, or with this id.
    q: Option<String>,
    /// `nextBefore` of the page before.
    before: Option<String>,
    /// Maximum conversations, 1 to 200; 50, if missing.
    limit: Option<i64>,
}

fn invalid(text: &str) -> ApiError {
    ApiError::InvalidRequest(text.to_owned())
}

/// Lists conversations: those that wait for a person first, then by their last message, newest first.
#[utoipa::path(get, path = "/conversations", tag = "conversations", params(ListParams),
    responses((status = 200, body = ConversationPage)))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
    Params(params): Params<ListParams>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let status = params
        .status
        .map(|text| Status::parse(&text).ok_or(invalid("status must be open, waiting or closed.")))
        .transpose()?;
    let view = match &params.view {
        Some(name) => ConversationView::parse(name).ok_or(invalid("view is unknown."))?,
        None if status.is_some() => ConversationView::All,
        None => ConversationView::Open,
    };
    let before =
        params.before.map(|cursor| parse_cursor(&cursor).ok_or(invalid("before must be a nextBefore.")));
    check_search(params.q.as_deref())?;
    let filter = Filter {
        view,
        operator_id: operator.id.clone(),
        site_id: params.site,
        status,
        assignee: params.assignee.map(|assignee| match assignee.as_str() {
            "me" => operator.id.clone(),
            "nobody" => String::new(),
            _ => assignee,
        }),
        label: params.label,
        visitor_no: None,
        words: params.q,
        before: before.transpose()?,
        limit: params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE),
    };
    let (now_ms, tenant_id) = (service.now_ms(), &operator.tenant_id);
    let found = if filter.is_indexed() {
        list::list(service.db(), now_ms, tenant_id, &filter).await?
    } else {
        let db = service.db().for_long_reads();
        let read = list::list(&db, now_ms, tenant_id, &filter);
        long_reads::execute(&service, tenant_id, SEARCH_TIMEOUT, read).await?
    };
    let is_full = i64::try_from(found.len()) == Ok(filter.limit);
    success(&ConversationPage {
        conversations: found.iter().map(|listed| listed.summary(now_ms)).collect(),
        next_before: found.last().filter(|_| is_full).map(Listed::cursor),
    })
}

fn parse_cursor(cursor: &str) -> Option<(i64, i64)> {
    let (key, no) = cursor.split_once('.')?;
    Some((key.parse().ok()?, no.parse().ok()?))
}

/// Counts the conversations in each view.
#[utoipa::path(get, path = "/conversations/counts", tag = "conversations",
    responses((status = 200, body = chat_protocol::admin::ConversationCounts)))]
pub(super) async fn counts(
    State(service): State<Service>,
    operator: Operator,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    success(&list::counts(service.db(), service.now_ms(), &operator.tenant_id, &operator.id).await?)
}

/// Shows a conversation: its last messages and notes, the visitor's other conversations and the lead.
#[utoipa::path(get, path = "/conversations/{conversation}", tag = "conversations",
    params(("conversation" = String, Path, description = "The conversation's id")),
    responses((status = 200, body = Conversation)))]
pub(super) async fn show(
    State(service): State<Service>,
    operator: Operator,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let (db, now_ms) = (service.db(), service.now_ms());
    let listed = summary::of_tenant(db, &operator.tenant_id, &id.into()).await?;
    let conversation = &listed.conversation;
    let messages = page_before(db, &conversation.id, conversation.no, i64::MAX, PAGE).await?;
    let notes = notes::between(db, conversation.no, first_note(&messages), i64::MAX).await?;
    let mut others = Vec::new();
    if let Some(visitor) = conversation.visitor_no {
        let view = ConversationView::All;
        let filter = Filter { view, visitor_no: Some(visitor), limit: PAGE + 1, ..Filter::default() };
        others = list::list(db, now_ms, &operator.tenant_id, &filter).await?;
        others.retain(|other| other.conversation.no != conversation.no);
        others.sort_by_key(|other| std::cmp::Reverse(other.conversation.no));
    }
    let events = crate::ai::recent_events(db, &conversation.site_id, conversation.trail()).await?;
    let behaviour = Behaviour::of(&events);
    // The visitor may have looked at more pages since the last message.
    let lead = conversation.notes.lead_of(&conversation.profile, &behaviour);
    let mut summary = listed.summary(now_ms);
    summary.lead.score = conversations::rounded_score(&lead);
    summary.lead.summary = lead.summary;
    success(&Conversation {
        summary,
        messages: messages.iter().map(message).collect(),
        notes,
        other_conversations: others.iter().map(|other| other.summary(now_ms)).collect(),
        lead_reasons: conversation.notes.reasons(&conversation.profile, &behaviour),
        typing: service.0.hubs.typing(&operator.tenant_id, conversation.id.as_str(), &operator.id),
    })
}

/// Returns the number of the message after which the first note of a page stands.
fn first_note(messages: &[StoredMessage]) -> i64 {
    messages.first().map_or(0, |first| if first.seq == 1 { 0 } else { first.seq })
}

/// The messages to list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct MessagesParams {
    /// Only messages after the one with this id or sequence.
    after: Option<String>,
    /// Only messages before the one with this sequence: the last ones of them.
    before: Option<i64>,
    /// Maximum messages, 1 to 200; 50, if missing.
    limit: Option<i64>,
}

/// Lists messages of a conversation with the notes between them, oldest first.
#[utoipa::path(get, path = "/conversations/{conversation}/messages", tag = "conversations",
    params(("conversation" = String, Path, description = "The conversation's id"), MessagesParams),
    responses((status = 200, body = MessagePage)))]
pub(super) async fn messages(
    State(service): State<Service>,
    operator: Operator,
    Path(id): Path<String>,
    Params(params): Params<MessagesParams>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let db = service.db();
    let conversation = list::of_tenant(db, &operator.tenant_id, &id.into()).await?;
    let (id, no) = (&conversation.id, conversation.no);
    let limit = params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE);
    let (messages, first_note) = if let Some(after) = params.after {
        let after = after.parse().unwrap_or_else(|_| sequence_of(id, &after)).max(0);
        let mut messages = page(db, id, no, after).await?;
        messages.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        (messages, after)
    } else {
        let messages = page_before(db, id, no, params.before.unwrap_or(i64::MAX), limit).await?;
        let first = first_note(&messages);
        (messages, first)
    };
    let last = messages.last().map_or(first_note, |last| last.seq);
    // Notes after the last message belong to its page.
    let notes = notes::between(db, no, first_note, last).await?;
    success(&MessagePage {
        messages: messages.iter().map(message).collect(),
        notes,
        next_before: messages.first().map(|first| first.seq).filter(|first| *first > 1),
    })
}

/// The events to list.
#[derive(Clone, Copy, Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TimelineParams {
    /// `nextBefore` of the page before.
    before: Option<i64>,
}

/// Lists the events of a conversation's visitor, newest first.
#[utoipa::path(get, path = "/conversations/{conversation}/timeline", tag = "conversations",
    params(("conversation" = String, Path, description = "The conversation's id"), TimelineParams),
    responses((status = 200, body = TimelinePage)))]
pub(super) async fn timeline(
    State(service): State<Service>,
    operator: Operator,
    Path(id): Path<String>,
    Params(params): Params<TimelineParams>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let db = service.db();
    let conversation = list::of_tenant(db, &operator.tenant_id, &id.into()).await?;
    let of = match &conversation.profile.visitor_id {
        Some(visitor) => visitor_events::EventsOf::Visitor(visitor.as_str()),
        None => visitor_events::EventsOf::Conversation(conversation.id.as_str()),
    };
    let before = params.before.unwrap_or(i64::MAX);
    let events = visitor_events::page_before(db, &conversation.site_id, of, before, PAGE).await?;
    let is_full = i64::try_from(events.len()) == Ok(PAGE);
    let entries = events.iter().map(|event| TimelineEntry {
        event_type: event.text("eventType").unwrap_or_default(),
        path: event.text("path"),
        title: event.text("title"),
        time_zone: event.data_text("timeZone"),
        received_at: iso(event.received_ms),
    });
    success(&TimelinePage {
        entries: entries.collect(),
        next_before: events.last().filter(|_| is_full).map(|last| last.no),
    })
}

/// Returns a conversation as lists show it, after a change.
async fn changed(
    service: &Service,
    operator: &Operator,
    id: &ConversationId,
) -> Result<ApiResponse, ApiError> {
    let listed = summary::of_tenant(service.db(), &operator.tenant_id, id).await?;
    success(&listed.summary(service.now_ms()))
}

/// Returns a conversation of the operator's tenant, and its site.
async fn of_operator(
    service: &Service,
    operator: &Operator,
    id: String,
) -> Result<(ConversationId, crate::sites::Site), ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let conversation = list::of_tenant(service.db(), &operator.tenant_id, &id.into()).await?;
    let site = crate::sites::of_tenant(service.db(), &operator.tenant_id, &conversation.site_id).await?;
    Ok((conversation.id, site))
}

fn author(operator: &Operator) -> conversations::Author {
    conversations::Author { id: operator.id.clone(), name: operator.name.clone() }
}
