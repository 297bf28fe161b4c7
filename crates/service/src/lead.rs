//! The lead analysis of a conversation: contact details, intent score and summary (2.5).

mod behaviour;

use std::fmt::Write;

use chat_protocol::admin::LeadReason;
use chat_protocol::{Lead, VisitorProfile};
use serde::{Deserialize, Serialize};

pub(crate) use behaviour::{Behaviour, Seen, events_as_context};

use crate::knowledge::is_unspaced;
use crate::text::truncate_words;

/// Maximum contact details that are read from one message.
const MAX_CONTACTS: usize = 20;
/// Maximum bytes of an e-mail address (RFC 5321).
const MAX_ADDRESS_BYTES: usize = 254;
/// Maximum bytes of a phone number with its separators.
const MAX_NUMBER_BYTES: usize = 40;
/// Maximum stored topics of a conversation; the first ones are kept.
const MAX_TOPICS: usize = 20;
/// Maximum characters of a topic.
const MAX_TOPIC_LENGTH: usize = 80;

/// A contact detail of the visitor, found in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Contact {
    Email(String),
    Phone(String),
}

/// Returns the e-mail addresses and phone numbers in a text.
pub(crate) fn contacts_in(text: &str) -> Vec<Contact> {
    emails(text).chain(phones(text)).take(MAX_CONTACTS).collect()
}

/// Returns the e-mail addresses in a text, also where other words are written beside them without a space.
fn emails(text: &str) -> impl Iterator<Item = Contact> {
    let words = text.split(|letter: char| !(is_of_address(letter) || letter == '@'));
    words.filter_map(|word| {
        let (name, host) = word.split_once('@')?;
        let name = name.trim_start_matches(['.', '-', '\'', '_']);
        let host = host.trim_end_matches(|letter: char| !letter.is_alphanumeric());
        let (_, ending) = host.rsplit_once('.')?;
        let is_host = ending.chars().count() >= 2
            && !host.starts_with(['.', '-'])
            && !host.contains(['@', '%', '+', '\'', '_'])
            && !host.contains("..");
        let length = name.len() + 1 + host.len();
        (!name.is_empty() && is_host && length <= MAX_ADDRESS_BYTES)
            .then(|| Contact::Email(format!("{name}@{host}")))
    })
}

/// Returns whether a letter is part of an address. A script without spaces is not: the words around an
/// address would be taken for a part of it.
fn is_of_address(letter: char) -> bool {
    (letter.is_alphanumeric() && !is_unspaced(letter)) || "._%+-'".contains(letter)
}

/// Returns the phone numbers in a text: runs of digits and separators. A number needs a `+`, a leading zero
/// or nine digits, unlike prices, dates and order numbers.
fn phones(text: &str) -> impl Iterator<Item = Contact> {
    text.split(|character: char| !(character.is_ascii_digit() || " +-()/.".contains(character))).filter_map(
        |run| {
            let run =
                run.trim_matches(|character: char| !(character.is_ascii_digit() || "+(".contains(character)));
            let digits = run.bytes().filter(u8::is_ascii_digit).count();
            let marked = run.starts_with(['+', '0']) || run.starts_with("(0") || run.starts_with("(+");
            let looks_right = (marked && digits >= 7) || digits >= 9;
            (looks_right && digits <= 15 && run.len() <= MAX_NUMBER_BYTES)
                .then(|| Contact::Phone(run.to_owned()))
        },
    )
}

/// The facts known about a visitor.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LeadNotes {
    pub(crate) email: Option<String>,
    pub(crate) phone: Option<String>,
    /// Whether the visitor has ever asked for a person.
    #[serde(rename = "wants_person")]
    asked_for_person: bool,
    /// Whether an operator has written since the visitor last asked for a person.
    person_answered: bool,
    topics: Vec<String>,
    messages: u32,
}

impl LeadNotes {
    /// Records a message of the visitor.
    pub(crate) fn record_message(
        &mut self,
        contacts: &[Contact],
        topic: Option<&str>,
        asks_for_person: bool,
    ) {
        self.messages += 1;
        if asks_for_person {
            self.asked_for_person = true;
            self.person_answered = false;
        }
        for contact in contacts {
            match contact {
                Contact::Email(address) => self.email = Some(address.clone()),
                Contact::Phone(number) => self.phone = Some(number.clone()),
            }
        }
        if let Some(topic) = topic {
            self.record_topic(topic);
        }
    }

