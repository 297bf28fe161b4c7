//! The browser's history.

use wasm_bindgen::JsValue;

/// Adds an entry with an address.
pub fn push(address: &str) {
    if let Ok(history) = super::window().history() {
        _ = history.push_state_with_url(&JsValue::NULL, "", Some(address));
    }
}

/// Replaces the address of the present entry.
pub fn replace(address: &str) {
    if let Ok(history) = super::window().history() {
        _ = history.replace_state_with_url(&JsValue::NULL, "", Some(address));
    }
}
