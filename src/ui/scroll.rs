//! The scroll position of the log: the newest message is in view, and a new reply from its beginning.

use chat_protocol::Role;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use super::Ui;
use crate::browser::viewport;

/// Maximum distance from its end at which the log follows new messages. Pixels.
pub(super) const PINNED_THRESHOLD: i32 = 48;
/// The part of the gap above a message that is scrolled out of sight. Pixels.
const GAP: i32 = 8;

impl Ui {
    /// Scrolls to the newest message in the next frame, unless the visitor has scrolled away from it.
    pub(super) fn keep_in_view(&self) {
        if self.state().pinned.get()
            && let Some(log) = self.state().log.borrow().clone()
        {
            let ui = self.clone();
            leptos::prelude::request_animation_frame(move || ui.scroll_to_newest(&log));
        }
    }

    /// Scrolls to the end of the log, or to the beginning of the newest reply if it does not fit.
    fn scroll_to_newest(&self, log: &Element) {
        let state = self.state();
        // The visitor may have scrolled in the meantime.
        if !state.pinned.get() {
            return;
        }
        let end = log.scroll_height() - log.client_height();
        let top = self.top_of_newest(log).unwrap_or(end).min(end);
        log.set_scroll_top(top);
        state.scroll_top.set(log.scroll_top());
        state.scroll_sizes.set(sizes(log));
        self.set_cut_off(end - top > PINNED_THRESHOLD);
    }

    /// Records whether the end of the log is out of sight, which shows the button to it.
    fn set_cut_off(&self, cut_off: bool) {
        if self.state().cut_off.replace(cut_off) != cut_off {
            self.notify();
        }
    }

    /// Returns the position of the newest reply, with the question above it if there is room. Before the
    /// first message, it is that of the welcome.
    fn top_of_newest(&self, log: &Element) -> Option<i32> {
        let place = |name: &str, index: u32| {
            let found = log.get_elements_by_class_name(name).item(index);
            found.map(JsCast::unchecked_into::<HtmlElement>)
        };
        let rows = self.driver().rows();
        let rows = rows.range(self.state().range.get());
        let element = if self.driver().rows().is_empty() {
            // A clicked greeting comes after the welcome.
            let count = log.get_elements_by_class_name("cw-message").length();
            place("cw-message", count.wrapping_sub(1))?
        } else {
            let key = self.state().anchor.get()?;
            let index = rows.iter().position(|row| row.key.get() == key)?;
            let answer = place("cw-row", u32::try_from(index).ok()?)?;
            let asked = rows.get(index.wrapping_sub(1)).is_some_and(|row| row.author == Role::Visitor);
            let question = u32::try_from(index).ok()?.checked_sub(1).filter(|_| asked);
            let question = question.and_then(|before| place("cw-row", before));
            // A long question would take the room of the reply.
            question.filter(|row| row.offset_height() < log.client_height() / 3).unwrap_or(answer)
        };
        Some(element.offset_top() + GAP)
    }

    /// Handles that the log was scrolled, by the visitor or by a change of the layout. Returns whether it
    /// still follows new messages. `at_end` says whether the newest message is rendered.
    pub(super) fn scrolled(&self, log: &Element, at_end: bool) -> bool {
        let state = self.state();
        let (above, sizes) = (log.scroll_top(), sizes(log));
        let below = sizes.0 - above - sizes.1;
        let is_laid_out_anew = state.scroll_sizes.replace(sizes) != sizes;
        let before = state.scroll_top.replace(above);
        if above < before && is_laid_out_anew {
            // The browser scrolled by itself, because the content became smaller.
            self.keep_in_view();
        }
        // A visitor who reads on in a long reply is not moved either.
        let is_read = above < before || (state.cut_off.get() && above != before);
        let is_at_end = below <= PINNED_THRESHOLD && at_end;
        self.set_cut_off(!is_at_end);
        is_at_end || (state.pinned.get() && (!is_read || is_laid_out_anew))
    }
}

/// Returns the heights of the log's content and of its visible part. Pixels.
fn sizes(log: &Element) -> (i32, i32) {
    (log.scroll_height(), log.client_height())
}

/// Keeps the newest message in view when the log is resized or shown again.
pub(super) fn follow_size(ui: &Ui, log: &Element) {
    let ui = ui.clone();
    viewport::when_resized(log, move || ui.keep_in_view());
}
