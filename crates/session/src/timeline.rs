//! The messages in the order of the service, each once.

mod entry;
mod merge;
mod seen;

use chat_protocol::{ChatMessage, MessageId, Role};

use entry::Ids;
pub use entry::{Created, Delivery, Entry, EntryKey};
pub(crate) use merge::Sync;

/// The messages of one conversation.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    entries: Vec<Entry>,
    /// The ids of all entries, so that a long history is merged in one pass.
    known: Ids,
    last_key: u32,
    /// The highest and the lowest sequence so far.
    newest: i64,
    oldest: i64,
    /// The `after` of the next read.
    cursor: Option<MessageId>,
    /// The last entry that the read before brought: a cursor need not be the id of any.
    read_up_to: Option<EntryKey>,
    /// A read moved an entry, or found out about one.
    rearranged: bool,
    /// So many entries belong to a conversation that is gone: what comes stands behind them.
    archived_len: usize,
    /// There is more before the first entry than this tab has heard.
    is_truncated: bool,
    /// The sequence of the last message that the visitor has seen.
    seen: i64,
    unread: u32,
}

impl Timeline {
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(crate) fn entry(&self, key: EntryKey) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.key == key)
    }

    pub(crate) fn of_pending(&self, name: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.local_id.as_deref() == Some(name))
    }

    pub(crate) fn cursor(&self) -> Option<&MessageId> {
        self.cursor.as_ref()
    }

    pub(crate) fn archived_len(&self) -> usize {
        self.archived_len
    }

    /// Returns whether messages before the first entry are missing in this tab.
    pub(crate) fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Records that messages before the first entry may be missing.
    pub(crate) fn mark_truncated(&mut self) {
        self.is_truncated = true;
    }

    /// Records that the whole conversation was read.
    pub(crate) fn mark_complete(&mut self) {
        self.is_truncated = false;
    }

    /// Returns whether each entry has an id. Without ids, messages that are read again cannot be told from those that are
    /// known.
    pub(crate) fn is_identified(&self) -> bool {
        self.entries.iter().all(|entry| entry.id.is_some() || entry.local_id.is_some())
    }

    /// The sequence of the newest message.
    pub(crate) fn newest(&self) -> i64 {
        self.newest
    }

    /// Messages up to this sequence have come in, here or in another tab.
    pub(crate) fn count_from(&mut self, sequence: i64) {
        self.newest = self.newest.max(sequence);
    }

    /// Whether reading has changed more than what is new, since somebody asked.
    pub(crate) fn take_rearranged(&mut self) -> bool {
        std::mem::take(&mut self.rearranged)
    }

    /// The next read starts from the beginning.
    pub(crate) fn rewind(&mut self) {
        self.cursor = None;
    }

    /// The conversation is gone. What was said stays, before all that another one brings.
    pub(crate) fn close(&mut self) {
        self.cursor = None;
        self.known = Ids::default();
        self.archived_len = self.entries.len();
        let mut index = 0;
        while index < self.archived_len {
            if matches!(self.entries[index].delivery, Delivery::Waiting | Delivery::Sending) {
                // What is still to be sent goes into the next one.
                let next = self.entries.remove(index);
                self.entries.push(next);
                self.archived_len -= 1;
            } else {
                index += 1;
            }
        }
    }

    /// Whether somebody else wrote after this message.
    pub(crate) fn is_answered(&self, key: EntryKey) -> bool {
        let after = self.entries.iter().rev().take_while(|entry| entry.key != key);
        after.into_iter().any(|entry| entry.author != Role::Visitor)
    }

    /// Adds a message that the visitor wrote in this browser.
    pub(crate) fn write(
        &mut self,
        pending: &str,
        text: &str,
        created_ms: u64,
        delivery: Delivery,
    ) -> EntryKey {
        let key = self.next_key();
        self.entries.push(Entry {
            key,
            author: Role::Visitor,
            text: text.into(),
            created: Some(Created::Local(created_ms)),
            delivery,
            id: None,
            local_id: Some(pending.into()),
            sequence: 0,
        });
        key
    }

    /// Gives whether it was another one before.
    pub(crate) fn set_delivery(&mut self, key: EntryKey, delivery: Delivery) -> bool {
        let entry = self.entries.iter_mut().rev().find(|entry| entry.key == key);
        entry.is_some_and(|entry| std::mem::replace(&mut entry.delivery, delivery) != delivery)
    }

    /// The message is tried again: it goes behind all that came since.
    pub(crate) fn move_to_end(&mut self, key: EntryKey) {
        if let Some(index) = self.index_of_key(key) {
            let entry = self.entries.remove(index);
            self.entries.push(entry);
            self.archived_len -= usize::from(index < self.archived_len);
        }
    }

    /// The message is tried for the first time: what the service has by now stands before it.
    pub(crate) fn move_behind_settled(&mut self, key: EntryKey) {
        let settled = self.entries.iter().rposition(Entry::is_settled);
        if let (Some(index), Some(settled)) = (self.index_of_key(key), settled)
            && index < settled
        {
            self.entries[index..=settled].rotate_left(1);
            self.archived_len -= usize::from(index < self.archived_len);
        }
    }

    /// The service has the visitor's message, under this id if it gave one. Gives whether it was taken for another one
    /// before, whose echo is to be read again.
    pub(crate) fn deliver(&mut self, key: EntryKey, id: Option<MessageId>) -> bool {
        let Some(mut index) = self.index_of_key(key) else {
            return false;
        };
        let mut mistaken = false;
        if let Some(id) = id
            && self.entries[index].id.as_ref() != Some(&id)
        {
            mistaken = self.entries[index].id.is_some();
            if let Some(echo) = self.index_of_id(&id)
                && self.entries[echo].local_id.is_some()
            {
                // The echo was taken for another message that says the same.
                self.entries.swap(index, echo);
                self.entries[index].id = None;
                self.entries[index].delivery = Delivery::Waiting;
                self.entries[echo].id = Some(id);
                index = echo;
            } else if let Some(echo) = self.index_of_id(&id) {
                // A read was quicker than the answer: its copy shows where the service has the message.
                let mut entry = self.entries.remove(index);
                let place = if index < echo { echo - 1 } else { echo };
                entry.id = Some(id);
                if self.read_up_to == Some(self.entries[place].key) {
                    self.read_up_to = Some(key);
                }
                self.entries[place] = entry;
                index = place;
            } else {
                self.known.insert(&id);
                self.entries[index].id = Some(id);
            }
        }
        self.entries[index].delivery = Delivery::Delivered;
        mistaken
    }

    /// The service has the visitor's message, and did not say under which id. Its echo may have been read by a page that
    /// knew of no attempt to send it.
    pub(crate) fn deliver_in_doubt(&mut self, key: EntryKey) {
        let text = self.entry(key).filter(|entry| entry.id.is_none()).map(|entry| entry.text.clone());
        let echo = self.entries[self.archived_len..].iter().rev().find(|entry| {
            entry.local_id.is_none()
                && matches!(entry.author, Role::Visitor | Role::Other(_))
                && text.as_ref() == Some(&entry.text)
        });
        let id = echo.and_then(|echo| echo.id.clone());
        self.deliver(key, id);
    }

    /// Adds the reply that came with the answer to the message `to`, unless a read brought it before. Gives the entry
    /// when it is new.
    pub(crate) fn reply(&mut self, to: EntryKey, message: ChatMessage) -> Option<Entry> {
        let after = self.index_of_key(to).map_or(self.entries.len(), |index| index + 1);
        let known = match &message.id {
            Some(id) => {
                // It may be from a conversation that was found gone since.
                let gone = &self.entries[..self.archived_len];
                self.known.contains(id) || gone.iter().any(|entry| entry.is_still(&message))
            }
            // A read may have put it before a message that the service does not list; then its date tells.
            None => self.entries.iter().enumerate().any(|(index, entry)| {
                entry.reads_like(&message) && (index >= after || entry.is_dated(&message))
            }),
        };
        if known {
            return None;
        }
        let settled = self.entries[after..].iter().rposition(Entry::is_settled).map_or(0, |index| index + 1);
        Some(self.insert(after + settled, message, Sync::Live))
    }

    /// Takes over the messages of the tab that leads, in its order. Gives those that are new here.
    ///
    /// `cut` are not all of them, but the last. Messages written here that the leading tab has not heard of yet stay,
    /// at the end.
    pub(crate) fn adopt(
        &mut self,
        entries: Vec<Entry>,
        cursor: Option<MessageId>,
        read_up_to: Option<usize>,
        archived_len: usize,
        cut: bool,
    ) -> Vec<Entry> {
        let mut old = std::mem::take(&mut self.entries);
        self.known = Ids::default();
        let earlier = entries.first().and_then(|first| old.iter().rposition(|entry| entry.is(first)));
        if cut && let Some(earlier) = earlier {
            let rest = old.split_off(earlier);
            self.entries = std::mem::replace(&mut old, rest);
        }
        let mut before = self.entries.len();
        // What was not delivered yet says nothing of what stands before it now.
        self.is_truncated &= cut;
        self.is_truncated |= cut && (before == 0 || !old[0].is_settled());
        // Where what was cut away includes all that is gone, this tab knows how much that is.
        self.archived_len =
            if archived_len > 0 { before + archived_len } else { self.archived_len.min(before) };
        for entry in &entries {
            entry.id.iter().for_each(|id| self.known.insert(id));
        }
        // Most stand where they stood: taken from the end, none has to be moved up.
        old.reverse();
        let mut new = Vec::new();
        for mut entry in entries {
            let same = |known: &Entry| known.local_id == entry.local_id && known.is(&entry);
            let mut known = old.iter().rposition(same).map(|index| old.remove(index));
            if known.as_ref().is_none_or(|known| known.id != entry.id)
                && let Some(index) = self.entries[..before].iter().position(|known| known.is(&entry))
            {
                // The other tab has it in another place, behind what was cut away.
                let earlier = self.entries.remove(index);
                known = known.or(Some(earlier));
                before -= 1;
                self.archived_len -= usize::from(index < self.archived_len);
            }
            if let Some(known) = known {
                entry.key = known.key;
                let mistaken = known.id.as_ref().is_some_and(|id| self.known.contains(id));
                if known.is_settled() && !entry.is_settled() && !mistaken {
                    // The other tab has not heard yet that the message arrived.
                    entry.delivery = known.delivery;
                    entry.id = known.id;
                } else if entry.is_settled() && !known.is_settled() {
                    new.push(entry.clone());
                }
            } else {
                entry.key = self.next_key();
                new.push(entry.clone());
            }
            self.entries.push(entry);
        }
        self.entries.extend(old.into_iter().rev().filter(|entry| !entry.is_settled()));
        self.known = Ids::default();
        for (index, entry) in self.entries.iter().enumerate() {
            if index >= self.archived_len {
                entry.id.iter().for_each(|id| self.known.insert(id));
            }
            self.newest = self.newest.max(entry.sequence);
            self.oldest = self.oldest.min(entry.sequence);
        }
        self.cursor = cursor;
        self.read_up_to =
            read_up_to.and_then(|index| self.entries.get(before + index)).map(|entry| entry.key);
        new
    }

    /// Where the last entry stands that the read before brought.
    pub(crate) fn index_read_up_to(&self) -> Option<usize> {
        self.index_of_key(self.read_up_to?)
    }

    fn insert(&mut self, place: usize, message: ChatMessage, sync: Sync) -> Entry {
        let before_known =
            || self.entries[place..].iter().any(|entry| entry.is_settled() && entry.local_id.is_none());
        let past = sync == Sync::Backfill || (sync == Sync::Resync && before_known());
        let sequence = if past {
            self.oldest = self.oldest.saturating_sub(1);
            self.oldest
        } else {
            self.newest = self.newest.saturating_add(1);
            self.newest
        };
        let entry = Entry {
            key: self.next_key(),
            author: message.role,
            text: message.content.into(),
            created: message.created_at.map(|text| Created::Remote(text.into())),
            delivery: Delivery::Delivered,
            id: message.id,
            local_id: None,
            sequence,
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

    /// Ids are looked for in this conversation only: another one may have the same.
    fn index_of_id(&self, id: &MessageId) -> Option<usize> {
        let index = self.entries.iter().rposition(|entry| entry.id.as_ref() == Some(id))?;
        (index >= self.archived_len).then_some(index)
    }
}

#[cfg(test)]
mod tests;
