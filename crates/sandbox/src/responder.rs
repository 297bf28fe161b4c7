//! The built-in assistant: answers with the text that best matches the question. It knows the site's synced
//! content; before anything is synced, the demo's shop.

use std::sync::LazyLock;

use crate::search::Passage;
use crate::text::{excerpt, words};

const KNOWLEDGE: &str = include_str!("../knowledge/shop.md");

/// Maximum characters of a page's excerpt.
const MAX_EXCERPT_LENGTH: usize = 300;

/// The answer while the AI fails.
pub(crate) const FALLBACK: &str =
    "I cannot answer right now. Leave your e-mail address, and one of us will write to you.";

const GREETING: &str = "Hello! Ask me about delivery, returns, our pots or the Saturday workshop. \
                        If you would rather talk to a person, just say so.";
const THANKS: &str = "You are welcome. I am here if anything else comes up.";
const ASK_FOR_CONTACT: &str = "Of course. Leave your e-mail address or phone number here, and one of us at the \
                               studio will get back to you. If somebody is at the desk, they will answer right in \
                               this chat.";
const HANDOFF: &str = "Of course. I have your details and have told the studio; somebody will get back to you, or \
                         answer right in this chat.";
const CONTACT_NOTED: &str =
    "Thank you, I have noted that. One of us will get back to you within a working day.";
const NO_ANSWER: &str = "I do not know that one. I can tell you about delivery, returns, care, our pots and the \
                         workshops, or pass your question on: leave your e-mail address, and one of us will answer.";

/// The greeting for a site with synced content.
const GREETING_GENERIC: &str =
    "Hello! What would you like to know? If you would rather talk to a person, just say so.";
const NO_ANSWER_GENERIC: &str = "I found nothing about that on this site. I can pass your question on: leave your \
                                  e-mail address, and one of us will answer.";

/// A section of the knowledge text.
#[derive(Debug)]
struct Section {
    heading: &'static str,
    subjects: Vec<String>,
    answer: &'static str,
    words: Vec<String>,
}

static SECTIONS: LazyLock<Vec<Section>> =
    LazyLock::new(|| KNOWLEDGE.split("\n## ").skip(1).map(section).collect());

fn section(text: &'static str) -> Section {
    let (heading, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (subjects, answer) = rest.split_once('\n').unwrap_or((rest, ""));
    let subjects = words(heading).chain(words(subjects)).collect();
    Section { heading, subjects, answer: answer.trim(), words: words(answer).collect() }
}

/// An answer of the assistant.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) content: String,
    /// The heading of the section, or the title of the page, that the content comes from.
    pub(crate) topic: Option<String>,
    /// Whether the visitor query for a person.
    pub(crate) wants_person: bool,
}

impl Reply {
    fn plain(content: &str) -> Self {
        Self { content: content.to_owned(), topic: None, wants_person: false }
    }

    fn from_passage(passage: &Passage) -> Self {
        let more = match &passage.location {
            Some(location) => format!("\n\n[{}]({location})", passage.title.replace(['[', ']'], "")),
            None => String::new(),
        };
        let content = format!("{}{more}", excerpt(&passage.text, MAX_EXCERPT_LENGTH));
        Self { content, topic: Some(passage.title.clone()), wants_person: false }
    }
}

/// Answers a message.
///
/// - `left_contact`: whether the message contains contact details.
/// - `has_contact`: whether contact details are known, from this message or an earlier one.
/// - `synced`: the matching passages of the site's content, best first; `None` when nothing is synced.
pub(crate) fn reply(
    message: &str,
    left_contact: bool,
    has_contact: bool,
    synced: Option<&[Passage]>,
) -> Reply {
    if wants_person(message) {
        let content = if has_contact { HANDOFF } else { ASK_FOR_CONTACT };
        return Reply { wants_person: true, ..Reply::plain(content) };
    }
    if left_contact {
        return Reply::plain(CONTACT_NOTED);
    }
    let (greeting, no_answer) = match synced {
        Some([best, ..]) => return Reply::from_passage(best),
        Some([]) => (GREETING_GENERIC, NO_ANSWER_GENERIC),
        None => (GREETING, NO_ANSWER),
    };
    if let Some(section) = best_section(message).filter(|_| synced.is_none()) {
        return Reply { topic: Some(section.heading.to_owned()), ..Reply::plain(section.answer) };
    }
    Reply::plain(match words(message).next().as_deref() {
        Some("hi" | "hello" | "hey" | "good") => greeting,
        Some("thank" | "thanks" | "great" | "perfect" | "cheer") => THANKS,
        _ => no_answer,
    })
}

