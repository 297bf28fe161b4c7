//! The knowledge about a site: its synced content, and its own questions and answers.
//!
//! The database finds the pages that share words with a question; they are ranked here, so that both
//! databases give the same result. The work is bounded for any question and any page.

pub(crate) mod answers;
mod arabic;
mod language;
mod page;
mod query;
mod rank;
#[cfg(test)]
mod retrieval_tests;
pub(crate) mod search;
pub(crate) mod search_index;
mod similar;
mod synonyms;
mod words;

pub(crate) use language::Language;
pub(crate) use words::{folded_words, is_unspaced};

use chat_protocol::admin::settings;

use crate::Service;
use crate::error::ApiError;
use search::search;

/// A part of a site's knowledge that may answer a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Passage {
    /// `content:` and the site's id of the item, or `answer:` and the id of the answer.
    pub(crate) id: String,
    pub(crate) title: String,
    /// The path or the URL of the page.
    pub(crate) location: Option<String>,
    pub(crate) text: String,
    /// How well it matches, for the order only.
    pub(crate) score: f64,
}

impl From<Passage> for settings::Passage {
    fn from(passage: Passage) -> Self {
        let Passage { id, title, location, text, .. } = passage;
        Self { id, title, location, text }
    }
}

/// Returns the passages of a site that best match a question, best first; none when nothing matches well
/// enough. A search holds megabytes of pages, so that few run at a time; further ones wait.
pub(crate) async fn find(
    service: &Service,
    site_id: &str,
    question: &str,
    locale: Option<&str>,
) -> Result<Vec<Passage>, ApiError> {
    let Ok(_turn) = service.0.workers.acquire().await else { return Err(ApiError::Internal) };
    Ok(search(service.db(), site_id, question, locale).await?)
}
