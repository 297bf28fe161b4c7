//! The chat's endpoints (4.4 to 4.8).

use std::time::Duration;

use chat_protocol::{
    AiStatus, ChatConfig, ConversationId, EventBatch, History, IdempotencyKey, Lead, Role, SendMessage,
    SendResult, Tracking, Value,
};

use crate::Sandbox;
use crate::api::{SITE, TENANT};
use crate::error::ApiError;
use crate::lead::contacts_in;
use crate::responder::{FALLBACK, Reply, reply};
use crate::trouble::{Ai, Trouble};
use crate::world::new_message;

const LOCALES: [&str; 1] = ["en"];
const NO_CONVERSATION: ApiError = ApiError::NotFound("This conversation");

/// The provider that answers when nothing else is set up.
const BUILT_IN: &str = "sandbox";

pub(crate) fn config(sandbox: &Sandbox, locale: Option<&str>) -> Result<Value, ApiError> {
    let say = sandbox.switches().now.config.clone();
    let site = sandbox.world().site()?;
    let supported: Vec<String> = match site.as_ref().map(|site| &site.supported_locales) {
        Some(Value::List(tags)) if !tags.is_empty() => {
            tags.iter().filter_map(Value::as_text).map(str::to_owned).collect()
        }
        _ => LOCALES.map(str::to_owned).to_vec(),
    };
    let language = |tag: &str| tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    let is_supported = |tag: &&str| supported.iter().any(|known| language(known) == language(tag));
    let primary = site.as_ref().and_then(|site| site.primary_locale.as_deref());
    let resolved = locale
        .filter(is_supported)
        .or(primary)
        .or(supported.first().map(String::as_str))
        .unwrap_or(LOCALES[0])
        .to_owned();
    let config = ChatConfig {
        tenant_id: Some(TENANT.to_owned()),
        site_id: Some(SITE.to_owned()),
        enabled: say.enabled.unwrap_or(true),
        widget_enabled: say.widget_enabled.unwrap_or(true),
        assistant_name: say.assistant_name.or(Some("Clover".to_owned())),
        welcome_message: say.welcome_message.or(Some(match site.and_then(|site| site.name) {
            Some(name) => {
                format!("Hello! I am Clover, the assistant of {name}. What would you like to know?")
            }
            None => {
                "Hello! I am Clover, the shop's assistant. Ask me about our pots, delivery or the workshops."
                    .to_owned()
            }
        })),
        avatar_url: say.avatar_url,
        locale: say.locale.or(Some(resolved)),
        supported_locales: supported,
        stale: say.stale.unwrap_or(false),
    };
    Ok(Value::from(&config))
}

/// How the AI fared, and what it said, if it said anything.
type Said = (AiStatus, Option<String>);

pub(crate) async fn send(
    sandbox: &Sandbox,
    body: Value,
    key: Option<IdempotencyKey>,
) -> Result<Value, ApiError> {
    let body = SendMessage::try_from(body)?;
    let trouble = sandbox.switches().now.clone();

    let (conversation_id, user_message_id, lead, answer) = take_in(sandbox, &body, key.as_ref())?;
    sandbox.changed();

    if trouble.ai == Ai::Slow {
        tokio::time::sleep(Duration::from_millis(trouble.slow_ms)).await;
    }
    let (provider, (ai_status, said)) = match (&sandbox.0.assistant, struck_down(&trouble)) {
        // Two who answer at once would confuse the visitor.
        _ if person_answers(sandbox, &conversation_id)? => (BUILT_IN.to_owned(), (AiStatus::Ok, None)),
        (_, Some(said)) => (BUILT_IN.to_owned(), said),
        (Some(assistant), None) => {
            let (passages, history) = {
                let world = sandbox.world();
                (world.passages(&body.message)?, world.messages(&conversation_id, None)?)
            };
            let said = assistant.answer(&passages, &history, body.locale.as_deref()).await;
            (assistant.provider(), said.unwrap_or_else(|status| (status, Some(fallback(&trouble)))))
        }
        (None, None) => (BUILT_IN.to_owned(), (AiStatus::Ok, Some(answer.content))),
    };
    let message = match said.as_deref() {
        // An empty message is told to the sender, but nobody needs to read it again.
        Some("") => {
            let now = sandbox.world().clock.now();
            Some(new_message(Role::Assistant, "", now))
        }
        Some(content) => {
            let world = sandbox.world();
            Some(if world.conversation(&conversation_id)?.is_some() {
                world.write(&conversation_id, Role::Assistant, content, None)?
            } else {
                new_message(Role::Assistant, content, world.clock.now())
            })
        }
        None => None,
    };
    sandbox.changed();

    let ok = ai_status == AiStatus::Ok;
    let why = if struck_down(&trouble).is_some() {
        "A trouble switch is on."
    } else {
        "The AI endpoint did not answer: the sandbox's log says why."
    };
    Ok(Value::from(&SendResult {
        conversation_id,
        user_message_id,
        message,
        provider: Some(provider),
        used_fallback: !ok && ai_status != AiStatus::Blocked,
        blocked: ai_status == AiStatus::Blocked,
        ai_status_message: (!ok).then(|| why.to_owned()),
        ai_status,
        locale: body.locale,
        lead,
    }))
}

