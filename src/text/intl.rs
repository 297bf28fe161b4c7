//! The browser's `Intl`.

use std::cell::OnceCell;

use js_sys::{Array, Function, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use crate::browser::dictionary::Dictionary;

/// An object of `Intl`, or undefined where the browser has none. It is made when it is first asked: that takes milliseconds.
pub struct Intl {
    class: &'static str,
    locale: String,
    options: Options,
    made: OnceCell<JsValue>,
}

type Options = &'static [(&'static str, &'static str)];

impl Intl {
    /// An object of this class and locale; a locale that the browser does not take is left to the browser's own.
    pub fn new(class: &'static str, locale: &str, options: Options) -> Self {
        Self { class, locale: locale.to_owned(), options, made: OnceCell::new() }
    }

    /// What a method says of a value; empty when the browser refuses.
    pub fn call(&self, method: &str, value: &JsValue) -> String {
        let object = self.made.get_or_init(|| {
            let made = self.make(&self.locale.as_str().into());
            made.or_else(|_| self.make(&JsValue::UNDEFINED)).unwrap_or_default()
        });
        let method = Reflect::get(object, &method.into()).and_then(JsCast::dyn_into::<Function>);
        let said = method.and_then(|method| method.call1(object, value));
        said.ok().and_then(|text| text.as_string()).unwrap_or_default()
    }

    /// By reflection, because a malformed locale throws.
    fn make(&self, locale: &JsValue) -> Result<JsValue, JsValue> {
        let options = Dictionary::new();
        for (name, value) in self.options {
            options.set(name, value);
        }
        let intl = Reflect::get(&js_sys::global(), &"Intl".into())?;
        let class: Function = Reflect::get(&intl, &self.class.into())?.dyn_into()?;
        Reflect::construct(&class, &Array::of2(locale, &options))
    }
}
