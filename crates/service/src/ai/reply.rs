//! Answers the messages of a site's visitors, from the site's settings, knowledge and conversations.

use std::fmt;
use std::time::Duration;

use chat_protocol::admin::settings::AiSettings;
use chat_protocol::{AiStatus, VisitorEvent};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tracing::warn;

use super::links::fallback_links;
use super::quota::Taken;
use super::said::Said;
use super::shares::Holder;
use super::talk::Sentence;
use super::{
    Answer, Asker, Endpoint, Outcome, Phrases, Question, SiteFacts, Team, Threshold, Turn, paragraphs, quota,
    wants_person, warning,
};
use crate::Service;
use crate::db::{Db, DbError, work};
use crate::error::ApiError;
use crate::lead::{Countries, Seen, events_as_context, without_contacts};
use crate::rate::Caller;
use crate::secrets::ServiceKey;
use crate::sites::Site;
use crate::visitors::events::{Trail, of_trail};

/// The status of replies beyond those of a visitor, an address, or their share of the month. It is not that
/// of a quota that is used up: a widget would tell the visitor that the chat is unavailable.
const VISITOR_LIMIT: &str = "visitor_limit";
/// Maximum events of a visitor that are read.
const MAX_EVENTS: i64 = 40;

/// Answers the questions of all visitors of a service.
pub(crate) trait Responder: fmt::Debug + Send + Sync {
    /// Answers a question about a site.
    fn respond<'a>(
        &'a self,
        service: &'a Service,
        site: &'a Site,
        question: &'a Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ApiError>>;
}

/// Answers with the AI that each site has chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SiteResponder;

impl Responder for SiteResponder {
    fn respond<'a>(
        &'a self,
        service: &'a Service,
        site: &'a Site,
        question: &'a Question<'a>,
    ) -> BoxFuture<'a, Result<Answer, ApiError>> {
        Box::pin(respond(service, site, question, endpoint(&service.0.options.key, site)))
    }
}

/// A message to be answered.
#[derive(Clone, Debug)]
pub(crate) struct VisitorMessage<'a> {
    pub(crate) text: &'a str,
    pub(crate) locale: Option<&'a str>,
    /// The origin of the page that the visitor writes on, if it is known.
    pub(crate) page_origin: Option<&'a str>,
    /// The address that the visitor writes from, if it is known.
    pub(crate) caller: Caller,
    pub(crate) visitor_id: Option<&'a str>,
    /// The events that the AI may know.
    pub(crate) trail: Trail<'a>,
    /// The countries in which the visitor may have a phone.
    pub(crate) countries: Countries,
    /// Whether the visitor's contact details are known.
    pub(crate) has_contact: bool,
    /// The people beside the AI.
    pub(crate) team: Team<'a>,
    /// The last messages of the conversation. They end with this one, unless they were erased.
    pub(crate) history: Vec<Turn>,
}

/// Answers a visitor's message.
pub(crate) async fn answer(
    service: &Service,
    site: &Site,
    message: VisitorMessage<'_>,
) -> Result<Answer, ApiError> {
    let VisitorMessage {
        text,
        locale,
        page_origin,
        caller,
        visitor_id,
        trail,
        countries,
        has_contact,
        team,
        mut history,
    } = message;
    let visited = events_as_context(&recent_events(service.db(), &site.id, trail).await?);
    if history.is_empty() {
        history.push(Turn { role: chat_protocol::Role::Visitor, content: text.to_owned() });
    }
    // Contact details are neither searched for nor part of what is asked.
    let rest = without_contacts(text, &countries);
    let earlier = history.split_last().map_or(&[][..], |(_, earlier)| earlier);
    let last_reply = earlier.iter().rev().find(|turn| turn.role != chat_protocol::Role::Visitor);
    let is_to_person = last_reply.is_some_and(|turn| turn.role == chat_protocol::Role::Operator);
    let said = Said::new(service, &site.id, &rest, earlier, locale, Threshold::of_site(site)).await?;
    let said = linked(said, site, page_origin);
    // The visitor thanks a person: an answer of the AI would be odd.
    if is_to_person && said.understood.is_only_courtesy() {
        return Ok(Answer::silent());
    }
    let passages = said.passages();
    let question = Question {
        site_id: &site.id,
        site: facts(service, site, page_origin),
        passages: &passages,
        said: &said,
        visited: Some(&visited),
        history: &history,
        locale,
        left_contact: rest != text,
        has_contact,
        team,
        // Visitors with an empty id have nothing in common.
        asker: Some(Asker { visitor_id: visitor_id.filter(|id| !id.is_empty()), caller }),
    };
    service.0.responder.respond(service, site, &question).await
}

