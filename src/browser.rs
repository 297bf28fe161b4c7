//! Wrappers of Web APIs, one file each. Listeners stop when they are dropped.

pub mod channel;
pub mod clipboard;
pub mod clock;
pub mod connectivity;
pub mod dictionary;
pub mod idle;
pub mod listener;
pub mod navigation;
pub mod page;
pub mod storage;
pub mod style_sheet;
pub mod viewport;
pub mod visibility;

use web_sys::{Document, Window};

/// Returns the window. Without one, there is no page to put a widget on.
pub fn window() -> Window {
    web_sys::window().expect("a window")
}

/// Returns the window's document.
pub fn document() -> Document {
    window().document().expect("a document")
}
