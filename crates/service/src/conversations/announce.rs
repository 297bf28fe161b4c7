//! Tells webhooks and operators what happens in conversations, in the transaction of the change.

use chat_protocol::{Lead, Value};

use super::Conversation;
use crate::Service;
use crate::db::{DbError, Tx};
use crate::notify::data::{self, MessageData};
use crate::notify::mail::{self, Notice, NoticeKind};
use crate::notify::push::{self, Cause, PushEvent};
use crate::notify::{self, Event, EventName};
use crate::sites::Site;

/// Queues an event of a conversation for the webhooks of its site.
async fn queue(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    conversation: &Conversation,
    name: EventName,
    data: Value,
) -> Result<(), DbError> {
    let event = Event {
        tenant_id: site.tenant_id.clone(),
        site_id: site.id.clone(),
        name,
        data,
        conversation_id: Some(conversation.id.as_str().to_owned()),
    };
    notify::event(tx, now_ms, &event).await
}

/// A conversation has begun.
pub(super) async fn created(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    conversation: &Conversation,
) -> Result<(), DbError> {
    let data = data::conversation_created(
        conversation.id.as_str(),
        conversation.profile.visitor_id.as_ref().map(chat_protocol::VisitorId::as_str),
        conversation.locale.as_deref(),
        conversation.source_page.as_deref(),
    );
    queue(tx, now_ms, site, conversation, EventName::ConversationCreated, data).await
}

/// Somebody has written.
pub(super) async fn message(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    conversation: &Conversation,
    message: MessageData<'_>,
) -> Result<(), DbError> {
    queue(tx, now_ms, site, conversation, EventName::MessageCreated, data::message_created(message)).await
}

/// Contact details are known now that were not known before.
pub(super) async fn lead(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    site: &Site,
    conversation: &Conversation,
    lead: &Lead,
) -> Result<(), DbError> {
    let data = data::lead_updated(conversation.id.as_str(), Value::from(lead), conversation.score);
    queue(tx, now_ms, site, conversation, EventName::LeadUpdated, data).await?;
    tell(tx, service, now_ms, site, conversation, NoticeKind::Lead).await
}

/// The visitor asks for a person.
pub(super) async fn person_requested(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    site: &Site,
    conversation: &Conversation,
) -> Result<(), DbError> {
    let data = data::conversation_changed(conversation.id.as_str());
    queue(tx, now_ms, site, conversation, EventName::HandoffRequested, data).await?;
    tell(tx, service, now_ms, site, conversation, NoticeKind::HandOff).await
}

/// The visitor waits for a person.
pub(super) async fn waiting(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    site: &Site,
    conversation: &Conversation,
) -> Result<(), DbError> {
    tell(tx, service, now_ms, site, conversation, NoticeKind::Unanswered).await
}

async fn tell(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    site: &Site,
    conversation: &Conversation,
    kind: NoticeKind,
) -> Result<(), DbError> {
    let (tenant_id, site_id, conversation_id) = (&site.tenant_id, &site.id, conversation.id.as_str());
    mail::notify(tx, service, now_ms, Notice { tenant_id, site_id, conversation_id, kind }).await
}

/// The visitor has written: tells the devices of operators, as the console's own notifications do.
pub(super) async fn alert(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    site: &Site,
    conversation: &Conversation,
    cause: Cause,
) -> Result<(), DbError> {
    let assignee_id = conversation.assignee_id.as_deref();
    let (tenant_id, conversation_id) = (&site.tenant_id, conversation.id.as_str());
    push::queue(tx, service, now_ms, PushEvent { tenant_id, conversation_id, assignee_id, cause }).await
}

/// An operator has answered, so that nobody waits any more.
pub(super) async fn answered(tx: &mut Tx, conversation: &Conversation) -> Result<(), DbError> {
    mail::answered(tx, conversation.id.as_str()).await?;
    push::answered(tx, conversation.id.as_str()).await
}

/// A conversation is closed, or open again.
pub(super) async fn closed(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    conversation: &Conversation,
    is_closed: bool,
) -> Result<(), DbError> {
    let name = if is_closed { EventName::ConversationClosed } else { EventName::ConversationReopened };
    let data = data::conversation_changed(conversation.id.as_str());
    queue(tx, now_ms, site, conversation, name, data).await
}

/// A conversation has another operator, or none.
pub(super) async fn assigned(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    conversation: &Conversation,
    name: Option<&str>,
) -> Result<(), DbError> {
    let operator = conversation.assignee_id.as_deref().zip(name);
    let data = data::conversation_assigned(conversation.id.as_str(), operator);
    queue(tx, now_ms, site, conversation, EventName::ConversationAssigned, data).await
}