    /// Records what a message was about, once the knowledge about it is found.
    pub(crate) fn record_topic(&mut self, topic: &str) {
        let topic = truncate_words(topic, MAX_TOPIC_LENGTH);
        if !topic.is_empty() && self.topics.len() < MAX_TOPICS && !self.topics.contains(&topic) {
            self.topics.push(topic);
        }
    }

    /// Records a message of an operator.
    pub(crate) fn record_operator_message(&mut self) {
        self.person_answered = true;
    }

    /// Returns true from the visitor's request for a person until an operator has written.
    pub(crate) fn wants_person(&self) -> bool {
        self.asked_for_person && !self.person_answered
    }

    pub(crate) fn has_contact(&self, profile: &VisitorProfile) -> bool {
        self.email.is_some() || self.phone.is_some() || profile.has_contact()
    }

    /// Returns the lead, with a score of 0 to 100. Its `needs_handoff` is
    /// [`wants_person`](Self::wants_person); the answer to a message says instead whether that message asks
    /// for a person (2.5).
    pub(crate) fn lead(&self, profile: &VisitorProfile) -> Lead {
        self.lead_of(profile, &Behaviour::default())
    }

    /// Returns the lead, with what the visitor did on the website as well.
    pub(crate) fn lead_of(&self, profile: &VisitorProfile, behaviour: &Behaviour) -> Lead {
        let has_contact = self.has_contact(profile);
        let said: u32 = self.points(profile).iter().map(|(_, points)| points).sum();
        let score = said + behaviour.score();
        Lead {
            score: Some(f64::from(score.min(100))),
            has_contact,
            needs_handoff: self.wants_person(),
            summary: Some(self.summary(has_contact, behaviour)),
        }
    }

