//! The conversations of a tenant.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName};
use axum::routing::{get, post};
use chat_protocol::{ConversationId, IdempotencyKey, Value};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::input::{Actor, Body, Params};
use crate::Service;
use crate::accounts::{Operator, Right};
use crate::clock::iso;
use crate::conversations::desk::{self, ConversationChange, Filter, check_text};
use crate::conversations::{
    self, Author, Conversation, Status, StoredMessage, last_messages, page, sequence_of,
};
use crate::db::Wake;
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::idempotency::{KeyedRequest, execute_once};
use crate::response::ApiResponse;
use crate::sites::{self, Site};
use crate::visitors;

/// Conversations on a page, if the request names no other number.
const PAGE: i64 = 50;
/// Maximum conversations on a page.
const MAX_PAGE: i64 = 200;
/// Messages, notes and events that are shown with a conversation.
const MAX_SHOWN: u32 = 200;

pub(super) fn routes() -> Router<Service> {
    Router::new()
        .route("/conversations", get(list))
        .route("/conversations/{conversation}", get(show).patch(change))
        .route("/conversations/{conversation}/messages", get(messages).post(send))
        .route("/conversations/{conversation}/notes", post(add_note))
}

/// The conversations to list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListParams {
    /// Only those of this site.
    site: Option<String>,
    /// Only `open`, `waiting` or `closed` ones.
    status: Option<String>,
    /// Only those of this operator; `me` is the operator who asks, `nobody` those without one.
    assignee: Option<String>,
    /// Only those with a message that contains all of these words; needs `site`.
    q: Option<String>,
    /// `nextBefore` of the page before.
    before: Option<String>,
    /// Maximum conversations, 1 to 200; 50, if missing.
    limit: Option<i64>,
}

/// Lists conversations, by their last message, newest first.
#[utoipa::path(get, path = "/conversations", tag = "conversations", params(ListParams), responses((status = 200)))]
pub(super) async fn list(
    State(service): State<Service>,
    operator: Operator,
    Params(params): Params<ListParams>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let invalid = |text: &str| ApiError::InvalidRequest(text.to_owned());
    let status = params
        .status
        .map(|text| Status::parse(&text).ok_or(invalid("status must be open, waiting or closed.")));
    let before =
        params.before.map(|cursor| parse_cursor(&cursor).ok_or(invalid("before must be a nextBefore.")));
    if params.q.is_some() && params.site.is_none() {
        return Err(invalid("q needs site: search one site at a time."));
    }
    let filter = Filter {
        site_id: params.site,
        status: status.transpose()?,
        assignee: params.assignee.map(|assignee| match assignee.as_str() {
            "me" => operator.id.clone(),
            "nobody" => String::new(),
            _ => assignee,
        }),
        visitor_no: None,
        words: params.q,
        before: before.transpose()?,
        limit: params.limit.unwrap_or(PAGE).clamp(1, MAX_PAGE),
    };
    let found = desk::list(service.db(), &operator.tenant_id, &filter).await?;
    let is_full = i64::try_from(found.len()) == Ok(filter.limit);
    let next = found.last().filter(|_| is_full).map(|last| format!("{}.{}", last.updated_ms, last.no));
    let mut shown = Vec::with_capacity(found.len());
    for conversation in &found {
        let last = last_messages(service.db(), &conversation.id, conversation.no, 1).await?;
        let mut summary = summary(conversation);
        append(&mut summary, "lastMessage", last.first().map(message).into());
        shown.push(summary);
    }
    Ok(ApiResponse::success(Value::object([
        ("conversations", Value::List(shown)),
        ("nextBefore", next.into()),
    ])))
}

fn parse_cursor(cursor: &str) -> Option<(i64, i64)> {
    let (time, no) = cursor.split_once('.')?;
    Some((time.parse().ok()?, no.parse().ok()?))
}

