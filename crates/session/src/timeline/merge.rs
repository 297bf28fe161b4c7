//! How what a read gave comes into its place among what is known.

use chat_protocol::{ChatMessage, MessageId, Role};

use super::{Created, Delivery, Entry, EntryKey, Ids, Timeline};

/// How to take in what a read gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sync {
    /// What is new was said just now.
    Live,
    /// What stands before a message that is known was said before; it is read once more from the beginning.
    Resync,
    /// All of it was said before.
    Backfill,
}

impl Timeline {
    /// Takes in what a read gave, in the service's order. Gives the entries that are new.
    ///
    /// `attempted` are the visitor's messages that may have arrived without an answer: an echo that says the same is
    /// shown as theirs, and delivers them.
    pub(crate) fn merge(
        &mut self,
        messages: Vec<ChatMessage>,
        next_after: Option<MessageId>,
        attempted: &[EntryKey],
        sync: Sync,
    ) -> Vec<Entry> {
        let mut listed = Ids::default();
        messages.iter().filter_map(|message| message.id.as_ref()).for_each(|id| listed.insert(id));
        // Where they are listed, one that is not was said after all that is.
        let mut lists_visitor = messages.iter().any(|message| message.role == Role::Visitor);
        let last = messages.iter().rev().find_map(|message| message.id.clone());
        let mut place = self.place_after_cursor();
        let mut new = Vec::new();
        for message in messages {
            // An AI that failed may leave an empty message behind: nothing to show, and no reply.
            if message.content.trim().is_empty() {
                continue;
            }
            if let Some(index) = self.find(&message, place, attempted) {
                // By whatever name.
                lists_visitor |= self.entries[index].author == Role::Visitor;
                place = self.put_at(index, place);
            } else {
                if !lists_visitor {
                    place = self.past_unlisted(place, &listed);
                }
                let entry = self.insert(place, message, sync);
                place += 1;
                new.push(entry);
            }
            self.read_up_to = Some(self.entries[place - 1].key);
        }
        if let Some(cursor) = next_after.or(last) {
            self.cursor = Some(cursor);
        }
        new
    }

    /// Where what a read brings begins.
    fn place_after_cursor(&self) -> usize {
        let Some(cursor) = &self.cursor else { return self.archived_len };
        let index = self.index_of_id(cursor).or_else(|| self.index_read_up_to());
        index.map_or(0, |index| index + 1).max(self.archived_len)
    }

    /// Where a message of the service stands already.
    fn find(&mut self, message: &ChatMessage, place: usize, attempted: &[EntryKey]) -> Option<usize> {
        if let Some(id) = &message.id
            && self.known.contains(id)
            && let Some(index) = self.index_of_id(id)
        {
            return Some(index);
        }
        // A conversation that seemed to be gone may be the one that goes on.
        let gone = &self.entries[..self.archived_len];
        if let Some(index) = gone.iter().position(|entry| entry.is_still(message)) {
            message.id.iter().for_each(|id| self.known.insert(id));
            return Some(index);
        }
        // Without id and date, only its place tells it from another one that says the same.
        let from =
            if message.id.is_none() && message.created_at.is_none() { place } else { self.archived_len };
        let same = |entry: &Entry| {
            let unnamed = message.id.is_none() || entry.id.is_none();
            (unnamed && entry.reads_like(message)) || entry.echoes_as(message)
        };
        let settled = |entry: &Entry| entry.is_settled() && same(entry);
        let may_be = |key: &EntryKey| self.index_of_key(*key).filter(|index| same(&self.entries[*index]));
        let index = (from..self.entries.len())
            .find(|index| settled(&self.entries[*index]))
            .or_else(|| attempted.iter().find_map(may_be))?;
        let entry = &mut self.entries[index];
        self.rearranged |= !entry.is_settled() || entry.id != message.id;
        entry.delivery = Delivery::Delivered;
        if let Some(id) = &message.id {
            self.known.insert(id);
            entry.id = Some(id.clone());
        } else if let Some(date) = &message.created_at {
            // The next one that says the same has another date, and is another one.
            entry.created = Some(Created::Remote(date.as_str().into()));
        }
        Some(index)
    }

    /// Moves the entry at `index` so that it stands where the service has it: not before `place`. Gives the place after.
    fn put_at(&mut self, index: usize, place: usize) -> usize {
        if index >= place {
            return index + 1;
        }
        let entry = self.entries.remove(index);
        self.entries.insert(place - 1, entry);
        self.archived_len -= usize::from(index < self.archived_len);
        self.rearranged |= index < place - 1;
        place
    }

    /// A service that does not list the visitor's messages says nothing about their place: what was delivered before
    /// stays before.
    fn past_unlisted(&self, mut place: usize, listed: &Ids) -> usize {
        while let Some(entry) = self.entries.get(place)
            && entry.author == Role::Visitor
            && entry.is_settled()
            && entry.id.as_ref().is_none_or(|id| !listed.contains(id))
        {
            place += 1;
        }
        place
    }
}
