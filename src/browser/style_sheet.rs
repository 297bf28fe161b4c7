//! Constructed style sheets, which a strict `style-src` allows: for a shadow root, or for the page.

use js_sys::{Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{CssStyleSheet, ShadowRoot};

/// The member of a shadow root or a document that holds its constructed sheets.
const ADOPTED: &str = "adoptedStyleSheets";

/// Replaces the sheets of a shadow root by sheets of these texts.
pub fn replace(root: &ShadowRoot, texts: &[&str]) -> Result<(), JsValue> {
    let sheets = sheets_of(texts)?;
    Reflect::set(root, &ADOPTED.into(), &sheets)?;
    Ok(())
}

fn sheets_of(texts: &[&str]) -> Result<Array, JsValue> {
    let sheets = Array::new();
    for text in texts {
        let sheet = CssStyleSheet::new()?;
        sheet.replace_sync(text)?;
        sheets.push(&sheet);
    }
    Ok(sheets)
}

/// Sheets of the page, for a widget without a shadow root. Dropping them takes them off the page.
pub struct PageSheets(Array);

/// The attribute of a host element that [`PageSheets`] style.
pub const PAGE_HOST: &str = "data-chat-widget";

impl PageSheets {
    /// Adds sheets of these texts to the page, whose rules for `:host` apply to elements with [`PAGE_HOST`].
    pub fn new(texts: &[&str]) -> Result<Self, JsValue> {
        let texts: Vec<String> = texts.iter().map(|text| for_page(text)).collect();
        let sheets = sheets_of(&texts.iter().map(String::as_str).collect::<Vec<_>>())?;
        let document = super::document();
        let adopted = Array::from(&Reflect::get(&document, &ADOPTED.into())?);
        Reflect::set(&document, &ADOPTED.into(), &adopted.concat(&sheets))?;
        Ok(Self(sheets))
    }
}

impl Drop for PageSheets {
    fn drop(&mut self) {
        let document = super::document();
        let Ok(adopted) = Reflect::get(&document, &ADOPTED.into()) else { return };
        let is_other = |sheet: &JsValue| !self.0.includes(sheet, 0);
        let others: Array = Array::from(&adopted).iter().filter(is_other).collect();
        // Fails only for a document that is frozen.
        _ = Reflect::set(document.unchecked_ref(), &ADOPTED.into(), &others);
    }
}

/// Returns a sheet with `[data-chat-widget]` for `:host`, and `[data-chat-widget].open` for `:host(.open)`.
fn for_page(sheet: &str) -> String {
    let mut parts = sheet.split(":host");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text += "[";
        text += PAGE_HOST;
        text += "]";
        match part.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
            Some((selector, rest)) => {
                text += selector;
                text += rest;
            }
            None => text += part,
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::for_page;

    #[test]
    fn rules_for_the_host_apply_to_the_host_element_of_the_page() {
        assert_eq!(
            for_page(":host{a:b}:host(.c) d{e:f}"),
            "[data-chat-widget]{a:b}[data-chat-widget].c d{e:f}"
        );
        assert_eq!(for_page("p{a:b}"), "p{a:b}");
    }
}
