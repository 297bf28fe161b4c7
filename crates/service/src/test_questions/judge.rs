//! Tells whether what came of a question is what was expected.

use chat_protocol::admin::AnswerOutcome;
use chat_protocol::admin::settings::{Expectation, TestQuestionText, TestResult, TestSource};
use reqwest::Url;

use crate::ai::{Rehearsal, Threshold};
use crate::content::{address_key, path_key};
use crate::knowledge::{Passage, folded_words, in_thousandths, is_unspaced};
use crate::text::excerpt;

/// Maximum characters of an answer that is kept.
const MAX_ANSWER_LENGTH: usize = 500;
/// Maximum sources that are kept, and characters of their texts.
const MAX_SOURCES: usize = 3;
const MAX_TITLE_LENGTH: usize = 120;
const MAX_LOCATION_LENGTH: usize = 300;

/// Returns the result of a question.
pub(super) fn judge(written: &TestQuestionText, rehearsal: Rehearsal, threshold: Threshold) -> TestResult {
    let expected = written.expected.as_str();
    match rehearsal {
        Rehearsal::Answered(answer, sources) => {
            let is_answered = answer.outcome == Some(AnswerOutcome::Answered);
            let text = answer.text.unwrap_or_default();
            let passed = match written.expects {
                Expectation::Page => is_answered && sources.iter().any(|source| is_page(expected, source)),
                Expectation::Words => {
                    let is_small_talk = answer.outcome == Some(AnswerOutcome::SmallTalk);
                    (is_answered || is_small_talk) && contains_words(&[&text], expected)
                }
                Expectation::NoAnswer => !is_answered,
            };
            let answer_text = excerpt(&text, MAX_ANSWER_LENGTH);
            TestResult { passed, outcome: answer.outcome, answer: answer_text, sources: kept(&sources) }
        }
        Rehearsal::Sent(passages) => {
            let passed = match written.expects {
                Expectation::Page => passages.iter().any(|passage| is_page(expected, passage)),
                Expectation::Words => {
                    let texts = passages.iter().flat_map(|passage| [&*passage.title, &*passage.text]);
                    contains_words(&texts.collect::<Vec<_>>(), expected)
                }
                Expectation::NoAnswer => !passages.iter().any(|passage| threshold.is_reached_by(passage)),
            };
            TestResult { passed, outcome: None, answer: String::new(), sources: kept(&passages) }
        }
    }
}

fn kept(passages: &[Passage]) -> Vec<TestSource> {
    let kept = passages.iter().take(MAX_SOURCES).map(|passage| TestSource {
        id: passage.id.clone(),
        title: excerpt(&passage.title, MAX_TITLE_LENGTH),
        location: passage.location.as_deref().map(|location| excerpt(location, MAX_LOCATION_LENGTH)),
        certainty: in_thousandths(passage.certainty),
    });
    kept.collect()
}

/// Returns whether a passage is of the page that an operator has named: by an id, a path or an address, in
/// any spelling.
fn is_page(expected: &str, passage: &Passage) -> bool {
    let id = passage.id.split_once(':').map_or("", |(_, id)| id);
    if expected == passage.id || expected == id {
        return true;
    }
    let Some(location) = passage.location.as_deref() else { return false };
    let whole = |text: &str| Url::parse(text).ok().filter(Url::has_host);
    match (whole(expected), whole(location)) {
        (Some(expected), Some(location)) => address_key(&expected) == address_key(&location),
        (expected_url, location_url) => {
            let key = |url: Option<Url>, path: &str| {
                let url = url.or_else(|| Url::parse("http://site.invalid/").ok()?.join(path).ok());
                url.map(|url| path_key(&url))
            };
            key(expected_url, expected).is_some_and(|expected| Some(expected) == key(location_url, location))
        }
    }
}

/// Returns whether each line of the expected words is in one of the texts. Capitals, accents and punctuation
/// do not matter.
pub(super) fn contains_words(texts: &[&str], expected: &str) -> bool {
    let texts: Vec<String> = texts.iter().map(|text| folded(text)).collect();
    let mut lines = expected.lines().map(folded).filter(|line| !line.trim().is_empty()).peekable();
    lines.peek().is_some()
        && lines.all(|line| {
            if line.chars().any(is_unspaced) {
                // Spaces are written or left out, and long runs are divided.
                let line = line.replace(' ', "");
                return texts.iter().any(|text| text.replace(' ', "").contains(&line));
            }
            texts.iter().any(|text| text.contains(&line))
        })
}

/// Returns the words of a text, folded, with a space before and after each.
fn folded(text: &str) -> String {
    folded_words(text).fold(" ".to_owned(), |folded, word| folded + &word + " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(id: &str, location: Option<&str>) -> Passage {
        Passage {
            id: id.to_owned(),
            title: String::new(),
            location: location.map(str::to_owned),
            text: String::new(),
            shown: String::new(),
            certainty: 1.0,
        }
    }

    #[test]
    fn a_page_is_named_by_its_id_its_path_or_its_address_in_any_spelling() {
        let known = passage("content:page-7", Some("https://www.shop.example/mugs/?utm_source=x"));
        for named in [
            "page-7",
            "content:page-7",
            "/mugs",
            "/mugs/",
            "mugs",
            "/mugs.html#sizes",
            "https://shop.example/mugs",
            "http://shop.example/mugs/index.html",
        ] {
            assert!(is_page(named, &known), "{named}");
        }
        for other in
            ["page", "answer:page-7", "/Mugs", "/mugs?page=2", "https://blog.example/mugs", "", "/", "//"]
        {
            assert!(!is_page(other, &known), "{other}");
        }
        let path = passage("content:a", Some("/mugs"));
        assert!(is_page("https://shop.example/mugs", &path), "the origin of the site is not known");
        assert!(is_page("ans_1", &passage("answer:ans_1", None)));
        assert!(!is_page("/", &passage("answer:ans_1", None)));
    }

    #[test]
    fn words_are_found_whatever_their_capitals_accents_and_punctuation() {
        for (text, expected) in [
            ("Within **14 days**, free of charge.", "14 Days"),
            ("Within 14 days, free of charge.", "free of charge\n\n14 days\n"),
            ("Lieferung nach Österreich: 4,90 €", "osterreich"),
            ("Es kostet 4,90 €.", "4,90"),
            ("我们提供免费送货服务", "免费送货"),
            ("ส่งฟรีทั่วประเทศ", "ส่งฟรี"),
            ("الشحن مجاني", "مجانيّ"),
        ] {
            assert!(contains_words(&[text], expected), "{expected} in {text}");
        }
        for (text, expected) in [
            ("Not today.", "no"),
            ("14 days", "free\n14 days"),
            ("Days: 14", "14 days"),
            ("Yes", ""),
            ("Yes", "\n€\n"),
        ] {
            assert!(!contains_words(&[text], expected), "{expected} in {text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_expectation_is_judged(expected in ".{0,80}", text in ".{0,80}", location in ".{0,40}") {
            let _ = contains_words(&[&text], &expected);
            let _ = is_page(&expected, &passage("content:1", Some(&location)));
        }
    }
}
