//! Conversations with the built-in assistant, with verdicts: what visitors write, and what must become of it.

use std::collections::HashSet;
use std::fmt::Write;

use chat_protocol::admin::{AnswerOutcome, ConversationCounts, UnansweredQuestions};
use serde_json::json;

use crate::inbox::desk::Desk;
use crate::support::databases::{Kind, TestDatabase, on_both_databases};

const TURNS: &str = include_str!("talk/turns.txt");
const TRAPS: &str = include_str!("talk/traps.txt");
const FIRST_DAY: &str = include_str!("talk/first-day.txt");
/// The first days of other owners: two answers, and the questions of their visitors.
const FIRST_DAYS: [([[&str; 2]; 2], &str); 2] = [
    (
        [
            ["Wann habt ihr geöffnet?", "Wir haben Montag bis Freitag von 10 bis 18 Uhr geöffnet."],
            ["Repariert ihr auch E-Bikes?", "Ja, wir reparieren E-Bikes mit Motoren von Bosch und Shimano."],
        ],
        include_str!("talk/first-day-german.txt"),
    ),
    (
        [
            ["¿A qué hora es el desayuno?", "El desayuno es de 7:30 a 10:30 en el patio."],
            [
                "¿Admiten mascotas?",
                "Sí, las mascotas de hasta 10 kilos son bienvenidas por 8 euros la noche.",
            ],
        ],
        include_str!("talk/first-day-spanish.txt"),
    ),
];
/// The knowledge of the demo's shop; see `src/test_mode/shop.rs`.
const SHOP: &str = include_str!("../../../src/test_mode/shop.md");
/// Questions and answers in other languages: the tag, the question with its words, and the answer.
const OTHER_LANGUAGES: [[&str; 3]; 4] = [
    [
        "de",
        "Versand\nVersand Versandkosten Lieferung liefern Porto kostet Österreich Deutschland dauert",
        "Der Versand nach Österreich kostet 7,90 € und dauert 3 bis 5 Werktage.",
    ],
    [
        "de",
        "Öffnungszeiten\ngeöffnet offen wann Uhr",
        "Wir haben Montag bis Freitag von 9 bis 18 Uhr geöffnet.",
    ],
    [
        "de",
        "Rückgabe\nzurückgeben Tasse Umtausch Rücksendung",
        "Unbenutzte Ware, auch eine Tasse, nehmen wir innerhalb von 30 Tagen zurück.",
    ],
    [
        "fr",
        "Livraison\nlivraison frais expédition livrer Belgique",
        "Les frais de livraison pour la Belgique sont de 8,50 €.",
    ],
];

/// A message with its verdict.
struct Turn {
    message: &'static str,
    outcome: AnswerOutcome,
    contains: Vec<&'static str>,
    lacks: Vec<&'static str>,
}

/// Reads conversations with the language of their pages.
fn conversations(text: &'static str) -> Vec<(&'static str, Vec<Turn>)> {
    let mut conversations: Vec<(&str, Vec<Turn>)> = Vec::new();
    let mut lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("* ") {
            conversations.push((title.split(' ').next().unwrap_or("en"), Vec::new()));
            continue;
        }
        let message = line.strip_prefix("> ").expect("a message");
        let verdict = lines.next().expect("a verdict");
        let (verdict, lacks) = verdict.split_once(" - ").unwrap_or((verdict, ""));
        let mut parts = verdict.split(" + ");
        let outcome = parts.next().and_then(AnswerOutcome::parse).expect("an outcome");
        let lacks = lacks.split(" - ").filter(|part| !part.is_empty()).collect();
        let turn = Turn { message, outcome, contains: parts.collect(), lacks };
        conversations.last_mut().expect("a conversation").1.push(turn);
    }
    conversations
}

/// The result of a set.
#[derive(Default)]
struct Played {
    turns: usize,
    wrong: Vec<String>,
    transcript: String,
}

/// Opens a service whose site has these answers.
async fn desk(database: &TestDatabase, answers: &[(&str, &str, &str)]) -> Desk {
    let desk = Desk::new(database).await;
    let path = format!("/sites/{}/answers", desk.client.site.id);
    for (locale, question, answer) in answers {
        let body = json!({ "question": question, "answer": answer, "locale": locale });
        desk.post(&path, &body).await.data();
    }
    desk
}

async fn shop(database: &TestDatabase) -> Desk {
    let sections = SHOP.split("\n## ").skip(1).filter_map(|section| {
        let (title, rest) = section.split_once('\n')?;
        let (subjects, answer) = rest.split_once('\n')?;
        Some((format!("{title}\n{subjects}"), answer.trim()))
    });
    let sections: Vec<(String, &str)> = sections.collect();
    let english = sections.iter().map(|(question, answer)| ("en", question.as_str(), *answer));
    let others = OTHER_LANGUAGES.iter().map(|[locale, question, answer]| (*locale, *question, *answer));
    desk(database, &english.chain(others).collect::<Vec<_>>()).await
}

