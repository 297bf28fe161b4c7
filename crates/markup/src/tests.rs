//! Rendered texts, written as tags.

mod blocks;
mod inline;
mod links;
mod robustness;

use std::cell::Cell;

use super::{Sink, render, render_plain};

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// Counts a step: each byte that is read is one. Steps are independent of the machine's speed.
pub(super) fn count_step() {
    STEPS.set(STEPS.get() + 1);
}

/// Writes elements as tags, and asserts that they are nested correctly.
#[derive(Default)]
struct Written {
    all: String,
    /// Only the text, without the hosts behind links.
    text: String,
    open: Vec<&'static str>,
    deepest: usize,
    calls: usize,
}

impl Sink for Written {
    fn open(&mut self, tag: &'static str, value: &str) {
        self.calls += 1;
        let parent = self.open.last().copied();
        match tag {
            "li" => assert!(matches!(parent, Some("ul" | "ol")), "an item in {parent:?}"),
            "td" | "th" => assert_eq!(parent, Some("tr")),
            "a" => assert!(!self.open.contains(&"a"), "a link in a link"),
            "pre" | "table" => assert_eq!(parent, Some("div")),
            "p" | "hr" | "div" | "ul" | "ol" | "blockquote" => {
                assert!(matches!(parent, None | Some("li" | "blockquote")), "{tag} in {parent:?}");
            }
            _ => {}
        }
        // The boxes around code and tables only affect the layout.
        if tag != "div" {
            let space = if value.is_empty() { "" } else { " " };
            self.all.extend(["<", tag, space, value, ">"]);
        }
        self.open.push(tag);
        self.deepest = self.deepest.max(self.open.len());
    }

    fn close(&mut self) {
        self.calls += 1;
        let tag = self.open.pop().expect("an element to close");
        if tag != "div" {
            self.all.extend(["</", tag, ">"]);
        }
    }

    fn text(&mut self, text: &str) {
        self.calls += 1;
        assert!(!text.is_empty());
        self.all.push_str(text);
        if !self.open.contains(&"bdi") {
            self.text.push_str(text);
        }
    }
}

fn rendered(text: &str) -> Written {
    let mut written = Written::default();
    render(text, &mut written);
    assert!(written.open.is_empty(), "all elements are closed");
    written
}

fn html(text: &str) -> String {
    rendered(text).all
}

/// Returns a rendered line, without the paragraph around it.
fn line(text: &str) -> String {
    let html = html(text);
    let inner = html.strip_prefix("<p>").and_then(|html| html.strip_suffix("</p>"));
    inner.unwrap_or(&html).to_owned()
}

fn plain(text: &str) -> String {
    let mut written = Written::default();
    render_plain(text, &mut written);
    assert!(written.open.is_empty(), "all elements are closed");
    written.all
}
