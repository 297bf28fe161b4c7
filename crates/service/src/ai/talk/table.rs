//! The tables of the widget's languages: what visitors say beside questions, and what the assistant says.
//!
//! A line of a table is `key: text`. The keys of sentences stand on several lines, if there are several ways
//! to say it. The keys of phrases list them with commas; `pattern.rs` tells how a phrase is written.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::fold::Folded;
use super::pattern::Pattern;

/// A language of the widget, by its position in [`TABLES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tongue(pub(super) usize);

/// The language tags with their tables. The first one is used where nothing tells the language.
const SOURCES: [(&str, &str); 20] = [
    ("en", include_str!("tables/en.txt")),
    ("de", include_str!("tables/de.txt")),
    ("fr", include_str!("tables/fr.txt")),
    ("es", include_str!("tables/es.txt")),
    ("it", include_str!("tables/it.txt")),
    ("pt", include_str!("tables/pt.txt")),
    ("nl", include_str!("tables/nl.txt")),
    ("pl", include_str!("tables/pl.txt")),
    ("tr", include_str!("tables/tr.txt")),
    ("id", include_str!("tables/id.txt")),
    ("vi", include_str!("tables/vi.txt")),
    ("ru", include_str!("tables/ru.txt")),
    ("ar", include_str!("tables/ar.txt")),
    ("he", include_str!("tables/he.txt")),
    ("hi", include_str!("tables/hi.txt")),
    ("th", include_str!("tables/th.txt")),
    ("ko", include_str!("tables/ko.txt")),
    ("ja", include_str!("tables/ja.txt")),
    ("zh", include_str!("tables/zh.txt")),
    ("zh-TW", include_str!("tables/zh-TW.txt")),
];

static TABLES: LazyLock<Vec<Table>> =
    LazyLock::new(|| SOURCES.iter().map(|(_, text)| Table::new(text)).collect());

/// What the assistant says by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sentence {
    Greeting,
    Thanks,
    Okay,
    Bye,
    Praise,
    Anger,
    WhoAreYou,
    WhatCanYouDo,
    AreYouHuman,
    /// Offers a person to a visitor who cannot be reached yet.
    AskForContact,
    /// Offers a person to a visitor who can be reached.
    Handoff,
    ContactNoted,
    Nothing,
    /// No answer for a visitor who can be reached.
    NothingButNoted,
    /// No answer to one of several questions.
    NothingElse,
    /// Introduces what may be an answer.
    Maybe,
    /// Follows what may be an answer.
    OrElse,
    /// The answer was given already.
    Above,
    /// Asks what the visitor wants to know.
    Ask,
    /// The AI gave no answer (4.13).
    Fallback,
    /// The time at which the team is back, with `{day}` and `{time}`.
    Back,
    /// The days of the week as `Back` has them, from Monday to Sunday.
    Weekday,
    /// Where no person is offered.
    AloneGreeting,
    AloneWhatCanYouDo,
    AloneAreYouHuman,
    /// Refuses a person.
    AlonePerson,
    AloneNothing,
    AloneNothingElse,
    AloneOrElse,
    AloneAbove,
    AloneContactNoted,
    AloneFallback,
    /// The site's own way to be reached, with `{contact}`.
    Reach,
    /// The usual time of an answer by people, one sentence for each time.
    Usual,
}

