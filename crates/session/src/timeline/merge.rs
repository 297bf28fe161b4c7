//! Merging polled messages with known entries.

use chat_protocol::{ChatMessage, MessageId, Role};

use super::{Created, Delivery, Entry, EntryKey, Ids, Timeline};

/// How to merge a polled history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sync {
    /// Unknown messages are new.
    Live,
    /// The history is polled again from the beginning: unknown messages before a known one are not new.
    Resync,
    /// The history is polled for the first time: nothing in it is new.
    Backfill,
}

impl Timeline {
    /// Merges polled messages, in the service's order. Returns the added entries.
    ///
    /// `attempted` are the visitor's messages that may have arrived without a response. An echo with the same
    /// text matches and delivers them.
    pub(crate) fn merge(
        &mut self,
        messages: Vec<ChatMessage>,
        next_after: Option<MessageId>,
        attempted: &[EntryKey],
        sync: Sync,
    ) -> Vec<Entry> {
        let mut listed = Ids::default();
        messages.iter().filter_map(|message| message.id.as_ref()).for_each(|id| listed.insert(id));
        // If visitor messages are listed, one that is not listed is newer than all that are.
        let mut lists_visitor = messages.iter().any(|message| message.role == Role::Visitor);
        let last = messages.iter().rev().find_map(|message| message.id.clone());
        let mut place = self.index_after_cursor();
        let mut has_unnamed = self.entries.iter().any(|entry| entry.id.is_none());
        let mut new = Vec::new();
        for message in messages {
            // A failed AI may leave an empty message. It is not shown, and is not a reply.
            if message.content.trim().is_empty() {
                continue;
            }
            has_unnamed |= message.id.is_none();
            if let Some(index) = self.find(&message, place, attempted, has_unnamed) {
                // The role may be any.
                lists_visitor |= self.entries[index].author == Role::Visitor;
                place = self.move_to(index, place);
            } else {
                if !lists_visitor {
                    place = self.skip_unlisted(place, &listed);
                }
                let entry = self.insert(place, message, sync);
                place += 1;
                new.push(entry);
            }
            self.polled_up_to = Some(self.entries[place - 1].key);
        }
        if let Some(cursor) = next_after.or(last) {
            self.cursor = Some(cursor);
        }
        new
    }

    /// Returns the index at which polled messages begin.
    fn index_after_cursor(&self) -> usize {
        let Some(cursor) = &self.cursor else { return self.archived_len };
        let index = self.index_of_id(cursor).or_else(|| self.index_polled_up_to());
        index.map_or(0, |index| index + 1).max(self.archived_len)
    }

    /// Shows the newest messages of a history that is about to be merged, in a timeline without entries.
    /// Returns whether it does: it must be able to recognise them, and to place those before them.
    pub(crate) fn show_newest(&mut self, messages: Vec<ChatMessage>, sync: Sync) -> bool {
        let is_first = self.entries.is_empty() && self.cursor.is_none() && sync == Sync::Backfill;
        if !is_first || messages.iter().any(|message| message.id.is_none()) {
            return false;
        }
        for message in messages {
            if !message.content.trim().is_empty() && !message.id.iter().any(|id| self.known.contains(id)) {
                self.insert(self.entries.len(), message, sync);
            }
        }
        self.mark_truncated();
        true
    }

    /// Returns the index of the entry that a polled message matches, if any. `has_unnamed` is whether some
    /// entry has no id: only such an entry may match a message by anything else, and a long history must not
    /// be searched for each message.
    fn find(
        &mut self,
        message: &ChatMessage,
        place: usize,
        attempted: &[EntryKey],
        has_unnamed: bool,
    ) -> Option<usize> {
        if let Some(id) = &message.id
            && self.known.contains(id)
        {
            // Usually, the history is in the order of the entries.
            let is_next = self.entries.get(place).is_some_and(|entry| entry.id.as_ref() == Some(id));
            if let Some(index) = if is_next { Some(place) } else { self.index_of_id(id) } {
                return Some(index);
            }
        }
        // An archived conversation may be continued.
        let gone = &self.entries[..self.archived_len];
        if let Some(index) = gone.iter().position(|entry| entry.is_still(message)) {
            message.id.iter().for_each(|id| self.known.insert(id));
            return Some(index);
        }
        if !has_unnamed {
            return None;
        }
        // Without id and date, only its position distinguishes it from one with the same text.
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
            // The date distinguishes the entry from later ones with the same text.
            entry.created = Some(Created::Remote(date.as_str().into()));
        }
        Some(index)
    }

    /// Moves the entry at `index` to `place`, unless it stands after it. Returns the index after the entry.
    fn move_to(&mut self, index: usize, place: usize) -> usize {
        if index >= place {
            return index + 1;
        }
        let entry = self.entries.remove(index);
        self.entries.insert(place - 1, entry);
        self.archived_len -= usize::from(index < self.archived_len);
        self.rearranged |= index < place - 1;
        place
    }

    /// Skips delivered visitor messages that are not listed. A service that does not list them says nothing
    /// about their position.
    fn skip_unlisted(&self, mut place: usize, listed: &Ids) -> usize {
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
