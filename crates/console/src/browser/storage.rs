//! `localStorage`, as JSON below the prefix `console.`. Without storage, nothing is kept and nothing fails.

use serde::Serialize;
use serde::de::DeserializeOwned;
use web_sys::Storage;

const PREFIX: &str = "console.";

fn storage() -> Option<Storage> {
    super::window().local_storage().ok().flatten()
}

/// Returns the name that a key has in storage.
pub fn name(key: &str) -> String {
    format!("{PREFIX}{key}")
}

/// Returns the value of a key; `None` for a missing or an unreadable one.
pub fn read<T: DeserializeOwned>(key: &str) -> Option<T> {
    let text = storage()?.get_item(&name(key)).ok()??;
    serde_json::from_str(&text).ok()
}

/// Stores a value. Returns whether it is stored.
pub fn write<T: Serialize>(key: &str, value: &T) -> bool {
    let Some((storage, text)) = storage().zip(serde_json::to_string(value).ok()) else { return false };
    storage.set_item(&name(key), &text).is_ok()
}

/// Returns the key of an entry of this console, as a `storage` event names it, without the prefix.
pub fn own_key(name: &str) -> Option<&str> {
    name.strip_prefix(PREFIX)
}

/// Removes a key.
pub fn remove(key: &str) {
    if let Some(storage) = storage() {
        _ = storage.remove_item(&name(key));
    }
}

/// Returns the stored keys that begin with a prefix, without `console.`.
pub fn keys(prefix: &str) -> Vec<String> {
    let Some(storage) = storage() else { return Vec::new() };
    let all = (0..storage.length().unwrap_or_default()).filter_map(|index| storage.key(index).ok().flatten());
    let own = all.filter_map(|key| key.strip_prefix(PREFIX).map(str::to_owned));
    own.filter(|key| key.starts_with(prefix)).collect()
}
