//! The messages and notes of a conversation: merging what is loaded and what is streamed, without gaps.

use std::collections::BTreeMap;

use chat_protocol::admin::{Conversation, ConversationEvent, LeadReason, Message, MessagePage, Note};
use chat_protocol::admin::{ConversationSummary, Typing};

/// The part of a conversation that the console has loaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thread {
    messages: BTreeMap<i64, Message>,
    notes: Vec<Note>,
    /// Messages before this sequence are not loaded; `None` when the first one is here.
    earlier: Option<i64>,
    /// Whether the conversation was loaded; events alone show only its end.
    pub is_loaded: bool,
    /// Other conversations of the same visitor, newest first.
    pub others: Vec<ConversationSummary>,
    /// Why the lead has its score.
    pub lead_reasons: Vec<LeadReason>,
    /// Colleagues who are typing, and when they were last heard of, in milliseconds since 1970.
    pub typing: Vec<(Typing, f64)>,
}

/// Something in the log, in its order.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A message.
    Message(Message),
    /// A note, or what happened.
    Note(Note),
}

impl Entry {
    /// Returns the entry's identity.
    pub fn key(&self) -> String {
        match self {
            Self::Message(message) => format!("m{}", message.sequence),
            Self::Note(note) => format!("n{}", note.id),
        }
    }

    /// Returns when it was written.
    pub fn created_at(&self) -> &str {
        match self {
            Self::Message(message) => message.created_at.as_deref().unwrap_or_default(),
            Self::Note(note) => &note.created_at,
        }
    }
}

/// How long somebody counts as typing after the last event, in milliseconds.
const TYPING_MS: f64 = 10_000.0;

impl Thread {
    /// Takes a conversation as the service has just sent it. What was loaded before stays, unless messages
    /// lie between.
    pub fn load(&mut self, conversation: Conversation, now_ms: f64) {
        let first = conversation.messages.first().map(|message| message.sequence);
        let follows = match (self.last_sequence(), first) {
            (Some(last), Some(first)) => first <= last + 1,
            _ => false,
        };
        if !follows {
            self.messages.clear();
            self.notes.clear();
        }
        // A message that this console has sent may be here before the conversation is loaded.
        if !follows || !self.is_loaded {
            self.earlier = first.filter(|first| *first > 1);
        }
        self.is_loaded = true;
        self.others = conversation.other_conversations;
        self.lead_reasons = conversation.lead_reasons;
        self.typing = conversation.typing.into_iter().map(|typing| (typing, now_ms)).collect();
        self.insert(conversation.messages, conversation.notes);
    }

    /// Takes an event of the stream. Returns the sequence after which messages are missing, if there are any:
    /// those of the event are then among what has to be loaded.
    #[must_use]
    pub fn apply(&mut self, event: &ConversationEvent) -> Option<i64> {
        if !self.is_loaded {
            return None;
        }
        let first = event.messages.first().map(|message| message.sequence);
        let known = self.last_sequence().unwrap_or_default();
        for message in &event.messages {
            // The author of a message has stopped typing.
            self.typing.retain(|(typing, _)| message.operator_id.as_deref() != Some(&typing.operator_id));
        }
        // Messages after a gap would hide the gap from the next event, if it could not be filled.
        if first.is_some_and(|first| first > known + 1) {
            return Some(known);
        }
        self.insert(event.messages.clone(), event.notes.clone());
        None
    }

    /// Takes messages that were missing in between.
    pub fn fill(&mut self, page: MessagePage) {
        self.insert(page.messages, page.notes);
    }

    /// Takes the page of messages before a sequence. It is dropped if others have become the first ones
    /// meanwhile.
    pub fn prepend(&mut self, before: i64, page: MessagePage) {
        if self.earlier != Some(before) {
            return;
        }
        self.earlier = page.next_before;
        self.insert(page.messages, page.notes);
    }

    /// Takes one message or note that this console has just sent.
    pub fn insert(&mut self, messages: Vec<Message>, notes: Vec<Note>) {
        for message in messages {
            self.messages.insert(message.sequence, message);
        }
        for note in notes {
            // A note before the first loaded message belongs to a page that is not here yet.
            if self.earlier.is_some_and(|earlier| note.after_sequence < earlier - 1) {
                continue;
            }
            match self.notes.iter_mut().find(|known| known.id == note.id) {
                Some(known) => *known = note,
                None => self.notes.push(note),
            }
        }
        self.notes.sort_by(|one, other| {
            (one.after_sequence, &one.created_at, &one.id).cmp(&(
                other.after_sequence,
                &other.created_at,
                &other.id,
            ))
        });
    }

    /// Returns the sequence of the last loaded message.
    pub fn last_sequence(&self) -> Option<i64> {
        self.messages.keys().next_back().copied()
    }

    /// Returns the parameter `before` of the page of earlier messages; `None` when the first one is here.
    pub fn earlier(&self) -> Option<i64> {
        self.earlier
    }

    /// Returns whether a message or a note was sent with this idempotency key.
    pub fn has(&self, key: &str) -> bool {
        let of_messages = self.messages.values().rev().map(|message| &message.idempotency_key);
        let of_notes = self.notes.iter().rev().map(|note| &note.idempotency_key);
        of_messages.chain(of_notes).any(|known| known.as_deref() == Some(key))
    }

