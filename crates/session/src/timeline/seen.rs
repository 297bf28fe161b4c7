//! The position up to which the visitor has seen the conversation, and the number of unread messages.

use chat_protocol::Role;

use super::Timeline;

impl Timeline {
    /// Returns the sequence of the last message that the visitor has seen, in any tab.
    pub(crate) fn seen(&self) -> i64 {
        self.seen
    }

    /// Applies the seen position of another tab. Returns whether it is further than the known one.
    pub(crate) fn apply_remote_seen(&mut self, sequence: i64) -> bool {
        let is_more = sequence > self.seen;
        self.seen = self.seen.max(sequence);
        is_more
    }

    /// Marks all messages as seen. Returns whether some of them were unread.
    pub(crate) fn mark_seen(&mut self) -> bool {
        self.apply_remote_seen(self.newest)
    }

    /// Limits the position to the newest message: if storage lost the conversation, its sequence starts
    /// again.
    pub(crate) fn limit_seen(&mut self) {
        self.seen = self.seen.min(self.newest);
    }

    /// Returns the number of unread messages when it was last updated.
    pub(crate) fn unread(&self) -> u32 {
        self.unread
    }

    /// Counts the unread messages of the service. Returns the number if it has changed.
    pub(crate) fn update_unread(&mut self) -> Option<u32> {
        // Usually there are none, and a long conversation is not searched for them.
        let entries = if self.seen >= self.newest { &[][..] } else { &self.entries };
        let is_unread = |entry: &&super::Entry| entry.sequence > self.seen && entry.author != Role::Visitor;
        let unread = u32::try_from(entries.iter().filter(is_unread).count()).unwrap_or(u32::MAX);
        (std::mem::replace(&mut self.unread, unread) != unread).then_some(unread)
    }

    /// Empties the timeline for another visitor. The number of unread messages stays until it is updated.
    pub(crate) fn clear(&mut self) {
        *self = Self { unread: self.unread, ..Self::default() };
    }
}
