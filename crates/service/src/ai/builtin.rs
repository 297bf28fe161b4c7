//! The built-in assistant: answers each question of a message with the passage that best matches it, and the
//! rest by small talk.

use super::confidence::{Confidence, Threshold, confidence};
use super::links::link_target;
use super::outcome::Outcome;
use super::phrases::Phrases;
use super::said::{Found, Said};
use super::talk::{Act, Sentence};
use super::{Question, Team, Turn};
use crate::knowledge::Passage;

/// The sentences that offer a person, to which a visitor may say yes.
const OFFERS: [Sentence; 5] =
    [Sentence::Nothing, Sentence::AreYouHuman, Sentence::OrElse, Sentence::AskForContact, Sentence::Above];
/// The replies to small talk. Of several, the first one is given.
const SMALL_TALK: [(Act, Sentence); 11] = [
    (Act::AreYouHuman, Sentence::AreYouHuman),
    (Act::WhoAreYou, Sentence::WhoAreYou),
    (Act::WhatCanYouDo, Sentence::WhatCanYouDo),
    (Act::Bye, Sentence::Bye),
    (Act::Thanks, Sentence::Thanks),
    (Act::Praise, Sentence::Praise),
    (Act::Greeting, Sentence::Greeting),
    (Act::Yes, Sentence::Okay),
    (Act::No, Sentence::Okay),
    (Act::Okay, Sentence::Okay),
    (Act::RefusesPerson, Sentence::Okay),
];

/// An answer of the built-in assistant.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) text: String,
    /// The ids of the passages that the text comes from.
    pub(super) sources: Vec<String>,
    pub(super) outcome: Outcome,
}

/// Answers the last message of a conversation.
pub(super) fn reply(question: &Question<'_>) -> Reply {
    let earlier = question.history.split_last().map_or(&[][..], |(_, earlier)| earlier);
    let Said { understood, found, threshold } = question.said;
    let phrases = Phrases::in_tongue(understood.tongue);
    let mut writer = Writer {
        phrases,
        earlier,
        has_contact: question.has_contact,
        team: question.team,
        texts: Vec::new(),
        sources: Vec::new(),
    };

    let accepts = understood.says(Act::Yes) && found.is_empty() && phrases.has_just_said(&OFFERS, earlier);
    let wants_person = understood.says(Act::WantsPerson) || accepts;
    let is_angry = understood.says(Act::Anger);
    if question.left_contact && !wants_person {
        writer.say(Sentence::ContactNoted);
        if question.team.is_elsewhere {
            writer.say_about_team();
        }
    }
    let counts = writer.answer(found, *threshold);
    if is_angry && counts.answered == 0 {
        writer.say(Sentence::Anger);
    }
    if wants_person || (is_angry && counts.answered == 0) {
        writer.offer_person();
    } else {
        writer.admit(&counts);
    }
    if writer.texts.is_empty() {
        let act = SMALL_TALK.into_iter().find(|(act, _)| understood.says(*act));
        writer.say_once(act.map_or(Sentence::Ask, |(_, sentence)| sentence));
    }
    let outcome = match counts {
        Counts { answered: 1.., unanswered: 0, doubtful: 0 } => Outcome::Answered,
        // Nobody gives the visitor what was asked for.
        _ if wants_person && question.team.is_elsewhere => Outcome::CouldNotAnswer,
        Counts { answered: 0, unanswered: 0, doubtful: 0 } if !is_angry => Outcome::SmallTalk,
        _ => Outcome::CouldNotAnswer,
    };
    Reply { text: writer.texts.join("\n\n"), sources: writer.sources, outcome }
}

/// How many questions of a message got which answer.
#[derive(Debug, Default)]
struct Counts {
    answered: usize,
    /// Those for which something may be an answer.
    doubtful: usize,
    unanswered: usize,
}

/// Writes an answer, paragraph by paragraph.
struct Writer<'a> {
    phrases: Phrases,
    earlier: &'a [Turn],
    has_contact: bool,
    team: Team<'a>,
    texts: Vec<String>,
    sources: Vec<String>,
}

