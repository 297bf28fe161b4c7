//! Constructed style sheets: the one way to style a shadow root that a strict `style-src` lets through.

use js_sys::{Array, Reflect};
use wasm_bindgen::JsValue;
use web_sys::{CssStyleSheet, ShadowRoot};

/// Gives the root sheets of these texts, in this order, in place of those that it had.
pub fn replace(root: &ShadowRoot, texts: &[&str]) -> Result<(), JsValue> {
    let sheets = Array::new();
    for text in texts {
        let sheet = CssStyleSheet::new()?;
        sheet.replace_sync(text)?;
        sheets.push(&sheet);
    }
    Reflect::set(root, &"adoptedStyleSheets".into(), &sheets)?;
    Ok(())
}
