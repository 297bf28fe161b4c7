//! The five endpoints (4.4 to 4.8).

use std::collections::HashMap;
use std::time::Duration;

use axum::extract::Query;
use axum::http::Uri;
use chat_protocol::{
    AiStatus, ChatConfig, ConversationId, Endpoint, EventBatch, History, IdempotencyKey, Role, SendMessage,
    SendResult, Tracking, Value,
};

use crate::Sandbox;
use crate::answer::Answer;
use crate::error::ApiError;
use crate::lead::contacts_in;
use crate::responder::{FALLBACK, reply};
use crate::trouble::{Ai, Trouble};
use crate::world::new_message;

const TENANT: &str = "tenant_demo";
const SITE: &str = "site_kiln_and_clover";
const LOCALES: [&str; 1] = ["en"];
const NO_CONVERSATION: ApiError = ApiError::NotFound("This conversation");

pub(crate) fn read(sandbox: &Sandbox, endpoint: Endpoint, uri: &Uri) -> Result<Answer, ApiError> {
    let Query(query) = Query::<HashMap<String, String>>::try_from_uri(uri)
        .map_err(|rejection| ApiError::InvalidRequest(rejection.body_text()))?;
    let asked = |name: &str| query.get(name).map(String::as_str).filter(|text| !text.is_empty());
    let data = match endpoint {
        Endpoint::Config => config(sandbox, asked("locale")),
        Endpoint::Presence => presence(sandbox, asked("conversationId")),
        _ => {
            let id = asked("conversationId")
                .ok_or(ApiError::InvalidRequest("conversationId is missing.".to_owned()))?;
            messages(sandbox, &id.into(), asked("after"))?
        }
    };
    Ok(Answer::success(data))
}

pub(crate) async fn write(
    sandbox: &Sandbox,
    endpoint: Endpoint,
    body: &[u8],
    key: Option<IdempotencyKey>,
) -> Result<Answer, ApiError> {
    let body: Value = serde_json::from_slice(body)
        .map_err(|error| ApiError::InvalidRequest(format!("The body is not JSON: {error}.")))?;
    let data = match endpoint {
        Endpoint::Events => events(sandbox, body, key.as_ref())?,
        _ => send(sandbox, body, key).await?,
    };
    Ok(Answer::success(data))
}

fn config(sandbox: &Sandbox, locale: Option<&str>) -> Value {
    let say = sandbox.switches().now.config.clone();
    let supported = |tag: &&str| LOCALES.contains(&tag.split(['-', '_']).next().unwrap_or_default());
    let resolved = locale.filter(supported).unwrap_or(LOCALES[0]);
    let config = ChatConfig {
        tenant_id: Some(TENANT.to_owned()),
        site_id: Some(SITE.to_owned()),
        enabled: say.enabled.unwrap_or(true),
        widget_enabled: say.widget_enabled.unwrap_or(true),
        assistant_name: say.assistant_name.or(Some("Clover".to_owned())),
        welcome_message: say.welcome_message.or(Some(
            "Hello! I am Clover, the shop's assistant. Ask me about our pots, delivery or the workshops."
                .to_owned(),
        )),
        avatar_url: say.avatar_url,
        locale: say.locale.or(Some(resolved.to_owned())),
        supported_locales: LOCALES.map(str::to_owned).to_vec(),
        stale: say.stale.unwrap_or(false),
    };
    Value::from(&config)
}

