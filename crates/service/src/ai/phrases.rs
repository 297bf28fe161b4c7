//! The built-in assistant's own sentences, in the visitor's language.

use chat_protocol::Role;

use super::Turn;
use super::talk::{Sentence, Tongue};

/// The sentences of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Phrases {
    tongue: Tongue,
    /// The answer while the AI fails (4.13).
    pub(crate) fallback: &'static str,
}

impl Phrases {
    /// Returns the sentences in the language of a message; where it does not tell, in that of the locale.
    pub(crate) fn of(message: &str, locale: Option<&str>) -> Self {
        Self::in_tongue(Tongue::of_message(message, locale))
    }

    pub(super) fn in_tongue(tongue: Tongue) -> Self {
        let fallback = tongue.sentences(Sentence::Fallback).first().copied().unwrap_or_default();
        Self { tongue, fallback }
    }

    /// Returns a sentence, said in a way that the assistant has not used in this conversation; if it has used
    /// all, the one that it used the longest time ago.
    pub(super) fn say(self, sentence: Sentence, earlier: &[Turn]) -> &'static str {
        let ways = self.tongue.sentences(sentence);
        let last_said = |way: &&&str| {
            let is_said = |turn: &Turn| turn.role == Role::Assistant && turn.content.contains(**way);
            earlier.iter().rposition(is_said)
        };
        ways.iter().min_by_key(last_said).copied().unwrap_or_default()
    }

    /// Returns whether there is a way to say a sentence that the assistant has not used in this conversation.
    pub(super) fn has_fresh(self, sentence: Sentence, earlier: &[Turn]) -> bool {
        let is_said = |way: &&&str| {
            earlier.iter().any(|turn| turn.role == Role::Assistant && turn.content.contains(**way))
        };
        !self.tongue.sentences(sentence).iter().all(|way| is_said(&way))
    }

    /// Returns whether the assistant's last message contains one of these sentences.
    pub(super) fn has_just_said(self, sentences: &[Sentence], earlier: &[Turn]) -> bool {
        let Some(last) = earlier.iter().rev().find(|turn| turn.role != Role::Visitor) else { return false };
        let mut ways = sentences.iter().flat_map(|sentence| self.tongue.sentences(*sentence));
        last.role == Role::Assistant && ways.any(|way| last.content.contains(way))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_in_the_language_of_the_message_before_that_of_the_page() {
        for (message, locale, tag) in [
            ("How much is it?", Some("de"), "en"),
            ("Was kostet das?", Some("en-GB"), "de"),
            ("¿Cuánto cuesta?", None, "es"),
            ("كم السعر؟", Some("en"), "ar"),
            ("多少钱？", Some("en"), "zh"),
            ("いくらですか", Some("en"), "ja"),
            ("料金", Some("ja-JP"), "ja"),
            ("?", Some("fr-CA"), "fr"),
            ("?", Some("xx"), "en"),
        ] {
            assert_eq!(Phrases::of(message, locale).tongue.tag(), tag, "{message}");
        }
    }

    #[test]
    fn says_each_way_before_it_repeats_one() {
        let english = Phrases::of("", None);
        let mut earlier = Vec::new();
        let ways = english.tongue.sentences(Sentence::Nothing);
        assert!(ways.len() > 2);
        for round in 0..2 {
            for way in ways {
                let said = english.say(Sentence::Nothing, &earlier);
                assert_eq!(said, *way, "{round}");
                earlier.push(Turn { role: Role::Assistant, content: format!("Well. {said}") });
            }
        }
    }
}
