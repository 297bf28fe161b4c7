//! What operators do with a conversation: answer, note, take over, change, edit the visitor, type.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderName};
use chat_protocol::IdempotencyKey;
use chat_protocol::admin::{
    ConversationChange, ConversationSummary, Empty, Message, NewMessage, NewNote, Note, ProfileChange,
    TakeOver, TypingState,
};

use super::{author, changed, of_operator};
use crate::Service;
use crate::accounts::Actor;
use crate::accounts::{Operator, Right};
use crate::conversations::desk::{self, OperatorMessage, check_text};
use crate::conversations::notes;
use crate::conversations::summary::message;
use crate::conversations::{self, list, profile};
use crate::db::{Wake, transaction, work};
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::idempotency::{KeyedRequest, execute_once};
use crate::input::{Body, done, success};
use crate::rate::Caller;
use crate::response::ApiResponse;

/// Answers the visitor. `Idempotency-Key` makes a repetition safe.
#[utoipa::path(post, path = "/conversations/{conversation}/messages", tag = "conversations",
    params(("conversation" = String, Path, description = "The conversation's id")), request_body = NewMessage,
    responses((status = 200, body = Message)))]
pub(in crate::admin_api) async fn send(
    State(service): State<Service>,
    actor: Actor,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(body): Body<NewMessage>,
) -> Result<ApiResponse, ApiError> {
    let (id, site) = of_operator(&service, &actor.operator, id).await?;
    let text = check_text(&body.text)?;
    let close = body.close;
    let key = idempotency_key(&headers)?;
    let keyed = key.clone().map(|key| KeyedRequest {
        site_id: site.id.clone(),
        scope: "/admin/messages",
        key,
        request: fingerprint(&[
            actor.operator.id.as_bytes(),
            b"\n",
            id.as_str().as_bytes(),
            if close { b"\nclose\n" } else { b"\n" },
            text.as_bytes(),
        ]),
    });
    let now_ms = service.now_ms();
    let execute = work!(|tx| {
        let key = key.map(|key| key.as_str().to_owned());
        let message = OperatorMessage { text, key, close };
        let stored = desk::answer(tx, now_ms, &site, &id, author(&actor.operator), message).await?;
        success(&self::message(&stored))
    });
    execute_once(&service, keyed, ApiError::IdempotencyConflict, execute).await
}

/// Adds a note that visitors never see. `Idempotency-Key` makes a repetition safe.
#[utoipa::path(post, path = "/conversations/{conversation}/notes", tag = "conversations",
    params(("conversation" = String, Path, description = "The conversation's id")), request_body = NewNote,
    responses((status = 200, body = Note)))]
pub(in crate::admin_api) async fn add_note(
    State(service): State<Service>,
    actor: Actor,
    Path(id): Path<String>,
    headers: HeaderMap,
    Body(body): Body<NewNote>,
) -> Result<ApiResponse, ApiError> {
    let (id, site) = of_operator(&service, &actor.operator, id).await?;
    let text = check_text(&body.text)?;
    let key = idempotency_key(&headers)?;
    let keyed = key.clone().map(|key| KeyedRequest {
        site_id: site.id.clone(),
        scope: "/admin/notes",
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
    let execute = work!(|tx| {
        let conversation = conversations::lock(tx, &site.id, &id).await?;
        let author = author(&actor.operator);
        let key = key.as_ref().map(IdempotencyKey::as_str);
        let note = notes::add(tx, now_ms, &conversation, &author, &text, key).await?;
        tx.wake(conversation.wake(&site.tenant_id));
        success(&note)
    });
    execute_once(&service, keyed, ApiError::IdempotencyConflict, execute).await
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ApiError> {
    let key = headers.get(HeaderName::from_static("idempotency-key"));
    Ok(key.map(|key| IdempotencyKey::new(key.to_str().unwrap_or_default())).transpose()?)
}

/// Changes the state, the responsible operator, the labels or the AI of a conversation, puts it aside, marks
/// it as read, or blocks its visitor.
#[utoipa::path(patch, path = "/conversations/{conversation}", tag = "conversations",
    params(("conversation" = String, Path, description = "The conversation's id")),
    request_body = ConversationChange, responses((status = 200, body = ConversationSummary)))]
pub(in crate::admin_api) async fn change(
    State(service): State<Service>,
    actor: Actor,
    Path(id): Path<String>,
    Body(change): Body<ConversationChange>,
) -> Result<ApiResponse, ApiError> {
    let (id, site) = of_operator(&service, &actor.operator, id).await?;
    let (now_ms, operator, target) = (service.now_ms(), actor.operator.clone(), id.clone());
    let changed: Result<(), ApiError> = transaction!(service.db(), |tx| {
        let author = author(&actor.operator);
        conversations::change::change(tx, now_ms, &site, &id, &author, &change).await?;
        if let Some(blocked) = change.blocked {
            let action = if blocked { "visitor.block" } else { "visitor.unblock" };
            actor.record(tx, now_ms, action, id.as_str()).await?;
        }
        Ok(())
    })
    .await;
    changed?;
    self::changed(&service, &operator, &target).await
}

/// Makes the operator who asks responsible, and silences the AI until it is told to go on.
#[utoipa::path(post, path = "/conversations/{conversation}/take-over", tag = "conversations",
    params(("conversation" = String, Path, description = "The conversation's id")), request_body = TakeOver,
    responses((status = 200, body = ConversationSummary),
        (status = 409, description = "`CONVERSATION_TAKEN`: another operator was faster")))]
