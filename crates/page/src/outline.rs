//! The headings, links and pictures of a page.

use crate::document::{DOCUMENT, Document, Step};
use crate::head::{plain_text, single_spaced};
use crate::left_out::{Strictness, is_left_out};

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The level, from 1 to 6.
    pub level: u8,
    /// The text, with single spaces.
    pub text: String,
}

/// A link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The address, as the page has it.
    pub href: String,
    /// The text, with single spaces.
    pub text: String,
    /// Whether `rel` asks robots not to follow it.
    pub is_nofollow: bool,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The address, as the page has it.
    pub src: String,
    /// The alternative text; `None` without one. An empty one marks a decoration.
    pub alt: Option<String>,
}

/// What a browser shows of a page beside its text, menus included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The headings.
    pub headings: Vec<Heading>,
    /// The links.
    pub links: Vec<Link>,
    /// The pictures.
    pub images: Vec<Image>,
}

impl Outline {
    pub(crate) fn read(document: &Document) -> Self {
        let mut outline = Self::default();
        document.walk(DOCUMENT, |step| {
            let Step::Enter(id) = step else { return false };
            if is_left_out(document, id, Strictness::Hidden) {
                return false;
            }
            let attribute =
                |name: &str| document.attribute(id, name).map(str::trim).filter(|text| !text.is_empty());
            match document.name(id).as_bytes() {
                [b'h', level @ b'1'..=b'6'] => {
                    outline.headings.push(Heading { level: level - b'0', text: plain_text(document, id) });
                }
                b"a" | b"area" => {
                    if let Some(href) = attribute("href") {
                        let relation = attribute("rel").unwrap_or_default();
                        outline.links.push(Link {
                            href: href.to_owned(),
                            text: plain_text(document, id),
                            is_nofollow: relation
                                .split_ascii_whitespace()
                                .any(|one| one.eq_ignore_ascii_case("nofollow")),
                        });
                    }
                }
                b"img" => {
                    if let Some(src) = attribute("src").or_else(|| attribute("data-src")) {
                        let alt = document.attribute(id, "alt").map(single_spaced);
                        outline.images.push(Image { src: src.to_owned(), alt });
                    }
                }
                _ => {}
            }
            true
        });
        outline
    }
}
