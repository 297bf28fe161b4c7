//! Asks an endpoint a question of our own, to find out whether it answers visitors.

use chat_protocol::Role;

use super::completion::Completion;
use super::failure::Fault;
use super::{Ai, Endpoint, Question, SiteFacts, Turn};
use crate::text::truncate_words;

/// A question as a visitor may ask it. No knowledge belongs to it.
const QUESTION: &str = "Hello! Are you there? Please answer in one short sentence.";
/// Maximum characters of the answer that are shown.
const MAX_SHOWN_LENGTH: usize = 80;

/// What an endpoint does with a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Probed {
    /// It answers, with this text.
    Answers(String),
    /// It gives no answer now, and may later.
    Fails(String),
    /// It gives no answer until somebody changes a setting.
    Refuses(String),
}

impl Ai {
    /// Asks an endpoint of a site a question, whatever happened to earlier ones.
    pub(crate) async fn probe(&self, endpoint: &Endpoint, site_name: &str) -> Probed {
        let history = [Turn { role: Role::Visitor, content: QUESTION.to_owned() }];
        let site = SiteFacts { name: site_name, ..SiteFacts::default() };
        let question = Question { site, history: &history, locale: Some("en"), ..Question::default() };
        match self.complete(endpoint, &question).await {
            Ok(Completion::Answer(text) | Completion::Refusal(Some(text))) => {
                Probed::Answers(truncate_words(&text, MAX_SHOWN_LENGTH))
            }
            Ok(Completion::Refusal(None)) => Probed::Fails("a filter blocks a harmless question".to_owned()),
            Err(failure) => {
                let words = failure.for_operators(endpoint.key.as_ref());
                if failure.fault == Fault::Endpoint { Probed::Fails(words) } else { Probed::Refuses(words) }
            }
        }
    }
}
