//! The browser's own things, one file each. All that listens stops when it is dropped.

pub mod channel;
pub mod clipboard;
pub mod clock;
pub mod connectivity;
pub mod dictionary;
pub mod listener;
pub mod navigation;
pub mod page;
pub mod storage;
pub mod style_sheet;
pub mod viewport;
pub mod visibility;

use web_sys::{Document, Window};

/// The window. Where there is none there is no page to put a widget on.
pub fn window() -> Window {
    web_sys::window().expect("a window")
}

/// The window's document.
pub fn document() -> Document {
    window().document().expect("a document")
}
