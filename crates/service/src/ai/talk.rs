//! Reads what a visitor says: small talk, requests for a person, and the questions that remain.
//!
//! The tables of `talk/tables` have the phrases of the widget's languages. A message is split into sentences,
//! and a sentence into clauses. A clause that consists of phrases is small talk. The others are questions, or
//! tell what a question is about.

mod clauses;
mod fold;
mod pattern;
mod person;
mod table;
#[cfg(test)]
mod talk_tests;
mod tongue;

use chat_protocol::Role;

pub(crate) use table::{Sentence, Tongue};

use self::clauses::{Clause, clauses};
use self::fold::Folded;
use self::person::{asks_for_person, asks_whether_human};
use self::table::List;
use super::Turn;
use crate::knowledge::is_unspaced;

/// Maximum characters of a message that are read: what it wants is said early.
const MAX_READ: usize = 2000;
/// Maximum questions of a message that are answered one by one.
const MAX_QUESTIONS: usize = 3;
/// Maximum words with a meaning of a question that points to the one before.
const MAX_WORDS_OF_FOLLOW_UP: usize = 2;
/// Earlier messages of the visitor that are read.
const MAX_EARLIER: usize = 6;

/// What a visitor says beside questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Act {
    WantsPerson,
    AreYouHuman,
    WhoAreYou,
    WhatCanYouDo,
    Anger,
    Bye,
    Thanks,
    Praise,
    Greeting,
    Yes,
    No,
    Okay,
    /// Does not want a person.
    RefusesPerson,
    /// Contact details, with nothing but their introduction.
    Contact,
}

/// Small talk, with its list.
const SMALL_TALK: [(List, Act); 9] = [
    (List::Greeting, Act::Greeting),
    (List::Thanks, Act::Thanks),
    (List::Yes, Act::Yes),
    (List::No, Act::No),
    (List::Okay, Act::Okay),
    (List::Bye, Act::Bye),
    (List::Praise, Act::Praise),
    (List::Anger, Act::Anger),
    (List::Contact, Act::Contact),
];

/// Phrases about the assistant, with the maximum words beside them: of more, the phrase is a part of another
/// question.
const ABOUT_ASSISTANT: [(List, Act, usize); 2] =
    [(List::WhoAreYou, Act::WhoAreYou, 2), (List::WhatCanYouDo, Act::WhatCanYouDo, 2)];
/// Maximum words beside an expression of anger: of more, something else is said as well.
const MAX_WORDS_BESIDE_ANGER: usize = 2;

/// A question to the site's knowledge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) text: String,
    /// What the question is about, from the sentences or the messages before it.
    pub(crate) topic: Option<String>,
    /// Whether the question points to its topic ("how tall is it?"), so that it means little without it.
    pub(crate) is_follow_up: bool,
    /// Whether the question begins by naming its topic ("what about workshops?").
    pub(crate) names_topic: bool,
    /// Whether the question says that something is not so.
    pub(crate) is_negated: bool,
}

/// A message as the assistant understands it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Understood {
    pub(crate) tongue: Tongue,
    pub(crate) acts: Vec<Act>,
    pub(crate) asked: Vec<Asked>,
}

impl Understood {
    /// Returns whether the message thanks, agrees or says goodbye, and asks for nothing.
    pub(crate) fn is_only_courtesy(&self) -> bool {
        let is_courtesy =
            |act: &Act| matches!(act, Act::Bye | Act::Thanks | Act::Praise | Act::Yes | Act::Okay);
        self.asked.is_empty() && !self.acts.is_empty() && self.acts.iter().all(is_courtesy)
    }

    /// Reads the last message of a conversation, in whose text contact details are blanked.
    pub(crate) fn new(message: &str, earlier: &[Turn], locale: Option<&str>) -> Self {
        let page = locale.and_then(Tongue::of_tag).unwrap_or_default();
        let said = earlier.iter().rev().filter(|turn| turn.role == Role::Visitor).take(MAX_EARLIER);
        let said: Vec<&str> = said.map(|turn| turn.content.as_str()).collect();
        let expected = said.iter().find_map(|text| Tongue::told(text, page)).unwrap_or(page);
        let mut understood = read(message, expected);
        let needs_topic = understood.asked.first().is_some_and(|asked| asked.topic.is_none());
        if needs_topic {
            understood.asked[0].topic = said.iter().find_map(|text| topic(text, expected));
        }
        for index in 1..understood.asked.len() {
            if understood.asked[index].topic.is_none() {
                understood.asked[index].topic = Some(understood.asked[index - 1].text.clone());
            }
        }
        // Without a word of its own, a question means little by itself: "how much?"
        for asked in &mut understood.asked {
            let words = meaningful_words(&asked.text, understood.tongue).len();
            asked.is_follow_up &= words <= MAX_WORDS_OF_FOLLOW_UP;
            asked.is_follow_up |= words == 0 && asked.topic.is_some();
        }
        understood
    }

