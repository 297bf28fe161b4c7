//! The text of a message as elements: links, lists, code with a copy button.

use std::rc::Rc;

use chat_markup::{Sink, render, render_plain};
use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlAnchorElement};

use super::Ui;
use super::dom::El;
use crate::browser::{clipboard, document, window};
use crate::text::emoji::is_emoji;
use crate::text::strings::Text;

/// Renders a bubble with a text that may change. A visitor's text is shown as it was written.
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
            _ = element.class_list().toggle_with_force("cw-emoji", is_emoji(&text));
            write(ui, &element, &text, if by_visitor { Kind::Typed } else { Kind::Rich });
            shown = text;
        }
    })
}

/// Returns a text without markup, a line for each block, for screen readers and previews.
pub(crate) fn plain(ui: &Ui, text: &str) -> String {
    let element: Element = ui.el("p").node();
    write(ui, &element, text, Kind::Spoken);
    element.text_content().unwrap_or_default()
}

fn write(ui: &Ui, element: &Element, text: &str, kind: Kind) {
    let mut nodes = Nodes { ui, parent: element.clone(), depth: 0, kind, has_words: false };
    if kind == Kind::Typed {
        render_plain(text, &mut nodes);
    } else {
        render(text, &mut nodes);
    }
}

/// The rendering of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// As it was written, with links: a visitor's text.
    Typed,
    /// Markdown: the text of assistants and operators.
    Rich,
    /// The words without markup.
    Spoken,
}

/// Creates the elements of a text. Every text of a message enters the page through these calls.
struct Nodes<'a> {
    ui: &'a Ui,
    /// The parent of the next node, and its depth in the bubble.
    parent: Element,
    depth: usize,
    kind: Kind,
    /// Whether words without a pause after them precede the next node.
    has_words: bool,
}

impl Sink for Nodes<'_> {
    fn open(&mut self, tag: &'static str, value: &str) {
        let mut el = self.ui.el(tag);
        if tag == "a" {
            el = el.attr("href", value);
            if leaves_site(&el.node()) {
                el = el.attr("rel", "noopener noreferrer nofollow").attr("target", "_blank");
            }
        } else if self.kind == Kind::Spoken {
            // Separates cells and blocks.
            if matches!(tag, "p" | "li" | "tr" | "th" | "td" | "pre") {
                let pause = if tag.starts_with('t') && tag != "tr" { " " } else { "\n" };
                if std::mem::take(&mut self.has_words) {
                    _ = self.parent.append_child(&document().create_text_node(pause));
                }
            }
        } else if tag == "pre" {
            // Above the code: its language, and the button that copies it.
            let language = if value.is_empty() { self.ui.text(Text::Code) } else { value.to_owned() };
            let head = self.ui.el("div.cw-code-head").child(self.ui.el("bdi").text(&language));
            _ = self.parent.append_child(&head.child(copy(self.ui)).node::<Element>());
        } else if !value.is_empty() {
            el = el.attr(if tag == "ol" { "start" } else { "class" }, value);
        }
        // Each block has its own direction. Nested elements with `dir=auto` would be ignored in determining
        // it.
        if self.depth == 0 && self.kind == Kind::Rich {
            el = el.attr("dir", "auto");
        }
        // Wide blocks scroll in their box, which the keyboard must reach.
        if tag == "pre" || value == "cw-table" {
            el = el.attr("tabindex", "0");
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
        self.has_words = true;
        _ = self.parent.append_child(&document().create_text_node(text));
    }
}

/// Time that the button shows that it has copied. Milliseconds.
const COPIED_TIMEOUT_MS: u32 = 2_000;

/// Returns whether a link leads to another site. Links to this site open in the same tab.
fn leaves_site(link: &HtmlAnchorElement) -> bool {
    link.protocol().starts_with("http") && window().location().origin().is_ok_and(|own| own != link.origin())
}

/// Renders the button that copies the code below it.
fn copy(ui: &Ui) -> El {
    ui.el("button.cw-copy part=copy type=button").says(Text::Copy).on("click", on_copy)
}

fn on_copy(ui: &Ui, event: &Event) {
    let Some(button) = event.current_target().map(JsCast::unchecked_into::<Element>) else { return };
    let code = button.parent_element().and_then(|head| head.next_element_sibling());
    let code = code.and_then(|code| code.text_content()).unwrap_or_default();
    let ui = ui.clone();
    clipboard::write(&code, move || {
        button.set_text_content(Some(&ui.text(Text::Copied)));
        let (button, copy) = (button.clone(), ui.text(Text::Copy));
        Timeout::new(COPIED_TIMEOUT_MS, move || button.set_text_content(Some(&copy))).forget();
    });
}
