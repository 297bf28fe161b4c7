//! Sending a message (4.5), in three steps, each of which a crash leaves whole.
//!
//! 1. One transaction binds the idempotency key and stores the visitor's message.
//! 2. The AI answers, outside of any transaction.
//! 3. One transaction stores the answer and the response.
//!
//! A node that dies between the steps loses its lease. The next repetition of the request, at whichever node,
//! goes on with the second step.

use std::sync::Arc;
use std::time::Duration;

use chat_protocol::{
    AiStatus, ChatMessage, ConversationId, Lead, MessageId, Role, SendMessage, SendResult, Value,
};

use super::chat::resolved_locale;
use super::reply::{check_quota, reply};
use crate::Service;
use crate::ai::{Answer, recent_events, wants_person};
use crate::clock::iso;
use crate::conversations::{self, NewMessage, Status, add_message, announce, answer_to};
use crate::db::Tx;
use crate::error::ApiError;
use crate::idempotency::{KeyedRequest, Known, LEASE_MS, Lease};
use crate::lead::{Behaviour, contacts_in};
use crate::presence::operators_online;
use crate::response::ApiResponse;
use crate::sites::Site;
use crate::visitors;

/// The interval at which a repetition looks whether its request was answered by another task or node.
const WAIT_INTERVAL: Duration = Duration::from_millis(100);
/// The `provider` in responses to visitors, which does not disclose the AI.
const PROVIDER: &str = "assistant";

/// A visitor's message that is stored and not answered.
#[derive(Clone, Debug)]
pub(super) struct Recorded {
    pub(super) conversation_id: ConversationId,
    pub(super) conversation_no: i64,
    /// The number of the message.
    pub(super) seq: i64,
    message_id: Option<MessageId>,
    lead: Lead,
}

/// The outcome of the first step.
enum Step {
    /// The message is to be answered, with this lease if the request has a key.
    Answer(Recorded, Option<Lease>),
    Answered(ApiResponse),
    /// Another task or node works on the request.
    Wait,
}

pub(super) async fn send(
    service: &Service,
    site: &Arc<Site>,
    body: SendMessage,
    page_origin: Option<&str>,
    keyed: Option<KeyedRequest>,
) -> Result<ApiResponse, ApiError> {
    let body = Arc::new(body);
    let (recorded, mut lease) = loop {
        match record(service, site, &body, keyed.clone()).await? {
            Step::Answer(recorded, lease) => break (recorded, lease),
            Step::Answered(response) => return Ok(response),
            Step::Wait => tokio::time::sleep(WAIT_INTERVAL).await,
        }
    };
    let reply = Box::pin(reply(service, site, &body, page_origin, &recorded));
    let answer = match &mut lease {
        Some(lease) => lease.hold(service, reply).await,
        None => reply.await,
    };
    let response = match answer {
        Ok(answer) => finish(service, site, &body, keyed, recorded, answer).await,
        Err(error) => Err(error),
    };
    if let (Err(_), Some(lease)) = (&response, lease) {
        lease.release(service).await;
    }
    response
}

/// Binds the key and stores the message, unless an earlier attempt did.
async fn record(
    service: &Service,
    site: &Arc<Site>,
    body: &Arc<SendMessage>,
    keyed: Option<KeyedRequest>,
) -> Result<Step, ApiError> {
    let now_ms = service.now_ms();
    let (site, body) = (Arc::clone(site), Arc::clone(body));
    let db = service.db();
    let service = service.clone();
    db.write(move |tx| {
        Box::pin(async move {
            let Some(keyed) = keyed else {
                return Ok(Step::Answer(store(tx, &service, now_ms, &site, &body, None).await?, None));
            };
            let until_ms = now_ms.saturating_add(LEASE_MS);
            match keyed.bind(tx, now_ms, until_ms).await? {
                Known::New => {
                    let recorded = store(tx, &service, now_ms, &site, &body, Some(&keyed)).await?;
                    keyed.store_progress(tx, &recorded.to_json()).await?;
                    Ok(Step::Answer(recorded, Some(Lease::new(keyed, until_ms))))
                }
                Known::Answered(response) => Ok(Step::Answered(response)),
                Known::Begun { leased: true, .. } => Ok(Step::Wait),
                Known::Begun { progress, leased: false } => {
                    let recorded = Recorded::from_json(&progress).ok_or(ApiError::Internal)?;
                    Ok(Step::Answer(recorded, Some(Lease::new(keyed, until_ms))))
                }
                Known::Conflict => Err(ApiError::IdempotencyConflict),
            }
        })
    })
    .await
}

