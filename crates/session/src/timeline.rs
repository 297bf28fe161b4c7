//! The messages of the conversation, in the service's order, each once.

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
    /// The `after` of the next poll.
    cursor: Option<MessageId>,
    /// The last entry of the last poll: a cursor may be the id of no entry.
    polled_up_to: Option<EntryKey>,
    /// A poll moved or delivered an entry.
    rearranged: bool,
    /// The number of entries of an earlier conversation, which stand before all others.
    archived_len: usize,
    /// Messages before the first entry are missing in this tab.
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

    /// Records that the whole conversation was polled.
    pub(crate) fn mark_complete(&mut self) {
        self.is_truncated = false;
    }

    /// Returns whether each entry has an id. Without ids, messages that are polled again cannot be
    /// distinguished from known ones.
    pub(crate) fn is_identified(&self) -> bool {
        self.entries.iter().all(|entry| entry.id.is_some() || entry.local_id.is_some())
    }

    /// Returns the sequence of the newest message.
    pub(crate) fn newest(&self) -> i64 {
        self.newest
    }

    /// Continues the count after this sequence, which another tab may have reached.
    pub(crate) fn count_from(&mut self, sequence: i64) {
        self.newest = self.newest.max(sequence);
    }

    /// Returns whether polls have changed known entries since the last call.
    pub(crate) fn take_rearranged(&mut self) -> bool {
        std::mem::take(&mut self.rearranged)
    }

    /// Makes the next poll start at the beginning.
    pub(crate) fn rewind(&mut self) {
        self.cursor = None;
    }

    /// Archives a conversation that is gone: its entries stand before those of the next one.
    pub(crate) fn close(&mut self) {
        self.cursor = None;
        self.known = Ids::default();
        self.archived_len = self.entries.len();
        let mut index = 0;
        while index < self.archived_len {
            if matches!(self.entries[index].delivery, Delivery::Waiting | Delivery::Sending) {
                // Pending messages belong to the next conversation.
                let next = self.entries.remove(index);
                self.entries.push(next);
                self.archived_len -= 1;
            } else {
                index += 1;
            }
        }
    }

    /// Returns whether there is a message of others after this entry.
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
            name: None,
            text: text.into(),
            created: Some(Created::Local(created_ms)),
            delivery,
            id: None,
            local_id: Some(pending.into()),
            sequence: 0,
        });
        key
    }

    /// Sets the delivery of an entry. Returns whether it has changed.
    pub(crate) fn set_delivery(&mut self, key: EntryKey, delivery: Delivery) -> bool {
        let entry = self.entries.iter_mut().rev().find(|entry| entry.key == key);
        entry.is_some_and(|entry| std::mem::replace(&mut entry.delivery, delivery) != delivery)
    }

    /// Moves a retried message to the end.
    pub(crate) fn move_to_end(&mut self, key: EntryKey) {
        if let Some(index) = self.index_of_key(key) {
            let entry = self.entries.remove(index);
            self.entries.push(entry);
            self.archived_len -= usize::from(index < self.archived_len);
        }
    }

    /// Moves a message after all delivered entries, at its first attempt.
    pub(crate) fn move_behind_settled(&mut self, key: EntryKey) {
        let settled = self.entries.iter().rposition(Entry::is_settled);
        if let (Some(index), Some(settled)) = (self.index_of_key(key), settled)
            && index < settled
        {
            self.entries[index..=settled].rotate_left(1);
            self.archived_len -= usize::from(index < self.archived_len);
        }
    }

    /// Marks a message as delivered, with the service's id if there is one. Returns whether an earlier match
    /// with another id was wrong, so that the history must be polled again.
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
                // The echo was matched with another message of the same text.
                self.entries.swap(index, echo);
                self.entries[index].id = None;
                self.entries[index].delivery = Delivery::Waiting;
                self.entries[echo].id = Some(id);
                index = echo;
            } else if let Some(echo) = self.index_of_id(&id) {
                // The echo was polled before the response.
                index = self.replace_echo(index, echo);
            } else {
                self.known.insert(&id);
                self.entries[index].id = Some(id);
            }
        }
        self.entries[index].delivery = Delivery::Delivered;
        mistaken
    }

    /// Marks a message as delivered that was attempted before. A page that did not know of the attempt may
    /// have polled its echo, which has no id to compare, or there is none in the response. Otherwise like
    /// [`Self::deliver`].
    pub(crate) fn deliver_in_doubt(&mut self, key: EntryKey, id: Option<MessageId>) -> bool {
        if let Some(index) = self.index_of_key(key)
            && let Entry { id: None, text, .. } = &self.entries[index]
            && let Some(echo) = self.entries.iter().rposition(|entry| {
                entry.local_id.is_none()
                    && (id.is_none() || entry.id.is_none())
                    && matches!(entry.author, Role::Visitor | Role::Other(_))
                    && entry.text == *text
            })
            && echo >= self.archived_len
        {
            self.replace_echo(index, echo);
        }
        self.deliver(key, id)
    }

    /// Moves an entry to the position of its echo, which is the service's. Returns its new index.
    fn replace_echo(&mut self, index: usize, echo: usize) -> usize {
        let mut entry = self.entries.remove(index);
        let place = if index < echo { echo - 1 } else { echo };
        let echo = &mut self.entries[place];
        if self.polled_up_to == Some(echo.key) {
            self.polled_up_to = Some(entry.key);
        }
        entry.id = echo.id.take();
        if entry.id.is_none() {
            // The date distinguishes the entry from later ones with the same text.
            entry.created = echo.created.take();
        }
        *echo = entry;
        place
    }

    /// Adds the reply that came with the response to the message `to`, unless it was polled before. Returns
    /// the entry if it is new.
    pub(crate) fn reply(&mut self, to: EntryKey, message: ChatMessage) -> Option<Entry> {
        let after = self.index_of_key(to).map_or(self.entries.len(), |index| index + 1);
        let known = match &message.id {
            Some(id) => {
                // The reply may belong to an archived conversation.
                let gone = &self.entries[..self.archived_len];
                self.known.contains(id) || gone.iter().any(|entry| entry.is_still(&message))
            }
            // A poll may have placed it before a message that the service does not list. Then the date
            // identifies it.
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

    /// Adds a reply like [`Self::reply`], to a message of an earlier conversation. It gets no id: ids are
    /// unique only within one conversation.
    pub(crate) fn reply_of_earlier(&mut self, to: EntryKey, mut message: ChatMessage) -> Option<Entry> {
        let gone = &self.entries[..self.archived_len];
        if gone.iter().any(|entry| entry.is_still(&message)) {
            return None;
        }
        message.id = None;
        self.reply(to, message)
    }

    /// Adopts the entries of the leader, in its order. Returns those that are new here.
    ///
    /// If `cut`, these are only the last entries. Pending messages of this tab that the leader does not know
    /// yet stay at the end.
    pub(crate) fn adopt(
        &mut self,
        entries: Vec<Entry>,
        cursor: Option<MessageId>,
        polled_up_to: Option<usize>,
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
        // A pending entry does not show whether the entries before it are complete.
        self.is_truncated &= cut;
        self.is_truncated |= cut && (before == 0 || !old[0].is_settled());
        // If the whole archived part is cut away, this tab's own length of it applies.
        self.archived_len =
            if archived_len > 0 { before + archived_len } else { self.archived_len.min(before) };
        for entry in &entries {
            entry.id.iter().for_each(|id| self.known.insert(id));
        }
        // Most entries keep their positions: removing them from the end moves no others.
        old.reverse();
        let mut new = Vec::new();
        for mut entry in entries {
            let same = |known: &Entry| known.local_id == entry.local_id && known.is(&entry);
            let mut known = old.iter().rposition(same).map(|index| old.remove(index));
            if known.as_ref().is_none_or(|known| known.id != entry.id)
                && let Some(index) = self.entries[..before].iter().position(|known| known.is(&entry))
            {
                // The other tab has this entry at another position, after the part that was cut away.
                let earlier = self.entries.remove(index);
                known = known.or(Some(earlier));
                before -= 1;
                self.archived_len -= usize::from(index < self.archived_len);
            }
            if let Some(known) = known {
                entry.key = known.key;
                let mistaken = known.id.as_ref().is_some_and(|id| self.known.contains(id));
                if known.is_settled() && !entry.is_settled() && !mistaken {
                    // The other tab does not know of the delivery yet.
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
        self.polled_up_to =
            polled_up_to.and_then(|index| self.entries.get(before + index)).map(|entry| entry.key);
        new
    }

    /// Returns the index of the last entry of the last poll.
    pub(crate) fn index_polled_up_to(&self) -> Option<usize> {
        self.index_of_key(self.polled_up_to?)
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
            name: message.author_name.map(Into::into),
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

    /// Returns the index of an id in this conversation. An archived conversation may have the same ids.
    fn index_of_id(&self, id: &MessageId) -> Option<usize> {
        let index = self.entries.iter().rposition(|entry| entry.id.as_ref() == Some(id))?;
        (index >= self.archived_len).then_some(index)
    }
}

#[cfg(test)]
mod tests;
