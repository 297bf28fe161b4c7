//! The knowledge about a site: its synced content, and its own questions and answers.
//!
//! The database finds the pages that share words with a question; they are ranked here, so that both
//! databases give the same result. The work is bounded for any question and any page.

pub(crate) mod answers;
mod arabic;
mod calibrate;
mod certainty;
mod hindi;
pub(crate) mod index_terms;
mod korean;
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
mod vocabulary;
mod window;
mod words;

pub(crate) use certainty::{MAYBE, SURE};
pub(crate) use language::Language;
pub(crate) use search::Wanted;
pub(crate) use words::{folded_words, is_unspaced};

use std::time::Duration;

use chat_protocol::admin::settings;

use crate::Service;
use crate::cache::Cache;
use crate::error::ApiError;
use calibrate::calibrate;
use certainty::Calibration;
use search::search;

/// Maximum sites whose calibration is remembered.
const MAX_CALIBRATIONS: usize = 2048;
/// The time for which a calibration holds. Each new entry of a small site matters; those of others wait.
const CALIBRATION_LIFETIME: Duration = Duration::from_mins(10);
const SMALL_SITE: usize = 48;
/// The highest certainty in the admin API.
const WHOLE: f64 = 1000.0;

/// A part of a site's knowledge that may answer a question.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Passage {
    /// `content:` and the site's id of the item, or `answer:` and the id of the answer.
    pub(crate) id: String,
    pub(crate) title: String,
    /// The path or the URL of the page.
    pub(crate) location: Option<String>,
    /// The text, for a model and for operators.
    pub(crate) text: String,
    /// The part that answers the question, in Markdown, for a visitor.
    pub(crate) shown: String,
    /// How certain it is that it answers the question, from 0 to 1.
    pub(crate) certainty: f64,
}

impl From<Passage> for settings::Passage {
    fn from(passage: Passage) -> Self {
        let certainty = in_thousandths(passage.certainty);
        let Passage { id, title, location, text, .. } = passage;
        Self { id, title, location, text, certainty }
    }
}

/// Returns a certainty as the admin API writes it.
pub(crate) fn in_thousandths(certainty: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a certainty is between 0 and 1")]
    let thousandths = (certainty.clamp(0.0, 1.0) * WHOLE).round() as i64;
    thousandths
}

/// The sites whose answers were asked for, with how certain they are.
#[derive(Debug)]
pub(crate) struct Calibrations(Cache<(String, usize), Calibration>);

impl Default for Calibrations {
    fn default() -> Self {
        Self(Cache::new(MAX_CALIBRATIONS, CALIBRATION_LIFETIME))
    }
}

impl Calibrations {
    async fn of_site(&self, service: &Service, site_id: &str) -> Result<Calibration, ApiError> {
        let entries = search::count(service.db(), site_id).await?;
        let key = (site_id.to_owned(), entries.min(SMALL_SITE));
        match self.0.get(&key) {
            Ok(calibration) => Ok(calibration),
            Err(version) => {
                let calibration = calibrate(service.db(), site_id, entries).await?;
                self.0.put(version, key, calibration);
                Ok(calibration)
            }
        }
    }
}

/// Returns the passages of a site that best match a question, best first; none when nothing matches well
/// enough. A search holds megabytes of pages, so that few run at a time; further ones wait.
pub(crate) async fn find(
    service: &Service,
    site_id: &str,
    wanted: Wanted<'_>,
) -> Result<Vec<Passage>, ApiError> {
    let Ok(_turn) = service.0.workers.acquire().await else { return Err(ApiError::Internal) };
    let calibration = service.0.calibrations.of_site(service, site_id).await?;
    Ok(search(service.db(), site_id, wanted, Some(calibration)).await?)
}
