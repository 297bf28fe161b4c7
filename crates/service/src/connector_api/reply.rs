//! Asks the AI for the answer to a stored message, unless a person has taken over.

use std::sync::Arc;
use std::time::Instant;

use chat_protocol::{SendMessage, VisitorId};

use super::record::Recorded;
use crate::Service;
use crate::ai::{self, Answer, MAX_HISTORY, Team, VisitorMessage};
use crate::conversations::reply_time::usual_reply;
use crate::conversations::{self, StoredMessage, last_messages};
use crate::error::ApiError;
use crate::presence::operators_online;
use crate::rate::Caller;
use crate::sites::Site;
use crate::visitors::identity::Identity;

/// Returns the answer; one without a text while a person handles the conversation, or will.
pub(super) async fn reply(
    service: &Service,
    site: &Arc<Site>,
    body: &SendMessage,
    identity: Option<&Identity>,
    page_origin: Option<&str>,
    caller: Caller,
    recorded: &Recorded,
) -> Result<Answer, ApiError> {
    let db = service.db();
    let conversation = match conversations::find(db, &site.id, &recorded.conversation_id).await {
        Ok(conversation) => conversation,
        // Erased since: the visitor gets the response to a message that no longer exists.
        Err(ApiError::NotFound(_)) => return Ok(Answer::silent()),
        Err(error) => return Err(error),
    };
    let online = operators_online(service, &site.tenant_id).await?.is_online();
    let now_ms = service.now_ms();
    if !conversation.ai_answers(now_ms, online) {
        return Ok(Answer::silent());
    }
    let team = team(service, site, online, recorded.ai_alone).await?;
    let mut history =
        last_messages(db, &recorded.conversation_id, recorded.conversation_no, MAX_HISTORY).await?;
    // A later message has an answer of its own.
    history.retain(|stored| stored.seq <= recorded.seq);
    let has_contact = conversation.notes.has_contact(&conversation.profile);
    if recorded.for_people {
        // The widget shows that an operator is there. Otherwise a visitor is told once that the team reads
        // the message.
        let is_known = conversation.notes.is_told_of_absence() || conversation.is_with_person(now_ms);
        return Ok(if online || is_known {
            Answer::silent()
        } else {
            Answer::of_absent_team(&body.message, body.locale.as_deref(), has_contact, team)
        });
    }
    let began = Instant::now();
    let message = VisitorMessage {
        text: &body.message,
        locale: body.locale.as_deref(),
        page_origin,
        caller,
        visitor_id: conversation.profile.visitor_id.as_ref().map(VisitorId::as_str),
        trail: recorded.trail(identity),
        countries: conversation.countries(site),
        has_contact,
        team,
        history: history.into_iter().map(StoredMessage::into_turn).collect(),
    };
    let answer = ai::answer(service, site, message).await?;
    service.0.metrics.ai_reply(&answer, began.elapsed());
    Ok(answer)
}

/// Returns what a visitor may be told of the people beside the AI.
pub(super) async fn team<'a>(
    service: &Service,
    site: &'a Site,
    operator_online: bool,
    ai_alone: bool,
) -> Result<Team<'a>, ApiError> {
    if ai_alone {
        return Ok(Team::elsewhere(site));
    }
    let now_ms = service.now_ms();
    // Somebody who works late may answer any time.
    let reopens = if operator_online { None } else { site.reopens(now_ms) };
    let usual_reply = if site.is_open(now_ms) { usual_reply(service, site).await? } else { None };
    Ok(Team { reopens, usual_reply, ..Team::default() })
}
