//! The languages that a text is searched in.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

use super::words::{Word, words};

/// Words that carry no meaning in a search: a line for each language.
const STOP_WORDS: &str = include_str!("stop_words.txt");
/// Maximum words of a text that tell its language.
const MAX_SAMPLE: usize = 400;

static STOP_WORDS_BY_LANGUAGE: LazyLock<HashMap<Language, HashSet<String>>> = LazyLock::new(|| {
    let languages = STOP_WORDS.lines().filter_map(|line| {
        let (tag, list) = line.split_once(' ')?;
        let folded = words(list).filter_map(|word| match word {
            Word::Spaced(text) => Some(text),
            Word::Unspaced(_) => None,
        });
        Some((Language::of_tag(tag)?, folded.collect()))
    });
    languages.collect()
});

/// A language with a stemmer. Words in other scripts than its own are not affected by the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Language {
    English,
    German,
    French,
    Spanish,
    Italian,
    Portuguese,
    Dutch,
    Danish,
    Swedish,
    Norwegian,
    Finnish,
    Hungarian,
    Romanian,
    Turkish,
    /// A language in a script of its own: the script decides.
    Other,
    Arabic,
}

/// The languages in the Latin script.
pub(super) const LATIN: [Language; 14] = [
    Language::English,
    Language::German,
    Language::French,
    Language::Spanish,
    Language::Italian,
    Language::Portuguese,
    Language::Dutch,
    Language::Danish,
    Language::Swedish,
    Language::Norwegian,
    Language::Finnish,
    Language::Hungarian,
    Language::Romanian,
    Language::Turkish,
];

impl Language {
    /// Returns the language of a language tag, such as `de-AT`; `None` if there is nothing special about it.
    pub(crate) fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        Some(match primary.as_str() {
            "en" => Self::English,
            "de" => Self::German,
            "fr" => Self::French,
            "es" => Self::Spanish,
            "it" => Self::Italian,
            "pt" => Self::Portuguese,
            "nl" => Self::Dutch,
            "da" => Self::Danish,
            "sv" => Self::Swedish,
            "no" | "nb" | "nn" => Self::Norwegian,
            "fi" => Self::Finnish,
            "hu" => Self::Hungarian,
            "ro" => Self::Romanian,
            "tr" => Self::Turkish,
            "ar" => Self::Arabic,
            "zh" | "ja" | "ko" | "th" | "ru" | "uk" | "el" | "ta" => Self::Other,
            _ => return None,
        })
    }

    /// Returns the language of a site's text: that of its locale, else the one whose stop words it contains.
    pub(crate) fn of_text(locale: &str, text: &str) -> Self {
        Self::of_tag(locale).unwrap_or_else(|| Self::detected(text, Self::English))
    }

    /// Returns the language whose stop words a text contains most; of equals, `expected`, which is the
    /// language of the page that a visitor writes on.
    pub(crate) fn detected(text: &str, expected: Self) -> Self {
        let mut hits: HashMap<Self, usize> = HashMap::new();
        for word in words(text).take(MAX_SAMPLE) {
            if let Word::Spaced(word) = word {
                for (language, list) in &*STOP_WORDS_BY_LANGUAGE {
                    *hits.entry(*language).or_default() += usize::from(list.contains(&word));
                }
            }
        }
        let best = hits.values().copied().max().unwrap_or_default();
        let of = |language| hits.get(&language).copied().unwrap_or_default();
        if best == 0 || of(expected) == best {
            return expected;
        }
        let languages = LATIN.into_iter().chain([Self::Arabic]);
        languages.into_iter().find(|language| of(*language) == best).unwrap_or(expected)
    }

    pub(super) fn is_stop_word(self, word: &str) -> bool {
        STOP_WORDS_BY_LANGUAGE.get(&self).is_some_and(|list| list.contains(word))
    }

    /// Returns whether words of this language are joined into longer ones.
    pub(super) fn has_compounds(self) -> bool {
        matches!(
            self,
            Self::German
                | Self::Dutch
                | Self::Danish
                | Self::Swedish
                | Self::Norwegian
                | Self::Finnish
                | Self::Hungarian
        )
    }

    /// Returns the stem of a folded word.
    pub(super) fn stem(self, word: &str) -> String {
        let first = word.chars().next().unwrap_or_default();
        let algorithm = match first {
            '\u{600}'..='\u{6ff}' => return super::arabic::stem(word),
            '\u{400}'..='\u{52f}' => Algorithm::Russian,
            '\u{370}'..='\u{3ff}' => Algorithm::Greek,
            '\u{b80}'..='\u{bff}' => Algorithm::Tamil,
            'a'..='z' | '\u{df}'..='\u{24f}' => match self {
                Self::English | Self::Other | Self::Arabic => Algorithm::English,
                Self::German => {
                    return Stemmer::create(Algorithm::German).stem(&without_written_umlauts(word)).into();
                }
                Self::French => Algorithm::French,
                Self::Spanish => Algorithm::Spanish,
                Self::Italian => Algorithm::Italian,
                Self::Portuguese => Algorithm::Portuguese,
                Self::Dutch => Algorithm::Dutch,
                Self::Danish => Algorithm::Danish,
                Self::Swedish => Algorithm::Swedish,
                Self::Norwegian => Algorithm::Norwegian,
                Self::Finnish => Algorithm::Finnish,
                Self::Hungarian => Algorithm::Hungarian,
                Self::Romanian => Algorithm::Romanian,
                Self::Turkish => Algorithm::Turkish,
            },
            _ => return word.to_owned(),
        };
        Stemmer::create(algorithm).stem(word).into()
    }
}

