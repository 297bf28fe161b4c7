//! The browser's storage: the keys, and lenient readers of values.

use chat_protocol::{Value, VisitorId};

use crate::random::Random;

/// The keys in the browser's storage.
///
/// Each value is an object with its version as `v`. Values of other versions are read as far as their fields
/// are known. Values that cannot be read are ignored.
pub mod keys {
    /// The prefix of every key. One of the names below follows. Then come, except for [`CONFIG`], which
    /// everybody shares, `@` and the `customerId`, if there is one, and [`VERIFIED`](super::VERIFIED) and the
    /// id of a visitor whom the site proves.
    pub const PREFIX: &str = "chat-widget:";
    /// `visitorId`; and `isNew` in the value of a companion that storage has refused, which is not stored.
    pub const VISITOR: &str = "visitor";
    /// The snapshot of the conversation that the leader publishes.
    pub const CONVERSATION: &str = "conversation";
    /// `sequence` of the last message that the visitor has seen.
    pub const SEEN: &str = "seen";
    /// Contact details that the visitor entered: `name`, `email`, `phone`.
    pub const CONTACT: &str = "contact";
    /// `data` of the last chat config, which the loader reads as well.
    pub const CONFIG: &str = "config";
    /// `offUntil`: the time until which tracking is disabled.
    pub const TRACKING: &str = "tracking";
    /// The prefix of the name of each pending message.
    pub const OUTBOX: &str = "outbox:";
    /// The prefix of the name of each event that is not in a batch yet.
    pub const EVENT: &str = "event:";
    /// The prefix of the name of each batch that is not delivered yet.
    pub const BATCH: &str = "batch:";
}

/// The prefix of a verified visitor's id in storage keys. The values under these keys are removed when the
/// visitor signs out.
pub const VERIFIED: &str = "@verified:";

/// The version of stored values.
pub const VERSION: i64 = 2;

/// The contents of storage under the widget's keys: each key with its parsed text, null if that is not JSON.
pub type Stored = Vec<(String, Value)>;

/// Returns the suffix of one customer's keys.
pub(crate) fn suffix(customer_id: Option<&str>) -> String {
    customer_id.filter(|id| !id.is_empty()).map(|id| ["@", id].concat()).unwrap_or_default()
}

/// Returns the suffix of a verified visitor's storage keys; `None` is the visitor who is not signed in.
pub(crate) fn suffix_of_person(customer_suffix: &str, person: Option<&str>) -> String {
    let Some(person) = person else { return customer_suffix.to_owned() };
    [customer_suffix, VERIFIED, person].concat()
}

/// Returns the values under a suffix, by name.
pub(crate) fn of_customer(stored: Stored, suffix: &str) -> Stored {
    let mut own = Vec::new();
    for (key, value) in stored {
        let name = key.strip_prefix(keys::PREFIX).and_then(|name| name.strip_suffix(suffix));
        // No name has an `@`: with one in it, the key is that of a customer whose id ends in the same way.
        if let Some(name) = name.filter(|name| name.bytes().all(|byte| byte != b'@')) {
            own.push((name.to_owned(), value));
        }
    }
    own
}

/// Returns the values of verified visitors, by their keys.
pub(crate) fn of_persons(stored: &Stored) -> Stored {
    let mut found = Vec::new();
    for (key, value) in stored {
        // `contains` would add the code of a search in two ways.
        if key.as_bytes().windows(VERIFIED.len()).any(|part| part == VERIFIED.as_bytes()) {
            found.push((key.clone(), value.clone()));
        }
    }
    found
}

/// Takes out the value of a name; null if there is none.
pub(crate) fn take(stored: &mut Stored, name: &str) -> Value {
    let found = stored.iter().position(|(known, _)| known == name);
    found.map(|index| stored.swap_remove(index).1).unwrap_or_default()
}

/// Returns a time or a count in an object, zero if there is none.
pub(crate) fn number(value: &Value, field: &str) -> u64 {
    value.get(field).map_or(0, as_number)
}

/// Returns a value as a time or a count, zero if it is none.
pub(crate) fn as_number(value: &Value) -> u64 {
    match value {
        Value::Integer(number) => u64::try_from(*number).unwrap_or(0),
        _ => 0,
    }
}

/// Takes a member out of an object; null if there is none.
pub(crate) fn take_member(value: &mut Value, name: &str) -> Value {
    let Value::Object(members) = value else { return Value::Null };
    let found = members.iter_mut().find(|(key, _)| key == name);
    found.map(|(_, member)| std::mem::take(member)).unwrap_or_default()
}

