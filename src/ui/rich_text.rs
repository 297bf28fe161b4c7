//! What a message says, as elements: links, lists, code that can be copied.

use std::rc::Rc;

use gloo_timers::callback::Timeout;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlAnchorElement};

use super::Ui;
use super::dom::El;
use crate::browser::{clipboard, document, window};
use crate::text::emoji::is_emoji;
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
            _ = element.class_list().toggle_with_force("cw-emoji", is_emoji(&text));
            write(ui, &element, &text, if by_visitor { Kind::Typed } else { Kind::Rich });
            shown = text;
        }
    })
}

/// Returns what a text says without its marks, a line for each block, for those who hear it or see only its beginning.
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

/// What becomes of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// What the visitor typed stays as it was written.
    Typed,
    /// What the others write may have marks.
    Rich,
    /// Only its words are wanted.
    Spoken,
}

/// Makes elements of what a text turns into. There is no other way from a text into the page than these calls.
struct Nodes<'a> {
    ui: &'a Ui,
    /// What the next node goes into, and how deep in the bubble that is.
    parent: Element,
    depth: usize,
    kind: Kind,
    /// Words stand before what comes next, with no pause behind them.
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
            // Cells and blocks are no words by themselves.
            if matches!(tag, "p" | "li" | "tr" | "th" | "td" | "pre") {
                let pause = if tag.starts_with('t') && tag != "tr" { " " } else { "\n" };
                if std::mem::take(&mut self.has_words) {
                    _ = self.parent.append_child(&document().create_text_node(pause));
                }
            }
        } else if tag == "pre" {
            // Beside each other above the code: what it is, and the button that copies it.
            let language = if value.is_empty() { self.ui.text(Text::Code) } else { value.to_owned() };
            let head = self.ui.el("div.cw-code-head").child(self.ui.el("bdi").text(&language));
            _ = self.parent.append_child(&head.child(copy(self.ui)).node::<Element>());
        } else if !value.is_empty() {
            el = el.attr(if tag == "ol" { "start" } else { "class" }, value);
        }
        // Each block has a direction of its own; what is in it would not be asked if it had one as well.
        if self.depth == 0 && self.kind == Kind::Rich {
            el = el.attr("dir", "auto");
        }
        // What is wide scrolls in its box, by the keyboard as well.
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

/// How long the button says that it has copied. Milliseconds.
const COPIED_MS: u32 = 2_000;

/// Returns whether a link leads to another site. One to this site stays in the tab, as any link of the page does.
fn leaves_site(link: &HtmlAnchorElement) -> bool {
    link.protocol().starts_with("http") && window().location().origin().is_ok_and(|own| own != link.origin())
}

/// The button that copies the code below it.
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
        Timeout::new(COPIED_MS, move || button.set_text_content(Some(&copy))).forget();
    });
}
