//! The messages in the order of the service, each once.

use std::rc::Rc;

use chat_protocol::{ChatMessage, MessageId, Role};

/// Names an entry for as long as the page lives, through all that happens to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryKey(u32);

impl EntryKey {
    /// The key as a number.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// When a message was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Created {
    /// By this browser's clock, milliseconds since the Unix epoch.
    Here(u64),
    /// By the service's clock, as it wrote it: ISO 8601, or whatever came.
    There(Rc<str>),
}

/// How far a visitor's message has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// In line, or waiting for the network.
    Waiting,
    /// On its way, or between two attempts.
    Sending,
    /// The service has it.
    Delivered,
    /// Given up; the visitor may try again.
    Failed,
}

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Names the entry.
    pub key: EntryKey,
    /// Who wrote it.
    pub author: Role,
    /// What it says.
    pub text: Rc<str>,
    /// When it was written, if anybody said.
    pub created: Option<Created>,
    /// How far it has come; `Delivered` for all that the service said.
    pub delivery: Delivery,
    /// The service's name for it.
    pub id: Option<MessageId>,
}

impl Entry {
    fn settled(&self) -> bool {
        self.delivery == Delivery::Delivered
    }

    /// Whether this is the message that the service shows as `message`, as far as can be told without an id.
    fn reads_like(&self, message: &ChatMessage) -> bool {
        self.author == message.role && *self.text == *message.content
    }
}

/// A set of ids, sorted. A tree or a hash table would weigh more in WebAssembly than all that is done with it.
#[derive(Debug, Default)]
struct Ids(Vec<MessageId>);

impl Ids {
    fn contains(&self, id: &MessageId) -> bool {
        self.0.binary_search(id).is_ok()
    }

    fn insert(&mut self, id: &MessageId) {
        if let Err(place) = self.0.binary_search(id) {
            self.0.insert(place, id.clone());
        }
    }
}

/// The messages of one conversation.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    entries: Vec<Entry>,
    /// The ids of all entries, so that a long history is merged in one pass.
    known: Ids,
    last_key: u32,
    /// The `after` of the next read.
    cursor: Option<MessageId>,
}

impl Timeline {
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn cursor(&self) -> Option<&MessageId> {
        self.cursor.as_ref()
    }

    /// The next read starts from the beginning.
    pub(crate) fn rewind(&mut self) {
        self.cursor = None;
    }

    /// Adds a message that the visitor wrote here.
    pub(crate) fn write(&mut self, text: &str, created_ms: u64, delivery: Delivery) -> EntryKey {
        let key = self.next_key();
        self.entries.push(Entry {
            key,
            author: Role::Visitor,
            text: text.into(),
            created: Some(Created::Here(created_ms)),
            delivery,
            id: None,
        });
        key
    }

