//! The text of messages as elements, by the parser that the visitor's widget uses.

use chat_markup::{Sink, render, render_plain};
use leptos::html::{HtmlElement, div};
use leptos::prelude::*;
use web_sys::{Document, Element};

/// Whether a text is Markdown, or shown as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Markdown: the texts of the AI and of operators.
    Rich,
    /// Only addresses become links: the texts of visitors.
    Plain,
}

/// Shows a text. Every part of it becomes a text node or an allowed element.
#[component]
pub fn RichText(#[prop(into)] text: Signal<String>, kind: Kind) -> impl IntoView {
    let node = NodeRef::<leptos::html::Div>::new();
    Effect::new(move |_| {
        if let Some(element) = node.get() {
            element.set_text_content(None);
            write(&element, &text.read(), kind);
        }
    });
    let element: HtmlElement<_, _, _> = div();
    let (class, dir) = if kind == Kind::Plain { ("rich plain", Some("auto")) } else { ("rich", None) };
    element.class(class).dir(dir).node_ref(node)
}

fn write(parent: &Element, text: &str, kind: Kind) {
    let Some(document) = parent.owner_document() else { return };
    let mut nodes = Nodes { document, parent: parent.clone(), depth: 0, kind };
    match kind {
        Kind::Rich => render(text, &mut nodes),
        Kind::Plain => render_plain(text, &mut nodes),
    }
}

/// Creates the elements of a text.
struct Nodes {
    document: Document,
    parent: Element,
    depth: usize,
    kind: Kind,
}

impl Sink for Nodes {
    fn open(&mut self, tag: &'static str, value: &str) {
        let Ok(element) = self.document.create_element(tag) else { return };
        let set = |name: &str, value: &str| {
            _ = element.set_attribute(name, value);
        };
        match tag {
            "a" => {
                set("href", value);
                set("rel", "noopener noreferrer nofollow");
                set("target", "_blank");
            }
            "ol" if !value.is_empty() => set("start", value),
            "pre" => {
                set("tabindex", "0");
                if !value.is_empty() {
                    set("aria-label", value);
                }
            }
            _ if !value.is_empty() => {
                set("class", value);
                if value == "cw-table" {
                    set("tabindex", "0");
                }
            }
            _ => {}
        }
        // Each block has its own direction.
        if self.depth == 0 && self.kind == Kind::Rich {
            set("dir", "auto");
        }
        _ = self.parent.append_child(&element);
        self.parent = element;
        self.depth += 1;
    }

    fn close(&mut self) {
        if let Some(parent) = self.parent.parent_element() {
            self.parent = parent;
        }
        self.depth = self.depth.saturating_sub(1);
    }

    fn text(&mut self, text: &str) {
        _ = self.parent.append_child(&self.document.create_text_node(text));
    }
}

/// Returns the words of a text without markup, in one line, as lists show them.
pub fn plain(text: &str) -> String {
    let mut words = Words::default();
    render(text, &mut words);
    words.text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[derive(Default)]
struct Words {
    text: String,
}

impl Sink for Words {
    fn open(&mut self, tag: &'static str, _value: &str) {
        if matches!(tag, "p" | "li" | "tr" | "td" | "th" | "pre" | "br" | "h3" | "h4" | "blockquote") {
            self.text.push(' ');
        }
    }

    fn close(&mut self) {}

    fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn a_list_shows_the_words_of_a_message_without_markup() {
        assert_eq!(
            plain("**Yes**, see [our shop](https://a.example).\n\n- one\n- two"),
            "Yes, see our shop. one two"
        );
        assert_eq!(plain("<img src=x onerror=alert(1)>"), "<img src=x onerror=alert(1)>");
    }
}
