//! The tables of examples, one for each language: what visitors say, and what the assistant makes of it.

use super::*;

/// The examples of each language.
const EXAMPLES: [(&str, &str); 20] = [
    ("en", include_str!("examples/en.txt")),
    ("de", include_str!("examples/de.txt")),
    ("fr", include_str!("examples/fr.txt")),
    ("es", include_str!("examples/es.txt")),
    ("it", include_str!("examples/it.txt")),
    ("pt", include_str!("examples/pt.txt")),
    ("nl", include_str!("examples/nl.txt")),
    ("pl", include_str!("examples/pl.txt")),
    ("tr", include_str!("examples/tr.txt")),
    ("id", include_str!("examples/id.txt")),
    ("vi", include_str!("examples/vi.txt")),
    ("ru", include_str!("examples/ru.txt")),
    ("ar", include_str!("examples/ar.txt")),
    ("he", include_str!("examples/he.txt")),
    ("hi", include_str!("examples/hi.txt")),
    ("th", include_str!("examples/th.txt")),
    ("ko", include_str!("examples/ko.txt")),
    ("ja", include_str!("examples/ja.txt")),
    ("zh", include_str!("examples/zh.txt")),
    ("zh-TW", include_str!("examples/zh-TW.txt")),
];

/// The names of what is said.
const ACTS: [(&str, Act); 13] = [
    ("greeting", Act::Greeting),
    ("thanks", Act::Thanks),
    ("yes", Act::Yes),
    ("no", Act::No),
    ("okay", Act::Okay),
    ("bye", Act::Bye),
    ("praise", Act::Praise),
    ("anger", Act::Anger),
    ("who", Act::WhoAreYou),
    ("can", Act::WhatCanYouDo),
    ("human", Act::AreYouHuman),
    ("person", Act::WantsPerson),
    ("refuses", Act::RefusesPerson),
];

fn asked(message: &str, earlier: &[&str]) -> Vec<Asked> {
    let turn = |text: &&str| Turn { role: Role::Visitor, content: (*text).to_owned() };
    let earlier: Vec<Turn> = earlier.iter().map(turn).collect();
    Understood::new(message, &earlier, None).asked
}

fn texts(message: &str) -> Vec<String> {
    asked(message, &[]).into_iter().map(|asked| asked.text).collect()
}

#[test]
fn understands_the_examples_of_each_language() {
    let mut wrong = Vec::new();
    for (tag, examples) in EXAMPLES {
        let (mut requests, mut others) = (0, 0);
        for line in examples.lines() {
            let (kind, message) = line.split_once(": ").expect("a kind and a message");
            let understood = Understood::new(message, &[], Some(tag));
            let wants = wants_person(message);
            let is_right = match ACTS.iter().find(|(name, _)| *name == kind) {
                Some((_, act)) => understood.says(*act),
                None => kind == "question" && !understood.asked.is_empty(),
            };
            if !is_right || wants != (kind == "person") || understood.says(Act::WantsPerson) != wants {
                wrong.push(format!("{tag} {kind}: {message}: {understood:?}"));
            }
            requests += usize::from(wants);
            others += usize::from(kind == "question");
        }
        assert!(requests >= 10 && others >= 10, "{tag}: {requests} {others}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn answers_in_the_language_of_the_message() {
    for (tag, examples) in EXAMPLES {
        for line in examples.lines() {
            let (kind, message) = line.split_once(": ").expect("a kind and a message");
            // Other languages greet with the same words, or write a message in English.
            if ["question", "person", "thanks", "human"].contains(&kind) && !message.starts_with("Is this") {
                let tongue = Understood::new(message, &[], Some(tag)).tongue;
                assert_eq!(tongue.tag(), tag, "{message}");
            }
        }
    }
    let understood = Understood::new("Vielen Dank", &[], Some("en"));
    assert_eq!(understood.tongue.tag(), "de");
    let earlier = [Turn { role: Role::Visitor, content: "Combien coûte une tasse ?".to_owned() }];
    assert_eq!(Understood::new("ok", &earlier, Some("en")).tongue.tag(), "fr");
}

#[test]
fn small_talk_beside_a_question_does_not_swallow_it() {
    for (message, question) in [
        ("Hi, do you ship to Austria?", "do you ship to Austria"),
        ("Hello! How much is a mug? Thanks!", "How much is a mug"),
        ("Thanks, and how long does it take?", "how long does it take"),
        ("I do not want to talk to a human, just tell me the price", "just tell me the price"),
        ("Guten Tag, was kostet der Versand?", "was kostet der Versand"),
        ("ok but where is your shop", "where is your shop"),
        ("你好，请问几点开门？", "请问几点开门"),
    ] {
        let found = texts(message);
        assert!(found.len() == 1 && found[0].ends_with(question), "{message}: {found:?}");
    }
}

#[test]
fn questions_of_one_message_are_answered_one_by_one() {
    for (message, questions) in [
        ("When are you open? Do you ship to Austria?", vec!["When are you open", "Do you ship to Austria"]),
        (
            "When are you open and do you ship to Austria?",
            vec!["When are you open", "and do you ship to Austria"],
        ),
        (
            "Wann haben Sie offen, und was kostet der Versand?",
            vec!["Wann haben Sie offen", "und was kostet der Versand"],
        ),
        ("Do you sell mugs and bowls?", vec!["Do you sell mugs and bowls"]),
        ("If a bowl arrives broken, what do I do?", vec!["If a bowl arrives broken, what do I do"]),
        ("one? b c? d e? f g?", vec!["one", "b c", "d e f g"]),
    ] {
        assert_eq!(texts(message), questions, "{message}");
    }
}

#[test]
fn a_question_that_points_back_has_the_topic_of_the_one_before() {
    let earlier = ["Do you have a stem vase?", "ok", "thanks"];
    let found = asked("How tall is it?", &earlier);
    assert_eq!((found[0].topic.as_deref(), found[0].is_follow_up), (Some("Do you have a stem vase"), true));
    let chain = asked("And how heavy is it?", &["Do you have a stem vase?", "How tall is it?"]);
    assert_eq!(chain[0].topic.as_deref(), Some("Do you have a stem vase"));
    let other = asked("Is there parking behind the studio?", &earlier);
    assert!(!other[0].is_follow_up, "{other:?}");
    let told = asked("I bought a bowl last week. Can I return it?", &[]);
    assert_eq!(told[0].topic.as_deref(), Some("I bought a bowl last week"));
    let without_words = asked("¿Cuánto cuesta?", &["¿Tienen tazas azules?"]);
    assert!(without_words[0].is_follow_up, "{without_words:?}");
}

#[test]
fn anger_beside_a_question_is_noticed() {
    let understood = Understood::new("This is unacceptable, where is my parcel?", &[], None);
    assert!(understood.says(Act::Anger));
    assert_eq!(understood.asked.len(), 1);
}
