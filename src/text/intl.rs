//! The browser's `Intl`.

use js_sys::{Array, Function, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

/// An object of `Intl`, or undefined where the browser has none.
pub struct Intl(JsValue);

impl Intl {
    /// An object of this class and locale; a locale that the browser does not take is left to the browser's own.
    pub fn new(class: &str, locale: &str, options: &[(&str, &str)]) -> Self {
        let made = make(class, &locale.into(), options);
        Self(made.or_else(|_| make(class, &JsValue::UNDEFINED, options)).unwrap_or_default())
    }

    /// What a method says of a value; empty when the browser refuses.
    pub fn call(&self, method: &str, value: &JsValue) -> String {
        let method = Reflect::get(&self.0, &method.into()).and_then(JsCast::dyn_into::<Function>);
        let said = method.and_then(|method| method.call1(&self.0, value));
        said.ok().and_then(|text| text.as_string()).unwrap_or_default()
    }
}

/// By reflection, because a malformed locale throws.
fn make(class: &str, locale: &JsValue, options: &[(&str, &str)]) -> Result<JsValue, JsValue> {
    let object = Object::new();
    for (name, value) in options {
        Reflect::set(&object, &(*name).into(), &(*value).into())?;
    }
    let intl = Reflect::get(&js_sys::global(), &"Intl".into())?;
    let class: Function = Reflect::get(&intl, &class.into())?.dyn_into()?;
    Reflect::construct(&class, &Array::of2(locale, &object))
}