/// Shows a conversation: its last messages, notes, the visitor's last events and earlier conversations.
#[utoipa::path(get, path = "/conversations/{conversation}", tag = "conversations", params(("conversation" = String, Path, description = "The conversation's id")), responses((status = 200)))]
pub(super) async fn show(
    State(service): State<Service>,
    operator: Operator,
    Path(id): Path<String>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let db = service.db();
    let conversation = desk::of_tenant(db, &operator.tenant_id, &id.into()).await?;
    let messages = last_messages(db, &conversation.id, conversation.no, MAX_SHOWN).await?;
    let notes = desk::notes(db, conversation.no, MAX_SHOWN.into()).await?;
    let mut shown = summary(&conversation);
    append(&mut shown, "messages", messages.iter().map(message).collect());
    append(&mut shown, "notes", notes.iter().map(Value::from).collect());
    let mut earlier = Vec::new();
    if let Some(visitor_no) = conversation.visitor_no {
        let filter = Filter { visitor_no: Some(visitor_no), limit: PAGE, ..Filter::default() };
        let all = desk::list(db, &operator.tenant_id, &filter).await?;
        earlier = all.iter().filter(|other| other.no != conversation.no).map(summary).collect();
    }
    append(&mut shown, "otherConversations", Value::List(earlier));
    let events = match &conversation.profile.visitor_id {
        Some(id) => {
            visitors::events::recent(db, &conversation.site_id, id.as_str(), MAX_SHOWN.into()).await?
        }
        None => Vec::new(),
    };
    append(
        &mut shown,
        "events",
        events.iter().map(super::super::visitors::events::ReceivedEvent::view).collect(),
    );
    Ok(ApiResponse::success(shown))
}

/// The messages to list.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct MessagesParams {
    /// Only messages after the one with this id.
    after: Option<String>,
}

/// Lists the messages of a conversation, oldest first, at most 500.
#[utoipa::path(get, path = "/conversations/{conversation}/messages", tag = "conversations", params(("conversation" = String, Path, description = "The conversation's id"), MessagesParams), responses((status = 200)))]
pub(super) async fn messages(
    State(service): State<Service>,
    operator: Operator,
    Path(id): Path<String>,
    Params(params): Params<MessagesParams>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let conversation = desk::of_tenant(service.db(), &operator.tenant_id, &id.into()).await?;
    let after = params.after.map_or(0, |after| sequence_of(&conversation.id, &after));
    let page = page(service.db(), &conversation.id, conversation.no, after).await?;
    let next = page.last().and_then(|stored| stored.message.id.clone());
    Ok(ApiResponse::success(Value::object([
        ("messages", page.iter().map(message).collect()),
        ("nextAfter", next.as_ref().into()),
    ])))
}

/// A text of an operator.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Text {
    /// The text, 1 to 16,000 characters.
    text: String,
}

/// Returns a conversation of the operator's tenant, and its site.
async fn of_operator(
    service: &Service,
    operator: &Operator,
    id: String,
) -> Result<(ConversationId, Site), ApiError> {
    operator.may(Right::AnswerVisitors)?;
    let conversation = desk::of_tenant(service.db(), &operator.tenant_id, &id.into()).await?;
    let site = sites::of_tenant(service.db(), &operator.tenant_id, &conversation.site_id).await?;
    Ok((conversation.id, site))
}

fn author(operator: &Operator) -> Author {
    Author { id: operator.id.clone(), name: operator.name.clone() }
}

/// Answers the visitor. `Idempotency-Key` makes a repetition safe.
#[utoipa::path(post, path = "/conversations/{conversation}/messages", tag = "conversations", params(("conversation" = String, Path, description = "The conversation's id")), request_body = Text, responses((status = 200)))]
pub(super) async fn send(
    State(service): State<Service>,
    actor: Actor,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(body): Body<Text>,
) -> Result<ApiResponse, ApiError> {
    let (id, site) = of_operator(&service, &actor.operator, id).await?;
    let text = check_text(&body.text)?;
    let key = match headers.get(HeaderName::from_static("idempotency-key")) {
        Some(key) => Some(IdempotencyKey::new(key.to_str().unwrap_or_default())?),
        None => None,
    };
    let keyed = key.clone().map(|key| KeyedRequest {
        site_id: site.id.clone(),
        scope: "/admin/messages",
        key,
        request: fingerprint(&[
            actor.operator.id.as_bytes(),
            b"\n",
            id.as_str().as_bytes(),
            b"\n",
            text.as_bytes(),
        ]),
    });
    let now_ms = service.now_ms();
    execute_once(&service, keyed, ApiError::IdempotencyConflict, move |tx| {
        Box::pin(async move {
            let key = key.map(|key| key.as_str().to_owned());
            let stored = desk::answer(tx, now_ms, &site, &id, author(&actor.operator), text, key).await?;
            Ok(ApiResponse::success(message(&stored)))
        })
    })
    .await
}