async fn send(sandbox: &Sandbox, body: Value, key: Option<IdempotencyKey>) -> Result<Value, ApiError> {
    let body = SendMessage::try_from(body)?;
    let trouble = sandbox.switches().now.clone();

    let (conversation_id, user_message_id, lead, answer) = {
        let mut world = sandbox.world();
        let conversation = world.conversation_for(&body).ok_or(NO_CONVERSATION)?;
        conversation.learn(&body);
        conversation.unread += 1;
        let contacts = contacts_in(&body.message);
        let has_contact = !contacts.is_empty() || conversation.notes.has_contact(&conversation.visitor);
        let answer = reply(&body.message, !contacts.is_empty(), has_contact);
        conversation.notes.message(&contacts, answer.topic, answer.wants_person);
        let written = conversation.write(Role::Visitor, &body.message, key);
        (conversation.id.clone(), written.id, conversation.notes.lead(&conversation.visitor), answer)
    };
    sandbox.changed();

    if trouble.ai == Ai::Slow {
        tokio::time::sleep(Duration::from_millis(trouble.slow_ms)).await;
    }
    let (ai_status, said) = said(&trouble, answer.content);
    let message = said.as_deref().map(|content| {
        let mut world = sandbox.world();
        match world.conversation(&conversation_id) {
            // An empty message is told to the sender, but nobody needs to read it again.
            Some(conversation) if !content.is_empty() => conversation.write(Role::Assistant, content, None),
            _ => new_message(Role::Assistant, content),
        }
    });
    sandbox.changed();

    let ok = ai_status == AiStatus::Ok;
    Ok(Value::from(&SendResult {
        conversation_id,
        user_message_id,
        message,
        provider: Some("sandbox".to_owned()),
        used_fallback: !ok && ai_status != AiStatus::Blocked,
        blocked: ai_status == AiStatus::Blocked,
        ai_status_message: (!ok).then(|| "A trouble switch is on.".to_owned()),
        ai_status,
        locale: body.locale,
        lead,
    }))
}

/// How the AI fared, and what it said, if it said anything.
fn said(trouble: &Trouble, answer: &str) -> (AiStatus, Option<String>) {
    let fallback = || Some(trouble.fallback_text.as_deref().unwrap_or(FALLBACK).to_owned());
    match trouble.ai {
        Ai::Ok | Ai::Slow => (AiStatus::Ok, Some(answer.to_owned())),
        Ai::ProviderError => (AiStatus::ProviderError, fallback()),
        Ai::QuotaInsufficient => (AiStatus::QuotaInsufficient, fallback()),
        Ai::Blocked => (AiStatus::Blocked, None),
    }
}

fn messages(sandbox: &Sandbox, id: &ConversationId, after: Option<&str>) -> Result<Value, ApiError> {
    let mut world = sandbox.world();
    let conversation = world.conversation(id).ok_or(NO_CONVERSATION)?;
    Ok(Value::from(&History {
        conversation_id: Some(conversation.id.clone()),
        messages: conversation.messages_after(after).iter().map(|kept| kept.message.clone()).collect(),
        next_after: conversation.messages.last().and_then(|kept| kept.message.id.clone()),
    }))
}

fn presence(sandbox: &Sandbox, conversation_id: Option<&str>) -> Value {
    let exists = conversation_id.is_some_and(|id| sandbox.world().conversation(&id.into()).is_some());
    let say = sandbox.switches().now.presence.clone();
    let presence = sandbox.operators().presence(&sandbox.0.pace, exists, &say);
    let mut members = vec![("tenantId".to_owned(), TENANT.into()), ("siteId".to_owned(), SITE.into())];
    if let Value::Object(rest) = Value::from(&presence) {
        members.extend(rest);
    }
    Value::Object(members)
}

fn events(sandbox: &Sandbox, body: Value, key: Option<&IdempotencyKey>) -> Result<Value, ApiError> {
    let batch = EventBatch::try_from(body)?;
    let count = |items: usize| i64::try_from(items).unwrap_or(i64::MAX);
    let tracking = Tracking {
        accepted: count(batch.events.len()),
        rejected: count(batch.refused.len()),
        enabled: !sandbox.switches().now.tracking_disabled,
    };
    let mut world = sandbox.world();
    for event in batch.events {
        world.keep_event(event, key.cloned());
    }
    drop(world);
    sandbox.changed();
    Ok(Value::from(&tracking))
}
