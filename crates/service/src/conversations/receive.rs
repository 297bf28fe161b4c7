//! Receives a visitor's message, in one transaction. The steps of [`receive`] are, in this order:
//!
//! 1. `open` locks the conversation that the message names, or creates one. The conversation of a verified
//!    visitor does not exist for another one.
//! 2. `identify` merges what the page claims of the visitor into the conversation's profile, and what the
//!    site proves into that of the visitor as well, and refuses a blocked visitor. Here and elsewhere, a
//!    conversation is locked before its visitor.
//! 3. [`Conversation::receive`] decides, without I/O: it changes the conversation, and returns what follows
//!    from the message as a list of [`Event`]s. Where people answer in place of the AI, the visitor waits for
//!    them. Where the AI answers alone, no visitor begins to wait.
//! 4. `check_quota` refuses the message if the AI replies of the month are used up and the site wants so (7),
//!    unless people answer the visitor. It is checked here, so that a message which was accepted is
//!    answered however late it is repeated.
//! 5. `store` stores the conversation, and then the events in their order: what the message changes is told
//!    before the message itself.
//!
//! A refusal is an error, which rolls everything back.

use chat_protocol::{ConversationId, Lead, SendMessage, VisitorProfile};

use super::announce::Announcer;
use super::{Conversation, NO_CONVERSATION, NewMessage, Status, add_message, create, lock};
use crate::Service;
use crate::ai::{quota, wants_person};
use crate::db::{DbError, Tx};
use crate::error::ApiError;
use crate::lead::{Contact, contacts_in, without_own};
use crate::notify::push::Cause;
use crate::sites::{Answerer, Site};
use crate::visitors;
use crate::visitors::identity::{Identity, is_verified};

/// What follows from a visitor's message.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    /// The conversation has begun.
    Created,
    /// The conversation was closed, and is open again.
    Reopened,
    /// Contact details are known now that were not known before.
    LeadFound(Lead),
    /// The visitor asks for a person.
    PersonRequested,
    /// The visitor waits for a person.
    Waits,
    /// The message is added to the conversation.
    Written(NewMessage),
    /// The devices of operators are told.
    Alert(Cause),
}

/// Receives a message, and returns its conversation, whose last message it is, the lead, and who answers the
/// message. The lead's `needs_handoff` tells whether this message needs a person (2.5).
pub(crate) async fn receive(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    site: &Site,
    body: &SendMessage,
    identity: Option<&Identity>,
    message: NewMessage,
) -> Result<(Conversation, Lead, Answerer), ApiError> {
    let (mut conversation, is_new) = open(tx, now_ms, site, body, identity).await?;
    identify(tx, now_ms, site, &mut conversation, body, identity).await?;
    let countries = conversation.countries(site);
    let contacts = without_own(tx, &site.id, contacts_in(&message.content, &countries), &countries).await?;
    let of_site = message.answerer;
    let answerer = conversation.answerer(now_ms, of_site);
    let message = NewMessage { answerer, ..message };
    let (lead, events) = conversation.receive(now_ms, message, &contacts, is_new);
    if !of_site.is_people() {
        check_quota(tx, now_ms, site, &conversation).await?;
    }
    store(tx, service, now_ms, site, &mut conversation, events).await?;
    Ok((conversation, lead, answerer))
}

async fn check_quota(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    conversation: &Conversation,
) -> Result<(), ApiError> {
    let (true, Some(max)) = (site.quota_refuses, site.monthly_ai_replies) else { return Ok(()) };
    if conversation.is_with_person(now_ms) {
        return Ok(());
    }
    if quota::is_used_up(tx, &site.id, now_ms, max).await? {
        return Err(ApiError::InsufficientQuota);
    }
    Ok(())
}

/// Returns the locked conversation of a message, and whether it is new.
async fn open(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    body: &SendMessage,
    identity: Option<&Identity>,
) -> Result<(Conversation, bool), ApiError> {
    let named = body.conversation_id.as_ref().filter(|id: &&ConversationId| !id.as_str().is_empty());
    Ok(match named {
        Some(id) => {
            let conversation = lock(tx, &site.id, id).await?;
            if is_of_another(conversation.verified_visitor(), identity) {
                return Err(NO_CONVERSATION);
            }
            (conversation, false)
        }
        None => (create(tx, now_ms, &site.id).await?, true),
    })
}

/// Returns whether a conversation of this verified visitor, if it has one, does not belong to the proved one.
/// A request without a proof may use it: only the visitor's browser knows its id.
pub(crate) fn is_of_another(verified: Option<&str>, identity: Option<&Identity>) -> bool {
    matches!((verified, identity), (Some(visitor), Some(identity)) if visitor != identity.id.as_str())
}

