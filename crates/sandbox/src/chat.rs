//! The chat's endpoints (4.4 to 4.8).

use std::time::Duration;

use chat_protocol::{
    AiStatus, ChatConfig, ConversationId, EventBatch, FieldError, History, IdempotencyKey, Lead, Role,
    SendMessage, SendResult, Tracking, Value,
};

use crate::Sandbox;
use crate::assistant::MAX_HISTORY;
use crate::error::ApiError;
use crate::faults::{Ai, Faults};
use crate::identity::{SITE_ID, TENANT_ID};
use crate::lead::contacts_in;
use crate::responder::{FALLBACK, Reply, reply};
use crate::search::Passage;
use crate::store::{MAX_EVENT_BYTES, new_message, target_conversation};

const LOCALES: [&str; 1] = ["en"];
const NO_CONVERSATION: ApiError = ApiError::NotFound("This conversation");

/// The `provider` in responses to visitors, which does not disclose the AI.
const PROVIDER: &str = "assistant";

pub(crate) fn config(sandbox: &Sandbox, locale: Option<&str>) -> Result<Value, ApiError> {
    let overrides = sandbox.faults().active.config.clone();
    let site = sandbox.store().site()?;
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
        tenant_id: Some(TENANT_ID.to_owned()),
        site_id: Some(SITE_ID.to_owned()),
        enabled: overrides.enabled.unwrap_or(true),
        widget_enabled: overrides.widget_enabled.unwrap_or(true),
        assistant_name: overrides.assistant_name.or(Some("Clover".to_owned())),
        welcome_message: overrides.welcome_message.or(Some(match site.and_then(|site| site.name) {
            Some(name) => {
                format!("Hello! I am Clover, the assistant of {name}. What would you like to know?")
            }
            None => {
                "Hello! I am Clover, the shop's assistant. Ask me about our pots, delivery or the workshops."
                    .to_owned()
            }
        })),
        avatar_url: overrides.avatar_url,
        locale: overrides.locale.or(Some(resolved)),
        supported_locales: supported,
        stale: overrides.stale.unwrap_or(false),
    };
    Ok(Value::from(&config))
}

/// The status of the AI, and its answer if it gave one.
type AiResult = (AiStatus, Option<String>);

pub(crate) async fn send(
    sandbox: &Sandbox,
    body: SendMessage,
    key: Option<&IdempotencyKey>,
) -> Result<Value, ApiError> {
    let faults = sandbox.faults().active.clone();
    let passages = passages(sandbox, &body).await?;
    let (conversation_id, user_message_id, lead, answer) =
        record_message(sandbox, &body, key, passages.as_deref())?;
    sandbox.notify_changed();

    if faults.ai == Ai::Slow {
        tokio::time::sleep(Duration::from_millis(faults.slow_ms)).await;
    }
    let (ai_status, result) = match (&sandbox.0.assistant, injected_ai_result(&faults)) {
        // While an operator handles the conversation, the AI does not answer.
        _ if is_handled_by_operator(sandbox, &conversation_id)? => (AiStatus::Ok, None),
        (_, Some(result)) => result,
        (Some(assistant), None) => {
            let history = sandbox.store().last_messages(&conversation_id, MAX_HISTORY)?;
            let passages = passages.as_deref().unwrap_or_default();
            let result = assistant.answer(passages, &history, body.locale.as_deref()).await;
            result.unwrap_or_else(|status| (status, Some(fallback(&faults))))
        }
        (None, None) => (AiStatus::Ok, Some(answer.content)),
    };
    let message = match result.as_deref() {
        // An empty message is returned to the sender, but not stored.
        Some("") => {
            let now = sandbox.store().clock.now();
            Some(new_message(Role::Assistant, "", now))
        }
        Some(content) => {
            let store = sandbox.store();
            Some(if store.conversation(&conversation_id)?.is_some() {
                store.add_message(&conversation_id, Role::Assistant, content, None)?
            } else {
                new_message(Role::Assistant, content, store.clock.now())
            })
        }
        None => None,
    };
    sandbox.notify_changed();

    let ok = ai_status == AiStatus::Ok;
    let reason = if injected_ai_result(&faults).is_some() {
        "Fault injection is on."
    } else {
        "The AI gave no answer that can be shown: see the sandbox's log."
    };
    Ok(Value::from(&SendResult {
        conversation_id,
        user_message_id,
        message,
        provider: Some(PROVIDER.to_owned()),
        used_fallback: !ok && ai_status != AiStatus::Blocked,
        blocked: ai_status == AiStatus::Blocked,
        ai_status_message: (!ok).then(|| reason.to_owned()),
        ai_status,
        locale: body.locale,
        lead,
    }))
}