impl Writer<'_> {
    fn say(&mut self, sentence: Sentence) {
        let sentence = if self.team.is_elsewhere { sentence.alone() } else { sentence };
        self.texts.push(self.phrases.say(sentence, self.earlier).to_owned());
    }

    /// Says a sentence of small talk, or another one if it was said before.
    fn say_once(&mut self, sentence: Sentence) {
        let choices = [sentence, Sentence::Okay, Sentence::Ask];
        let choices = choices.map(|choice| if self.team.is_elsewhere { choice.alone() } else { choice });
        let fresh = choices.into_iter().find(|sentence| self.phrases.has_fresh(*sentence, self.earlier));
        self.say(fresh.unwrap_or(sentence));
    }

    fn offer_person(&mut self) {
        self.say(if self.has_contact { Sentence::Handoff } else { Sentence::AskForContact });
        self.say_about_team();
    }

    /// Says when the team is back or usually answers, or how it can be reached, if that is known.
    fn say_about_team(&mut self) {
        self.texts.extend(self.phrases.about_team(self.team, self.earlier));
    }

    /// Writes the answers that were found.
    fn answer(&mut self, found: &[Found], threshold: Threshold) -> Counts {
        let mut counts = Counts::default();
        let mut doubtful = None;
        for found in found {
            let graded = |passage| (confidence(&found.asked, passage, threshold), passage);
            let best = found.passages.iter().map(graded);
            // Of equals, the first: the passages are in the order of the search.
            let best = best.rev().max_by_key(|(confidence, _)| *confidence);
            match best {
                Some((Confidence::Sure, passage)) => {
                    counts.answered += 1;
                    self.quote(passage);
                }
                Some((Confidence::Maybe, passage)) => {
                    counts.doubtful += 1;
                    doubtful.get_or_insert(passage);
                }
                Some((Confidence::Nothing, _)) | None => counts.unanswered += 1,
            }
        }
        // Beside an answer, a guess about another question confuses.
        match doubtful {
            Some(passage) if counts.answered == 0 && !self.sources.contains(&passage.id) => {
                self.suggest(passage);
            }
            _ => {
                counts.unanswered += counts.doubtful;
                counts.doubtful = 0;
            }
        }
        counts
    }

    /// Writes a passage as the answer, once.
    fn quote(&mut self, passage: &Passage) {
        if self.sources.contains(&passage.id) {
            return;
        }
        self.sources.push(passage.id.clone());
        let text = text_of(passage);
        let is_given =
            |turn: &Turn| turn.role == chat_protocol::Role::Assistant && turn.content.contains(&text);
        if self.earlier.iter().any(is_given) {
            self.say(Sentence::Above);
        } else {
            self.texts.push(text);
        }
    }

    /// Writes a passage as what may be an answer, with the question that it answers or the page's link.
    fn suggest(&mut self, passage: &Passage) {
        self.sources.push(passage.id.clone());
        let title = passage.title.lines().next().unwrap_or_default().replace(['*', '[', ']'], "");
        let text = text_of(passage);
        let is_linked = passage.location.is_some() || title.trim().is_empty();
        self.say(Sentence::Maybe);
        self.texts.push(if is_linked { text } else { format!("**{}**\n\n{text}", title.trim()) });
    }

    /// Admits what was not answered, and offers a person.
    fn admit(&mut self, counts: &Counts) {
        match (counts.answered, counts.unanswered, counts.doubtful) {
            (_, 0, 0) => return,
            (0, _, 1..) => {
                self.say(if self.has_contact { Sentence::NothingButNoted } else { Sentence::OrElse });
            }
            (0, ..) => self.say(if self.has_contact { Sentence::NothingButNoted } else { Sentence::Nothing }),
            _ => self.say(Sentence::NothingElse),
        }
        self.say_about_team();
    }
}

fn text_of(passage: &Passage) -> String {
    let shown = &passage.shown;
    match &passage.location {
        Some(location) if location.contains("://") => {
            let title = passage.title.replace(['[', ']', '\n'], "");
            let link = link_target(location);
            let title = if title.trim().is_empty() { &link } else { &title };
            format!("{shown}\n\n[{title}]({link})")
        }
        // Widgets link to whole addresses only: an answer may be read on any page, and in the console.
        Some(_) | None => shown.clone(),
    }
}

#[cfg(test)]
mod builtin_tests;