async fn identify(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    conversation: &mut Conversation,
    body: &SendMessage,
    identity: Option<&Identity>,
) -> Result<(), ApiError> {
    conversation.merge_profile(body, identity.is_some());
    if let Some(identity) = identity {
        let (id, profile) = (identity.id.as_str(), &identity.profile);
        let known = visitors::upsert(tx, now_ms, &site.id, id, profile, None).await?;
        conversation.verify(identity, known);
        conversation.blocked |= visitors::is_claim_blocked(tx, &site.id, identity).await?;
    } else if let Some(id) = claimed_visitor(conversation) {
        // Anybody can claim an id: conversations that do so have nothing in common but the row, by which an
        // operator finds them. Only earlier versions blocked such a row.
        let known = visitors::upsert(tx, now_ms, &site.id, &id, &VisitorProfile::default(), None).await?;
        conversation.visitor_no = Some(known.no);
        conversation.blocked |= known.blocked;
    }
    if conversation.blocked {
        return Err(ApiError::Forbidden("No messages are accepted from this visitor."));
    }
    Ok(())
}

/// Returns the id that the pages of an unverified conversation claim. An empty id names nobody.
fn claimed_visitor(conversation: &Conversation) -> Option<String> {
    let id = conversation.profile.visitor_id.as_ref()?.as_str();
    (!is_verified(id) && !id.is_empty()).then(|| id.to_owned())
}

impl Conversation {
    /// Returns who answers a message that arrives now, where the site wants this one to answer.
    fn answerer(&self, now_ms: i64, of_site: Answerer) -> Answerer {
        let waits = self.status == Status::Waiting || self.is_with_person(now_ms);
        match of_site {
            // A visitor who was promised a person keeps the promise when the site changes its mode.
            Answerer::AiAlone if waits => Answerer::Ai,
            // Nobody answered in time, and nobody has since. The AI answers what is due together.
            Answerer::People { ai_after_ms: Some(_) }
                if self.notes.ai_stands_in() && self.ai_due_ms.is_none() =>
            {
                Answerer::Ai
            }
            of_site => of_site,
        }
    }

    /// Changes the conversation by a visitor's message, its first one if it `is_new`. Returns the lead as
    /// [`receive`] does, and what follows from the message.
    fn receive(
        &mut self,
        now_ms: i64,
        message: NewMessage,
        contacts: &[Contact],
        is_new: bool,
    ) -> (Lead, Vec<Event>) {
        let (answerer, for_people) = (message.answerer, message.answerer.is_people());
        let wants_person = answerer != Answerer::AiAlone && wants_person(&message.content);
        let (was_closed, waited) = (self.status == Status::Closed, self.status == Status::Waiting);
        let had_contact = !is_new && self.notes.has_contact(&self.profile);
        self.unread += 1;
        self.snoozed_until_ms = 0;
        self.notes.record_message(contacts, None, wants_person);
        if wants_person {
            self.person_asked_ms.get_or_insert(now_ms);
            self.handed_off_ms.get_or_insert(now_ms);
        }
        let lead = self.notes.lead(&self.profile);
        self.set_score(&lead);
        let waits = wants_person || for_people || self.is_with_person(now_ms);
        if waits || was_closed {
            self.set_status(now_ms, if waits { Status::Waiting } else { Status::Open });
        }
        if let Answerer::People { ai_after_ms: Some(after_ms) } = answerer
            && !self.is_with_person(now_ms)
        {
            self.ai_due_ms.get_or_insert(now_ms.saturating_add(after_ms));
        }
        // While the AI answers somebody whom no operator has, nobody needs to look.
        let alert = match (&self.assignee_id, self.status) {
            (None, Status::Waiting) if !waited && !wants_person && for_people => Some(Cause::Unanswered),
            (None, Status::Waiting) if !waited => Some(Cause::WantsPerson),
            (Some(_), _) | (None, Status::Waiting) => Some(Cause::Message),
            (None, _) => None,
        };
        let found = (lead.has_contact && !had_contact).then(|| Event::LeadFound(lead.clone()));
        let events = [
            is_new.then_some(Event::Created),
            was_closed.then_some(Event::Reopened),
            found,
            wants_person.then_some(Event::PersonRequested),
            waits.then_some(Event::Waits),
            Some(Event::Written(message)),
            alert.map(Event::Alert),
        ];
        (Lead { needs_handoff: wants_person || for_people, ..lead }, events.into_iter().flatten().collect())
    }
}