/// Returns whether a person has taken the conversation over, and is there.
fn person_answers(sandbox: &Sandbox, id: &ConversationId) -> Result<bool, ApiError> {
    if !sandbox.operators().is_online() {
        return Ok(false);
    }
    let messages = sandbox.world().messages(id, None)?;
    let last = messages.iter().rev().find(|kept| kept.message.role != Role::Visitor);
    Ok(last.is_some_and(|kept| kept.message.role == Role::Operator))
}

type TakenIn = (ConversationId, Option<chat_protocol::MessageId>, Lead, Reply);

/// Keeps a visitor's message, and finds what the built-in assistant would say to it.
fn take_in(sandbox: &Sandbox, body: &SendMessage, key: Option<&IdempotencyKey>) -> Result<TakenIn, ApiError> {
    let world = sandbox.world();
    let change = world.db().unchecked_transaction()?;
    let mut conversation = world.conversation_for(body)?.ok_or(NO_CONVERSATION)?;
    conversation.learn(body);
    conversation.unread += 1;
    let contacts = contacts_in(&body.message);
    let has_contact = !contacts.is_empty() || conversation.notes.has_contact(&conversation.visitor);
    let synced = match world.content_count()? {
        0 => None,
        _ => Some(world.passages(&body.message)?),
    };
    let answer = reply(&body.message, !contacts.is_empty(), has_contact, synced.as_deref());
    conversation.notes.message(&contacts, answer.topic.as_deref(), answer.wants_person);
    world.keep(&conversation)?;
    let written = world.write(&conversation.id, Role::Visitor, &body.message, key)?;
    change.commit()?;
    // The answer to a message says whether this message asks for a person.
    let lead = Lead { needs_handoff: answer.wants_person, ..conversation.notes.lead(&conversation.visitor) };
    Ok((conversation.id, written.id, lead, answer))
}

/// What a switch makes of the AI; `None` when it leaves it alone.
fn struck_down(trouble: &Trouble) -> Option<Said> {
    match trouble.ai {
        Ai::Ok | Ai::Slow => None,
        Ai::ProviderError => Some((AiStatus::ProviderError, Some(fallback(trouble)))),
        Ai::QuotaInsufficient => Some((AiStatus::QuotaInsufficient, Some(fallback(trouble)))),
        Ai::Blocked => Some((AiStatus::Blocked, None)),
    }
}

fn fallback(trouble: &Trouble) -> String {
    trouble.fallback_text.as_deref().unwrap_or(FALLBACK).to_owned()
}

pub(crate) fn messages(
    sandbox: &Sandbox,
    id: &ConversationId,
    after: Option<&str>,
) -> Result<Value, ApiError> {
    let world = sandbox.world();
    let conversation = world.conversation(id)?.ok_or(NO_CONVERSATION)?;
    let messages = world.messages(id, after)?;
    Ok(Value::from(&History {
        conversation_id: Some(conversation.id),
        messages: messages.into_iter().map(|kept| kept.message).collect(),
        next_after: world.last_message(id)?.and_then(|message| message.id),
    }))
}

pub(crate) fn presence(sandbox: &Sandbox, conversation_id: Option<&str>) -> Result<Value, ApiError> {
    let exists = match conversation_id {
        Some(id) => sandbox.world().conversation(&id.into())?.is_some(),
        None => false,
    };
    let say = sandbox.switches().now.presence.clone();
    let presence = sandbox.operators().presence(&sandbox.0.pace, exists, &say);
    let mut members = vec![("tenantId".to_owned(), TENANT.into()), ("siteId".to_owned(), SITE.into())];
    if let Value::Object(rest) = Value::from(&presence) {
        members.extend(rest);
    }
    Ok(Value::Object(members))
}

pub(crate) fn events(
    sandbox: &Sandbox,
    body: Value,
    key: Option<&IdempotencyKey>,
) -> Result<Value, ApiError> {
    let batch = EventBatch::try_from(body)?;
    let count = |items: usize| i64::try_from(items).unwrap_or(i64::MAX);
    let tracking = Tracking {
        accepted: count(batch.events.len()),
        rejected: count(batch.refused.len()),
        enabled: !sandbox.switches().now.tracking_disabled,
    };
    sandbox.world().keep_events(&batch.events, key)?;
    sandbox.changed();
    Ok(Value::from(&tracking))
}