/// Replaces `ae`, `oe` and `ue`, which stand for umlauts on other keyboards, by what folding leaves of them.
fn without_written_umlauts(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    let mut letters = word.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        plain.push(letter);
        let is_umlaut = matches!(letter, 'a' | 'o' | 'u') && !matches!(before, 'a' | 'e' | 'o' | 'u' | 'q');
        if is_umlaut {
            letters.next_if_eq(&'e');
        }
        before = letter;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_the_language_of_a_text_without_a_locale() {
        for (text, language) in [
            ("What are your opening hours?", Language::English),
            ("Wann haben Sie geöffnet?", Language::German),
            ("Quels sont vos horaires d'ouverture ?", Language::French),
            ("¿Cuándo están abiertos y cuánto es el envío?", Language::Spanish),
            ("متى تفتحون في رمضان", Language::Arabic),
        ] {
            assert_eq!(Language::of_text("", text), language, "{text}");
        }
        assert_eq!(Language::of_text("de-AT", "What are your opening hours?"), Language::German);
        assert_eq!(Language::detected("Check-in", Language::German), Language::German);
    }

    #[test]
    fn forms_of_a_word_have_the_same_stem() {
        for (language, one, other) in [
            (Language::English, "deliveries", "delivery"),
            (Language::German, "zimmern", "zimmer"),
            (Language::German, "rueckgabe", "ruckgabe"),
            (Language::French, "livraisons", "livraison"),
            (Language::Spanish, "reservas", "reserva"),
            (Language::Arabic, "والتوصيل", "توصيل"),
            (Language::Other, "доставки", "доставка"),
        ] {
            assert_eq!(language.stem(one), language.stem(other), "{one} {other}");
        }
        assert_ne!(Language::German.stem("neue"), "nu");
    }

    #[test]
    fn any_word_has_a_stem_in_any_language() {
        for word in ["", "ß", "x", "ß'", "ﬁ", "東京", "ي", "ال", "و", "ÿÿÿ", "1280", "ё"] {
            for language in LATIN.into_iter().chain([Language::Other, Language::Arabic]) {
                let _ = language.stem(word);
            }
        }
    }
}
