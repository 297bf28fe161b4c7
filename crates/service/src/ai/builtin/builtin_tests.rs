//! Tests of single answers. `conversation_tests.rs` has whole conversations.

use chat_protocol::Role;

use super::*;
use crate::ai::talk::{Tongue, Understood};
use crate::sites::Opening;

fn passage(text: &str, location: Option<&str>) -> Passage {
    Passage {
        id: "content:7".to_owned(),
        title: "Our [blue] mugs".to_owned(),
        location: location.map(str::to_owned),
        text: text.to_owned(),
        shown: text.to_owned(),
        certainty: 1.0,
    }
}

/// Answers a message, for each question of which the same passages were found.
fn reply_with(message: &str, earlier: &[&str], contact: (bool, bool), passages: &[Passage]) -> Reply {
    let mut history: Vec<Turn> = Vec::new();
    for (index, text) in earlier.iter().enumerate() {
        let role = if index % 2 == 0 { Role::Visitor } else { Role::Assistant };
        history.push(Turn { role, content: (*text).to_owned() });
    }
    let understood = Understood::new(message, &history, None);
    history.push(Turn { role: Role::Visitor, content: message.to_owned() });
    let found = understood.asked.iter();
    let found = found.map(|asked| Found { asked: asked.clone(), passages: passages.to_vec() }).collect();
    super::reply(&Question {
        passages,
        said: &Said { understood, found, ..Said::default() },
        history: &history,
        left_contact: contact.0,
        has_contact: contact.1,
        ..Question::default()
    })
}

fn text(message: &str, passages: &[Passage]) -> String {
    reply_with(message, &[], (false, false), passages).text
}

fn sentence(sentence: Sentence) -> &'static str {
    Tongue::default().sentences(sentence)[0]
}

#[test]
fn answers_from_the_best_passage_with_a_link_and_its_source() {
    let passages =
        [passage("They hold 320 ml.", Some("https://shop.example/mugs")), passage("Others.", None)];
    let found = reply_with("How much is a mug?", &[], (false, false), &passages);
    assert_eq!(found.text, "They hold 320 ml.\n\n[Our blue mugs](https://shop.example/mugs)");
    assert_eq!((found.sources, found.outcome), (vec!["content:7".to_owned()], Outcome::Answered));
}

#[test]
fn a_location_is_one_link_whatever_it_contains() {
    let text = |location| text("mug?", &[passage("Yes.", Some(location))]);
    assert_eq!(
        text("https://a.b/mugs_(blue)?a=1"),
        "Yes.\n\n[Our blue mugs](https://a.b/mugs_%28blue%29?a=1)"
    );
    assert_eq!(text("https://a.b/a) [x](/b"), "Yes.\n\n[Our blue mugs](https://a.b/a%29%20[x]%28/b)");
    assert_eq!(text("https://a.b/größe\n青瓷"), "Yes.\n\n[Our blue mugs](https://a.b/größe%0A青瓷)");
    assert_eq!(text("/mugs"), "Yes.", "a path of an unknown site is no link");
}

#[test]
fn the_address_is_the_text_of_a_link_to_a_page_without_a_title() {
    let untitled = Passage { title: " ".to_owned(), ..passage("A mug.", Some("https://a.b/")) };
    assert_eq!(text("mug?", &[untitled]), "A mug.\n\n[https://a.b/](https://a.b/)");
}

#[test]
fn a_visitor_reads_the_part_that_answers() {
    let shown = "**Glaze**\nEvery mug is dipped twice.".to_owned();
    let long = Passage { shown, ..passage(&"Every mug is fired. ".repeat(40), Some("https://a.b/pots")) };
    let expected = "**Glaze**\nEvery mug is dipped twice.\n\n[Our blue mugs](https://a.b/pots)";
    assert_eq!(text("mugs", &[long]), expected);
}

#[test]
fn a_passage_that_may_be_an_answer_is_shown_as_such() {
    let title = "Are the mugs safe?\nmug".to_owned();
    let answer = Passage { title, certainty: 0.4, ..passage("Yes, all are.", None) };
    let found = reply_with("I want to return a mug", &[], (false, false), std::slice::from_ref(&answer));
    let expected =
        [sentence(Sentence::Maybe), "**Are the mugs safe?**", "Yes, all are.", sentence(Sentence::OrElse)];
    assert_eq!(found.text, expected.join("\n\n"));
    assert_eq!((found.sources.len(), found.outcome), (1, Outcome::CouldNotAnswer));
    let answer = Passage { certainty: 0.2, ..answer };
    let none = reply_with("The discount code does not work", &[], (false, false), &[answer]);
    assert_eq!(none.text, sentence(Sentence::Nothing));
    assert_eq!((none.sources.len(), none.outcome), (0, Outcome::CouldNotAnswer));
}

