//! The layout of an open window: on a small screen it takes the whole screen above the keyboard.

use web_sys::HtmlElement;

use super::Ui;
use super::dom::pixels;
use crate::browser::listener::Listener;
use crate::browser::viewport::{self, ScrollLock};

/// The media query of `styles/modes.css`.
const FULL_SCREEN: &str = "(width < 480px), (height < 480px)";

/// Returns whether the window takes the whole screen.
pub(crate) fn is_small() -> bool {
    viewport::matches(FULL_SCREEN)
}

/// Adapts the window to the screen until it is dropped.
pub(crate) struct Screen {
    _listeners: Vec<Listener>,
    /// Keeps the page behind a full-screen window from scrolling.
    lock: Option<ScrollLock>,
}

impl Screen {
    /// Starts with the current screen.
    pub(crate) fn new(ui: &Ui) -> Self {
        let context = ui.clone();
        let listeners = viewport::follow(move || {
            context.apply_screen();
            context.notify();
        });
        let mut screen = Self { _listeners: listeners, lock: None };
        screen.apply(ui);
        screen
    }

    /// Applies the current size of the screen.
    pub(crate) fn apply(&mut self, ui: &Ui) {
        let full = !ui.settings().inline && is_small();
        ui.state().full_screen.set(full);
        if !full {
            self.lock = None;
        } else if self.lock.is_none() {
            self.lock = ScrollLock::new();
        }
        if let Some(frame) = &*ui.state().frame.borrow()
            && full
        {
            fit(frame);
        }
    }
}

/// Fits the window to the visual viewport, which the keyboard makes smaller. The layout viewport stays as it
/// is.
fn fit(frame: &HtmlElement) {
    let style = frame.style();
    if let Some((top, height)) = viewport::seen() {
        _ = style.set_property("--cw-screen-height", &pixels(height));
        _ = style.set_property("--cw-screen-top", &pixels(top));
    }
}
