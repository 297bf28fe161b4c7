//! Copying text to the visitor's clipboard.

use js_sys::Function;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::Event;

#[wasm_bindgen]
extern "C" {
    type Written;

    /// Throws on a page without `https`, which has no clipboard.
    #[wasm_bindgen(catch, js_namespace = ["navigator", "clipboard"], js_name = writeText)]
    fn write_text(text: &str) -> Result<Written, JsValue>;

    #[wasm_bindgen(method)]
    fn then(this: &Written, written: &Function, refused: &Function);
}

/// Copies a text, and calls `done` when that was allowed. A browser that refuses leaves it to the visitor.
pub fn write(text: &str, done: impl Fn() + 'static) {
    if let Ok(written) = write_text(text) {
        // The argument is declared as an event to share the closure type of the interface's handlers.
        let settled = Closure::<dyn FnMut(Event)>::new(move |outcome: Event| {
            if outcome.is_undefined() {
                done();
            }
        });
        let settled = settled.into_js_value().unchecked_into();
        written.then(&settled, &settled);
    }
}
