//! Tells whether a passage answers a question, may answer it, or does not.

use super::talk::Asked;
use crate::knowledge::{MAYBE, Passage, SURE};

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
pub(super) fn confidence(asked: &Asked, passage: &Passage) -> Confidence {
    // That something is so does not answer why it is not.
    if passage.certainty >= SURE && !asked.is_negated {
        Confidence::Sure
    } else if passage.certainty >= MAYBE {
        Confidence::Maybe
    } else {
        Confidence::Nothing
    }
}
