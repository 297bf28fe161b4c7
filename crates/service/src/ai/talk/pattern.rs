//! Phrases with alternatives: `(talk|speak) to [a] person`, `mit * sprechen`.

use super::fold::{Folded, folded, is_boundary};
use crate::knowledge::is_unspaced;

/// Maximum words that a gap covers.
const MAX_GAP_WORDS: usize = 3;
/// Maximum characters that a gap covers in a script without spaces.
const MAX_GAP_CHARACTERS: usize = 6;

/// A phrase. `(a|b)` is one of several texts, `[a|b]` one of them or none, and `*` up to three words.
#[derive(Debug)]
pub(super) struct Pattern {
    parts: Vec<Part>,
    /// The letters with which the phrase may begin, so that most texts need no comparison.
    firsts: Vec<char>,
}

#[derive(Debug)]
enum Part {
    OneOf(Vec<String>),
    Optional(Vec<String>),
    Gap,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let special = rest.find(['(', '[', '*']).unwrap_or(rest.len());
            let literal = folded(&rest[..special]);
            if !literal.is_empty() {
                parts.push(Part::OneOf(vec![literal]));
            }
            rest = &rest[special..];
            let Some(opening) = rest.chars().next() else { break };
            if opening == '*' {
                parts.push(Part::Gap);
                rest = &rest[1..];
                continue;
            }
            let end = rest.find(if opening == '(' { ')' } else { ']' }).unwrap_or(rest.len());
            let mut texts: Vec<String> = rest[1..end].split('|').map(folded).collect();
            texts.retain(|text| !text.is_empty());
            texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
            parts.push(if opening == '(' { Part::OneOf(texts) } else { Part::Optional(texts) });
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        let firsts = firsts(&parts);
        Self { parts, firsts }
    }

    /// Returns where the phrase ends that begins at a position, if it is there.
    pub(super) fn end(&self, text: &str, at: usize) -> Option<usize> {
        let first = text.get(at..)?.chars().next()?;
        if self.firsts.contains(&first) { end(&self.parts, text, at) } else { None }
    }

    /// Returns where the phrase stands first.
    pub(super) fn find(&self, folded: &Folded) -> Option<(usize, usize)> {
        let text = folded.as_str();
        folded.starts().find_map(|at| Some((at, self.end(text, at)?)))
    }
}

/// Returns the letters with which a phrase may begin: those of its first part, and of the next one if that is
/// optional.
fn firsts(parts: &[Part]) -> Vec<char> {
    let mut firsts = Vec::new();
    for part in parts {
        let (Part::OneOf(texts) | Part::Optional(texts)) = part else { break };
        firsts.extend(texts.iter().filter_map(|text| text.chars().next()));
        if matches!(part, Part::OneOf(_)) {
            break;
        }
    }
    firsts.sort_unstable();
    firsts.dedup();
    firsts
}

fn end(parts: &[Part], text: &str, at: usize) -> Option<usize> {
    let Some((part, rest)) = parts.split_first() else {
        return is_boundary(text, at).then_some(at);
    };
    match part {
        Part::OneOf(texts) => after_one(texts, rest, text, at),
        Part::Optional(texts) => after_one(texts, rest, text, at).or_else(|| end(rest, text, at)),
        // A gap at the end takes all that it can.
        Part::Gap if rest.is_empty() => gaps(text, at).into_iter().next_back(),
        Part::Gap => gaps(text, at).into_iter().find_map(|at| end(rest, text, at)),
    }
}

fn after_one(texts: &[String], rest: &[Part], text: &str, at: usize) -> Option<usize> {
    let at = if text[at..].starts_with(' ') { at + 1 } else { at };
    if !is_boundary(text, at) {
        return None;
    }
    let ends = texts.iter().filter(|one| text[at..].starts_with(one.as_str())).map(|one| at + one.len());
    ends.filter(|at| is_boundary(text, *at)).find_map(|at| end(rest, text, at))
}

/// Returns the positions after a gap that begins at a position.
fn gaps(text: &str, at: usize) -> Vec<usize> {
    let mut ends = vec![at];
    let (mut words, mut characters) = (0, 0);
    for (offset, letter) in text[at..].char_indices().skip(1) {
        let here = at + offset;
        words += usize::from(letter == ' ');
        characters += usize::from(is_unspaced(letter));
        if words > MAX_GAP_WORDS || characters > MAX_GAP_CHARACTERS {
            return ends;
        }
        if letter == ' ' || is_unspaced(letter) {
            ends.push(here);
        }
    }
    ends.push(text.len());
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_in(pattern: &str, text: &str) -> bool {
        Pattern::new(pattern).find(&Folded::new(text)).is_some()
    }

    #[test]
    fn alternatives_options_and_gaps_are_whole_words() {
        let pattern = "(talk|speak) to [a|the] [real] person";
        for text in ["Can I talk to a real person?", "speak to the person", "TALK TO PERSON"] {
            assert!(is_in(pattern, text), "{text}");
        }
        for text in ["talk to a personal trainer", "stalk to a person", "talk to a nice person", ""] {
            assert!(!is_in(pattern, text), "{text}");
        }
        assert!(is_in("mit * sprechen", "mit einem Ihrer Leute sprechen"));
        assert!(is_in("mit * sprechen", "mit sprechen"));
        assert!(!is_in("mit * sprechen", "mit a b c d sprechen"));
    }

    #[test]
    fn phrases_of_scripts_without_spaces_stand_anywhere() {
        assert!(is_in("(转|接)人工", "请帮我转人工客服"));
        assert!(is_in("(人|担当者)と*話", "担当者と直接話したいです"));
        assert!(!is_in("转人工", "人工智能"));
    }
}
