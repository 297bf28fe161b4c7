//! A message, and how to tell whether it is the one that somebody else speaks of.

use std::rc::Rc;

use chat_protocol::{ChatMessage, MessageId, Role};

/// Names an entry for as long as the page lives, through all that happens to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryKey(pub(super) u32);

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
    Local(u64),
    /// By the service's clock, as it wrote it: ISO 8601, or whatever came.
    Remote(Rc<str>),
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
    /// The name of the visitor's message that was written in this browser, the same in all tabs.
    pub(crate) local_id: Option<Rc<str>>,
    /// Counts what comes in from the service, the same in all tabs; below zero for what had been said before.
    pub(crate) sequence: i64,
}

impl Entry {
    pub(crate) fn is_settled(&self) -> bool {
        self.delivery == Delivery::Delivered
    }

    /// Whether this is the message that the service shows as `message`, as far as can be told without an id.
    pub(super) fn reads_like(&self, message: &ChatMessage) -> bool {
        self.may_be_of(message) && self.author == message.role && *self.text == *message.content
    }

    /// Whether nothing in the dates says that the two are not the same.
    fn may_be_of(&self, message: &ChatMessage) -> bool {
        match (&self.created, &message.created_at) {
            (Some(Created::Remote(known)), Some(told)) => **known == **told,
            _ => true,
        }
    }

    /// Whether this is `message`, whatever conversation it was in: ids may be anything, and be given out again. Where one of
    /// them has none, the date tells.
    pub(super) fn is_still(&self, message: &ChatMessage) -> bool {
        let by_same = self.author == message.role;
        let same = match (&self.id, &message.id) {
            // The visitor's own may come back by any name.
            (Some(known), Some(told)) => known == told && (by_same || self.author == Role::Visitor),
            _ => by_same && self.is_dated(message),
        };
        same && self.may_be_of(message) && *self.text == *message.content
    }

    /// Whether both have a date of the service, and the same one.
    pub(super) fn is_dated(&self, message: &ChatMessage) -> bool {
        matches!((&self.created, &message.created_at), (Some(Created::Remote(known)), Some(told)) if **known == **told)
    }

    /// Whether `message` may be the echo of this message of the visitor, by whatever name the service calls its author.
    pub(super) fn echoes_as(&self, message: &ChatMessage) -> bool {
        let by_visitor = matches!(message.role, Role::Visitor | Role::Other(_));
        let unnamed = self.id.is_none() && self.may_be_of(message);
        self.author == Role::Visitor && by_visitor && unnamed && *self.text == *message.content
    }

    /// Whether another tab's entry is this one.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (&self.local_id, &other.local_id) {
            (Some(own), Some(others)) => own == others,
            // A page that never heard of the pending message knows the message by its echo.
            _ if self.id.is_some() => self.id == other.id && self.text == other.text,
            (None, None) => self.sequence == other.sequence && other.id.is_none(),
            _ => false,
        }
    }
}

/// A set of ids, sorted. A tree or a hash table would weigh more in WebAssembly than all that is done with it.
#[derive(Debug, Default)]
pub(super) struct Ids(Vec<MessageId>);

impl Ids {
    pub(super) fn contains(&self, id: &MessageId) -> bool {
        self.0.binary_search(id).is_ok()
    }

    pub(super) fn insert(&mut self, id: &MessageId) {
        if let Err(place) = self.0.binary_search(id) {
            self.0.insert(place, id.clone());
        }
    }
}