/// Stores the visitor's message, in a new conversation if it names none. The quota is checked here, so that a
/// message which was accepted is answered however late it is repeated.
async fn store(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    site: &Site,
    body: &SendMessage,
    keyed: Option<&KeyedRequest>,
) -> Result<Recorded, ApiError> {
    check_quota(tx, now_ms, site).await?;
    let (mut conversation, is_new) = match conversations::target(body) {
        Some(id) => (conversations::lock(tx, &site.id, id).await?, false),
        None => (conversations::create(tx, now_ms, &site.id).await?, true),
    };
    conversation.merge_profile(body);
    // Visitors with an empty id have nothing in common.
    let visitor_id = conversation.profile.visitor_id.as_ref().filter(|id| !id.as_str().is_empty());
    if let Some(visitor_id) = visitor_id {
        let (id, profile) = (visitor_id.as_str(), &conversation.profile);
        let known = visitors::upsert(tx, now_ms, &site.id, id, profile, None).await?;
        conversation.visitor_no = Some(known.no);
        conversation.blocked |= known.blocked;
        conversation.take_edited(known.profile, &known.edited);
    }
    if conversation.blocked {
        return Err(ApiError::Forbidden("No messages are accepted from this visitor."));
    }
    if is_new {
        announce::created(tx, now_ms, site, &conversation).await?;
    }
    conversation.unread += 1;
    conversation.snoozed_until_ms = 0;
    let had_contact = conversation.notes.has_contact(&conversation.profile);
    let wants_person = wants_person(&body.message);
    conversation.notes.record_message(&contacts_in(&body.message), None, wants_person);
    if wants_person {
        conversation.person_asked_ms.get_or_insert(now_ms);
        conversation.handed_off_ms.get_or_insert(now_ms);
    }
    let lead = conversation.notes.lead(&conversation.profile);
    conversation.set_score(&lead);
    let (was_closed, waited) =
        (conversation.status == Status::Closed, conversation.status == Status::Waiting);
    let waits = wants_person || conversation.is_with_person(now_ms);
    if waits || was_closed {
        conversation.set_status(now_ms, if waits { Status::Waiting } else { Status::Open });
    }
    conversations::store(tx, &conversation).await?;
    if was_closed {
        announce::closed(tx, now_ms, site, &conversation, false).await?;
    }
    if lead.has_contact && (is_new || !had_contact) {
        announce::lead(tx, service, now_ms, site, &conversation, &lead).await?;
    }
    if waits {
        announce::waiting(tx, service, now_ms, site, &conversation, wants_person).await?;
    }
    let new = NewMessage {
        key: keyed.map(|keyed| keyed.key.as_str().to_owned()),
        ..NewMessage::new(Role::Visitor, body.message.clone())
    };
    let written = add_message(tx, now_ms, site, &mut conversation, new).await?;
    announce::visitor_wrote(tx, service, now_ms, site, &conversation, waited).await?;
    Ok(Recorded {
        conversation_id: conversation.id,
        conversation_no: conversation.no,
        seq: written.seq,
        message_id: written.message.id,
        // The lead of a send result reports whether this message asks for a person.
        lead: Lead { needs_handoff: wants_person, ..lead },
    })
}

impl Recorded {
    /// Returns what a later attempt needs to go on, to be stored.
    fn to_json(&self) -> Value {
        Value::object([
            ("conversationId", (&self.conversation_id).into()),
            ("conversationNo", self.conversation_no.into()),
            ("seq", self.seq.into()),
            ("messageId", self.message_id.as_ref().into()),
            ("lead", (&self.lead).into()),
        ])
    }

    fn from_json(progress: &Value) -> Option<Self> {
        let text = |name: &str| progress.get(name).and_then(Value::as_text).map(str::to_owned);
        let number = |name: &str| match progress.get(name) {
            Some(Value::Integer(number)) => Some(*number),
            _ => None,
        };
        let lead = progress.get("lead");
        let lead_flag = |name: &str| matches!(lead.and_then(|lead| lead.get(name)), Some(Value::Bool(true)));
        Some(Self {
            conversation_id: text("conversationId")?.into(),
            conversation_no: number("conversationNo")?,
            seq: number("seq")?,
            message_id: text("messageId").map(MessageId::from),
            lead: Lead {
                score: lead.and_then(|lead| match lead.get("score")? {
                    Value::Number(number) => Some(*number),
                    #[expect(clippy::cast_precision_loss, reason = "a score is 0 to 100")]
                    Value::Integer(number) => Some(*number as f64),
                    _ => None,
                }),
                has_contact: lead_flag("hasContact"),
                needs_handoff: lead_flag("needsHandoff"),
                summary: lead.and_then(|lead| lead.get("summary")?.as_text()).map(str::to_owned),
            },
        })
    }
}