    pub(crate) fn set_delivery(&mut self, key: EntryKey, delivery: Delivery) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.key == key) {
            entry.delivery = delivery;
        }
    }

    /// The message is tried again: it goes behind all that came since.
    pub(crate) fn move_to_end(&mut self, key: EntryKey) {
        if let Some(index) = self.index_of_key(key) {
            let entry = self.entries.remove(index);
            self.entries.push(entry);
        }
    }

    /// The service has the visitor's message, under this id if it gave one.
    pub(crate) fn deliver(&mut self, key: EntryKey, id: Option<MessageId>) {
        let Some(mut index) = self.index_of_key(key) else {
            return;
        };
        if let Some(id) = id
            && self.entries[index].id.as_ref() != Some(&id)
        {
            if let Some(echo) = self.index_of_id(&id) {
                // A read was quicker than the answer: its copy shows where the service has the message.
                let mut entry = self.entries.remove(index);
                let place = if index < echo { echo - 1 } else { echo };
                entry.id = Some(id);
                self.entries[place] = entry;
                index = place;
            } else {
                self.known.insert(&id);
                self.entries[index].id = Some(id);
            }
        }
        self.entries[index].delivery = Delivery::Delivered;
    }

    /// Adds the reply that came with the answer to the message `to`, unless a read brought it before. Gives the entry
    /// when it is new.
    pub(crate) fn reply(&mut self, to: EntryKey, message: ChatMessage) -> Option<Entry> {
        let after = self.index_of_key(to).map_or(self.entries.len(), |index| index + 1);
        let known = match &message.id {
            Some(id) => self.known.contains(id),
            None => self.entries[after..].iter().any(|entry| entry.reads_like(&message)),
        };
        if known {
            return None;
        }
        let settled = self.entries[after..].iter().rposition(Entry::settled).map_or(0, |index| index + 1);
        Some(self.insert(after + settled, message))
    }

    /// Takes in what a read gave, in the service's order. Gives the entries that are new.
    ///
    /// `attempted` are the visitor's messages that may have arrived without an answer: an echo that says the same is
    /// shown as theirs.
    pub(crate) fn merge(
        &mut self,
        messages: Vec<ChatMessage>,
        next_after: Option<MessageId>,
        attempted: &[EntryKey],
    ) -> Vec<Entry> {
        let mut listed = Ids::default();
        messages.iter().filter_map(|message| message.id.as_ref()).for_each(|id| listed.insert(id));
        let last = messages.iter().rev().find_map(|message| message.id.clone());
        let mut place =
            self.cursor.as_ref().and_then(|cursor| self.index_of_id(cursor)).map_or(0, |index| index + 1);
        let mut new = Vec::new();
        for message in messages {
            // An AI that failed may leave an empty message behind: nothing to show, and no reply.
            if message.content.trim().is_empty() {
                continue;
            }
            if let Some(index) = self.find(&message, place, attempted) {
                place = self.put_at(index, place);
                continue;
            }
            place = self.past_unlisted(place, &listed);
            let entry = self.insert(place, message);
            place += 1;
            new.push(entry);
        }
        if let Some(cursor) = next_after.or(last) {
            self.cursor = Some(cursor);
        }
        new
    }

    /// Where a message of the service stands already.
    fn find(&mut self, message: &ChatMessage, place: usize, attempted: &[EntryKey]) -> Option<usize> {
        let Some(id) = &message.id else {
            return (place..self.entries.len()).find(|index| self.entries[*index].reads_like(message));
        };
        if self.known.contains(id) {
            return self.index_of_id(id);
        }
        let same = |entry: &Entry| entry.id.is_none() && entry.reads_like(message);
        let index = self
            .entries
            .iter()
            .position(|entry| same(entry) && (entry.settled() || attempted.contains(&entry.key)))?;
        self.known.insert(id);
        self.entries[index].id = Some(id.clone());
        Some(index)
    }

    /// Moves the entry at `index` so that it stands where the service has it: not before `place`. Gives the place after.
    fn put_at(&mut self, index: usize, place: usize) -> usize {
        if index >= place {
            return index + 1;
        }
        let entry = self.entries.remove(index);
        self.entries.insert(place - 1, entry);
        place
    }

    /// A service that does not list the visitor's messages says nothing about their place: what was delivered before
    /// stays before.
    fn past_unlisted(&self, mut place: usize, listed: &Ids) -> usize {
        while let Some(entry) = self.entries.get(place)
            && entry.author == Role::Visitor
            && entry.settled()
            && entry.id.as_ref().is_none_or(|id| !listed.contains(id))
        {
            place += 1;
        }
        place
    }

    fn insert(&mut self, place: usize, message: ChatMessage) -> Entry {
        let entry = Entry {
            key: self.next_key(),
            author: message.role,
            text: message.content.into(),
            created: message.created_at.map(|text| Created::There(text.into())),
            delivery: Delivery::Delivered,
            id: message.id,
        };
        entry.id.iter().for_each(|id| self.known.insert(id));
        self.entries.insert(place, entry.clone());
        entry
    }

    fn next_key(&mut self) -> EntryKey {
        self.last_key += 1;
        EntryKey(self.last_key)
    }

    fn index_of_key(&self, key: EntryKey) -> Option<usize> {
        self.entries.iter().rposition(|entry| entry.key == key)
    }

    fn index_of_id(&self, id: &MessageId) -> Option<usize> {
        self.entries.iter().rposition(|entry| entry.id.as_ref() == Some(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str, role: &str, content: &str) -> ChatMessage {
        ChatMessage {
            id: (!id.is_empty()).then(|| id.into()),
            role: Role::from(role),
            content: content.into(),
            created_at: None,
        }
    }

    fn texts(timeline: &Timeline) -> Vec<&str> {
        timeline.entries().iter().map(|entry| &*entry.text).collect()
    }

    #[test]
    fn a_message_its_echo_its_reply_and_the_reply_read_again_are_two_bubbles() {
        let mut timeline = Timeline::default();
        let mine = timeline.write("hello", 1, Delivery::Sending);
        timeline.deliver(mine, Some("u1".into()));
        assert!(timeline.reply(mine, message("a1", "assistant", "hi")).is_some());
        let new =
            timeline.merge(vec![message("u1", "user", "hello"), message("a1", "assistant", "hi")], None, &[]);
        assert_eq!((texts(&timeline), new.len()), (vec!["hello", "hi"], 0));
    }

    #[test]
    fn an_echo_that_is_quicker_than_its_answer_is_the_same_message() {
        let mut timeline = Timeline::default();
        let mine = timeline.write("hello", 1, Delivery::Sending);
        timeline.merge(
            vec![message("u1", "visitor", "hello"), message("a1", "assistant", "hi")],
            None,
            &[mine],
        );
        assert_eq!(texts(&timeline), ["hello", "hi"]);
        timeline.deliver(mine, Some("u1".into()));
        assert!(timeline.reply(mine, message("a1", "assistant", "hi")).is_none());
        assert_eq!(texts(&timeline), ["hello", "hi"]);
    }

    #[test]
    fn an_echo_of_an_unknown_role_is_recognised_by_the_id_in_the_answer() {
        let mut timeline = Timeline::default();
        let mine = timeline.write("hello", 1, Delivery::Sending);
        timeline.merge(
            vec![message("u1", "person", "hello"), message("a1", "assistant", "hi")],
            None,
            &[mine],
        );
        timeline.deliver(mine, Some("u1".into()));
        assert_eq!(texts(&timeline), ["hello", "hi"]);
        assert_eq!(timeline.entries()[0].author, Role::Visitor);
    }

    #[test]
    fn an_older_message_that_says_the_same_is_not_taken_for_one_that_was_never_sent() {
        let mut timeline = Timeline::default();
        let mine = timeline.write("ok", 1, Delivery::Waiting);
        timeline.merge(vec![message("u1", "visitor", "ok")], None, &[]);
        assert_eq!(texts(&timeline), ["ok", "ok"]);
        assert_eq!(timeline.entries()[1].key, mine);
    }

    #[test]
    fn history_comes_before_what_is_not_yet_delivered() {
        let mut timeline = Timeline::default();
        timeline.write("new", 1, Delivery::Waiting);
        timeline.merge(
            vec![message("u1", "visitor", "old"), message("a1", "assistant", "answer")],
            None,
            &[],
        );
        assert_eq!(texts(&timeline), ["old", "answer", "new"]);
    }

    #[test]
    fn the_services_order_wins_over_the_order_of_arrival() {
        let mut timeline = Timeline::default();
        timeline.merge(vec![message("a0", "assistant", "welcome")], None, &[]);
        let mine = timeline.write("question", 1, Delivery::Sending);
        timeline.deliver(mine, Some("u1".into()));
        timeline.reply(mine, message("a1", "assistant", "answer"));
        let new = timeline.merge(
            vec![
                message("o1", "operator", "I am here"),
                message("u1", "visitor", "question"),
                message("a1", "assistant", "answer"),
            ],
            None,
            &[],
        );
        assert_eq!(texts(&timeline), ["welcome", "I am here", "question", "answer"]);
        assert_eq!(new.len(), 1);
    }

    #[test]
    fn a_service_that_does_not_list_the_visitors_messages_does_not_disorder_them() {
        let mut timeline = Timeline::default();
        timeline.merge(vec![message("a0", "assistant", "welcome")], None, &[]);
        let mine = timeline.write("question", 1, Delivery::Sending);
        timeline.deliver(mine, Some("u1".into()));
        timeline.merge(vec![message("o1", "operator", "answer")], None, &[]);
        assert_eq!(texts(&timeline), ["welcome", "question", "answer"]);
    }

    #[test]
    fn messages_without_ids_are_shown_once_and_in_order() {
        let mut timeline = Timeline::default();
        let page = || {
            vec![message("", "assistant", "a"), message("", "assistant", "b"), message("", "operator", "a")]
        };
        timeline.merge(page(), None, &[]);
        let new = timeline.merge(page(), None, &[]);
        assert_eq!((texts(&timeline), new.len()), (vec!["a", "b", "a"], 0));
    }

    #[test]
    fn a_cursor_that_repeats_or_goes_back_shows_nothing_twice() {
        let mut timeline = Timeline::default();
        let (a, b, c) =
            (message("1", "operator", "a"), message("2", "operator", "b"), message("3", "operator", "c"));
        timeline.merge(vec![a.clone(), b.clone()], Some("2".into()), &[]);
        timeline.merge(vec![b.clone(), c.clone()], Some("1".into()), &[]);
        timeline.merge(vec![a, b, c], Some("3".into()), &[]);
        assert_eq!(texts(&timeline), ["a", "b", "c"]);
        assert_eq!(timeline.cursor(), Some(&"3".into()));
    }

    #[test]
    fn a_message_tried_again_goes_behind_what_came_since() {
        let mut timeline = Timeline::default();
        let failed = timeline.write("first", 1, Delivery::Failed);
        timeline.merge(vec![message("o1", "operator", "hello?")], None, &[]);
        timeline.move_to_end(failed);
        assert_eq!(texts(&timeline), ["hello?", "first"]);
    }
}
