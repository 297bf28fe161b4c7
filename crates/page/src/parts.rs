//! The elements and texts of a page, one after the other, for checks of its source.

use std::ops::Range;

use crate::document::{DOCUMENT, Document, Id, Step};
use crate::head::{plain_text, single_spaced};
use crate::left_out::{Strictness, is_left_out};

/// An element or a text of a page.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// An element.
    Element(ElementPart<'a>),
    /// A text; that of scripts and styles is not among them.
    Text {
        /// The text, as it is written.
        text: &'a str,
        /// Whether a browser shows it.
        is_shown: bool,
    },
}

/// An element of a page.
#[derive(Clone, Copy, Debug)]
pub struct ElementPart<'a> {
    document: &'a Document,
    id: Id,
    /// Whether it is inside of `<head>`, as a browser sees it.
    pub is_in_head: bool,
    /// Whether a browser shows it, as far as the page itself tells.
    pub is_shown: bool,
}

impl<'a> ElementPart<'a> {
    /// Returns the local name of an HTML element, in lower case; another text for SVG and `MathML`.
    pub fn name(&self) -> &'a str {
        self.document.name(self.id)
    }

    /// Returns the value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&'a str> {
        self.document.attribute(self.id, name)
    }

    /// Returns the bytes of its start tag in the source.
    pub fn tag(&self) -> Range<usize> {
        self.document.nodes[self.id as usize].tag.clone()
    }

    /// Returns its text, with single spaces.
    pub fn text(&self) -> String {
        plain_text(self.document, self.id)
    }

    /// Returns its text as it is written.
    pub fn raw_text(&self) -> String {
        self.document.children(self.id).filter_map(|child| self.document.text(child)).collect()
    }

    /// Returns the name that an assistive technology reads out: `aria-label`, or else its text with the
    /// alternative texts of pictures in it, or else its title.
    pub fn label(&self) -> String {
        let named = |id: Id, name: &str| {
            self.document.attribute(id, name).map(single_spaced).filter(|text| !text.is_empty())
        };
        if let Some(label) = named(self.id, "aria-label") {
            return label;
        }
        let mut text = String::new();
        self.document.walk(self.id, |step| {
            let Step::Enter(id) = step else { return true };
            let name = self.document.name(id);
            text.push_str(self.document.text(id).unwrap_or_default());
            if matches!(name, "img" | "area" | "input" | "svg:") || id != self.id {
                for attribute in ["alt", "aria-label", "title"] {
                    if let Some(label) = named(id, attribute) {
                        text.push_str(&label);
                        text.push(' ');
                        break;
                    }
                }
            }
            !matches!(name, "script" | "style")
        });
        let text = single_spaced(&text);
        if text.is_empty() { named(self.id, "title").unwrap_or_default() } else { text }
    }

    /// Returns whether one of the elements around it has one of these names.
    pub fn is_inside(&self, names: &[&str]) -> bool {
        std::iter::successors(self.document.parent(self.id), |parent| self.document.parent(*parent))
            .any(|parent| names.contains(&self.document.name(parent)))
    }
}

/// Passes each element and text of a document to `visit`.
pub(crate) fn visit(document: &Document, visit: &mut dyn FnMut(Part<'_>)) {
    let (mut hidden, mut head) = (None, None);
    document.walk(DOCUMENT, |step| match step {
        Step::Enter(id) => {
            let name = document.name(id);
            if let Some(text) = document.text(id) {
                visit(Part::Text { text, is_shown: hidden.is_none() });
                return true;
            }
            if !document.is_element(id) {
                return true;
            }
            if name == "head" && head.is_none() {
                head = Some(id);
            }
            let is_in_head = head.is_some() && head != Some(id);
            // Their text is for no reader. A node that is not entered is not left either.
            let is_code = matches!(name, "script" | "style");
            if hidden.is_none() && !is_code && is_left_out(document, id, Strictness::Hidden) {
                hidden = Some(id);
            }
            let is_shown = hidden.is_none() && !is_code;
            visit(Part::Element(ElementPart { document, id, is_in_head, is_shown }));
            !is_code
        }
        Step::Leave(id) => {
            if hidden == Some(id) {
                hidden = None;
            }
            if head == Some(id) {
                head = None;
            }
            true
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Headers, Page};

    #[test]
    fn each_element_has_its_place_and_its_label() {
        let html = "<title>T</title><script>var x</script><body><p hidden>Secret</p>\
                    <a href=/a><img alt='A mug' src=m.png></a><a href=/b title=Tip></a><meta name=late>";
        let mut found = Vec::new();
        let mut texts = Vec::new();
        Page::read_parts(html.as_bytes(), Headers::default(), &mut |part| match part {
            Part::Element(element) => {
                let tag = html.get(element.tag()).unwrap_or_default().to_owned();
                found.push((
                    element.name().to_owned(),
                    element.is_in_head,
                    element.is_shown,
                    tag,
                    element.label(),
                ));
            }
            Part::Text { text, is_shown } => texts.push((text.to_owned(), is_shown)),
        });
        let of = |name: &str| found.iter().find(|(found, ..)| found == name).expect("an element");
        assert!(of("title").1 && !of("meta").1);
        assert!(!of("p").2 && of("a").2 && of("img").2);
        assert_eq!(of("a").4, "A mug");
        assert_eq!(found.iter().filter(|(name, ..)| name == "a").nth(1).expect("a link").4, "Tip");
        assert_eq!(of("img").3, "<img alt='A mug' src=m.png>");
        assert_eq!(texts, [("T".to_owned(), false), ("Secret".to_owned(), false)]);
    }
}