    /// Returns the points of the score that come from the conversation, with their names.
    fn points(&self, profile: &VisitorProfile) -> [(&'static str, u32); 4] {
        let topics = u32::try_from(self.topics.len()).unwrap_or(u32::MAX);
        [
            ("contact", if self.has_contact(profile) { 25 } else { 0 }),
            ("asked_person", if self.asked_for_person { 15 } else { 0 }),
            ("topics", 10 * topics.min(3)),
            ("messages", 5 * self.messages.min(6)),
        ]
    }

    /// Returns why the lead has its score. What the visitor did on the website counts 60 points at most, and
    /// everything together 100.
    pub(crate) fn reasons(&self, profile: &VisitorProfile, behaviour: &Behaviour) -> Vec<LeadReason> {
        let points = self.points(profile).into_iter().chain(behaviour.points());
        let reasons = points.filter(|(_, points)| *points > 0);
        reasons
            .map(|(reason, points)| LeadReason { reason: reason.to_owned(), points: points.into() })
            .collect()
    }

    fn summary(&self, has_contact: bool, behaviour: &Behaviour) -> String {
        let mut summary = match self.topics.as_slice() {
            [] => "Has not named a subject yet".to_owned(),
            topics => format!("Asked about {}", topics.join(", ").to_lowercase()),
        };
        if self.wants_person() {
            summary.push_str("; wants a person");
        } else if self.asked_for_person {
            summary.push_str("; asked for a person and was answered");
        }
        if let Some(did) = behaviour.summary() {
            let _ = write!(summary, "; {did}");
        }
        summary.push_str(if has_contact { "; can be reached." } else { "; left no contact details." });
        summary
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_e_mail_addresses_and_phone_numbers_in_messages() {
        let email = |text: &str| vec![Contact::Email(text.to_owned())];
        let phone = |text: &str| vec![Contact::Phone(text.to_owned())];
        assert_eq!(contacts_in("it's ann.lee@example.co.uk, thanks!"), email("ann.lee@example.co.uk"));
        assert_eq!(contacts_in("(ann@example.org)"), email("ann@example.org"));
        assert_eq!(contacts_in("Ring me on +44 20 7946 0991."), phone("+44 20 7946 0991"));
        assert_eq!(contacts_in("call 030/901820, please"), phone("030/901820"));
        assert_eq!(contacts_in("ann@example.org or 030 901820").len(), 2);
        for text in [
            "我的邮箱是ann@example.org，谢谢",
            "メールはann@example.orgです",
            "E-mail:ann@example.org",
            "mailto:ann@example.org?subject=Hi",
            "Ann <ann@example.org>",
            "'ann@example.org'",
            "ann@example.org/home",
            "email=ann@example.org&x=1",
        ] {
            assert_eq!(contacts_in(text), email("ann@example.org"), "{text}");
        }
        assert_eq!(contacts_in("ann@example.org,bob@example.org").len(), 2);
        assert_eq!(contacts_in("jörg@bücher.example"), email("jörg@bücher.example"));
        assert_eq!(contacts_in("o'neil+shop@example.org"), email("o'neil+shop@example.org"));
    }

    #[test]
    fn prices_dates_and_order_numbers_are_not_contacts() {
        for text in [
            "order 20417",
            "it cost 129.00, not 119.00",
            "by 2026-10-05",
            "4 mugs @ 24.00 each",
            "@home",
            "a@b",
        ] {
            assert_eq!(contacts_in(text), [], "{text}");
        }
    }

    #[test]
    fn limits_the_stored_contacts_and_topics() {
        let long = format!("{}@example.org", "x".repeat(3000));
        let spread = format!("+49{}30901820", "-".repeat(3000));
        assert_eq!(contacts_in(&format!("{long} {spread}")), []);
        assert_eq!(contacts_in(&"a@example.org ".repeat(280)).len(), MAX_CONTACTS);
        let mut notes = LeadNotes::default();
        for topic in 0..1000 {
            notes.record_message(&[], Some(&topic.to_string()), false);
        }
        assert_eq!(notes.topics.len(), MAX_TOPICS);
    }

    #[test]
    fn score_grows_with_contacts_and_topics_up_to_100() {
        let anonymous = VisitorProfile::default();
        let mut notes = LeadNotes::default();
        let start = notes.lead(&anonymous);
        notes.record_message(&contacts_in("ann@example.org"), Some("Mugs"), true);
        let later = notes.lead(&anonymous);
        assert!(later.score > start.score);
        assert!(later.has_contact && later.needs_handoff);
        assert_eq!(later.summary.as_deref(), Some("Asked about mugs; wants a person; can be reached."));
        for topic in ["A", "B", "C", "D", "E", "F", "G"] {
            notes.record_message(&[], Some(topic), true);
        }
        assert_eq!(notes.lead(&anonymous).score, Some(100.0));
    }

    #[test]
    fn what_the_visitor_did_counts_beside_what_was_said() {
        let anonymous = VisitorProfile::default();
        let mut notes = LeadNotes::default();
        notes.record_message(&[], None, false);
        notes.record_topic("Mugs");
        notes.record_topic("Mugs");
        let behaviour = Behaviour { price_pages: 1, visits: 3, ..Behaviour::default() };
        let (said, with) = (notes.lead(&anonymous), notes.lead_of(&anonymous, &behaviour));
        assert!(with.score > said.score);
        let summary = "Asked about mugs; looked at prices and came back 2 times; left no contact details.";
        assert_eq!(with.summary.as_deref(), Some(summary));
    }

    #[test]
    fn wants_a_person_until_an_operator_has_written() {
        let anonymous = VisitorProfile::default();
        let mut notes = LeadNotes::default();
        notes.record_operator_message();
        assert!(!notes.wants_person(), "the visitor has not asked");
        notes.record_message(&[], None, true);
        notes.record_message(&[], Some("Mugs"), false);
        assert!(notes.wants_person(), "another question does not withdraw the request");
        let score = notes.lead(&anonymous).score;

        notes.record_operator_message();
        let answered = notes.lead(&anonymous);
        assert!(!answered.needs_handoff);
        assert_eq!(answered.score, score);
        assert_eq!(
            answered.summary.as_deref(),
            Some("Asked about mugs; asked for a person and was answered; left no contact details.")
        );

        notes.record_message(&[], None, true);
        assert!(notes.lead(&anonymous).needs_handoff, "the visitor has asked again");
    }

    #[test]
    fn reads_notes_stored_by_an_earlier_version() {
        let stored =
            r#"{"email":"ann@example.org","phone":null,"wants_person":true,"topics":["Mugs"],"messages":2}"#;
        let mut notes: LeadNotes = serde_json::from_str(stored).expect("notes");
        assert!(notes.wants_person());
        assert_eq!(notes.email.as_deref(), Some("ann@example.org"));
        notes.record_operator_message();
        let stored = serde_json::to_string(&notes).expect("JSON");
        let notes: LeadNotes = serde_json::from_str(&stored).expect("notes");
        assert!(!notes.wants_person());
        assert!(!serde_json::from_str::<LeadNotes>("{}").expect("notes").wants_person());
    }

    #[test]
    fn contact_details_in_the_profile_count_as_a_contact() {
        let profile =
            VisitorProfile { whatsapp: Some("+44 20 7946 0991".into()), ..VisitorProfile::default() };
        assert!(LeadNotes::default().lead(&profile).has_contact);
    }
}
