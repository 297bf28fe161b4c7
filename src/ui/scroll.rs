//! Where the log is scrolled to: what was said last is in view, and a new answer from its beginning.

use chat_protocol::Role;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use super::Ui;
use crate::browser::viewport;

/// Maximum distance from its end at which the log follows what comes in. Pixels.
pub(super) const PINNED_WITHIN: i32 = 48;
/// The part of the gap above a message that stays out of sight when it is scrolled to. Pixels.
const GAP: i32 = 8;

impl Ui {
    /// Scrolls to what was said last, if the visitor has not scrolled away from it, once what has changed is laid out.
    pub(super) fn keep_in_view(&self) {
        if self.state().pinned.get()
            && let Some(log) = self.state().log.borrow().clone()
        {
            let ui = self.clone();
            leptos::prelude::request_animation_frame(move || ui.scroll_to_newest(&log));
        }
    }

    /// Scrolls to the end of the log, or to the beginning of the newest answer if not all that follows fits.
    fn scroll_to_newest(&self, log: &Element) {
        let state = self.state();
        // The visitor may have gone back in the meantime.
        if !state.pinned.get() {
            return;
        }
        let end = log.scroll_height() - log.client_height();
        let top = self.top_of_newest(log).unwrap_or(end).min(end);
        log.set_scroll_top(top);
        state.scroll_top.set(log.scroll_top());
        state.scroll_sizes.set(sizes(log));
        self.set_cut_off(end - top > PINNED_WITHIN);
    }

    /// The end of the log is out of sight, or can be seen: the way there is shown, or not.
    fn set_cut_off(&self, cut_off: bool) {
        if self.state().cut_off.replace(cut_off) != cut_off {
            self.notify();
        }
    }

    /// Returns where the newest answer begins: with the question above it, when that leaves room. Before anything was
    /// said, it is the welcome.
    fn top_of_newest(&self, log: &Element) -> Option<i32> {
        let place = |name: &str, index: u32| {
            let found = log.get_elements_by_class_name(name).item(index);
            found.map(JsCast::unchecked_into::<HtmlElement>)
        };
        let rows = self.driver().rows();
        let (from, to) = self.state().range.get();
        let element = if rows.is_empty() {
            // The greeting, if it was clicked, comes after the welcome.
            let count = log.get_elements_by_class_name("cw-message").length();
            place("cw-message", count.wrapping_sub(1))?
        } else {
            let key = self.state().anchor.get()?;
            let index = rows.iter().take(to).skip(from).position(|row| row.key.get() == key)?;
            let answer = place("cw-row", u32::try_from(index).ok()?)?;
            let asked =
                rows.get((from + index).wrapping_sub(1)).is_some_and(|row| row.author == Role::Visitor);
            let question = u32::try_from(index).ok()?.checked_sub(1).filter(|_| asked);
            let question = question.and_then(|before| place("cw-row", before));
            // A long question leaves the room to the answer.
            question.filter(|row| row.offset_height() < log.client_height() / 3).unwrap_or(answer)
        };
        Some(element.offset_top() + GAP)
    }

    /// Takes in that the log was scrolled, by the visitor or by a change of the layout. Returns whether it still follows
    /// what comes in; `at_end` is whether the newest message is on the page.
    pub(super) fn scrolled(&self, log: &Element, at_end: bool) -> bool {
        let state = self.state();
        let (above, sizes) = (log.scroll_top(), sizes(log));
        let below = sizes.0 - above - sizes.1;
        let is_laid_out_anew = state.scroll_sizes.replace(sizes) != sizes;
        let before = state.scroll_top.replace(above);
        if above < before && is_laid_out_anew {
            // A browser scrolls by itself where there is less to be scrolled: the visitor did not.
            self.keep_in_view();
        }
        // Nor is a visitor moved who reads on in a long answer.
        let is_read = above < before || (state.cut_off.get() && above != before);
        let is_at_end = below <= PINNED_WITHIN && at_end;
        self.set_cut_off(!is_at_end);
        is_at_end || (state.pinned.get() && (!is_read || is_laid_out_anew))
    }
}

/// How high the log's content is, and how much of it can be seen. Pixels.
fn sizes(log: &Element) -> (i32, i32) {
    (log.scroll_height(), log.client_height())
}

/// Keeps what was said last in view when the log has another size, or can be seen again.
pub(super) fn follow_size(ui: &Ui, log: &Element) {
    let ui = ui.clone();
    viewport::when_resized(log, move || ui.keep_in_view());
}
