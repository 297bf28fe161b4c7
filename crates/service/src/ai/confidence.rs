//! Tells whether a passage answers a question, may answer it, or does not.

use super::talk::Asked;
use crate::knowledge::{MAYBE, Passage, SURE, in_thousandths};
use crate::sites::Site;

/// The certainty from which on a passage is the answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Threshold(f64);

impl Default for Threshold {
    fn default() -> Self {
        Self(SURE)
    }
}

impl Threshold {
    /// Returns the threshold of a site.
    pub(crate) fn of_site(site: &Site) -> Self {
        Self::of_thousandths(site.answer_threshold).unwrap_or_default()
    }

    /// Returns a threshold in thousandths; `None` unless it is 0 to 1000.
    pub(crate) fn of_thousandths(thousandths: i64) -> Option<Self> {
        let thousandths = u16::try_from(thousandths).ok().filter(|thousandths| *thousandths <= 1000)?;
        Some(Self(f64::from(thousandths) / 1000.0))
    }

    /// Returns the threshold as the admin API writes it.
    pub(crate) fn in_thousandths(self) -> i64 {
        in_thousandths(self.0)
    }

    /// Returns whether a passage is the answer, if the question allows one.
    pub(crate) fn is_reached_by(self, passage: &Passage) -> bool {
        passage.certainty >= self.0
    }
}

/// Whether a passage answers a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Confidence {
    /// It does not.
    Nothing,
    /// It may: it is shown as such, with its place.
    Maybe,
    /// It does.
    Sure,
}

/// Returns whether a passage answers a question.
pub(super) fn confidence(asked: &Asked, passage: &Passage, threshold: Threshold) -> Confidence {
    // That something is so does not answer why it is not.
    if threshold.is_reached_by(passage) && !asked.is_negated {
        Confidence::Sure
    } else if passage.certainty >= MAYBE || threshold.is_reached_by(passage) {
        Confidence::Maybe
    } else {
        Confidence::Nothing
    }
}