pub(in crate::admin_api) async fn take_over(
    State(service): State<Service>,
    operator: Operator,
    Path(id): Path<String>,
    Body(body): Body<TakeOver>,
) -> Result<ApiResponse, ApiError> {
    let (id, site) = of_operator(&service, &operator, id).await?;
    let (now_ms, author, target) = (service.now_ms(), author(&operator), id.clone());
    let taken: Result<_, ApiError> = transaction!(service.db(), |tx| desk::take_over(
        tx,
        now_ms,
        &site,
        &id,
        &author,
        body.from.as_deref()
    )
    .await)
    .await;
    taken?;
    changed(&service, &operator, &target).await
}

/// Changes the visitor's profile.
#[utoipa::path(patch, path = "/conversations/{conversation}/visitor", tag = "conversations",
    params(("conversation" = String, Path, description = "The conversation's id")),
    request_body = ProfileChange, responses((status = 200, body = ConversationSummary)))]
pub(in crate::admin_api) async fn edit_visitor(
    State(service): State<Service>,
    actor: Actor,
    Path(id): Path<String>,
    Body(change): Body<ProfileChange>,
) -> Result<ApiResponse, ApiError> {
    let (id, site) = of_operator(&service, &actor.operator, id).await?;
    let (now_ms, operator, target) = (service.now_ms(), actor.operator.clone(), id.clone());
    let edited: Result<(), ApiError> = transaction!(service.db(), |tx| {
        profile::edit(tx, &site, &id, change).await?;
        Ok(actor.record(tx, now_ms, "visitor.update", id.as_str()).await?)
    })
    .await;
    edited?;
    changed(&service, &operator, &target).await
}

/// Tells the other consoles that the operator who asks is typing, for ten seconds, and the visitor as well,
/// unless it is a note.
#[utoipa::path(post, path = "/conversations/{conversation}/typing", tag = "conversations",
    params(("conversation" = String, Path, description = "The conversation's id")), request_body = TypingState,
    responses((status = 200, body = Empty)))]
pub(in crate::admin_api) async fn typing(
    State(service): State<Service>,
    operator: Operator,
    Path(id): Path<String>,
    Body(state): Body<TypingState>,
) -> Result<ApiResponse, ApiError> {
    operator.may(Right::AnswerVisitors)?;
    service.0.rates.typing.take(&service, &operator.id, Caller::Anybody).await?.check()?;
    let conversation = list::of_tenant(service.db(), &operator.tenant_id, &id.into()).await?;
    service.db().announce(Wake::Typing {
        tenant: operator.tenant_id,
        conversation: conversation.id.as_str().to_owned(),
        operator: operator.id,
        note: state.note,
        stopped: state.stopped,
    });
    Ok(done())
}
