//! The browser's `Intl`.

use std::cell::OnceCell;

use js_sys::{Array, Function, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use crate::browser::dictionary::Dictionary;

/// An object of `Intl`, or undefined in a browser without it. It is created on first use, because that takes
/// milliseconds.
pub struct Intl {
    class: &'static str,
    locale: String,
    options: Options,
    object: OnceCell<JsValue>,
}

type Options = &'static [(&'static str, &'static str)];

impl Intl {
    /// Creates an object of this class and locale. The browser's own locale replaces one that it does not
    /// accept.
    pub fn new(class: &'static str, locale: &str, options: Options) -> Self {
        Self { class, locale: locale.to_owned(), options, object: OnceCell::new() }
    }

    /// Returns the result of a method for a value; empty if the browser throws.
    pub fn call(&self, method: &str, value: &JsValue) -> String {
        let object = self.object.get_or_init(|| {
            let created = self.create(&self.locale.as_str().into());
            created.or_else(|_| self.create(&JsValue::UNDEFINED)).unwrap_or_default()
        });
        let method = Reflect::get(object, &method.into()).and_then(JsCast::dyn_into::<Function>);
        let result = method.and_then(|method| method.call1(object, value));
        result.ok().and_then(|text| text.as_string()).unwrap_or_default()
    }

    /// Creates the object by reflection, because a malformed locale throws.
    fn create(&self, locale: &JsValue) -> Result<JsValue, JsValue> {
        let options = Dictionary::new();
        for (name, value) in self.options {
            options.set(name, value);
        }
        let intl = Reflect::get(&js_sys::global(), &"Intl".into())?;
        let class: Function = Reflect::get(&intl, &self.class.into())?.dyn_into()?;
        Reflect::construct(&class, &Array::of2(locale, &options))
    }
}
