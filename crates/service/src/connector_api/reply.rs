//! Asks the AI for the answer to a stored message, within the site's monthly quota.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chat_protocol::{AiStatus, SendMessage};
use tracing::{error, warn};

use super::send::Recorded;
use crate::Service;
use crate::ai::{Answer, Endpoint, MAX_HISTORY, Phrases, Question, Turn, quota};
use crate::conversations::{self, last_messages};
use crate::db::DbError;
use crate::error::ApiError;
use crate::knowledge;
use crate::lead::contacts_in;
use crate::presence::operators_online;
use crate::sites::Site;

/// Returns the answer; one without a text while a person handles the conversation.
pub(super) async fn reply(
    service: &Service,
    site: &Arc<Site>,
    body: &SendMessage,
    recorded: &Recorded,
) -> Result<Answer, ApiError> {
    let db = service.db();
    let conversation = match conversations::find(db, &site.id, &recorded.conversation_id).await {
        Ok(conversation) => conversation,
        // Erased since: the visitor gets the response to a message that no longer exists.
        Err(ApiError::NotFound(_)) => return Ok(silent()),
        Err(error) => return Err(error),
    };
    let online = operators_online(service, &site.tenant_id).await?.is_online();
    if !conversation.ai_answers(service.now_ms(), online) {
        return Ok(silent());
    }
    let taken_ms = service.now_ms();
    if !take_reply(service, site, taken_ms).await? {
        let text = Phrases::of(&body.message, body.locale.as_deref()).fallback.to_owned();
        return Ok(Answer {
            status: AiStatus::QuotaInsufficient,
            text: Some(text),
            used_fallback: true,
            ..silent()
        });
    }
    let locale = body.locale.as_deref();
    let passages = knowledge::search(db, &site.id, &body.message, locale).await?;
    let history = last_messages(db, &recorded.conversation_id, recorded.conversation_no, MAX_HISTORY).await?;
    let history: Vec<Turn> = history
        .into_iter()
        .filter(|stored| stored.seq <= recorded.seq)
        .map(|stored| Turn { role: stored.message.role, content: stored.message.content })
        .collect();
    let left_contact = !contacts_in(&body.message).is_empty();
    let question = Question {
        site_id: &site.id,
        passages: &passages,
        visited: None,
        history: &history,
        locale,
        left_contact,
        has_contact: left_contact || conversation.notes.has_contact(&conversation.profile),
    };
    let endpoint = endpoint(service, site);
    let began = Instant::now();
    let answer = service.0.ai.answer(endpoint.as_ref(), &question).await;
    service.0.metrics.ai_reply(&answer.status, began.elapsed());
    if answer.status != AiStatus::Ok {
        give_back(service, site, taken_ms).await;
    }
    Ok(answer)
}

/// Returns the answer of an AI that a person has replaced.
fn silent() -> Answer {
    Answer {
        status: AiStatus::Ok,
        text: None,
        sources: Vec::new(),
        used_fallback: false,
        topic: None,
        wants_person: false,
    }
}

/// Refuses a message before it is stored, if the site wants so once its replies are used up (7).
pub(super) async fn check_quota(service: &Service, site: &Site) -> Result<(), ApiError> {
    let (true, Some(max)) = (site.quota_refuses, site.monthly_ai_replies) else { return Ok(()) };
    if quota::used(service.db(), &site.id, service.now_ms()).await? >= max {
        return Err(ApiError::InsufficientQuota);
    }
    Ok(())
}

async fn take_reply(service: &Service, site: &Site, now_ms: i64) -> Result<bool, ApiError> {
    // Without a maximum, the count is for the console only, and is written with the others.
    let id = site.id.clone();
    service.db().write(move |tx| Box::pin(async move { quota::take(tx, &id, now_ms).await })).await
}

/// An AI that failed has used up nothing.
async fn give_back(service: &Service, site: &Site, taken_ms: i64) {
    let id = site.id.clone();
    let given: Result<(), DbError> = service
        .db()
        .write(move |tx| Box::pin(async move { quota::give_back(tx, &id, taken_ms).await }))
        .await;
    if let Err(error) = given {
        warn!("a reply that failed counts towards the quota: {error}");
    }
}

/// Returns the site's AI endpoint; `None` for the built-in assistant.
fn endpoint(service: &Service, site: &Site) -> Option<Endpoint> {
    let settings = site.ai.as_ref()?;
    let key = match &site.ai_key {
        Some(sealed) => match service.0.options.key.unseal(&Site::ai_key_purpose(&site.id), sealed) {
            Ok(key) => Some(key),
            Err(wrong) => {
                error!("the AI of a site is not used: {wrong}");
                return None;
            }
        },
        None => None,
    };
    let timeout = Duration::from_millis(u64::try_from(settings.timeout_ms).unwrap_or_default());
    Some(Endpoint { base: settings.base.clone(), key, model: settings.model.clone(), timeout })
}
