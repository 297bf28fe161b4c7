//! The first step of sending a message: binds the idempotency key and stores the visitor's message. How a
//! message is received is told in `conversations/receive.rs`.

use std::sync::Arc;

use chat_protocol::{ConversationId, Lead, MessageId, Role, SendMessage};
use serde::{Deserialize, Serialize};

use crate::Service;
use crate::conversations::{self, Conversation, NewMessage, message_id};
use crate::db::{Tx, transaction};
use crate::error::ApiError;
use crate::idempotency::{KeyedRequest, Known, LEASE_MS, Lease};
use crate::presence::operators_online;
use crate::response::ApiResponse;
use crate::sites::{Answerer, Site};
use crate::visitors::events::Trail;
use crate::visitors::identity::Identity;

/// A visitor's message that is stored and not answered, as a later attempt finds it stored with its key.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Recorded {
    pub(super) conversation_id: ConversationId,
    pub(super) conversation_no: i64,
    /// The number of the message.
    pub(super) seq: i64,
    pub(super) message_id: MessageId,
    pub(super) lead: Lead,
    /// The id of the visitor, if the site has proved it.
    #[serde(default)]
    verified: Option<String>,
    /// Whether people answer the message in place of the AI, as was decided when it was received.
    #[serde(default)]
    pub(super) for_people: bool,
    /// Whether nobody but the AI answers the message, as was decided when it was received.
    #[serde(default)]
    pub(super) ai_alone: bool,
}

impl Recorded {
    /// Returns what a visitor has written up to the message with a number, which the AI answers in place of
    /// people. It knows nothing of the visitor's other visits.
    pub(super) fn of_late_turn(conversation: &Conversation, seq: i64) -> Self {
        Self {
            conversation_id: conversation.id.clone(),
            conversation_no: conversation.no,
            seq,
            message_id: message_id(&conversation.id, seq),
            lead: conversation.notes.lead(&conversation.profile),
            verified: None,
            for_people: false,
            ai_alone: false,
        }
    }

    /// Returns the events that may be known to whoever proves this identity. An attempt without the visitor's
    /// proof learns nothing from their other visits.
    pub(super) fn trail(&self, identity: Option<&Identity>) -> Trail<'_> {
        let proved = self.verified.as_deref().filter(|id| identity.is_some_and(|it| it.id.as_str() == *id));
        proved.map_or(Trail::Conversation(self.conversation_id.as_str()), Trail::Visitor)
    }
}

/// The outcome of the first step.
pub(super) enum Step {
    /// The message is to be answered, with this lease if the request has a key.
    Answer(Recorded, Option<Lease>),
    Answered(ApiResponse),
    /// Another task or node works on the request.
    Wait,
}

/// Binds the key and stores the message, unless an earlier attempt did.
pub(super) async fn record(
    service: &Service,
    site: &Arc<Site>,
    body: &Arc<SendMessage>,
    identity: Option<&Identity>,
    keyed: Option<KeyedRequest>,
) -> Result<Step, ApiError> {
    let now_ms = service.now_ms();
    let operator_online = operators_online(service, &site.tenant_id).await?.is_online();
    let message = NewMessage {
        key: keyed.as_ref().map(|keyed| keyed.key.as_str().to_owned()),
        answerer: site.answerer(now_ms, operator_online),
        ..NewMessage::new(Role::Visitor, body.message.clone())
    };
    let (site, body, identity) = (Arc::clone(site), Arc::clone(body), identity.cloned());
    let db = service.db();
    let service = service.clone();
    transaction!(db, |tx| {
        let Some(keyed) = keyed else {
            let recorded = store(tx, &service, now_ms, &site, &body, identity.as_ref(), message).await?;
            return Ok(Step::Answer(recorded, None));
        };
        let until_ms = now_ms.saturating_add(LEASE_MS);
        match keyed.bind(tx, now_ms, until_ms).await? {
            Known::New => {
                let recorded = store(tx, &service, now_ms, &site, &body, identity.as_ref(), message).await?;
                let progress = serde_json::to_string(&recorded).map_err(|_| ApiError::Internal)?;
                keyed.store_progress(tx, progress).await?;
                Ok(Step::Answer(recorded, Some(Lease::new(keyed, until_ms))))
            }
            Known::Answered(response) => Ok(Step::Answered(response)),
            Known::Begun { leased: true, .. } => Ok(Step::Wait),
            Known::Begun { progress, leased: false } => {
                let recorded = serde_json::from_str(&progress).map_err(|_| ApiError::Internal)?;
                Ok(Step::Answer(recorded, Some(Lease::new(keyed, until_ms))))
            }
            Known::Conflict => Err(ApiError::IdempotencyConflict),
        }
    })
    .await
}

/// Stores the visitor's message.
async fn store(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    site: &Site,
    body: &SendMessage,
    identity: Option<&Identity>,
    message: NewMessage,
) -> Result<Recorded, ApiError> {
    let (conversation, lead, answerer) =
        conversations::receive(tx, service, now_ms, site, body, identity, message).await?;
    Ok(Recorded {
        for_people: answerer.is_people(),
        ai_alone: answerer == Answerer::AiAlone,
        verified: conversation.verified_visitor().map(str::to_owned),
        message_id: message_id(&conversation.id, conversation.last_seq),
        conversation_id: conversation.id,
        conversation_no: conversation.no,
        seq: conversation.last_seq,
        lead,
    })
}
