//! Option bags for the browser's functions.

use std::ops::Deref;

use js_sys::{Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

/// An object that inherits nothing. The browser reads inherited members of an option bag like its own, and a
/// page may have put some on `Object.prototype`.
pub struct Dictionary(JsValue);

impl Dictionary {
    /// Creates an object without members.
    pub fn new() -> Self {
        let object: Object = Object::create(JsValue::NULL.unchecked_ref());
        Self(object.into())
    }

    /// Sets a member that is text.
    pub fn set(&self, name: &str, text: &str) {
        self.set_value(name, &text.into());
    }

    /// Sets a member.
    pub fn set_value(&self, name: &str, value: &JsValue) {
        // Fails only for a value that is not an object.
        _ = Reflect::set(&self.0, &name.into(), value);
    }
}

impl Deref for Dictionary {
    type Target = JsValue;

    fn deref(&self) -> &JsValue {
        &self.0
    }
}