impl Sentence {
    const KEYS: [(&'static str, Self); 34] = [
        ("greeting", Self::Greeting),
        ("welcome", Self::Thanks),
        ("okay", Self::Okay),
        ("goodbye", Self::Bye),
        ("flattered", Self::Praise),
        ("sorry", Self::Anger),
        ("i am", Self::WhoAreYou),
        ("i can", Self::WhatCanYouDo),
        ("no human", Self::AreYouHuman),
        ("ask for contact", Self::AskForContact),
        ("handoff", Self::Handoff),
        ("contact noted", Self::ContactNoted),
        ("nothing", Self::Nothing),
        ("nothing but noted", Self::NothingButNoted),
        ("nothing else", Self::NothingElse),
        ("maybe", Self::Maybe),
        ("or else", Self::OrElse),
        ("above", Self::Above),
        ("ask", Self::Ask),
        ("fallback", Self::Fallback),
        ("back", Self::Back),
        ("weekday", Self::Weekday),
        ("alone greeting", Self::AloneGreeting),
        ("alone i can", Self::AloneWhatCanYouDo),
        ("alone no human", Self::AloneAreYouHuman),
        ("alone person", Self::AlonePerson),
        ("alone nothing", Self::AloneNothing),
        ("alone nothing else", Self::AloneNothingElse),
        ("alone or else", Self::AloneOrElse),
        ("alone above", Self::AloneAbove),
        ("alone noted", Self::AloneContactNoted),
        ("alone fallback", Self::AloneFallback),
        ("reach", Self::Reach),
        ("usual", Self::Usual),
    ];

    /// Returns the sentence for visitors to whom no person is offered. It promises nobody.
    pub(crate) fn alone(self) -> Self {
        match self {
            Self::Greeting => Self::AloneGreeting,
            Self::WhatCanYouDo => Self::AloneWhatCanYouDo,
            Self::AreYouHuman => Self::AloneAreYouHuman,
            Self::AskForContact | Self::Handoff => Self::AlonePerson,
            Self::ContactNoted => Self::AloneContactNoted,
            Self::Nothing | Self::NothingButNoted => Self::AloneNothing,
            Self::NothingElse => Self::AloneNothingElse,
            Self::OrElse => Self::AloneOrElse,
            Self::Above => Self::AloneAbove,
            Self::Fallback => Self::AloneFallback,
            other => other,
        }
    }
}

/// What visitors say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum List {
    /// A message that consists of these phrases is small talk.
    Greeting,
    Thanks,
    Yes,
    No,
    Okay,
    Bye,
    Praise,
    Anger,
    /// Says nothing by itself.
    Filler,
    /// Anger inside of a longer sentence.
    Angry,
    WhoAreYou,
    WhatCanYouDo,
    AreYouHuman,
    /// Asks for a person inside of a longer sentence.
    Person,
    /// Asks for a person if nothing else is said.
    PersonAlone,
    Not,
    /// The words that introduce contact details, such as "my e-mail is".
    Contact,
    /// Begins a question.
    Question,
    And,
    /// Points to what was said before.
    It,
    /// Frequent words, which tell the language and carry no meaning.
    Words,
}

impl List {
    const KEYS: [(&'static str, Self); 21] = [
        ("hello", Self::Greeting),
        ("thank you", Self::Thanks),
        ("yes", Self::Yes),
        ("no", Self::No),
        ("ok", Self::Okay),
        ("bye", Self::Bye),
        ("great", Self::Praise),
        ("bad", Self::Anger),
        ("filler", Self::Filler),
        ("angry", Self::Angry),
        ("who are you", Self::WhoAreYou),
        ("what can you do", Self::WhatCanYouDo),
        ("are you human", Self::AreYouHuman),
        ("person", Self::Person),
        ("person alone", Self::PersonAlone),
        ("not", Self::Not),
        ("contact", Self::Contact),
        ("question", Self::Question),
        ("and", Self::And),
        ("it", Self::It),
        ("words", Self::Words),
    ];
}

/// The phrases and sentences of a language.
#[derive(Debug, Default)]
pub(super) struct Table {
    sentences: HashMap<Sentence, Vec<&'static str>>,
    lists: HashMap<List, Vec<Pattern>>,
    words: Vec<String>,
}

impl Table {
    fn new(text: &'static str) -> Self {
        let mut table = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let Some((key, text)) = line.split_once(':') else { continue };
            let text = text.trim();
            if let Some((_, sentence)) = Sentence::KEYS.iter().find(|(name, _)| *name == key) {
                table.sentences.entry(*sentence).or_default().push(text);
            } else if let Some((_, list)) = List::KEYS.iter().find(|(name, _)| *name == key) {
                let phrases = text.split(',').map(str::trim).filter(|phrase| !phrase.is_empty());
                if *list == List::Words {
                    table.words.extend(phrases.map(super::fold::folded));
                } else {
                    table.lists.entry(*list).or_default().extend(phrases.map(Pattern::new));
                }
            }
        }
        table
    }