/// Adds a note that visitors never see.
#[utoipa::path(post, path = "/conversations/{conversation}/notes", tag = "conversations", params(("conversation" = String, Path, description = "The conversation's id")), request_body = Text, responses((status = 200)))]
pub(super) async fn add_note(
    State(service): State<Service>,
    actor: Actor,
    Path(id): Path<String>,
    Body(body): Body<Text>,
) -> Result<ApiResponse, ApiError> {
    let (id, site) = of_operator(&service, &actor.operator, id).await?;
    let text = check_text(&body.text)?;
    let now_ms = service.now_ms();
    let note: Result<Value, ApiError> = service
        .db()
        .write(move |tx| {
            Box::pin(async move {
                let conversation = conversations::lock(tx, &site.id, &id).await?;
                let author = author(&actor.operator);
                let note = desk::add_note(tx, now_ms, &conversation, "note", Some(&author), &text).await?;
                tx.wake(Wake::Conversation {
                    tenant: site.tenant_id.clone(),
                    site: site.id.clone(),
                    conversation: conversation.id.as_str().to_owned(),
                });
                Ok(Value::from(&note))
            })
        })
        .await;
    note.map(ApiResponse::success)
}

/// Changes the state, the responsible operator or the AI of a conversation, or marks it as read.
#[utoipa::path(patch, path = "/conversations/{conversation}", tag = "conversations", params(("conversation" = String, Path, description = "The conversation's id")), request_body = ConversationChange, responses((status = 200)))]
pub(super) async fn change(
    State(service): State<Service>,
    actor: Actor,
    Path(id): Path<String>,
    Body(change): Body<ConversationChange>,
) -> Result<ApiResponse, ApiError> {
    let (id, site) = of_operator(&service, &actor.operator, id).await?;
    let now_ms = service.now_ms();
    let changed: Result<Conversation, ApiError> = service
        .db()
        .write(move |tx| {
            Box::pin(
                async move { desk::change(tx, now_ms, &site, &id, &author(&actor.operator), &change).await },
            )
        })
        .await;
    Ok(ApiResponse::success(summary(&changed?)))
}

fn append(object: &mut Value, name: &str, value: Value) {
    if let Value::Object(members) = object {
        members.push((name.to_owned(), value));
    }
}

/// Returns a conversation as lists show it.
fn summary(conversation: &Conversation) -> Value {
    let mut visitor = conversation.profile.clone();
    // Contact details found in messages fill in missing fields of the profile.
    visitor.email = visitor.email.or_else(|| conversation.notes.email.clone());
    visitor.phone = visitor.phone.or_else(|| conversation.notes.phone.clone());
    Value::object([
        ("id", (&conversation.id).into()),
        ("siteId", conversation.site_id.as_str().into()),
        ("status", conversation.status.as_str().into()),
        ("assigneeId", conversation.assignee_id.clone().into()),
        ("aiPausedUntil", Some(conversation.ai_paused_until_ms).filter(|at| *at > 0).map(iso).into()),
        ("visitor", (&visitor).into()),
        ("locale", conversation.locale.clone().into()),
        ("sourcePage", conversation.source_page.clone().into()),
        ("lead", (&conversation.notes.lead(&conversation.profile)).into()),
        ("unread", conversation.unread.into()),
        ("messageCount", conversation.last_seq.into()),
        ("createdAt", iso(conversation.created_ms).into()),
        ("updatedAt", iso(conversation.updated_ms).into()),
        ("closedAt", conversation.closed_ms.map(iso).into()),
        ("waitingSince", conversation.waiting_since_ms.map(iso).into()),
    ])
}

fn message(stored: &StoredMessage) -> Value {
    let mut shown = Value::from(&stored.message);
    append(&mut shown, "sequence", stored.seq.into());
    append(&mut shown, "idempotencyKey", stored.key.clone().into());
    append(&mut shown, "operatorId", stored.operator_id.clone().into());
    append(&mut shown, "operatorName", stored.operator_name.clone().into());
    let sources = stored.sources.as_deref().and_then(|text| serde_json::from_str(text).ok());
    append(&mut shown, "sources", sources.unwrap_or_default());
    shown
}
