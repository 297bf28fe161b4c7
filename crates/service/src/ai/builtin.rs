//! The built-in assistant: answers with the passage that best matches the question.

use std::fmt::Write;

use super::phrases::Phrases;
use super::requests;
use crate::knowledge::Passage;
use crate::text::excerpt;

/// Maximum characters of a page in an answer, which links to the page. An answer that the site's operators
/// wrote is given in full.
const MAX_EXCERPT_LENGTH: usize = 300;

/// An answer of the built-in assistant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) text: String,
    /// The id of the passage that the text comes from.
    pub(super) source: Option<String>,
}

/// Answers a message.
///
/// - `left_contact`: whether the message contains contact details.
/// - `has_contact`: whether contact details are known, from this message or an earlier one.
pub(super) fn reply(
    message: &str,
    left_contact: bool,
    has_contact: bool,
    passages: &[Passage],
    locale: Option<&str>,
) -> Reply {
    let phrases = Phrases::of(message, locale);
    let plain = |text: &str| Reply { text: text.to_owned(), source: None };
    if requests::wants_person(message) {
        return plain(if has_contact { phrases.handoff } else { phrases.ask_for_contact });
    }
    if left_contact {
        return plain(phrases.contact_noted);
    }
    if let Some(best) = passages.first() {
        return from_passage(best);
    }
    plain(if requests::is_greeting(message) {
        phrases.greeting
    } else if requests::is_thanks(message) {
        phrases.thanks
    } else {
        phrases.no_answer
    })
}

fn from_passage(passage: &Passage) -> Reply {
    let short = || excerpt(&passage.text, MAX_EXCERPT_LENGTH);
    let text = match &passage.location {
        Some(location) if location.contains("://") => {
            let title = passage.title.replace(['[', ']', '\n'], "");
            let link = link(location);
            let title = if title.trim().is_empty() { &link } else { &title };
            format!("{}\n\n[{title}]({link})", short())
        }
        // Widgets link to whole addresses only: an answer may be read on any page, and in the console.
        Some(_) => short(),
        None => passage.text.clone(),
    };
    Reply { text, source: Some(passage.id.clone()) }
}

/// Returns a location as the target of a Markdown link, which ends at a space or a closing parenthesis.
pub(super) fn link(location: &str) -> String {
    let mut link = String::with_capacity(location.len());
    for letter in location.chars() {
        if letter.is_whitespace() || letter.is_control() || "()<>\\\"".contains(letter) {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                let _ = write!(link, "%{byte:02X}");
            }
        } else {
            link.push(letter);
        }
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(text: &str, location: Option<&str>) -> Passage {
        Passage {
            id: "content:7".to_owned(),
            title: "Our [blue] mugs".to_owned(),
            location: location.map(str::to_owned),
            text: text.to_owned(),
            score: 1.0,
        }
    }

    #[test]
    fn answers_from_the_best_passage_with_a_link_and_its_source() {
        let passages =
            [passage("They hold 320 ml.", Some("https://shop.example/mugs")), passage("Others.", None)];
        let found = reply("How much is a mug?", false, false, &passages, None);
        assert_eq!(found.text, "They hold 320 ml.\n\n[Our blue mugs](https://shop.example/mugs)");
        assert_eq!(found.source.as_deref(), Some("content:7"));
    }

    #[test]
    fn a_location_is_one_link_whatever_it_contains() {
        let text = |location| reply("mug?", false, false, &[passage("Yes.", Some(location))], None).text;
        assert_eq!(
            text("https://a.b/mugs_(blue)?a=1"),
            "Yes.\n\n[Our blue mugs](https://a.b/mugs_%28blue%29?a=1)"
        );
        assert_eq!(text("https://a.b/a) [x](/b"), "Yes.\n\n[Our blue mugs](https://a.b/a%29%20[x]%28/b)");
        assert_eq!(text("https://a.b/größe\n青瓷"), "Yes.\n\n[Our blue mugs](https://a.b/größe%0A青瓷)");
    }

    #[test]
    fn the_address_is_the_text_of_a_link_to_a_page_without_a_title() {
        let untitled = Passage { title: " ".to_owned(), ..passage("Yes.", Some("https://a.b/")) };
        let text = reply("mug?", false, false, &[untitled], None).text;
        assert_eq!(text, "Yes.\n\n[https://a.b/](https://a.b/)");
    }

    #[test]
    fn a_path_of_an_unknown_site_is_no_link() {
        let text = reply("mug?", false, false, &[passage("Yes.", Some("/mugs"))], None).text;
        assert_eq!(text, "Yes.");
    }

    #[test]
    fn admits_in_the_visitors_language_that_it_has_no_answer() {
        let text = |message: &str| reply(message, false, false, &[], None).text;
        for message in ["What is the meaning of life?", "?", "asdf", ""] {
            assert_eq!(text(message), Phrases::of("", None).no_answer, "{message}");
        }
        assert!(text("Was ist der Sinn des Lebens?").starts_with("Dazu habe ich"));
        assert!(text("人生的意义是什么").starts_with("我在本网站没有"));
    }

    #[test]
    fn asks_for_contact_details_before_a_handoff_unless_known() {
        let passages = [passage("They hold 320 ml.", None)];
        let english = Phrases::of("", None);
        let reply = |message: &str, left, has| reply(message, left, has, &passages, None).text;
        assert_eq!(reply("Can I talk to a real person?", false, false), english.ask_for_contact);
        assert_eq!(reply("I'd like to speak with someone", true, true), english.handoff);
        assert_eq!(reply("ann@example.org", true, true), english.contact_noted);
    }

    #[test]
    fn greets_and_thanks_back() {
        let reply = |message: &str| reply(message, false, false, &[], None).text;
        assert!(reply("Hi there!").starts_with("Hello!"));
        assert!(reply("Guten Tag").starts_with("Hallo!"));
        assert!(reply("谢谢").starts_with("不客气"));
        assert!(reply("merci beaucoup").starts_with("Je vous en prie"));
    }

    #[test]
    fn shortens_a_long_passage_to_its_first_sentences() {
        let long = passage(&"Every pot is dipped twice. ".repeat(40), Some("https://a.b/pots"));
        let text = reply("pots", false, false, &[long], None).text;
        let (text, link) = text.split_once("\n\n").expect("a link");
        assert!((200..=MAX_EXCERPT_LENGTH).contains(&text.chars().count()), "{text}");
        assert!(text.ends_with("twice.") && link == "[Our blue mugs](https://a.b/pots)", "{text}");
    }
}
