//! What holds while the window is open: on a small screen it is all there is, above the keyboard.

use wasm_bindgen::JsCast;
use web_sys::{EventTarget, HtmlElement, Window};

use super::Ui;
use crate::browser::listener::Listener;
use crate::browser::{document, window};

/// As in `styles/modes.css`.
const FULL_SCREEN: &str = "(width < 480px), (height < 480px)";

/// Follows the screen until it is dropped.
#[derive(Default)]
pub(crate) struct Screen {
    listeners: Vec<Listener>,
    /// The page's own `overflow`, while the page behind the window does not scroll.
    overflow: Option<String>,
}

impl Screen {
    pub(crate) fn of(ui: &Ui) -> Self {
        let window = window();
        let mut targets: Vec<(EventTarget, &'static str)> = vec![(window.clone().into(), "resize")];
        if let Some(viewport) = window.visual_viewport() {
            targets.push((viewport.clone().into(), "resize"));
            targets.push((viewport.into(), "scroll"));
        }
        let mut screen = Self::default();
        for (target, kind) in targets {
            let ui = ui.clone();
            screen.listeners.push(Listener::new(&target, kind, move |_| {
                if let Some(screen) = &mut *ui.state().screen.borrow_mut() {
                    screen.follow(&ui);
                }
                ui.notify();
            }));
        }
        screen.follow(ui);
        screen
    }

    fn follow(&mut self, ui: &Ui) {
        let window = window();
        let full = !ui.settings().inline
            && window.match_media(FULL_SCREEN).ok().flatten().is_some_and(|query| query.matches());
        ui.state().full.set(full);
        self.hold_page(full);
        if let Some(frame) = &*ui.state().frame.borrow() {
            fit(frame, &window, full);
        }
        ui.stay_at_end();
    }

    /// The page behind a window that takes the whole screen does not scroll.
    fn hold_page(&mut self, hold: bool) {
        let Some(root) = document().document_element() else { return };
        let style = root.unchecked_into::<HtmlElement>().style();
        if hold && self.overflow.is_none() {
            self.overflow = Some(style.get_property_value("overflow").unwrap_or_default());
            _ = style.set_property("overflow", "hidden");
        } else if !hold && let Some(overflow) = self.overflow.take() {
            _ = style.set_property("overflow", &overflow);
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.hold_page(false);
    }
}

/// The keyboard makes what can be seen smaller, and not the page: the window keeps to what can be seen.
fn fit(frame: &HtmlElement, window: &Window, full: bool) {
    let style = frame.style();
    if let Some(viewport) = window.visual_viewport().filter(|_| full) {
        _ = style.set_property("--cw-screen-height", &pixels(viewport.height()));
        _ = style.set_property("--cw-screen-top", &pixels(viewport.offset_top()));
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a length on a screen")]
fn pixels(length: f64) -> String {
    format!("{}px", length as i32)
}