    /// Returns messages and notes in their order.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(self.messages.len() + self.notes.len());
        let mut notes = self.notes.iter().peekable();
        for (sequence, message) in &self.messages {
            while let Some(note) = notes.next_if(|note| note.after_sequence < *sequence) {
                entries.push(Entry::Note(note.clone()));
            }
            entries.push(Entry::Message(message.clone()));
        }
        entries.extend(notes.cloned().map(Entry::Note));
        entries
    }

    /// Takes an event about somebody who types, or has stopped.
    pub fn set_typing(&mut self, typing: Typing, now_ms: f64) {
        self.typing.retain(|(known, _)| known.operator_id != typing.operator_id);
        if !typing.stopped {
            self.typing.push((typing, now_ms));
        }
    }

    /// Returns the colleagues who are typing now.
    pub fn typing_now<'a>(&'a self, me: &'a str, now_ms: f64) -> impl Iterator<Item = &'a Typing> {
        let recent = self.typing.iter().filter(move |(_, at)| now_ms - at < TYPING_MS);
        recent.map(|(typing, _)| typing).filter(move |typing| typing.operator_id != me)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(sequence: i64) -> Message {
        Message { sequence, content: format!("message {sequence}"), ..Message::default() }
    }

    fn note(id: &str, after_sequence: i64) -> Note {
        Note { id: id.to_owned(), kind: "note".to_owned(), after_sequence, ..Note::default() }
    }

    fn conversation(messages: std::ops::RangeInclusive<i64>) -> Conversation {
        Conversation { messages: messages.map(message).collect(), ..Conversation::default() }
    }

    fn event(messages: std::ops::RangeInclusive<i64>) -> ConversationEvent {
        ConversationEvent { messages: messages.map(message).collect(), ..ConversationEvent::default() }
    }

    fn keys(thread: &Thread) -> Vec<String> {
        thread.entries().iter().map(Entry::key).collect()
    }

    #[test]
    fn messages_and_notes_stand_in_their_order_and_once() {
        let mut thread = Thread::default();
        let mut loaded = conversation(3..=4);
        loaded.notes = vec![note("b", 4), note("a", 2)];
        thread.load(loaded.clone(), 0.0);
        thread.load(loaded, 0.0);
        assert_eq!(thread.apply(&event(4..=5)), None);
        assert_eq!(keys(&thread), ["na", "m3", "m4", "nb", "m5"]);
        assert_eq!(thread.earlier(), Some(3));
    }

    #[test]
    fn a_gap_is_reported_and_filled() {
        let mut thread = Thread::default();
        thread.load(conversation(1..=2), 0.0);
        assert_eq!(thread.apply(&event(9..=10)), Some(2));
        assert_eq!(thread.apply(&event(11..=11)), Some(2), "also again, if it could not be filled");
        thread.fill(MessagePage { messages: (3..=11).map(message).collect(), ..MessagePage::default() });
        assert_eq!(thread.entries().len(), 11);
        assert_eq!(thread.earlier(), None);
    }

    #[test]
    fn a_message_sent_before_the_conversation_is_loaded_hides_no_earlier_ones() {
        let mut thread = Thread::default();
        thread.insert(vec![message(40)], Vec::new());
        thread.load(conversation(11..=40), 0.0);
        assert_eq!((thread.entries().len(), thread.earlier()), (30, Some(11)));
    }

    #[test]
    fn an_earlier_page_of_messages_that_were_replaced_is_dropped() {
        let mut thread = Thread::default();
        thread.load(conversation(20..=22), 0.0);
        thread.load(conversation(60..=62), 0.0);
        let page = MessagePage {
            messages: (10..=19).map(message).collect(),
            next_before: Some(10),
            ..MessagePage::default()
        };
        thread.prepend(20, page);
        assert_eq!(
            (keys(&thread), thread.earlier()),
            (vec!["m60", "m61", "m62"].into_iter().map(str::to_owned).collect(), Some(60))
        );
    }

    #[test]
    fn a_conversation_that_went_on_far_from_here_is_loaded_anew() {
        let mut thread = Thread::default();
        thread.load(conversation(1..=2), 0.0);
        thread.load(conversation(60..=62), 0.0);
        assert_eq!(keys(&thread), ["m60", "m61", "m62"]);
        assert_eq!(thread.earlier(), Some(60));
        let before = MessagePage {
            messages: (58..=59).map(message).collect(),
            next_before: Some(58),
            ..MessagePage::default()
        };
        thread.prepend(60, before);
        assert_eq!((thread.entries().len(), thread.earlier()), (5, Some(58)));
    }

    #[test]
    fn typing_ends_by_itself_by_a_word_and_by_a_message() {
        let typing = |stopped| Typing { operator_id: "o1".to_owned(), stopped, ..Typing::default() };
        let mut thread = Thread::default();
        thread.load(conversation(1..=1), 0.0);
        thread.set_typing(typing(false), 1_000.0);
        assert_eq!(thread.typing_now("me", 2_000.0).count(), 1);
        assert_eq!(thread.typing_now("o1", 2_000.0).count(), 0, "the own typing");
        assert_eq!(thread.typing_now("me", 11_001.0).count(), 0);
        thread.set_typing(typing(true), 1_500.0);
        assert_eq!(thread.typing_now("me", 2_000.0).count(), 0);
        thread.set_typing(typing(false), 1_000.0);
        let mut sent = event(2..=2);
        sent.messages[0].operator_id = Some("o1".to_owned());
        assert_eq!(thread.apply(&sent), None);
        assert_eq!(thread.typing_now("me", 2_000.0).count(), 0);
    }
}