/// Stores the answer and the response.
async fn finish(
    service: &Service,
    site: &Arc<Site>,
    body: &SendMessage,
    keyed: Option<KeyedRequest>,
    recorded: Recorded,
    answer: Answer,
) -> Result<ApiResponse, ApiError> {
    let now_ms = service.now_ms();
    let site = Arc::clone(site);
    let locale = body.locale.clone().unwrap_or_else(|| resolved_locale(&site, None));
    let events = match &body.visitor.visitor_id {
        Some(visitor) => recent_events(service.db(), &site.id, visitor.as_str()).await?,
        None => Vec::new(),
    };
    let behaviour = Behaviour::of(&events);
    let operator_online = operators_online(service, &site.tenant_id).await?.is_online();
    service
        .db()
        .write(move |tx| {
            Box::pin(async move {
                if let Some(keyed) = &keyed
                    && let Some(response) = keyed.lock(tx).await?
                {
                    return Ok(response);
                }
                let (message, lead) =
                    store_answer(tx, now_ms, &site, &recorded, &answer, &behaviour, operator_online).await?;
                let response = ApiResponse::success(response(recorded, message, lead, answer, locale));
                if let Some(keyed) = keyed {
                    keyed.store_response(tx, &response).await?;
                }
                Ok(response)
            })
        })
        .await
}

/// Stores the answer, unless another attempt did, and what is known of the lead by now. Returns both as the
/// visitor sees them. The answer is dropped if a person has taken over while the AI wrote it.
async fn store_answer(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    recorded: &Recorded,
    answer: &Answer,
    behaviour: &Behaviour,
    operator_online: bool,
) -> Result<(Option<ChatMessage>, Lead), ApiError> {
    // A message that is not stored is still returned to the sender.
    let unstored = |text: &String| ChatMessage {
        id: None,
        role: Role::Assistant,
        content: text.clone(),
        created_at: Some(iso(now_ms)),
    };
    let mut conversation = match conversations::lock(tx, &site.id, &recorded.conversation_id).await {
        Ok(conversation) => conversation,
        // Erased since.
        Err(ApiError::NotFound(_)) => {
            return Ok((answer.text.as_ref().map(unstored), recorded.lead.clone()));
        }
        Err(error) => return Err(error),
    };
    if let Some(topic) = &answer.topic {
        conversation.notes.record_topic(topic);
    }
    let lead = conversation.notes.lead_of(&conversation.profile, behaviour);
    conversation.set_score(&lead);
    conversations::store(tx, &conversation).await?;
    // The lead of a send result reports whether this message asks for a person.
    let lead = Lead { needs_handoff: recorded.lead.needs_handoff, ..lead };
    let (id, no) = (&recorded.conversation_id, recorded.conversation_no);
    if let Some(stored) = answer_to(tx, id, no, recorded.seq).await? {
        return Ok((Some(stored.message), lead));
    }
    let message = match &answer.text {
        None => None,
        Some(_) if !conversation.ai_answers(now_ms, operator_online) => None,
        Some(text) if text.is_empty() => Some(unstored(text)),
        Some(text) => {
            let new = NewMessage {
                reply_to: Some(recorded.seq),
                sources: answer.sources.clone(),
                ..NewMessage::new(Role::Assistant, text.clone())
            };
            Some(add_message(tx, now_ms, site, &mut conversation, new).await?.message)
        }
    };
    Ok((message, lead))
}

fn response(
    recorded: Recorded,
    message: Option<ChatMessage>,
    lead: Lead,
    answer: Answer,
    locale: String,
) -> Value {
    let ok = answer.status == AiStatus::Ok;
    let blocked = answer.status == AiStatus::Blocked;
    Value::from(&SendResult {
        conversation_id: recorded.conversation_id,
        user_message_id: recorded.message_id,
        message,
        provider: Some(PROVIDER.to_owned()),
        used_fallback: answer.used_fallback,
        blocked,
        ai_status_message: Some(if ok { "" } else { "The AI gave no answer that can be shown." }.to_owned()),
        ai_status: answer.status,
        locale: Some(locale),
        lead,
    })
}
