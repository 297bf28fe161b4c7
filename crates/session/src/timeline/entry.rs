//! An entry of the timeline, and how it is matched with messages of the service and of other tabs.

use std::rc::Rc;

use chat_protocol::{ChatMessage, MessageId, Role};

/// Identifies an entry for the lifetime of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryKey(pub(super) u32);

impl EntryKey {
    /// Returns the key as a number.
    pub fn get(self) -> u32 {
        self.0
    }
}

/// The date of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Created {
    /// By this browser's clock, milliseconds since the Unix epoch.
    Local(u64),
    /// By the service's clock, as the service wrote it: usually ISO 8601.
    Remote(Rc<str>),
}

/// The delivery of a visitor message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Queued, or waiting for the network.
    Waiting,
    /// In flight, or between two attempts.
    Sending,
    /// Accepted by the service.
    Delivered,
    /// Failed. The visitor may retry it.
    Failed,
}

/// One message of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key of the entry.
    pub key: EntryKey,
    /// The author.
    pub author: Role,
    /// The text.
    pub text: Rc<str>,
    /// The name of the operator who wrote it, if the service tells.
    pub name: Option<Rc<str>>,
    /// The date, if there is one.
    pub created: Option<Created>,
    /// The delivery; `Delivered` for all messages of the service.
    pub delivery: Delivery,
    /// The service's id.
    pub id: Option<MessageId>,
    /// The id of a message that was written in this browser, the same in all tabs.
    pub(crate) local_id: Option<Rc<str>>,
    /// The sequence of a message of the service, the same in all tabs; below zero for older messages.
    pub(crate) sequence: i64,
}

impl Entry {
    pub(crate) fn is_settled(&self) -> bool {
        self.delivery == Delivery::Delivered
    }

    /// Returns whether this may be `message`, compared without ids.
    pub(super) fn reads_like(&self, message: &ChatMessage) -> bool {
        self.may_be_of(message) && self.author == message.role && *self.text == *message.content
    }

    /// Returns whether the dates do not contradict that the two are the same.
    fn may_be_of(&self, message: &ChatMessage) -> bool {
        match (&self.created, &message.created_at) {
            (Some(Created::Remote(known)), Some(date)) => **known == **date,
            _ => true,
        }
    }

    /// Returns whether this is `message`, in any conversation. Ids are unique only within one. If one of
    /// them has no id, the date decides.
    pub(super) fn is_still(&self, message: &ChatMessage) -> bool {
        let by_same = self.author == message.role;
        let same = match (&self.id, &message.id) {
            // Visitor messages may come back with any role.
            (Some(known), Some(id)) => known == id && (by_same || self.author == Role::Visitor),
            _ => by_same && self.is_dated(message),
        };
        same && self.may_be_of(message) && *self.text == *message.content
    }

    /// Returns whether both have the same date of the service.
    pub(super) fn is_dated(&self, message: &ChatMessage) -> bool {
        matches!((&self.created, &message.created_at), (Some(Created::Remote(known)), Some(date)) if **known == **date)
    }

    /// Returns whether `message` may be the echo of this visitor message, whatever role the service gives it.
    pub(super) fn echoes_as(&self, message: &ChatMessage) -> bool {
        let by_visitor = matches!(message.role, Role::Visitor | Role::Other(_));
        let unnamed = self.id.is_none() && self.may_be_of(message);
        self.author == Role::Visitor && by_visitor && unnamed && *self.text == *message.content
    }

    /// Returns whether another tab's entry is this one.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (&self.local_id, &other.local_id) {
            (Some(own), Some(others)) => own == others,
            // A page without the pending message knows the message by its echo.
            _ if self.id.is_some() => self.id == other.id && self.text == other.text,
            (None, None) => self.sequence == other.sequence && other.id.is_none(),
            _ => false,
        }
    }
}

/// A sorted set of the hashes of ids: the ids themselves are those of the entries. The code of a tree or a
/// hash table would be larger in WebAssembly.
#[derive(Debug, Default)]
pub(super) struct Ids(Vec<u64>);

impl Ids {
    pub(super) fn contains(&self, id: &MessageId) -> bool {
        self.0.binary_search(&hash(id)).is_ok()
    }

    pub(super) fn insert(&mut self, id: &MessageId) {
        let hash = hash(id);
        if let Err(place) = self.0.binary_search(&hash) {
            self.0.insert(place, hash);
        }
    }
}

/// Returns the FNV-1a hash of an id.
fn hash(id: &MessageId) -> u64 {
    id.as_str()
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