/// Returns the origin of the site's pages: that of the visitor's page if the site allows it, or else the
/// first one that it allows, or that it was activated for. Other sites' origins are not known.
fn origin<'a>(site: &'a Site, page_origin: Option<&str>) -> Option<&'a str> {
    let origins = &site.allowed_origins;
    let of_page = origins.iter().find(|origin| page_origin == Some(origin.as_str()));
    let activated = site.domain.as_ref().filter(|domain| domain.contains("://"));
    of_page.or(origins.first()).or(activated).map(|origin| origin.trim_end_matches('/'))
}

/// Returns what an AI is told about a site.
pub(super) fn facts<'a>(service: &Service, site: &'a Site, page_origin: Option<&str>) -> SiteFacts<'a> {
    let now = Timestamp::from_millisecond(service.now_ms()).ok();
    let today = now.map(|now| now.to_zoned(TimeZone::UTC).date());
    SiteFacts { name: &site.name, origin: origin(site, page_origin), today }
}

/// Returns what was found, with whole addresses in place of paths, where the site's origin is known.
pub(super) fn linked(mut said: Said, site: &Site, page_origin: Option<&str>) -> Said {
    let Some(origin) = origin(site, page_origin) else { return said };
    let passages = said.found.iter_mut().flat_map(|found| &mut found.passages);
    for location in passages.filter_map(|passage| passage.location.as_mut()) {
        if location.starts_with('/') && !location.starts_with("//") {
            location.insert_str(0, origin);
        }
    }
    said
}

/// Answers a question with an AI endpoint, or the built-in assistant, within the replies of the visitor, of
/// the address and of the month. Replies of the built-in assistant cost nothing: they are bounded only if the
/// site has a quota.
pub(crate) async fn respond(
    service: &Service,
    site: &Site,
    question: &Question<'_>,
    endpoint: Option<Result<Endpoint, String>>,
) -> Result<Answer, ApiError> {
    let now_ms = service.now_ms();
    let is_counted = site.monthly_ai_replies.is_some() || endpoint.is_some();
    let holders = question.asker.map(Holder::of).unwrap_or_default();
    if is_counted {
        if let Some(Asker { visitor_id, caller }) = question.asker
            && !service.0.rates.take_ai_reply(service, &site.id, visitor_id, caller).await?
        {
            return Ok(Answer::fallback(VISITOR_LIMIT.into(), question));
        }
        // Counted last: nothing that fails stands between this and the answer, after which a reply that was
        // not given is given back.
        match take(service, site, now_ms, holders.clone()).await? {
            Taken::Counted { .. } => {}
            Taken::UsedUp => return Ok(Answer::fallback(AiStatus::QuotaInsufficient, question)),
            Taken::ShareUsedUp => return Ok(Answer::fallback(VISITOR_LIMIT.into(), question)),
        }
    }
    let answer = match &endpoint {
        Some(Ok(endpoint)) => service.0.ai.answer(Some(endpoint), question).await,
        Some(Err(problem)) => {
            Answer { problem: Some(problem.clone()), ..Answer::fallback(AiStatus::ProviderError, question) }
        }
        None => service.0.ai.answer(None, question).await,
    };
    if answer.used_fallback && is_counted {
        let site_id = site.id.clone();
        let give_back = work!(|tx| quota::give_back(tx, &site_id, now_ms, &holders).await);
        let given: Result<(), DbError> = service.db().write_unflushed(give_back).await;
        if let Err(error) = given {
            warn!("a reply of the AI that failed is counted: {error}");
        }
    }
    Ok(answer)
}

