//! What a message says, as elements: links, lists, code that can be copied.

use std::rc::Rc;

use wasm_bindgen::JsCast;
use web_sys::{Element, Event};

use super::Ui;
use super::dom::El;
use crate::browser::{clipboard, document};
use crate::text::markup::{Sink, render, render_plain};
use crate::text::strings::Text;

/// A bubble that shows a text, also when another takes its place. What a visitor wrote stays as it was written.
pub(crate) fn bubble(ui: &Ui, by_visitor: bool, text: fn(&Ui) -> Rc<str>) -> El {
    let mut bubble = ui.el("div.cw-bubble");
    if by_visitor {
        bubble = bubble.attr("dir", "auto");
    }
    let element: Element = bubble.node();
    let mut shown = Rc::default();
    bubble.run(move |ui| {
        let text = text(ui);
        if shown != text {
            element.set_text_content(None);
            let mut nodes = Nodes { ui, parent: element.clone(), depth: 0, by_visitor };
            if by_visitor {
                render_plain(&text, &mut nodes);
            } else {
                render(&text, &mut nodes);
            }
            shown = text;
        }
    })
}

/// Makes elements of what a text turns into. There is no other way from a text into the page than these calls.
struct Nodes<'a> {
    ui: &'a Ui,
    /// What the next node goes into, and how deep in the bubble that is.
    parent: Element,
    depth: usize,
    by_visitor: bool,
}

impl Sink for Nodes<'_> {
    fn open(&mut self, tag: &'static str, value: &str) {
        let mut el = self.ui.el(tag);
        if tag == "a" {
            el = el.attr("href", value).attr("rel", "noopener noreferrer nofollow").attr("target", "_blank");
        } else if !value.is_empty() {
            el = el.attr(if tag == "ol" { "start" } else { "class" }, value);
        }
        // Each block has a direction of its own; what is in it would not be asked if it had one as well.
        if self.depth == 0 && !self.by_visitor {
            el = el.attr("dir", "auto");
        }
        // What is wide scrolls in its box, by the keyboard as well.
        if tag == "pre" || value == "cw-table" {
            el = el.attr("tabindex", "0");
        }
        if value == "cw-code" {
            el = el.child(copy(self.ui));
        }
        let element: Element = el.node();
        _ = self.parent.append_child(&element);
        self.parent = element;
        self.depth += 1;
    }

    fn close(&mut self) {
        if let Some(parent) = self.parent.parent_element() {
            self.parent = parent;
        }
        self.depth -= 1;
    }

    fn text(&mut self, text: &str) {
        _ = self.parent.append_child(&document().create_text_node(text));
    }
}

/// The button that copies the code below it.
fn copy(ui: &Ui) -> El {
    ui.el("button.cw-copy part=copy type=button").says(Text::Copy).on("click", on_copy)
}

fn on_copy(ui: &Ui, event: &Event) {
    let Some(button) = event.current_target().map(JsCast::unchecked_into::<Element>) else { return };
    let code = button.next_element_sibling().and_then(|code| code.text_content()).unwrap_or_default();
    let copied = ui.text(Text::Copied);
    clipboard::write(&code, move || button.set_text_content(Some(&copied)));
}