    /// Returns the ways to say a sentence.
    pub(super) fn sentences(&self, sentence: Sentence) -> &[&'static str] {
        self.sentences.get(&sentence).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the end of the longest phrase of a list that begins at a position.
    pub(super) fn end_of(&self, list: List, text: &str, at: usize) -> Option<usize> {
        self.lists.get(&list)?.iter().filter_map(|pattern| pattern.end(text, at)).max()
    }

    /// Returns where the first phrase of a list stands that is in a text.
    pub(super) fn find(&self, list: List, folded: &Folded) -> Option<(usize, usize)> {
        self.lists.get(&list)?.iter().find_map(|pattern| pattern.find(folded))
    }

    /// Returns whether a folded word is frequent in the language.
    pub(super) fn is_frequent(&self, word: &str) -> bool {
        self.words.iter().any(|frequent| frequent == word)
    }
}

impl Tongue {
    pub(super) const COUNT: usize = SOURCES.len();

    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    pub(crate) fn tag(self) -> &'static str {
        SOURCES.get(self.0).map_or("en", |(tag, _)| tag)
    }

    /// Returns the language of a language tag, as the widget chooses it.
    pub(crate) fn of_tag(tag: &str) -> Option<Self> {
        let tag = tag.to_ascii_lowercase().replace('_', "-");
        let mut parts = tag.split('-');
        let primary = match parts.next().unwrap_or_default() {
            "iw" => "he",
            "in" => "id",
            primary => primary,
        };
        let is_traditional = parts.any(|part| matches!(part, "hant" | "tw" | "hk" | "mo"));
        let wanted = if primary == "zh" && is_traditional { "zh-TW" } else { primary };
        Self::all().find(|tongue| tongue.tag() == wanted)
    }

    /// Returns the language of a message; where it does not tell, that of the locale.
    pub(crate) fn of_message(message: &str, locale: Option<&str>) -> Self {
        let page = locale.and_then(Self::of_tag).unwrap_or_default();
        Self::told(message, page).unwrap_or(page)
    }

    /// Returns the ways to say a sentence.
    pub(crate) fn sentences(self, sentence: Sentence) -> &'static [&'static str] {
        self.table().sentences(sentence)
    }

    pub(super) fn table(self) -> &'static Table {
        // A tongue is made by this module only.
        &TABLES[self.0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_language_has_every_sentence_and_every_list() {
        for tongue in Tongue::all() {
            let table = tongue.table();
            for (key, sentence) in Sentence::KEYS {
                let sentences = table.sentences(sentence);
                assert!(!sentences.is_empty(), "{}: {key}", tongue.tag());
                assert!(sentences.iter().all(|text| text.chars().count() > 2), "{}: {key}", tongue.tag());
            }
            for (key, list) in List::KEYS {
                let is_there = list == List::Words || table.lists.contains_key(&list);
                assert!(is_there, "{}: {key}", tongue.tag());
            }
            let back = table.sentences(Sentence::Back)[0];
            assert!(back.contains("{day}") && back.contains("{time}"), "{}: {back}", tongue.tag());
            assert_eq!(table.sentences(Sentence::Weekday).len(), 7, "{}", tongue.tag());
            for sentence in [Sentence::Fallback, Sentence::AloneFallback] {
                let fallback = table.sentences(sentence)[0].chars().count();
                assert!((10..120).contains(&fallback), "{}: {fallback}", tongue.tag());
            }
            assert!(table.sentences(Sentence::Reach)[0].contains("{contact}"), "{}", tongue.tag());
        }
    }

    #[test]
    fn each_line_of_a_table_has_a_known_key() {
        for (tag, text) in SOURCES {
            for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
                let key = line.split_once(':').map(|(key, _)| key).unwrap_or_default();
                let is_known = Sentence::KEYS.iter().any(|(name, _)| *name == key)
                    || List::KEYS.iter().any(|(name, _)| *name == key);
                assert!(is_known, "{tag}: {line}");
            }
        }
    }

    #[test]
    fn the_languages_are_those_of_the_widget() {
        for (tag, expected) in [
            ("de-AT", "de"),
            ("pt-PT", "pt"),
            ("zh-Hant-HK", "zh-TW"),
            ("zh_TW", "zh-TW"),
            ("zh-CN", "zh"),
            ("iw", "he"),
            ("in", "id"),
        ] {
            assert_eq!(Tongue::of_tag(tag).map(Tongue::tag), Some(expected), "{tag}");
        }
        assert_eq!(Tongue::of_tag("fa"), None);
    }
}
