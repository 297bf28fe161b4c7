//! The lead analysis of a conversation: contact details, intent score and summary (2.5).

mod behaviour;
mod contacts;
mod own;
mod phone;

use std::fmt::Write;

use chat_protocol::admin::LeadReason;
use chat_protocol::{Lead, VisitorProfile};
use serde::{Deserialize, Serialize};

pub(crate) use behaviour::{Behaviour, Seen, events_as_context};
pub(crate) use contacts::{Contact, contacts_in, emails_in, without_contacts};
pub(crate) use own::without_own;
pub(crate) use phone::Countries;

use crate::text::truncate_words;

/// Maximum stored topics of a conversation; the first ones are kept.
const MAX_TOPICS: usize = 20;
/// Maximum characters of a topic.
const MAX_TOPIC_LENGTH: usize = 80;

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
    /// Whether the visitor has asked something that the assistant could not answer.
    asked_in_vain: bool,
    /// Whether the visitor was told, since a person last wrote, that the team will read the messages.
    told_of_absence: bool,
    /// Whether the AI has answered in place of people, since a person last wrote.
    ai_stands_in: bool,
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
                Contact::Phone { is_certain: false, .. } if self.phone.is_some() => {}
                Contact::Phone { number, .. } => self.phone = Some(number.clone()),
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

    /// Records that the assistant could not answer a question.
    pub(crate) fn record_unanswered(&mut self) {
        self.asked_in_vain = true;
    }

    /// Records that the visitor was told that the team will read the messages.
    pub(crate) fn record_told_of_absence(&mut self) {
        self.told_of_absence = true;
    }

    /// Returns whether the visitor knows that the team will read the messages.
    pub(crate) fn is_told_of_absence(&self) -> bool {
        self.told_of_absence
    }

    /// Records that the AI has answered a visitor whom no person answered in time.
    pub(crate) fn record_stand_in(&mut self) {
        self.ai_stands_in = true;
    }

    /// Returns whether the AI has answered in place of people, and no person has written since.
    pub(crate) fn ai_stands_in(&self) -> bool {
        self.ai_stands_in
    }

    /// Records that the conversation was closed: a visitor who comes back is told anew.
    pub(crate) fn record_closed(&mut self) {
        self.told_of_absence = false;
        self.ai_stands_in = false;
    }

    /// Records a message of an operator.
    pub(crate) fn record_operator_message(&mut self) {
        self.person_answered = true;
        self.told_of_absence = false;
        self.ai_stands_in = false;
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
            [] if self.asked_in_vain => "Asked what the assistant could not answer".to_owned(),
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

    fn email() -> [Contact; 1] {
        [Contact::Email("ann@example.org".to_owned())]
    }

    #[test]
    fn a_doubtful_number_does_not_replace_one_that_is_known() {
        let phone = |number: &str, is_certain| [Contact::Phone { number: number.to_owned(), is_certain }];
        let mut notes = LeadNotes::default();
        for (number, is_certain, known) in [
            ("+1 555 0100 22", false, "+1 555 0100 22"),
            ("0171 7654321", true, "0171 7654321"),
            ("+1 555 0100 22", false, "0171 7654321"),
            ("0171 1234567", true, "0171 1234567"),
        ] {
            notes.record_message(&phone(number, is_certain), None, false);
            assert_eq!(notes.phone.as_deref(), Some(known));
        }
    }

    #[test]
    fn who_asked_in_vain_has_named_a_subject() {
        let summary = |notes: &LeadNotes| notes.summary(false, &Behaviour::default());
        let mut notes = LeadNotes::default();
        assert_eq!(summary(&notes), "Has not named a subject yet; left no contact details.");
        notes.record_unanswered();
        assert_eq!(summary(&notes), "Asked what the assistant could not answer; left no contact details.");
        notes.record_topic("Mugs");
        assert_eq!(summary(&notes), "Asked about mugs; left no contact details.");
    }

    #[test]
    fn limits_the_stored_topics() {
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
        notes.record_message(&email(), Some("Mugs"), true);
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
