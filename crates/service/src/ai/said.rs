//! A visitor's message, with what the site knows about each of its questions.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::Turn;
use super::confidence::{Confidence, Threshold, confidence};
use super::talk::{Asked, Understood};
use crate::Service;
use crate::error::ApiError;
use crate::knowledge::{self, Passage, Wanted};

/// Maximum passages of a message; those of its questions take turns.
const MAX_PASSAGES: usize = 5;

/// A message as the assistant understands it, with the passages that were found for it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) understood: Understood,
    pub(crate) found: Vec<Found>,
    /// The certainty from which on a passage is the answer.
    pub(crate) threshold: Threshold,
}

/// A question with its passages, best first.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) asked: Asked,
    pub(crate) passages: Vec<Passage>,
}

impl Default for &Said {
    /// Returns what a message says that says nothing.
    fn default() -> Self {
        static NOTHING: LazyLock<Said> = LazyLock::new(Said::default);
        &NOTHING
    }
}

impl Said {
    /// Reads the last message of a conversation, and searches the site's knowledge for each of its questions.
    pub(crate) async fn new(
        service: &Service,
        site_id: &str,
        message: &str,
        earlier: &[Turn],
        locale: Option<&str>,
        threshold: Threshold,
    ) -> Result<Self, ApiError> {
        let understood = Understood::new(message, earlier, locale);
        let mut found = Vec::with_capacity(understood.asked.len());
        for asked in &understood.asked {
            found.push(find(service, site_id, asked, locale, threshold).await?);
        }
        Ok(Self { understood, found, threshold })
    }

    /// Returns the passages of all questions, those of each best first.
    pub(crate) fn passages(&self) -> Vec<Passage> {
        let longest = self.found.iter().map(|found| found.passages.len()).max().unwrap_or_default();
        let in_turns =
            (0..longest).flat_map(|rank| self.found.iter().filter_map(move |found| found.passages.get(rank)));
        let mut ids = HashSet::new();
        in_turns.filter(|passage| ids.insert(passage.id.as_str())).take(MAX_PASSAGES).cloned().collect()
    }
}

/// Searches for a question; if it means little by itself, together with its topic.
async fn find(
    service: &Service,
    site_id: &str,
    asked: &Asked,
    locale: Option<&str>,
    threshold: Threshold,
) -> Result<Found, ApiError> {
    let with_topic = asked.topic.as_ref().map(|topic| format!("{topic}. {}", asked.text));
    let search = async |question: &str, own: Option<&str>| {
        knowledge::find(service, site_id, Wanted { question, own, locale }).await
    };
    let own = Some(asked.text.as_str());
    if let (true, Some(text)) = (asked.is_follow_up, &with_topic) {
        return Ok(Found { asked: asked.clone(), passages: search(text, own).await? });
    }
    let passages = search(&asked.text, None).await?;
    let is_possible = |passage: &Passage| confidence(asked, passage, threshold) != Confidence::Nothing;
    let has_answer = passages.iter().any(is_possible);
    match with_topic {
        Some(text) if !has_answer => {
            let asked = Asked { is_follow_up: true, ..asked.clone() };
            let passages = search(&text, own).await?;
            Ok(Found { asked, passages })
        }
        _ => Ok(Found { asked: asked.clone(), passages }),
    }
}