#[test]
fn contact_details_are_noted_beside_an_answer() {
    let passages = [passage("A mug is 24.00.", None)];
    let noted = sentence(Sentence::ContactNoted);
    let found = reply_with("How much is a mug?", &[], (true, true), &passages);
    assert_eq!(found.text, format!("{noted}\n\nA mug is 24.00."));
    assert_eq!(reply_with("", &[], (true, true), &[]).text, noted);
    let unanswered = reply_with("Do you repair bicycles?", &[], (true, true), &[]);
    assert_eq!(unanswered.text, format!("{noted}\n\n{}", sentence(Sentence::NothingButNoted)));
}

#[test]
fn asks_for_contact_details_before_a_handoff_unless_known() {
    let passages = [passage("They hold 320 ml.", None)];
    let reply = |message: &str, contact| reply_with(message, &[], contact, &passages).text;
    assert_eq!(reply("Can I talk to a real person?", (false, false)), sentence(Sentence::AskForContact));
    assert_eq!(reply("I'd like to speak with someone", (true, true)), sentence(Sentence::Handoff));
    let both = reply("How much is a mug? And can I talk to a person?", (false, false));
    assert_eq!(both, format!("They hold 320 ml.\n\n{}", sentence(Sentence::AskForContact)));
}

#[test]
fn a_yes_accepts_what_was_offered() {
    let nothing = sentence(Sentence::Nothing);
    let yes = reply_with("Yes please", &["Do you repair bicycles?", nothing], (false, false), &[]);
    assert_eq!((yes.text.as_str(), yes.outcome), (sentence(Sentence::AskForContact), Outcome::SmallTalk));
    let other = reply_with("yes", &["Hello", "They hold 320 ml."], (false, false), &[]);
    assert_eq!(other.text, sentence(Sentence::Okay));
}

#[test]
fn the_same_answer_is_not_given_twice_in_a_row() {
    let passages = [passage("A mug is 24.00.", None)];
    let again = reply_with("So a mug is how much?", &["mug?", "A mug is 24.00."], (false, false), &passages);
    assert_eq!((again.text.as_str(), again.outcome), (sentence(Sentence::Above), Outcome::Answered));
}

#[test]
fn anger_is_answered_by_an_apology_and_a_person() {
    let angry = reply_with("This is useless!", &[], (false, false), &[]);
    let expected = format!("{}\n\n{}", sentence(Sentence::Anger), sentence(Sentence::AskForContact));
    assert_eq!((angry.text, angry.outcome), (expected, Outcome::CouldNotAnswer));
}

/// Answers a message while the team is away until Monday.
fn reply_while_away(message: &str, passages: &[Passage]) -> String {
    let understood = Understood::new(message, &[], None);
    let found = understood.asked.iter();
    let found = found.map(|asked| Found { asked: asked.clone(), passages: passages.to_vec() }).collect();
    let at = "2026-11-30T09:00".parse().expect("a time");
    let history = [Turn { role: Role::Visitor, content: message.to_owned() }];
    let question = Question {
        passages,
        said: &Said { understood, found, ..Said::default() },
        history: &history,
        team: Team { reopens: Some(Opening { at, days_ahead: 2 }), ..Team::default() },
        ..Question::default()
    };
    super::reply(&question).text
}

#[test]
fn says_when_the_team_is_back_where_a_person_is_needed_and_nowhere_else() {
    const BACK: &str = "We are back on Monday at 09:00.";
    for message in ["I want to talk to a human", "This is useless", "Do you sell teapots?"] {
        let text = reply_while_away(message, &[]);
        assert!(text.ends_with(BACK), "{message}: {text}");
    }
    for message in ["Hello", "Thank you", "Are you a robot?"] {
        let text = reply_while_away(message, &[]);
        assert!(!text.contains(BACK), "{message}: {text}");
    }
    let answered = reply_while_away("How much is a mug?", &[passage("They hold 320 ml.", None)]);
    assert_eq!(answered, "They hold 320 ml.");
}