    pub(crate) fn says(&self, act: Act) -> bool {
        self.acts.contains(&act)
    }
}

/// Returns what a message of before was about, unless it points to one before itself.
fn topic(text: &str, expected: Tongue) -> Option<String> {
    let stands_alone = |asked: &Asked| !asked.is_follow_up || asked.names_topic;
    let asked = read(text, expected).asked.into_iter().rev().find(stands_alone)?;
    Some(match asked.topic {
        Some(topic) => format!("{topic} {}", asked.text),
        None => asked.text,
    })
}

/// Returns whether a message asks for a person.
pub(crate) fn wants_person(message: &str) -> bool {
    let short: String = message.chars().take(MAX_READ).collect();
    clauses(&short).any(|clause| Tongue::all().any(|tongue| asks_for_person(&clause, tongue) == Some(true)))
}

/// Returns the words of a text that carry meaning, folded.
fn meaningful_words(text: &str, tongue: Tongue) -> Vec<String> {
    let (table, folded) = (tongue.table(), Folded::new(text));
    let meaningful = folded.words().filter(|word| !table.is_frequent(word));
    meaningful.map(str::to_owned).collect()
}

/// Part of a message that is no small talk.
#[derive(Debug)]
struct Piece {
    text: String,
    is_question: bool,
}

fn read(message: &str, expected: Tongue) -> Understood {
    let short: String = message.chars().take(MAX_READ).collect();
    let told = Tongue::told(&short, expected);
    let tongue = told.unwrap_or(expected);
    let mut reader = Reader { tongue, acts: Vec::new(), pieces: Vec::new(), small_talk: None };
    for clause in clauses(&short) {
        reader.read(&clause);
    }
    let Reader { acts, pieces, small_talk, .. } = reader;
    // Of small talk alone, the phrases tell the language better than single words.
    let tongue = small_talk.filter(|_| pieces.is_empty()).unwrap_or(tongue);
    Understood { tongue, acts, asked: questions(pieces, tongue) }
}

struct Reader {
    tongue: Tongue,
    acts: Vec<Act>,
    pieces: Vec<Piece>,
    /// The language of the small talk.
    small_talk: Option<Tongue>,
}

impl Reader {
    fn read(&mut self, clause: &Clause<'_>) {
        let first = self.small_talk.unwrap_or(self.tongue);
        let mut tongues = [first].into_iter().chain(Tongue::all().filter(|tongue| *tongue != first));
        let found = tongues.find_map(|tongue| {
            if !tongue.may_be_in(clause.text) && !is_emoji_only(&clause.folded) {
                return None;
            }
            Some((tongue, acts_of(clause, tongue)?))
        });
        if let Some((tongue, acts)) = found {
            if acts != [Act::RefusesPerson] {
                self.small_talk.get_or_insert(tongue);
            }
            self.acts.extend(acts);
            return;
        }
        let table = self.tongue.table();
        if let Some((start, end)) = table.find(List::Angry, &clause.folded) {
            self.acts.push(Act::Anger);
            if clause.folded.words_beside(start, end) <= MAX_WORDS_BESIDE_ANGER {
                return;
            }
        }
        let (acts, end) = leading(&clause.folded, self.tongue);
        let begins = if acts.contains(&Act::No) || acts.contains(&Act::Yes) { 0 } else { end };
        if begins > 0 {
            self.acts.extend(acts);
        }
        self.add(clause, begins);
    }

    /// Adds the rest of a clause: to the sentence that it continues, or as a question of its own.
    fn add(&mut self, clause: &Clause<'_>, mut from: usize) {
        let folded = &clause.folded;
        let mut continues = clause.continues;
        while let Some(next) = next_question(folded, from, self.tongue) {
            self.push(clause.between(from, Some(next)), continues, true, false);
            (from, continues) = (next, false);
        }
        let is_asked = begins_question(folded, from, self.tongue);
        self.push(clause.between(from, None), continues, is_asked, clause.asks);
    }

    fn push(&mut self, text: &str, continues: bool, is_asked: bool, has_mark: bool) {
        let text = text.trim();
        if !text.chars().any(char::is_alphanumeric) {
            if has_mark && let Some(last) = self.pieces.last_mut() {
                last.is_question |= continues;
            }
            return;
        }
        match self.pieces.last_mut() {
            Some(last) if continues && !(is_asked && last.is_question) => {
                last.text.push_str(", ");
                last.text.push_str(text);
                last.is_question |= is_asked || has_mark;
            }
            _ => self.pieces.push(Piece { text: text.to_owned(), is_question: is_asked || has_mark }),
        }
    }
}

fn is_emoji_only(folded: &Folded) -> bool {
    !folded.as_str().chars().any(char::is_alphanumeric)
}

