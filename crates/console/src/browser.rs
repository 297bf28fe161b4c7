//! Wrappers of Web APIs, one file for each.

pub mod clipboard;
pub mod clock;
pub mod deadline;
pub mod event_source;
pub mod history;
pub mod listener;
pub mod notification;
pub mod push;
pub mod resize;
pub mod scheme;
pub mod sound;
pub mod storage;
pub mod viewport;
pub mod visibility;

use web_sys::{Document, Element, HtmlElement, KeyboardEvent, Window};

/// Returns the window.
#[expect(clippy::expect_used, reason = "the console runs in a window")]
pub fn window() -> Window {
    web_sys::window().expect("a window")
}

/// Returns the document.
#[expect(clippy::expect_used, reason = "a window has a document")]
pub fn document() -> Document {
    window().document().expect("a document")
}

/// Returns the element with an id.
pub fn by_id(id: &str) -> Option<Element> {
    document().get_element_by_id(id)
}

/// Moves the focus to the element with an id.
pub fn focus(id: &str) {
    use wasm_bindgen::JsCast;
    if let Some(element) = by_id(id).and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        _ = element.focus();
    }
}

/// Scrolls until an element is in view, and no further.
pub fn reveal(element: &Element) {
    let options = web_sys::ScrollIntoViewOptions::new();
    options.set_block(web_sys::ScrollLogicalPosition::Nearest);
    options.set_inline(web_sys::ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&options);
}

/// Scrolls the element with an id to the top, and moves the focus there.
pub fn show(id: &str) {
    if let Some(element) = by_id(id) {
        element.scroll_into_view();
        focus(id);
    }
}

/// Returns the languages that the operator prefers, as BCP 47 tags.
pub fn languages() -> Vec<String> {
    window().navigator().languages().iter().filter_map(|tag| tag.as_string()).collect()
}

/// Returns a random id, such as an idempotency key.
pub fn random_id() -> String {
    window().crypto().map(|crypto| crypto.random_uuid()).unwrap_or_default()
}

/// Returns whether a key belongs to an input method that is composing text. In Safari, the Enter that ends a
/// composition comes after its end, and only its code tells.
pub fn is_composing(event: &KeyboardEvent) -> bool {
    const PROCESSED_BY_INPUT_METHOD: u32 = 229;
    event.is_composing() || event.key_code() == PROCESSED_BY_INPUT_METHOD
}

/// Returns whether the media query matches.
pub fn matches_media(query: &str) -> bool {
    window().match_media(query).ok().flatten().is_some_and(|list| list.matches())
}
