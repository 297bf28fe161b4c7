//! The parts of a page around its content, by elements, roles and the usual names.

use crate::document::{Document, Id};
use crate::left_out::marks;
use crate::lines::Zone;

/// Returns the zone that an element begins.
pub(crate) fn zone(document: &Document, id: Id, name: &str) -> Option<Zone> {
    match (name, document.attribute(id, "role").unwrap_or_default()) {
        (_, "contentinfo") => return Some(Zone::Footer),
        (_, "banner") => return Some(Zone::Header),
        (_, "main") | ("main" | "article", _) => return Some(Zone::Content),
        ("footer", _) if !is_in_section(document, id) => return Some(Zone::Footer),
        ("header", _) if !is_in_section(document, id) => return Some(Zone::Header),
        ("aside", _) | (_, "complementary") => return Some(Zone::Menu),
        ("div" | "ul" | "ol" | "table" | "td" | "p", _) => {}
        _ => return None,
    }
    let words: Vec<String> = marks(document, id).collect();
    let is =
        |parts: &[&str]| words.iter().any(|word| word.split(['-', '_']).any(|part| parts.contains(&part)));
    if is(&["footer", "footnav", "navfooter"]) {
        Some(Zone::Footer)
    } else if is(&["header", "masthead", "navheader", "topbar"]) {
        Some(Zone::Header)
    } else if is(&[
        "nav",
        "navbar",
        "navigation",
        "menu",
        "breadcrumb",
        "breadcrumbs",
        "sidebar",
        "pagination",
        "pager",
        "toc",
    ]) {
        Some(Zone::Menu)
    } else {
        None
    }
}

/// Returns whether an element belongs to a section of the page, and not to the whole page.
pub(crate) fn is_in_section(document: &Document, id: Id) -> bool {
    std::iter::successors(document.parent(id), |parent| document.parent(*parent))
        .any(|parent| matches!(document.name(parent), "article" | "section" | "main"))
}