/// Returns what a clause says in a language, if it says nothing else.
fn acts_of(clause: &Clause<'_>, tongue: Tongue) -> Option<Vec<Act>> {
    if asks_whether_human(clause, tongue) {
        return Some(vec![Act::AreYouHuman]);
    }
    match asks_for_person(clause, tongue) {
        Some(true) => return Some(vec![Act::WantsPerson]),
        Some(false) => return Some(vec![Act::RefusesPerson]),
        None => {}
    }
    let (acts, end) = leading(&clause.folded, tongue);
    if !acts.is_empty() && end == clause.folded.as_str().len() {
        return Some(acts);
    }
    ABOUT_ASSISTANT.into_iter().find_map(|(list, act, most)| {
        let (start, end) = tongue.table().find(list, &clause.folded)?;
        (clause.folded.words_beside(start, end) <= most).then(|| vec![act])
    })
}

/// Returns the small talk at the beginning of a clause, and where it ends.
fn leading(folded: &Folded, tongue: Tongue) -> (Vec<Act>, usize) {
    let (text, table) = (folded.as_str(), tongue.table());
    let (mut acts, mut at) = (Vec::new(), 0);
    while at < text.len() {
        at += usize::from(text[at..].starts_with(' '));
        let talk =
            SMALL_TALK.into_iter().filter_map(|(list, act)| Some((table.end_of(list, text, at)?, Some(act))));
        let filler = table.end_of(List::Filler, text, at).map(|end| (end, None));
        let Some((end, act)) = talk.chain(filler).max_by_key(|(end, act)| (*end, act.is_some())) else {
            break;
        };
        if end <= at {
            break;
        }
        acts.extend(act);
        at = end;
    }
    if acts.is_empty() { (acts, 0) } else { (acts, at.min(text.len())) }
}

/// Returns where a question begins after "and", behind another question of at least two words.
fn next_question(folded: &Folded, from: usize, tongue: Tongue) -> Option<usize> {
    let (text, table) = (folded.as_str(), tongue.table());
    if !begins_question(folded, from, tongue) {
        return None;
    }
    folded.starts().filter(|at| *at > from).find_map(|at| {
        let after = table.end_of(List::And, text, at)?;
        let begins = begins_question(folded, after, tongue);
        let words = text[from..at].split(' ').filter(|word| !word.is_empty()).count();
        (begins && words >= 2).then_some(at)
    })
}

/// Returns whether the text from a position on begins as a question does.
fn begins_question(folded: &Folded, from: usize, tongue: Tongue) -> bool {
    let (text, table) = (folded.as_str(), tongue.table());
    let skip = |at: usize| at + usize::from(text[at..].starts_with(' '));
    let from = skip(from);
    let after_and = table.end_of(List::And, text, from).map_or(from, skip);
    table.end_of(List::Question, text, after_and).is_some()
}

/// Turns what is no small talk into questions: sentences that ask nothing tell what the next one is about.
fn questions(pieces: Vec<Piece>, tongue: Tongue) -> Vec<Asked> {
    let has_question = pieces.iter().any(|piece| piece.is_question);
    if !has_question {
        let text = pieces.into_iter().map(|piece| piece.text).collect::<Vec<_>>().join(". ");
        return if text.is_empty() { Vec::new() } else { vec![asked(text, None, tongue)] };
    }
    let mut found: Vec<Asked> = Vec::new();
    let mut told: Vec<String> = Vec::new();
    for piece in pieces {
        let is_full = found.len() == MAX_QUESTIONS;
        match found.last_mut() {
            _ if !piece.is_question => told.push(piece.text),
            Some(last) if is_full => {
                last.text.push(' ');
                last.text.push_str(&piece.text);
            }
            _ => {
                let topic = (!told.is_empty()).then(|| told.join(". "));
                told.clear();
                found.push(asked(piece.text, topic, tongue));
            }
        }
    }
    // What follows the last question, such as an order number, is about it.
    if let (Some(last), false) = (found.last_mut(), told.is_empty()) {
        last.topic.get_or_insert_with(|| told.join(". "));
    }
    found
}

fn asked(text: String, topic: Option<String>, tongue: Tongue) -> Asked {
    let (table, folded) = (tongue.table(), Folded::new(&text));
    let text_of = folded.as_str();
    let begins = table.end_of(List::And, text_of, 0).is_some() && !begins_question(&folded, 0, tongue);
    let points = table.find(List::It, &folded);
    // A pronoun at the beginning of a script without spaces is no name of a topic.
    let is_unspaced = text_of.starts_with(is_unspaced);
    Asked {
        is_follow_up: points.is_some() || begins,
        names_topic: !is_unspaced && (begins || points.is_some_and(|(start, _)| start == 0)),
        is_negated: table.find(List::Not, &folded).is_some(),
        text,
        topic,
    }
}