/// Returns whether an operator is online and has taken the conversation over.
fn is_handled_by_operator(sandbox: &Sandbox, id: &ConversationId) -> Result<bool, ApiError> {
    if !sandbox.operators().is_online() {
        return Ok(false);
    }
    Ok(sandbox.store().last_responder(id)? == Some(Role::Operator))
}

/// Searches the site's content for a message; `None` when nothing is synced. The search runs outside of the
/// lock.
async fn passages(sandbox: &Sandbox, body: &SendMessage) -> Result<Option<Vec<Passage>>, ApiError> {
    let index = {
        let store = sandbox.store();
        if let Some(id) = target_conversation(body)
            && store.conversation(id)?.is_none()
        {
            return Err(NO_CONVERSATION);
        }
        if store.content_count()? == 0 {
            return Ok(None);
        }
        store.index()
    };
    let question = body.message.clone();
    Ok(Some(sandbox.run_blocking(move || index.search(&question)).await?.passages))
}

type RecordedMessage = (ConversationId, Option<chat_protocol::MessageId>, Lead, Reply);

/// Stores a visitor's message, and returns the built-in assistant's answer to it.
fn record_message(
    sandbox: &Sandbox,
    body: &SendMessage,
    key: Option<&IdempotencyKey>,
    passages: Option<&[Passage]>,
) -> Result<RecordedMessage, ApiError> {
    let store = sandbox.store();
    let change = store.db().unchecked_transaction()?;
    let mut conversation = store.conversation_for(body)?.ok_or(NO_CONVERSATION)?;
    conversation.merge_profile(body);
    conversation.unread += 1;
    let contacts = contacts_in(&body.message);
    let has_contact = !contacts.is_empty() || conversation.notes.has_contact(&conversation.visitor);
    let answer = reply(&body.message, !contacts.is_empty(), has_contact, passages);
    conversation.notes.record_message(&contacts, answer.topic.as_deref(), answer.wants_person);
    store.update_conversation(&conversation)?;
    let written = store.add_message(&conversation.id, Role::Visitor, &body.message, key)?;
    change.commit()?;
    // The lead of a send result reports whether this message asks for a person.
    let lead = Lead { needs_handoff: answer.wants_person, ..conversation.notes.lead(&conversation.visitor) };
    Ok((conversation.id, written.id, lead, answer))
}

/// Returns the result that fault injection prescribes for the AI, if any.
fn injected_ai_result(faults: &Faults) -> Option<AiResult> {
    match faults.ai {
        Ai::Ok | Ai::Slow => None,
        Ai::ProviderError => Some((AiStatus::ProviderError, Some(fallback(faults)))),
        Ai::QuotaInsufficient => Some((AiStatus::QuotaInsufficient, Some(fallback(faults)))),
        Ai::Blocked => Some((AiStatus::Blocked, None)),
    }
}

fn fallback(faults: &Faults) -> String {
    faults.fallback_text.as_deref().unwrap_or(FALLBACK).to_owned()
}