/// Returns a time or a count as a value.
pub(crate) fn to_value(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

/// Returns the stored id of the visitor. An id that is too long, or that no header can carry, is ignored.
pub fn visitor(value: &Value) -> Option<VisitorId> {
    let id = value.get("visitorId")?.as_text()?;
    let usable = (8..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    usable.then(|| id.into())
}

pub(crate) fn new_visitor(random: &mut Random) -> VisitorId {
    random.uuid().as_str().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// Returns whether a text has the pattern of a UUID of version 4, as in the shared table.
    fn is_uuid(id: &str) -> bool {
        let shape: String = id.chars().map(|digit| if digit == '-' { '-' } else { 'x' }).collect();
        let is_hex = id.chars().all(|digit| digit == '-' || matches!(digit, '0'..='9' | 'a'..='f'));
        let variant = matches!(id.as_bytes().get(19), Some(b'8' | b'9' | b'a' | b'b'));
        is_hex && variant && shape == "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" && id.as_bytes()[14] == b'4'
    }

    #[test]
    fn a_new_visitor_has_a_uuid_of_all_bits_of_the_seed() {
        let id = |seed| new_visitor(&mut Random::new(seed)).to_string();
        for seed in [0, 1, 1 << 64, u128::MAX] {
            assert!(is_uuid(&id(seed)), "{}", id(seed));
        }
        assert_ne!(id(1), id(1 | 1 << 100), "the upper half of the seed counts");
        let mut random = Random::new(7);
        assert_ne!(new_visitor(&mut random), new_visitor(&mut random));
    }

    #[test]
    fn storage_keys_match_the_shared_table_of_all_clients() {
        let table = &crate::clients_table()["storage"];
        assert_eq!(table["version"].as_i64(), Some(VERSION));
        for key in table["keys"].as_array().expect("keys") {
            let name = key["name"].as_str().expect("a name");
            let own = [keys::VISITOR, keys::CONVERSATION, keys::CONFIG];
            assert!(own.contains(&name), "{name}");
            assert_eq!(key["key"].as_str(), Some(&*[keys::PREFIX, name].concat()));
            // The config is the same for all customers.
            let ann = if name == keys::CONFIG { String::new() } else { suffix(Some("ann")) };
            assert_eq!(key["customerKey"].as_str(), Some(&*[keys::PREFIX, name, &ann].concat()));
        }
        let ids = |name: &str| table["visitorId"][name].as_array().expect("ids").clone();
        for (id, is_kept) in
            ids("kept").iter().map(|id| (id, true)).chain(ids("replaced").iter().map(|id| (id, false)))
        {
            let value = Value::object([("visitorId", id.as_str().expect("an id").into())]);
            assert_eq!(visitor(&value).is_some(), is_kept, "{id}");
        }
    }

    #[test]
    fn a_visitor_id_is_read_back() {
        let id = new_visitor(&mut Random::new(1));
        assert_eq!(visitor(&json(&format!(r#"{{"v":9,"visitorId":"{id}"}}"#))), Some(id));
    }

    #[test]
    fn ignores_an_unusable_stored_visitor_id() {
        let long = format!(r#"{{"visitorId":"{}"}}"#, "v".repeat(129));
        for text in
            ["", "null", "7", "[]", "{}", r#"{"visitorId":7}"#, r#"{"visitorId":"a\nb c\td e f"}"#, &long]
        {
            assert_eq!(visitor(&json(text)), None, "{text}");
        }
    }

    #[test]
    fn each_customer_has_keys_of_its_own() {
        let stored: Stored =
            ["chat-widget:visitor", "chat-widget:visitor@ann", "chat-widget:seen@ann", "visitor"]
                .into_iter()
                .map(|key| (key.to_owned(), key.into()))
                .collect();
        let names = |customer| {
            let mut found = of_customer(stored.clone(), &suffix(customer));
            (take(&mut found, keys::VISITOR).as_text().map(str::to_owned), found.len())
        };
        assert_eq!(names(None), (Some("chat-widget:visitor".into()), 0));
        assert_eq!(names(Some("ann")), (Some("chat-widget:visitor@ann".into()), 1));
        assert_eq!(names(Some("an")), (None, 0));
        assert_eq!(names(Some("")), names(None), "an empty id is ignored");
    }

    #[test]
    fn an_unusable_number_is_zero() {
        assert_eq!(number(&json(r#"{"n":7}"#), "n"), 7);
        for text in [r#"{"n":-7}"#, r#"{"n":"7"}"#, r#"{"n":7.5}"#, "{}", "null"] {
            assert_eq!(number(&json(text), "n"), 0, "{text}");
        }
        assert_eq!(to_value(u64::MAX), Value::Integer(i64::MAX));
    }
}
