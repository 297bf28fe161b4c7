//! Recognises who asks for a person, and who asks whether the assistant is one.

use super::clauses::Clause;
use super::fold::Folded;
use super::table::{List, Tongue};
use crate::knowledge::is_unspaced;

/// Maximum words between a negation and what it negates.
const MAX_WORDS_TO_NEGATION: usize = 4;
/// The same in characters of a script without spaces.
const MAX_CHARACTERS_TO_NEGATION: usize = 9;
/// Maximum words beside the question whether the assistant is human.
const MAX_WORDS_BESIDE_HUMAN: usize = 5;

/// Returns whether a clause asks whether the assistant is human.
pub(super) fn asks_whether_human(clause: &Clause<'_>, tongue: Tongue) -> bool {
    let found = tongue.table().find(List::AreYouHuman, &clause.folded);
    found.is_some_and(|(start, end)| clause.folded.words_beside(start, end) <= MAX_WORDS_BESIDE_HUMAN)
}

/// Returns whether a clause asks for a person or refuses one; `None` if it is about something else.
pub(super) fn asks_for_person(clause: &Clause<'_>, tongue: Tongue) -> Option<bool> {
    if !tongue.may_be_in(clause.text) || asks_whether_human(clause, tongue) {
        return None;
    }
    let (table, folded) = (tongue.table(), &clause.folded);
    if let Some((start, end)) = table.find(List::Person, folded) {
        return Some(!is_negated_near(folded, start, end, tongue));
    }
    let text = folded.as_str();
    let (mut at, mut is_asked) = (0, false);
    while at < text.len() {
        at += usize::from(text[at..].starts_with(' '));
        let alone = table.end_of(List::PersonAlone, text, at);
        let fillers = [List::Filler, List::Greeting, List::Thanks, List::Yes, List::Okay];
        let filler = fillers.into_iter().filter_map(|list| table.end_of(list, text, at)).max();
        let end = alone.max(filler).filter(|end| *end > at)?;
        is_asked |= alone == Some(end);
        at = end;
    }
    is_asked.then_some(true)
}

/// Returns whether a negation stands close to a phrase, or in it.
fn is_negated_near(folded: &Folded, start: usize, end: usize, tongue: Tongue) -> bool {
    let (text, table) = (folded.as_str(), tongue.table());
    let is_near = |between: &str| {
        let words = between.split(' ').filter(|word| !word.is_empty()).count();
        let characters = between.chars().filter(|letter| is_unspaced(*letter)).count();
        words <= MAX_WORDS_TO_NEGATION && characters <= MAX_CHARACTERS_TO_NEGATION
    };
    let mut negations = folded.starts().filter_map(|at| Some((at, table.end_of(List::Not, text, at)?)));
    negations.any(|(at, not_end)| {
        if at >= end { is_near(&text[end..at]) } else { not_end > start || is_near(&text[not_end..start]) }
    })
}
