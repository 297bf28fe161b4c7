//! Sending a message (4.5), in three steps, each of which a crash leaves whole.
//!
//! 1. One transaction binds the idempotency key and stores the visitor's message ([`record`]).
//! 2. The AI answers, outside of any transaction.
//! 3. One transaction stores the answer and the response.
//!
//! A node that dies between the steps loses its lease. The next repetition of the request, at whichever node,
//! goes on with the second step.

use std::sync::Arc;
use std::time::Duration;

use chat_protocol::{AiStatus, ChatMessage, Lead, Role, SendMessage, SendResult, Value};

use super::chat::resolved_locale;
use super::record::{Recorded, Step, record};
use super::reply::reply;
use crate::Service;
use crate::ai::{Answer, Outcome, recent_events};
use crate::clock::iso;
use crate::conversations::unanswered::await_person;
use crate::conversations::{self, NewMessage, add_message, answer_to, record_outcome};
use crate::db::{Tx, transaction};
use crate::error::ApiError;
use crate::idempotency::KeyedRequest;
use crate::lead::Behaviour;
use crate::presence::operators_online;
use crate::rate::Caller;
use crate::response::ApiResponse;
use crate::sites::Site;
use crate::visitors::identity::Identity;

/// The interval at which a repetition looks whether its request was answered by another task or node.
const WAIT_INTERVAL: Duration = Duration::from_millis(100);
/// The `provider` in responses to visitors, which does not disclose the AI.
const PROVIDER: &str = "assistant";

pub(super) async fn send(
    service: &Service,
    site: &Arc<Site>,
    body: SendMessage,
    identity: Option<&Identity>,
    page_origin: Option<&str>,
    caller: Caller,
    keyed: Option<KeyedRequest>,
) -> Result<ApiResponse, ApiError> {
    let body = Arc::new(body);
    let (recorded, mut lease) = loop {
        match record(service, site, &body, identity, keyed.clone()).await? {
            Step::Answer(recorded, lease) => break (recorded, lease),
            Step::Answered(response) => return Ok(response),
            Step::Wait => tokio::time::sleep(WAIT_INTERVAL).await,
        }
    };
    let reply = Box::pin(reply(service, site, &body, identity, page_origin, caller, &recorded));
    let answer = match &mut lease {
        Some(lease) => lease.hold(service, reply).await,
        None => reply.await,
    };
    let response = match answer {
        Ok(answer) => finish(service, site, &body, identity, keyed, recorded, answer).await,
        Err(error) => Err(error),
    };
    if let (Err(_), Some(lease)) = (&response, lease) {
        lease.release(service).await;
    }
    response
}

/// Stores the answer and the response.
async fn finish(
    service: &Service,
    site: &Arc<Site>,
    body: &SendMessage,
    identity: Option<&Identity>,
    keyed: Option<KeyedRequest>,
    recorded: Recorded,
    answer: Answer,
) -> Result<ApiResponse, ApiError> {
    let locale = body.locale.clone().unwrap_or_else(|| resolved_locale(site, None));
    let events = recent_events(service.db(), &site.id, recorded.trail(identity)).await?;
    let behaviour = Behaviour::of(&events);
    let operator_online = operators_online(service, &site.tenant_id).await?.is_online();
    let (db, service, site) = (service.db(), service.clone(), Arc::clone(site));
    transaction!(db, |tx| {
        if let Some(keyed) = &keyed
            && let Some(response) = keyed.lock(tx).await?
        {
            return Ok(response);
        }
        let (message, lead) =
            store_answer(tx, &service, &site, &recorded, &answer, &behaviour, operator_online).await?;
        let response = ApiResponse::success(response(recorded, message, lead, answer, locale));
        if let Some(keyed) = keyed {
            keyed.store_response(tx, &response).await?;
        }
        Ok(response)
    })
    .await
}

/// Stores the answer, unless another attempt did, and what is known of the lead by now. Returns both as the
/// visitor sees them. The answer is dropped if a person has taken over while the AI wrote it. A visitor whom
/// the AI could not answer waits for a person, where there is one.
pub(super) async fn store_answer(
    tx: &mut Tx,
    service: &Service,
    site: &Site,
    recorded: &Recorded,
    answer: &Answer,
    behaviour: &Behaviour,
    operator_online: bool,
) -> Result<(Option<ChatMessage>, Lead), ApiError> {
    let now_ms = service.now_ms();
    // A message that is not stored is still returned to the sender.
    let unstored = |text: &String| ChatMessage {
        id: None,
        role: Role::Assistant,
        content: text.clone(),
        created_at: Some(iso(now_ms)),
        author_name: None,
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
    if answer.tells_absence {
        conversation.notes.record_told_of_absence();
    }
    if answer.outcome == Some(Outcome::CouldNotAnswer) {
        conversation.notes.record_unanswered();
    }
    let lead = conversation.notes.lead_of(&conversation.profile, behaviour);
    conversation.set_score(&lead);
    // The lead of a send result reports whether this message needs a person.
    let lead = Lead { needs_handoff: recorded.lead.needs_handoff, ..lead };
    let (id, no) = (&recorded.conversation_id, recorded.conversation_no);
    let stored = answer_to(tx, id, no, recorded.seq).await?;
    let ai_answers = conversation.ai_answers(now_ms, operator_online);
    if let Some(outcome) = answer.outcome.filter(|_| stored.is_none() && ai_answers) {
        record_outcome(tx, no, recorded.seq, outcome).await?;
        if outcome.needs_person() && !recorded.ai_alone {
            await_person(tx, service, now_ms, site, &mut conversation).await?;
        }
    }
    conversations::store(tx, &conversation).await?;
    if let Some(stored) = stored {
        return Ok((Some(stored.message), lead));
    }
    let message = match &answer.text {
        None => None,
        Some(_) if !ai_answers => None,
        Some(text) if text.is_empty() => Some(unstored(text)),
        Some(text) => {
            let new = NewMessage {
                reply_to: Some(recorded.seq),
                sources: answer.sources.clone(),
                outcome: answer.outcome,
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
    // Nothing became of an answer that was dropped, because a person has taken over.
    // Where nobody else answers, an outcome that offers a person would promise one.
    let is_told = message.is_some() && !recorded.ai_alone;
    let outcome = answer.outcome.filter(|_| is_told).map(|outcome| outcome.as_str().to_owned());
    Value::from(&SendResult {
        conversation_id: recorded.conversation_id,
        user_message_id: Some(recorded.message_id),
        message,
        provider: Some(PROVIDER.to_owned()),
        used_fallback: answer.used_fallback,
        blocked,
        ai_status_message: Some(if ok { "" } else { "The AI gave no answer that can be shown." }.to_owned()),
        ai_status: answer.status,
        locale: Some(locale),
        outcome,
        lead,
    })
}