/// Counts a reply, and warns the owners if the replies of the month are nearly used up.
async fn take(service: &Service, site: &Site, now_ms: i64, holders: Vec<Holder>) -> Result<Taken, ApiError> {
    let (db, service, site) = (service.db(), service.clone(), site.clone());
    db.write_unflushed(work!(|tx| {
        let taken = quota::take(tx, &site.id, now_ms, &holders).await?;
        if let Taken::Counted { used, limit: Some(limit) } = taken {
            warning::warn(tx, &service, now_ms, &site, used, limit).await?;
        }
        Ok(taken)
    }))
    .await
}

/// Returns the site's endpoint, if it has one; the problem if its key cannot be decrypted.
pub(crate) fn endpoint(key: &ServiceKey, site: &Site) -> Option<Result<Endpoint, String>> {
    let settings = site.ai.as_ref()?;
    let purpose = Site::ai_key_purpose(&site.id);
    let key = site.ai_key.as_ref().map(|sealed| key.unseal(&purpose, sealed)).transpose();
    let key = match key {
        Ok(key) => key,
        Err(error) => {
            warn!(site = site.id, "cannot use the AI endpoint: {error}");
            return Some(Err(error.to_string()));
        }
    };
    let timeout = Duration::from_millis(settings.timeout_ms.max(0).unsigned_abs());
    let AiSettings { base, model, options, .. } = settings.clone();
    Some(Ok(Endpoint { base, key, model, timeout, options }))
}

/// Returns the latest events of a conversation's visitor, oldest first.
pub(crate) async fn recent_events(db: &Db, site_id: &str, trail: Trail<'_>) -> Result<Vec<Seen>, DbError> {
    let received = of_trail(db, site_id, trail, MAX_EVENTS).await?;
    let seen = received.into_iter().filter_map(|received| {
        let event = VisitorEvent::try_from(received.event).ok()?;
        Some(Seen { event, received_ms: received.received_ms })
    });
    Ok(seen.collect())
}

impl Answer {
    /// Returns the answer to a message that a person answers.
    pub(crate) fn silent() -> Self {
        Self {
            status: AiStatus::Ok,
            text: None,
            sources: Vec::new(),
            used_fallback: false,
            topic: None,
            wants_person: false,
            problem: None,
            outcome: None,
            tells_absence: false,
        }
    }

    /// Returns the text that the team will read the message, in the visitor's language, for a visitor who
    /// waits for people while none is online, and when it is back or usually answers, if that is known.
    pub(crate) fn of_absent_team(
        message: &str,
        locale: Option<&str>,
        has_contact: bool,
        team: Team<'_>,
    ) -> Self {
        let sentence = if has_contact { Sentence::Handoff } else { Sentence::AskForContact };
        let phrases = Phrases::of(message, locale);
        let text = paragraphs(phrases.say(sentence, &[]).to_owned(), phrases.about_team(team, &[]));
        Self { text: Some(text), tells_absence: true, ..Self::silent() }
    }

    /// Returns the fallback text in the visitor's language, with links to pages that fit. It has nothing of
    /// what they say (4.13), and offers a person, where there is one.
    pub(super) fn fallback(status: AiStatus, question: &Question<'_>) -> Self {
        let message = question.message();
        let phrases = Phrases::of(message, question.locale);
        let is_elsewhere = question.team.is_elsewhere;
        let sentence = if is_elsewhere { Sentence::AloneFallback } else { Sentence::Fallback };
        let text = paragraphs(phrases.say(sentence, &[]).to_owned(), question.about_team(phrases));
        Self {
            status,
            text: Some(text + &fallback_links(question.passages)),
            used_fallback: true,
            wants_person: wants_person(message),
            outcome: Some(Outcome::Failed),
            ..Self::silent()
        }
    }
}

#[cfg(test)]
mod reply_tests;
