//! Keyboard focus inside the widget.

use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement, ShadowRoot};

use super::Ui;
use crate::browser::viewport;

impl Ui {
    /// Moves the focus to the message field, before the element that has it is removed. On touch screens the
    /// window gets it, because the field would raise the keyboard over the messages.
    pub(super) fn focus_field(&self) {
        let is_typing = !viewport::is_touch() || self.has_focus("input,textarea");
        self.focus(if is_typing { "[part=input]" } else { "[part=window]" });
    }

    /// Focuses the first element that matches a selector. Returns whether there is one.
    pub(super) fn focus(&self, selector: &str) -> bool {
        let frame = self.state().frame.borrow().clone();
        let found = frame.and_then(|frame| frame.query_selector(selector).ok().flatten());
        found.is_some_and(|element| element.unchecked_into::<HtmlElement>().focus().is_ok())
    }

    /// Focuses an element that is rendered before the next frame.
    pub(super) fn focus_later(&self, selector: &'static str) {
        let ui = self.clone();
        leptos::prelude::request_animation_frame(move || _ = ui.focus(selector));
    }

    /// Returns the element of the widget that has the focus.
    pub(super) fn active_element(&self) -> Option<Element> {
        let root = self.state().frame.borrow().as_ref()?.get_root_node();
        // A widget without a shadow root is in the document, which has the same property.
        root.unchecked_into::<ShadowRoot>().active_element()
    }

    /// Returns whether the focus is on or inside an element that matches a selector.
    pub(super) fn has_focus(&self, selector: &str) -> bool {
        self.active_element().is_some_and(|element| element.closest(selector).ok().flatten().is_some())
    }
}
