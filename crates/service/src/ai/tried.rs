//! Questions that operators try out, without a visitor and a conversation.

use std::time::Duration;

use chat_protocol::Role;
use chat_protocol::admin::settings::AiSettings;

use super::reply::{facts, linked};
use super::said::Said;
use super::{Answer, Endpoint, Question, Team, Threshold, Turn};
use crate::Service;
use crate::error::ApiError;
use crate::knowledge::Passage;
use crate::sites::Site;

/// A question that an operator tries out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tried<'a> {
    pub(crate) question: &'a str,
    pub(crate) locale: Option<&'a str>,
    /// The certainty from which on a passage is the built-in assistant's answer.
    pub(crate) threshold: Threshold,
}

/// Answers a question that an operator tries out, as for a visitor who has not written before. Returns the
/// answer, and the passages that it is based on. Counts as a reply of the AI.
pub(crate) async fn try_answer(
    service: &Service,
    site: &Site,
    tried: Tried<'_>,
) -> Result<(Answer, Vec<Passage>), ApiError> {
    let prepared = Prepared::new(service, site, tried).await?;
    let answer = service.0.responder.respond(service, site, &prepared.question(service, site)).await?;
    let is_source = |passage: &Passage| answer.sources.iter().any(|source| source.id == passage.id);
    let sources = prepared.passages.into_iter().filter(is_source).collect();
    Ok((answer, sources))
}

/// The result of a question that is asked without a visitor, a quota or an AI endpoint.
#[derive(Clone, Debug)]
pub(crate) enum Rehearsal {
    /// The answer of the built-in assistant, with its sources.
    Answered(Answer, Vec<Passage>),
    /// The passages that the AI endpoint of the site would be sent.
    Sent(Vec<Passage>),
}

/// Answers a question as the built-in assistant answers a visitor who has not written before. For a site with
/// an AI endpoint, which is not asked, returns the passages that it would be sent. Nothing is counted or
/// stored.
pub(crate) async fn rehearse(
    service: &Service,
    site: &Site,
    tried: Tried<'_>,
) -> Result<Rehearsal, ApiError> {
    let prepared = Prepared::new(service, site, tried).await?;
    let question = prepared.question(service, site);
    if let Some(settings) = &site.ai {
        let AiSettings { base, model, options, .. } = settings.clone();
        let endpoint = Endpoint { base, key: None, model, timeout: Duration::ZERO, options };
        return Ok(Rehearsal::Sent(endpoint.passages(&question)));
    }
    let answer = service.0.ai.answer(None, &question).await;
    let is_source = |passage: &Passage| answer.sources.iter().any(|source| source.id == passage.id);
    let sources = prepared.passages.iter().filter(|passage| is_source(passage)).cloned().collect();
    Ok(Rehearsal::Answered(answer, sources))
}

/// A question without a conversation, with the passages that were found for it.
#[derive(Debug)]
struct Prepared<'a> {
    locale: Option<&'a str>,
    said: Said,
    passages: Vec<Passage>,
    history: [Turn; 1],
}

impl<'a> Prepared<'a> {
    async fn new(service: &Service, site: &Site, tried: Tried<'a>) -> Result<Self, ApiError> {
        let Tried { question, locale, threshold } = tried;
        let said = Said::new(service, &site.id, question, &[], locale, threshold).await?;
        let said = linked(said, site, None);
        let passages = said.passages();
        let history = [Turn { role: Role::Visitor, content: question.to_owned() }];
        Ok(Self { locale, said, passages, history })
    }

    fn question<'q>(&'q self, service: &Service, site: &'q Site) -> Question<'q> {
        Question {
            site_id: &site.id,
            site: facts(service, site, None),
            passages: &self.passages,
            said: &self.said,
            visited: None,
            history: &self.history,
            locale: self.locale,
            left_contact: false,
            has_contact: false,
            team: Team::of(site),
            asker: None,
        }
    }
}
