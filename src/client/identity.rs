//! Visitor and conversation in the browser's storage, under the widget's keys.

use std::cell::RefCell;
use std::fmt::{self, Debug, Formatter};

use chat_protocol::{ConversationId, IdempotencyKey, Value, VisitorId};
use chat_session::{STORED_VERSION, VERIFIED, keys, stored_visitor};

use super::json;
use crate::browser::clock;
use crate::browser::storage::Storage;

/// Maximum characters of the visitor's id in an idempotency key.
const MAX_ID_IN_KEY: usize = 100;

/// The visitor and the conversation of one customer.
#[derive(Default)]
pub(super) struct Identity {
    customer_id: String,
    /// The person whom the visitor's token names.
    person: RefCell<Option<String>>,
    /// Values that the browser's storage refused, by their keys.
    memory: RefCell<Vec<(String, String)>>,
}

impl Identity {
    pub(super) fn of_customer(customer_id: &str) -> Self {
        Self { customer_id: customer_id.to_owned(), ..Self::default() }
    }

    /// Switches to the stored values of a person; `None` is the visitor who is not signed in. The values of
    /// another person are removed.
    pub(super) fn set_person(&self, person: Option<String>) {
        if *self.person.borrow() == person {
            return;
        }
        if self.person.borrow().is_some() {
            for name in [keys::VISITOR, keys::CONVERSATION] {
                let key = self.key(name);
                Storage::open().set(&key, None);
                self.memory.borrow_mut().retain(|(known, _)| *known != key);
            }
        }
        self.person.replace(person);
    }

    /// Returns the site's own identifier of the visitor.
    pub(super) fn customer_id(&self) -> Option<String> {
        Some(self.customer_id.clone()).filter(|id| !id.is_empty())
    }

    /// Returns the visitor's id. One that no header can carry is replaced, as in the widget.
    pub(super) fn visitor_id(&self) -> VisitorId {
        if let Some(id) = stored_visitor(&self.read(keys::VISITOR)) {
            return id;
        }
        let created = VisitorId::from(uuid(clock::seed()));
        self.write(keys::VISITOR, [("v", STORED_VERSION.into()), ("visitorId", (&created).into())]);
        created
    }

    /// Returns the visitor's conversation.
    pub(super) fn conversation_id(&self) -> Option<ConversationId> {
        let stored = self.read(keys::CONVERSATION);
        let visitor = stored.get("visitorId").unwrap_or(&Value::Null);
        let is_own = *visitor == Value::Null || visitor.as_text() == Some(self.visitor_id().as_str());
        let id = stored.get("conversationId").and_then(Value::as_text);
        id.filter(|id| is_own && !id.is_empty()).map(ConversationId::from)
    }

    /// Stores the conversation. The widget keeps more under this key, and fetches the messages of a
    /// conversation that has an id only; the same conversation is therefore not written again.
    pub(super) fn set_conversation(&self, visitor_id: &VisitorId, id: &ConversationId) {
        if self.conversation_id().as_ref() != Some(id) {
            let members = [
                ("v", STORED_VERSION.into()),
                ("visitorId", visitor_id.into()),
                ("conversationId", id.into()),
            ];
            self.write(keys::CONVERSATION, members);
        }
    }

    fn read(&self, name: &str) -> Value {
        let key = self.key(name);
        let memory = self.memory.borrow();
        let text = memory.iter().find(|(known, _)| *known == key).map(|(_, text)| text.clone());
        text.or_else(|| Storage::open().get(&key)).map(|text| json::parse(&text)).unwrap_or_default()
    }

    fn write<const N: usize>(&self, name: &str, members: [(&str, Value); N]) {
        let (key, text) = (self.key(name), Value::object(members).to_json());
        let mut memory = self.memory.borrow_mut();
        memory.retain(|(known, _)| *known != key);
        let storage = Storage::open();
        // A storage that is blocked accepts everything and returns nothing.
        if !storage.set(&key, Some(&text)) || storage.get(&key).as_deref() != Some(&*text) {
            memory.push((key, text));
        }
    }

    fn key(&self, name: &str) -> String {
        let customer = if self.customer_id.is_empty() { "" } else { "@" };
        let person = self.person.borrow();
        let (verified, person) = person.as_ref().map_or(("", ""), |person| (VERIFIED, person.as_str()));
        [keys::PREFIX, name, customer, &self.customer_id, verified, person].concat()
    }
}

impl Debug for Identity {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.debug_struct("Identity").field("customer_id", &self.customer_id).finish_non_exhaustive()
    }
}

/// Returns a new idempotency key for a request of this kind.
pub(super) fn new_key(kind: &str, visitor_id: &VisitorId) -> IdempotencyKey {
    // Every character of a valid id has one byte.
    let visitor = visitor_id.as_str().get(..MAX_ID_IN_KEY).unwrap_or(visitor_id.as_str());
    let key = [kind, "-", visitor, "-", &uuid(clock::seed())].concat();
    IdempotencyKey::new(key).expect("a kind, an id and a UUID are visible ASCII within the limit")
}

/// Returns a UUID of version 4 from 128 random bits.
fn uuid(random: u128) -> String {
    let version = 0x4 << 76;
    let variant = 0x8 << 60;
    let bits = (random & !(0xf << 76) & !(0xc << 60)) | version | variant;
    let hex = format!("{bits:032x}");
    [&hex[..8], "-", &hex[8..12], "-", &hex[12..16], "-", &hex[16..20], "-", &hex[20..]].concat()
}

#[cfg(test)]
mod tests {
    use super::uuid;

    #[test]
    fn a_uuid_has_version_4_and_keeps_the_other_bits() {
        assert_eq!(uuid(0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid(u128::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }
}