pub(crate) fn messages(
    sandbox: &Sandbox,
    id: &ConversationId,
    after: Option<&str>,
) -> Result<Value, ApiError> {
    let store = sandbox.store();
    let conversation = store.conversation(id)?.ok_or(NO_CONVERSATION)?;
    let messages: Vec<_> = store.messages(id, after)?.into_iter().map(|stored| stored.message).collect();
    let next_after = match messages.last() {
        Some(last) => last.id.clone(),
        None => store.last_message(id)?.and_then(|message| message.id),
    };
    Ok(Value::from(&History { conversation_id: Some(conversation.id), messages, next_after }))
}

pub(crate) fn presence(sandbox: &Sandbox, conversation_id: Option<&str>) -> Result<Value, ApiError> {
    let exists = match conversation_id {
        Some(id) => sandbox.store().conversation(&id.into())?.is_some(),
        None => false,
    };
    let overrides = sandbox.faults().active.presence.clone();
    let presence = sandbox.operators().presence(&sandbox.0.pace, exists, &overrides);
    let mut members = vec![("tenantId".to_owned(), TENANT_ID.into()), ("siteId".to_owned(), SITE_ID.into())];
    if let Value::Object(rest) = Value::from(&presence) {
        members.extend(rest);
    }
    Ok(Value::Object(members))
}

pub(crate) fn events(
    sandbox: &Sandbox,
    mut batch: EventBatch,
    key: Option<&IdempotencyKey>,
) -> Result<Value, ApiError> {
    for event in std::mem::take(&mut batch.events) {
        if Value::from(&event).to_json().len() <= MAX_EVENT_BYTES {
            batch.events.push(event);
        } else {
            batch
                .refused
                .push(FieldError::new("events", format!("must have at most {MAX_EVENT_BYTES} bytes each")));
        }
    }
    let count = |items: usize| i64::try_from(items).unwrap_or(i64::MAX);
    let tracking = Tracking {
        accepted: count(batch.events.len()),
        rejected: count(batch.refused.len()),
        enabled: !sandbox.faults().active.tracking_disabled,
    };
    sandbox.store().add_events(&batch.events, key)?;
    sandbox.notify_changed();
    Ok(Value::from(&tracking))
}

#[cfg(test)]
mod tests {
    use chat_protocol::ContentItem;

    use super::*;
    use crate::{MAX_WORKERS, SandboxOptions, site};

    #[tokio::test]
    async fn answers_other_calls_while_a_search_waits() {
        let sandbox = Sandbox::new(SandboxOptions::new("a-token-for-tests".into()));
        let mut item = ContentItem::new("1", chat_protocol::ContentKind::Page);
        item.content = Some("Celadon is fired at 1280 degrees.".to_owned());
        let body = Value::object([
            ("snapshotId", "s".into()),
            ("page", 1_i64.into()),
            ("items", [&item].into_iter().collect()),
        ]);
        let page = site::content_page(body).expect("a page");
        site::sync(&sandbox, page).await.expect("synced");

        let workers = u32::try_from(MAX_WORKERS).expect("few");
        let all_workers = sandbox.0.workers.acquire_many(workers).await.expect("not closed");
        let question = Value::object([("message", "How is celadon fired?".into())]);
        let question = SendMessage::try_from(question).expect("a message");
        let asking = tokio::spawn({
            let sandbox = sandbox.clone();
            async move { send(&sandbox, question, None).await }
        });
        tokio::task::yield_now().await;
        assert!(!asking.is_finished());
        config(&sandbox, Some("en")).expect("a config");
        presence(&sandbox, None).expect("a presence");
        site::status(&sandbox).expect("a status");
        assert!(sandbox.0.store.try_lock().is_ok(), "the lock is not held");
        assert!(!asking.is_finished());

        drop(all_workers);
        let answered = asking.await.expect("no panic").expect("an answer");
        let result = answered.get("message").and_then(|message| message.get("content")?.as_text());
        assert_eq!(result, Some("Celadon is fired at 1280 degrees."));
    }
}
