//! The built-in assistant: finds what has most to do with the question, and says it. It knows what the site has synced,
//! and as long as nothing is, the demo's shop.

use std::sync::LazyLock;

use crate::search::Passage;
use crate::text::{excerpt, words};

const KNOWLEDGE: &str = include_str!("../knowledge/shop.md");

/// Maximum characters that are said of a page: more of it is on the page itself.
const MAX_EXCERPT_LENGTH: usize = 300;

/// What is said while the AI is out of order.
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

/// The same for a site of which nothing is known but what it synced.
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

/// What the assistant says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) content: String,
    /// The heading of the section, or the title of the page, that it was taken from.
    pub(crate) topic: Option<String>,
    /// Whether the visitor asked for a person.
    pub(crate) wants_person: bool,
}

impl Reply {
    fn plain(content: &str) -> Self {
        Self { content: content.to_owned(), topic: None, wants_person: false }
    }

    fn from_passage(passage: &Passage) -> Self {
        let more = match &passage.place {
            Some(place) => format!("\n\n[{}]({place})", passage.title.replace(['[', ']'], "")),
            None => String::new(),
        };
        let content = format!("{}{more}", excerpt(&passage.text, MAX_EXCERPT_LENGTH));
        Self { content, topic: Some(passage.title.clone()), wants_person: false }
    }
}

/// Answers a message. `left_contact`: it holds contact details; `has_contact`: they are known, now or from before.
/// `synced`: what was found in the site's own content, best first; none when the site has synced nothing.
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
    let asked = |word: String| {
        ["human", "person", "operator", "agent", "someone", "somebody", "staff", "representative", "callback"]
            .contains(&word.as_str())
    };
    let lower = message.to_lowercase();
    words(message).any(asked)
        || ["call me", "talk to you", "speak to", "speak with"].iter().any(|text| lower.contains(text))
}

fn best_section(message: &str) -> Option<&'static Section> {
    let asked: Vec<String> = words(message).filter(|word| word.len() > 2).collect();
    let score = |section: &Section| -> usize {
        let subjects = asked.iter().filter(|word| section.subjects.contains(word)).count();
        let mentions = asked.iter().filter(|word| section.words.contains(word)).count();
        3 * subjects + mentions
    };
    // Of equals the first: the text names what is asked most often first.
    let best = SECTIONS.iter().rev().max_by_key(|section| score(section))?;
    (score(best) >= 3).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(message: &str, left_contact: bool, has_contact: bool) -> Reply {
        reply(message, left_contact, has_contact, None)
    }

    #[test]
    fn a_question_is_answered_from_the_section_that_it_is_about() {
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
            assert_eq!(say(question, false, false).topic.as_deref(), Some(heading), "{question}");
        }
    }

    #[test]
    fn what_the_shop_does_not_know_is_admitted() {
        for question in ["What is the meaning of life?", "?", "asdf", ""] {
            assert_eq!(say(question, false, false), Reply::plain(NO_ANSWER), "{question}");
        }
    }

    #[test]
    fn who_wants_a_person_is_asked_for_contact_details_unless_they_are_known() {
        let asked = say("Can I talk to a real person?", false, false);
        assert_eq!((asked.content.as_str(), asked.wants_person), (ASK_FOR_CONTACT, true));
        assert_eq!(say("I'd like to speak with someone", true, true).content, HANDOFF);
    }

    #[test]
    fn contact_details_are_thanked_for() {
        assert_eq!(say("ann@example.org", true, true).content, CONTACT_NOTED);
    }

    #[test]
    fn what_was_synced_is_said_in_place_of_the_demos_knowledge_with_a_link_to_its_page() {
        let passage = Passage {
            title: "Our [blue] mugs".into(),
            place: Some("/mugs".into()),
            text: "They hold 320 ml.".into(),
        };
        let said = reply("How much is a mug?", false, false, Some(&[passage]));
        assert_eq!(said.content, "They hold 320 ml.\n\n[Our blue mugs](/mugs)");
        assert_eq!(reply("How much is a mug?", false, false, Some(&[])).content, NO_ANSWER_GENERIC);
    }

    #[test]
    fn of_a_long_passage_the_first_sentences_are_said() {
        let text = "Every pot is dipped twice. ".repeat(40);
        let passage = Passage { title: "Glaze".into(), place: None, text };
        let said = reply("pots", false, false, Some(&[passage])).content;
        assert!((100..=MAX_EXCERPT_LENGTH).contains(&said.chars().count()), "{said}");
        assert!(said.ends_with("twice."), "{said}");
    }

    #[test]
    fn every_section_has_words_to_be_found_by_and_something_short_to_say() {
        assert!(SECTIONS.len() > 10);
        for section in SECTIONS.iter() {
            assert!(!section.subjects.is_empty(), "{}", section.heading);
            assert!((40..500).contains(&section.answer.len()), "{}", section.heading);
        }
    }
}