async fn store(
    tx: &mut Tx,
    service: &Service,
    now_ms: i64,
    site: &Site,
    conversation: &mut Conversation,
    events: Vec<Event>,
) -> Result<(), DbError> {
    super::store(tx, conversation).await?;
    for event in events {
        let announcer = Announcer::new(now_ms, site, conversation);
        match event {
            Event::Created => announcer.created(tx).await?,
            Event::Reopened => announcer.closed(tx, false).await?,
            Event::LeadFound(lead) => announcer.lead(tx, service, &lead).await?,
            Event::PersonRequested => announcer.person_requested(tx, service).await?,
            Event::Waits => announcer.waiting(tx, service).await?,
            Event::Written(message) => {
                add_message(tx, now_ms, site, conversation, message).await?;
            }
            Event::Alert(cause) => announcer.alert(tx, service, cause).await?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use chat_protocol::Role;

    use super::*;
    use crate::lead::Countries;

    const NOW_MS: i64 = 1_800_000_000_000;

    fn conversation() -> Conversation {
        Conversation::new(1, ConversationId::from("conv_1"), "shop", NOW_MS)
    }

    fn message(text: &str) -> NewMessage {
        NewMessage::new(Role::Visitor, text)
    }

    /// Receives a message, and returns what follows from it, with the lead.
    fn receive(conversation: &mut Conversation, text: &str, is_new: bool) -> (Vec<Event>, Lead) {
        let contacts = contacts_in(text, &Countries::default());
        let (lead, mut events) = conversation.receive(NOW_MS, message(text), &contacts, is_new);
        let written = events.iter().position(|event| *event == Event::Written(message(text)));
        events.remove(written.expect("the message is added"));
        (events, lead)
    }

    #[test]
    fn a_question_begins_a_conversation_that_the_ai_answers() {
        let mut conversation = conversation();
        let (events, lead) = receive(&mut conversation, "Do you ship?", true);
        assert_eq!(events, [Event::Created]);
        assert_eq!((conversation.status, conversation.unread), (Status::Open, 1));
        assert!(!lead.has_contact && !lead.needs_handoff);
        let (events, _) = receive(&mut conversation, "To Norway?", false);
        assert_eq!(events, []);
        assert_eq!((conversation.status, conversation.unread), (Status::Open, 2));
    }

    #[test]
    fn everything_at_once_is_told_in_its_order() {
        let mut conversation = conversation();
        conversation.set_status(NOW_MS, Status::Closed);
        let text = "I want to speak to a human: ann@shop.example";
        let contacts = contacts_in(text, &Countries::default());
        let (lead, events) = conversation.receive(NOW_MS, message(text), &contacts, true);
        assert_eq!(
            events,
            [
                Event::Created,
                Event::Reopened,
                Event::LeadFound(lead.clone()),
                Event::PersonRequested,
                Event::Waits,
                Event::Written(message(text)),
                Event::Alert(Cause::WantsPerson),
            ]
        );
        assert!(lead.has_contact && lead.needs_handoff);
        assert_eq!((conversation.status, conversation.closed_ms), (Status::Waiting, None));
        assert_eq!(conversation.waiting_since_ms, Some(NOW_MS));
        assert_eq!((conversation.person_asked_ms, conversation.handed_off_ms), (Some(NOW_MS), Some(NOW_MS)));
    }

    #[test]
    fn a_lead_is_found_once_and_known_contact_details_are_none() {
        let mut conversation = conversation();
        let (events, lead) = receive(&mut conversation, "Write to ann@shop.example", false);
        assert_eq!(events, [Event::LeadFound(lead)]);
        assert_eq!(receive(&mut conversation, "Or call 030 1234567", false).0, []);
        let mut known = self::conversation();
        known.profile.email = Some("ann@shop.example".to_owned());
        assert_eq!(receive(&mut known, "Hello", false).0, []);
        let (events, lead) = receive(&mut known, "Hello", true);
        assert_eq!(events, [Event::Created, Event::LeadFound(lead)], "the page's own profile counts");
    }

    #[test]
    fn a_visitor_who_talks_to_a_person_waits_for_that_person() {
        let mut conversation = conversation();
        conversation.assignee_id = Some("op".to_owned());
        conversation.pause_ai();
        let (events, lead) = receive(&mut conversation, "And the size?", false);
        assert_eq!(events, [Event::Waits, Event::Alert(Cause::Message)]);
        assert!(!lead.needs_handoff, "the message does not ask for a person");
        assert_eq!((conversation.status, conversation.person_asked_ms), (Status::Waiting, None));
    }

    #[test]
    fn an_unassigned_visitor_begins_to_wait_once() {
        let mut conversation = conversation();
        let (events, _) = receive(&mut conversation, "I want to speak to a human", false);
        assert_eq!(events, [Event::PersonRequested, Event::Waits, Event::Alert(Cause::WantsPerson)]);
        conversation.waiting_since_ms = Some(NOW_MS - 1);
        let (events, _) = receive(&mut conversation, "Hello?", false);
        assert_eq!(events, [Event::Alert(Cause::Message)]);
        assert_eq!(conversation.waiting_since_ms, Some(NOW_MS - 1));
    }

    #[test]
    fn where_people_answer_every_visitor_waits_for_them_and_they_are_told() {
        let mut conversation = conversation();
        let people = Answerer::People { ai_after_ms: None };
        let question = || NewMessage { answerer: people, ..message("Do you ship?") };
        let ask = |conversation: &mut Conversation, is_new: bool| {
            let (lead, events) = conversation.receive(NOW_MS, question(), &[], is_new);
            assert!(lead.needs_handoff && conversation.status == Status::Waiting);
            assert!(!conversation.notes.wants_person(), "the visitor did not ask for a person");
            events
        };
        let written = || Event::Written(question());
        let first = [Event::Created, Event::Waits, written(), Event::Alert(Cause::Unanswered)];
        assert_eq!(ask(&mut conversation, true), first);
        assert_eq!(ask(&mut conversation, false), [Event::Waits, written(), Event::Alert(Cause::Message)]);
    }

    #[test]
    fn where_the_ai_answers_alone_nobody_waits_and_nobody_is_told() {
        let mut conversation = conversation();
        let alone = NewMessage { answerer: Answerer::AiAlone, ..message("I want to speak to a human") };
        let (lead, events) = conversation.receive(NOW_MS, alone.clone(), &[], true);
        assert_eq!(events, [Event::Created, Event::Written(alone)]);
        assert!(!lead.needs_handoff && !conversation.notes.wants_person());
        assert_eq!((conversation.status, conversation.handed_off_ms), (Status::Open, None));
        conversation.set_status(NOW_MS, Status::Waiting);
        assert_eq!(conversation.answerer(NOW_MS, Answerer::AiAlone), Answerer::Ai, "a promise is kept");
    }

    #[test]
    fn the_ai_owes_an_answer_from_the_first_message_on_until_a_person_is_there() {
        let people = Answerer::People { ai_after_ms: Some(60_000) };
        let mut conversation = conversation();
        let receive = |conversation: &mut Conversation, at_ms| {
            let answerer = conversation.answerer(at_ms, people);
            conversation.receive(at_ms, NewMessage { answerer, ..message("Hello?") }, &[], false);
            answerer
        };
        receive(&mut conversation, NOW_MS);
        receive(&mut conversation, NOW_MS + 5);
        assert_eq!(conversation.ai_due_ms, Some(NOW_MS + 60_000));
        conversation.pause_ai();
        assert_eq!(conversation.ai_due_ms, None);
        receive(&mut conversation, NOW_MS + 6);
        assert_eq!(conversation.ai_due_ms, None, "somebody has taken over");
        conversation.ai_paused_until_ms = 0;
        conversation.notes.record_stand_in();
        assert_eq!(receive(&mut conversation, NOW_MS + 7), Answerer::Ai);
        conversation.notes.record_operator_message();
        assert_eq!(receive(&mut conversation, NOW_MS + 8), people);
        conversation.set_status(NOW_MS + 9, Status::Open);
        assert_eq!(conversation.ai_due_ms, None, "nobody waits any more");
    }

    #[test]
    fn a_message_reopens_a_closed_conversation_and_brings_back_one_that_was_put_aside() {
        let mut conversation = conversation();
        conversation.set_status(NOW_MS, Status::Closed);
        conversation.snoozed_until_ms = NOW_MS + 1;
        let (events, _) = receive(&mut conversation, "One more thing", false);
        assert_eq!(events, [Event::Reopened]);
        assert_eq!((conversation.status, conversation.closed_ms), (Status::Open, None));
        assert_eq!(conversation.snoozed_until_ms, 0);
    }

    #[test]
    fn the_first_request_for_a_person_is_the_one_that_reports_count() {
        let mut conversation = conversation();
        conversation.person_asked_ms = Some(NOW_MS - 5);
        receive(&mut conversation, "I want to speak to a human", false);
        assert_eq!(
            (conversation.person_asked_ms, conversation.handed_off_ms),
            (Some(NOW_MS - 5), Some(NOW_MS))
        );
    }
}
