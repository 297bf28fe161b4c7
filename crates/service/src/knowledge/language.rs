//! The languages that a text is searched in.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use whatlang::{Detector, Lang};

use super::words::{Word, words};

/// Words that carry little meaning in a search: a line for each language, and one for those of other scripts.
const STOP_WORDS: &str = include_str!("stop_words.txt");
/// Maximum words of a text that are compared with lists of words.
const MAX_SAMPLE: usize = 60;
/// Maximum bytes of a text that tell its language.
const MAX_SAMPLE_BYTES: usize = 600;
/// Minimum letters of a text whose sequences of letters tell its language against its frequent words.
const MIN_TRIGRAM_LETTERS: usize = 40;

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
    Polish,
    Czech,
    Indonesian,
    Vietnamese,
    /// A language in a script of its own: the script decides.
    Other,
    Arabic,
}

/// The languages in the Latin script.
pub(super) const LATIN: [Language; 18] = [
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
    Language::Polish,
    Language::Czech,
    Language::Indonesian,
    Language::Vietnamese,
];

/// Tells these languages apart by sequences of letters.
static DETECTOR: LazyLock<Detector> = LazyLock::new(|| {
    let languages = DETECTED.iter().map(|(language, _)| *language);
    Detector::with_allowlist(languages.collect())
});

const DETECTED: [(Lang, Language); 18] = [
    (Lang::Eng, Language::English),
    (Lang::Deu, Language::German),
    (Lang::Fra, Language::French),
    (Lang::Spa, Language::Spanish),
    (Lang::Ita, Language::Italian),
    (Lang::Por, Language::Portuguese),
    (Lang::Nld, Language::Dutch),
    (Lang::Dan, Language::Danish),
    (Lang::Swe, Language::Swedish),
    (Lang::Nob, Language::Norwegian),
    (Lang::Fin, Language::Finnish),
    (Lang::Hun, Language::Hungarian),
    (Lang::Ron, Language::Romanian),
    (Lang::Tur, Language::Turkish),
    (Lang::Pol, Language::Polish),
    (Lang::Ces, Language::Czech),
    (Lang::Ind, Language::Indonesian),
    (Lang::Vie, Language::Vietnamese),
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
            "pl" => Self::Polish,
            "cs" | "sk" => Self::Czech,
            "id" | "ms" => Self::Indonesian,
            "vi" => Self::Vietnamese,
            "ar" => Self::Arabic,
            "zh" | "ja" | "ko" | "th" | "ru" | "uk" | "el" | "ta" | "hi" | "he" | "bg" => Self::Other,
            _ => return None,
        })
    }

    /// Returns the language of a site's text: that of its locale, else the one that it is written in.
    pub(crate) fn of_text(locale: &str, text: &str) -> Self {
        Self::of_tag(locale).unwrap_or_else(|| Self::detected(text, Self::English))
    }

    /// Returns the language that a text is written in. Short texts tell it by their frequent words only. If
    /// there is none, or if several languages have them, it is `expected`: the language of the page that a
    /// visitor writes on.
    pub(crate) fn detected(text: &str, expected: Self) -> Self {
        let sample = truncated(text, MAX_SAMPLE_BYTES);
        let count =
            |is_counted: fn(char) -> bool| sample.chars().filter(|letter| is_counted(*letter)).count();
        let latin = count(is_latin);
        let letters = count(char::is_alphabetic);
        if latin * 2 < letters {
            let arabic = count(|letter| matches!(letter, '\u{600}'..='\u{6ff}'));
            return if arabic * 2 > letters { Self::Arabic } else { Self::Other };
        }
        let hits = Hits::of(sample);
        let best = LATIN.into_iter().map(|language| hits.of_language(language)).max().unwrap_or_default();
        let is_clear = LATIN.into_iter().filter(|language| hits.of_language(*language) == best).count() == 1;
        if latin >= MIN_TRIGRAM_LETTERS
            && let Some(info) = DETECTOR.detect(sample)
            && let Some((_, by_letters)) = DETECTED.iter().find(|(lang, _)| *lang == info.lang())
        {
            let agrees = hits.of_language(*by_letters) * 2 >= best;
            let is_listed = STOP_WORDS_BY_LANGUAGE.contains_key(by_letters);
            if agrees || (info.is_reliable() && (best < 3 || !is_listed || !is_clear)) {
                return *by_letters;
            }
        }
        if best == 0 || hits.of_language(expected) == best {
            return expected;
        }
        LATIN.into_iter().find(|language| hits.of_language(*language) == best).unwrap_or(expected)
    }

    /// Returns whether a folded word carries little meaning in this language, or in that of its script.
    pub(super) fn is_stop_word(self, word: &str) -> bool {
        let has =
            |language: Self| STOP_WORDS_BY_LANGUAGE.get(&language).is_some_and(|list| list.contains(word));
        if word.starts_with(is_latin) { has(self) } else { has(Self::Arabic) || has(Self::Other) }
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
            '\u{900}'..='\u{97f}' => return super::hindi::stem(word).to_owned(),
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
                Self::Polish | Self::Czech | Self::Indonesian | Self::Vietnamese => return word.to_owned(),
            },
            _ => return word.to_owned(),
        };
        Stemmer::create(algorithm).stem(word).into()
    }
}

/// The numbers of frequent words in a text, by language.
struct Hits(HashMap<Language, usize>);

impl Hits {
    fn of(text: &str) -> Self {
        let mut hits: HashMap<Language, usize> = HashMap::new();
        for word in words(text).take(MAX_SAMPLE) {
            if let Word::Spaced(word) = word {
                for (language, list) in &*STOP_WORDS_BY_LANGUAGE {
                    *hits.entry(*language).or_default() += usize::from(list.contains(&word));
                }
            }
        }
        Self(hits)
    }

    fn of_language(&self, language: Language) -> usize {
        self.0.get(&language).copied().unwrap_or_default()
    }
}

fn is_latin(letter: char) -> bool {
    letter.is_ascii_alphabetic() || matches!(letter, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}')
}

/// Returns the beginning of a text, of at most this many bytes.
fn truncated(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
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
            ("Jakie są koszty wysyłki do Polski i jak długo to trwa?", Language::Polish),
            ("Cửa hàng có mở cửa vào ngày chủ nhật không và ở đâu?", Language::Vietnamese),
            ("Berapa lama pengiriman barang ke alamat saya di Jakarta?", Language::Indonesian),
            ("Kargo ücreti ne kadar ve siparişim ne zaman gelir?", Language::Turkish),
            ("Сколько стоит доставка?", Language::Other),
        ] {
            assert_eq!(Language::of_text("", text), language, "{text}");
        }
        assert_eq!(Language::of_text("de-AT", "What are your opening hours?"), Language::German);
        for word in ["Check-in", "Restaurant", "menu", "?", "Wi-Fi", "taxi"] {
            assert_eq!(Language::detected(word, Language::German), Language::German, "{word}");
        }
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
