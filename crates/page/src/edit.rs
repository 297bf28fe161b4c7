//! Changes the head of a page at the bytes of its elements. All other bytes stay as they are.

use std::ops::Range;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use crate::document::{Document, Id};
use crate::encoding::detect;
use crate::head::is_in_head;
use crate::parser::parse;

/// An element of a page that may be replaced.
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    document: &'a Document,
    id: Id,
}

impl Element<'_> {
    /// Returns the name, in lower case; an element of SVG or `MathML` has none.
    pub fn name(&self) -> &str {
        self.document.name(self.id)
    }

    /// Returns the value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.document.attribute(self.id, name)
    }

    /// Returns whether the element is in the head, as a browser sees it.
    pub fn is_in_head(&self) -> bool {
        is_in_head(self.document, self.id)
    }
}

/// Removes the elements for which `is_replaced` returns true, and puts `html` at the end of the head, in the
/// encoding of the page. Where a page leaves out the tags of its head, a browser begins and ends it by
/// itself: the place is the same. Returns `None` for a page whose head cannot be read.
pub fn replace_in_head(
    page: &[u8],
    html: &str,
    is_replaced: impl Fn(Element<'_>) -> bool,
) -> Option<Vec<u8>> {
    let (encoding, from) = detect(page, None);
    let document = parse(page, from, encoding);
    let head = document.head.clone()?;
    // At the end of the source, the head may end in an element or a comment that was never closed.
    let mut place = if head.end == page.len() { head.start } else { head.end };
    let replaced =
        document.elements().into_iter().filter(|id| is_replaced(Element { document: &document, id: *id }));
    let end = page.len()..page.len();
    let mut removed: Vec<Range<usize>> = replaced.map(|id| document.source(id)).chain(Some(end)).collect();
    removed.sort_by_key(|range| range.start);
    if let Some(around) = removed.iter().find(|range| range.start < place && place < range.end) {
        place = around.start;
    }
    let mut written = Vec::with_capacity(page.len() + html.len());
    let (mut at, mut is_placed) = (0, false);
    for range in removed {
        if !is_placed && place <= range.start {
            written.extend_from_slice(&page[at..place.max(at)]);
            written.extend(encode(html, encoding));
            (at, is_placed) = (place.max(at), true);
        }
        written.extend_from_slice(&page[at..range.start.max(at)]);
        at = at.max(range.end);
    }
    Some(written)
}

/// Encodes HTML. Characters that the encoding lacks become character references.
fn encode(html: &str, encoding: &'static Encoding) -> Vec<u8> {
    if encoding == UTF_16LE {
        html.encode_utf16().flat_map(u16::to_le_bytes).collect()
    } else if encoding == UTF_16BE {
        html.encode_utf16().flat_map(u16::to_be_bytes).collect()
    } else {
        encoding.encode(html).0.into_owned()
    }
}