fn wants_person(message: &str) -> bool {
    let is_request = |word: String| {
        ["human", "person", "operator", "agent", "someone", "somebody", "staff", "representative", "callback"]
            .contains(&word.as_str())
    };
    let lower = message.to_lowercase();
    words(message).any(is_request)
        || ["call me", "talk to you", "speak to", "speak with"].iter().any(|text| lower.contains(text))
}

fn best_section(message: &str) -> Option<&'static Section> {
    let query: Vec<String> = words(message).filter(|word| word.len() > 2).collect();
    let score = |section: &Section| -> usize {
        let subjects = query.iter().filter(|word| section.subjects.contains(word)).count();
        let mentions = query.iter().filter(|word| section.words.contains(word)).count();
        3 * subjects + mentions
    };
    // Of equal scores the first wins: the most frequent topics are at the top of the text.
    let best = SECTIONS.iter().rev().max_by_key(|section| score(section))?;
    (score(best) >= 3).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demo_reply(message: &str, left_contact: bool, has_contact: bool) -> Reply {
        reply(message, left_contact, has_contact, None)
    }

    #[test]
    fn answers_from_the_section_that_matches_the_question() {
        for (question, heading) in [
            ("How long does delivery take?", "Delivery"),
            ("Do you ship to Germany?", "Delivery abroad"),
            ("Are the mugs dishwasher safe?", "Care"),
            ("How much is a mug?", "Mugs"),
            ("Can I book a pottery workshop?", "Workshops"),
            ("My bowl arrived broken", "Breakage"),
            ("can i get a refund", "Returns"),
            ("When are you open?", "Opening hours and address"),
            ("Do you sell gift vouchers?", "Gifts"),
        ] {
            assert_eq!(demo_reply(question, false, false).topic.as_deref(), Some(heading), "{question}");
        }
    }

    #[test]
    fn admits_when_it_has_no_answer() {
        for question in ["What is the meaning of life?", "?", "asdf", ""] {
            assert_eq!(demo_reply(question, false, false), Reply::plain(NO_ANSWER), "{question}");
        }
    }

    #[test]
    fn asks_for_contact_details_before_a_handoff_unless_known() {
        let reply = demo_reply("Can I talk to a real person?", false, false);
        assert_eq!((reply.content.as_str(), reply.wants_person), (ASK_FOR_CONTACT, true));
        assert_eq!(demo_reply("I'd like to speak with someone", true, true).content, HANDOFF);
    }

    #[test]
    fn acknowledges_contact_details() {
        assert_eq!(demo_reply("ann@example.org", true, true).content, CONTACT_NOTED);
    }

    #[test]
    fn answers_from_synced_content_with_a_link_instead_of_the_demo() {
        let passage = Passage {
            title: "Our [blue] mugs".into(),
            location: Some("/mugs".into()),
            text: "They hold 320 ml.".into(),
        };
        let found = reply("How much is a mug?", false, false, Some(&[passage]));
        assert_eq!(found.content, "They hold 320 ml.\n\n[Our blue mugs](/mugs)");
        assert_eq!(reply("How much is a mug?", false, false, Some(&[])).content, NO_ANSWER_GENERIC);
    }

    #[test]
    fn shortens_a_long_passage_to_its_first_sentences() {
        let text = "Every pot is dipped twice. ".repeat(40);
        let passage = Passage { title: "Glaze".into(), location: None, text };
        let content = reply("pots", false, false, Some(&[passage])).content;
        assert!((100..=MAX_EXCERPT_LENGTH).contains(&content.chars().count()), "{content}");
        assert!(content.ends_with("twice."), "{content}");
    }

    #[test]
    fn every_section_has_subjects_and_a_short_answer() {
        assert!(SECTIONS.len() > 10);
        for section in SECTIONS.iter() {
            assert!(!section.subjects.is_empty(), "{}", section.heading);
            assert!((40..500).contains(&section.answer.len()), "{}", section.heading);
        }
    }
}