/// Plays conversations by the connector API, and reads the outcomes by the admin API.
async fn play(desk: &Desk, text: &'static str, is_one_each: bool) -> Played {
    let mut played = Played::default();
    for (locale, turns) in conversations(text) {
        let mut conversation: Option<String> = None;
        let mut said: HashSet<String> = HashSet::new();
        for turn in turns {
            if is_one_each {
                conversation = None;
                said.clear();
            }
            let body = json!({ "message": turn.message, "conversationId": conversation, "locale": locale });
            let data = desk.client.post("/chat/messages", None, &body).await.data();
            let reply = data["message"]["content"].as_str().unwrap_or_default().to_owned();
            let id = data["conversationId"].as_str().expect("an id").to_owned();
            let messages = desk.conversation(&id).await.messages;
            let outcome = messages.iter().rev().find_map(|message| message.outcome);
            conversation = Some(id);
            let is_repeated =
                reply.split("\n\n").any(|part| !said.insert(part.to_owned()) && part.len() > 60);
            let is_right = outcome == Some(turn.outcome)
                && data["outcome"] == turn.outcome.as_str()
                && turn.contains.iter().all(|part| reply.contains(part))
                && !turn.lacks.iter().any(|part| reply.contains(part))
                && !is_repeated;
            let name = outcome.map_or("none", AnswerOutcome::as_str);
            let line = format!("> {}\n[{name}] {}\n", turn.message, reply.replace('\n', " "));
            let _ = write!(played.transcript, "{}{line}", if is_right { "" } else { "WRONG " });
            if !is_right {
                played.wrong.push(line);
            }
            played.turns += 1;
        }
        played.transcript.push('\n');
    }
    played
}

async fn play_first_day(
    database: &TestDatabase,
    (answers, questions): ([[&'static str; 2]; 2], &'static str),
) {
    let desk = desk(database, &answers.map(|[question, answer]| ("", question, answer))).await;
    let played = play(&desk, questions, true).await;
    println!("{}", played.transcript);
    assert_eq!((played.turns, played.wrong), (14, Vec::<String>::new()));
}

on_both_databases! {
    async fn conversations_and_traps_get_good_replies(database: &TestDatabase) {
        let desk = shop(database).await;
        let (turns, traps) = (play(&desk, TURNS, false).await, play(&desk, TRAPS, true).await);
        println!("{}\n{}", turns.transcript, traps.transcript);
        assert!(turns.turns >= 120 && traps.turns >= 40, "{} {}", turns.turns, traps.turns);
        for played in [turns, traps] {
            let wrong = played.wrong.len();
            assert!(wrong * 10 <= played.turns, "{wrong} of {}:\n{}", played.turns, played.wrong.join("\n"));
        }
    }

    async fn thanks_to_a_person_are_not_answered_by_the_ai(database: &TestDatabase) {
        let desk = shop(database).await;
        let id = desk.client.begin("Is my parcel on its way?").await;
        desk.answer(&id, "Yes, it comes on Friday. Olga").await;
        desk.change(&id, json!({ "status": "closed" })).await;
        let say = async |text: &str| {
            let body = json!({ "conversationId": id, "message": text, "locale": "en" });
            desk.client.post("/chat/messages", None, &body).await.data()
        };
        for thanks in ["Thank you so much!", "ok, bye"] {
            let data = say(thanks).await;
            assert!(data["message"].is_null() && data["outcome"].is_null(), "{thanks}: {data}");
        }
        assert_eq!(say("How much is a mug?").await["outcome"], "answered");
    }

    async fn on_the_first_day_nothing_is_answered_wrongly(database: &TestDatabase) {
        let answers = [
            ("", "Are the mugs dishwasher safe?", "Yes, all our mugs are dishwasher safe."),
            ("", "How long does shipping take?", "Shipping takes 3 to 5 days to Austria and Germany."),
        ];
        let desk = desk(database, &answers).await;
        let played = play(&desk, FIRST_DAY, true).await;
        println!("{}", played.transcript);
        assert_eq!(played.wrong, Vec::<String>::new());

        let list: UnansweredQuestions = desk.read("/questions/unanswered?limit=5").await;
        let texts: Vec<&str> = list.questions.iter().map(|question| question.text.as_str()).collect();
        assert_eq!(texts[..2], ["Do you have gift cards?", "Where is your shop?"], "newest first");
        let next = list.next_before.expect("another page");
        let rest: UnansweredQuestions = desk.read(&format!("/questions/unanswered?before={next}")).await;
        assert_eq!((rest.questions.len(), rest.next_before), (7, None));
        let day = jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date();
        let report: chat_protocol::admin::Report = desk.read(&format!("/report?from={}&to={day}", day.yesterday().expect("a day"))).await;
        let totals = &report.totals;
        assert_eq!((totals.conversations, totals.answered_by_ai, totals.unanswered), (14, 2, 12));
        assert_eq!((report.outcomes.answered, report.outcomes.could_not_answer), (2, 12));
        let counts: ConversationCounts = desk.read("/conversations/counts").await;
        assert_eq!(counts.waiting, 12, "whoever got no answer waits for a person");
        let other = desk.call("GET", "/questions/unanswered?site=site_0", None).await;
        assert_eq!(other.status, 404);
    }

    async fn on_the_first_day_of_a_german_workshop_nothing_is_answered_wrongly(database: &TestDatabase) {
        play_first_day(database, FIRST_DAYS[0]).await;
    }

    async fn on_the_first_day_of_a_spanish_hotel_nothing_is_answered_wrongly(database: &TestDatabase) {
        play_first_day(database, FIRST_DAYS[1]).await;
    }
}
