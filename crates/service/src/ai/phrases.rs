//! The built-in assistant's own sentences, in the visitor's language.

use chat_protocol::Role;

use super::talk::{Sentence, Tongue};
use super::team::contact_link;
use super::{Team, Turn, UsualReply};
use crate::sites::Opening;

/// The days ahead from which on the name of a day may mean another week.
const AMBIGUOUS_DAYS: i32 = 7;

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

    /// Returns when the team is back, by the clock of the site, unless the assistant has said so in this
    /// conversation.
    pub(super) fn back(self, opening: Option<Opening>, earlier: &[Turn]) -> Option<String> {
        let Opening { at, days_ahead } = opening?;
        let index = usize::try_from(at.weekday().to_monday_zero_offset()).ok()?;
        let mut day = (*self.tongue.sentences(Sentence::Weekday).get(index)?).to_owned();
        if days_ahead >= AMBIGUOUS_DAYS {
            day = format!("{day} ({})", at.date());
        }
        let time = at.strftime("%H:%M").to_string();
        let sentence = self.tongue.sentences(Sentence::Back).first()?;
        let sentence = sentence.replace("{day}", &day).replace("{time}", &time);
        (!is_said(&sentence, earlier)).then_some(sentence)
    }

    /// Returns what a visitor who waits for people, or to whom none is offered, is told of them, unless the
    /// assistant has said so in this conversation: when the team is back, if it is away; or else how fast it
    /// usually answers; where it does not answer here, how it can be reached.
    pub(super) fn about_team(self, team: Team<'_>, earlier: &[Turn]) -> Option<String> {
        if team.is_elsewhere {
            let sentence = self.tongue.sentences(Sentence::Reach).first()?;
            let sentence = sentence.replace("{contact}", &contact_link(team.contact?));
            return (!is_said(&sentence, earlier)).then_some(sentence);
        }
        if team.reopens.is_some() {
            return self.back(team.reopens, earlier);
        }
        let sentence = (*self.tongue.sentences(Sentence::Usual).get(team.usual_reply?.index())?).to_owned();
        (!is_said(&sentence, earlier)).then_some(sentence)
    }

    /// Returns the usual time of an answer in a language.
    pub(crate) fn usual_reply(locale: &str, usual: UsualReply) -> Option<&'static str> {
        let tongue = Tongue::of_tag(locale).unwrap_or_default();
        tongue.sentences(Sentence::Usual).get(usual.index()).copied()
    }

    /// Returns whether the assistant's last message contains one of these sentences.
    pub(super) fn has_just_said(self, sentences: &[Sentence], earlier: &[Turn]) -> bool {
        let Some(last) = earlier.iter().rev().find(|turn| turn.role != Role::Visitor) else { return false };
        let mut ways = sentences.iter().flat_map(|sentence| self.tongue.sentences(*sentence));
        last.role == Role::Assistant && ways.any(|way| last.content.contains(way))
    }
}

/// Returns whether the assistant has said a sentence in this conversation.
fn is_said(sentence: &str, earlier: &[Turn]) -> bool {
    earlier.iter().any(|turn| turn.role == Role::Assistant && turn.content.contains(sentence))
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

    fn opening(at: &str, days_ahead: i32) -> Opening {
        Opening { at: at.parse().expect("a time"), days_ahead }
    }

    #[test]
    fn says_when_the_team_is_back_in_the_language_of_the_message() {
        for (tag, expected) in [
            ("en", "We are back on Monday at 09:00."),
            ("de", "Wir sind am Montag um 09:00 Uhr wieder da."),
            ("pl", "Wracamy w poniedziałek o 09:00."),
            ("ar", "سنعود يوم الاثنين الساعة 09:00."),
            ("ja", "担当者の対応は月曜日の09:00に再開します。"),
        ] {
            let back = Phrases::of("?", Some(tag)).back(Some(opening("2026-11-30T09:00", 2)), &[]);
            assert_eq!(back.as_deref(), Some(expected), "{tag}");
        }
        let sunday = Phrases::of("?", Some("ru")).back(Some(opening("2026-11-29T18:30", 0)), &[]);
        assert_eq!(sunday.as_deref(), Some("Мы вернёмся в воскресенье в 18:30."));
        assert_eq!(Phrases::of("?", None).back(None, &[]), None);
    }

    #[test]
    fn names_the_date_if_the_day_may_mean_another_week() {
        let back =
            |days_ahead| Phrases::of("", None).back(Some(opening("2027-01-04T09:00", days_ahead)), &[]);
        assert_eq!(back(6).as_deref(), Some("We are back on Monday at 09:00."));
        assert_eq!(back(7).as_deref(), Some("We are back on Monday (2027-01-04) at 09:00."));
    }

    #[test]
    fn says_once_when_the_team_is_back() {
        let english = Phrases::of("", None);
        let back = english.back(Some(opening("2026-11-30T09:00", 2)), &[]).expect("a sentence");
        let said = |role| [Turn { role, content: format!("I do not know. {back}") }];
        assert_eq!(english.back(Some(opening("2026-11-30T09:00", 1)), &said(Role::Assistant)), None);
        assert!(english.back(Some(opening("2026-11-30T09:00", 1)), &said(Role::Visitor)).is_some());
        assert!(english.back(Some(opening("2026-12-01T09:00", 1)), &said(Role::Assistant)).is_some());
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
