//! Reads HTML pages as a browser does: what they say, in lines that keep the structure, and what they say
//! about themselves.
//!
//! [`Page::read`] decodes the bytes of a page, builds the tree that a browser would build, and reads it. It
//! never fails: where a page leaves its bounds for time and memory, it ends. [`leads`], [`duplicates`] and
//! [`leave_out_repeated`] then look at all pages of a site. [`replace_in_head`] changes a page in its source.

mod document;
mod edit;
mod elements;
mod encoding;
mod head;
mod lead;
mod left_out;
mod lines;
mod outline;
mod parser;
mod parts;
mod pieces;
mod robots;
mod site;
mod sitemap;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod tree;
mod zone;

pub use edit::{Element, replace_in_head};
pub use head::{Alternate, Head, OVERLAY_MARK};
pub use lead::{leads, opening};
pub use lines::{Block, Line, LineKind, Zone, blocks, is_heading_mark, marked, text_of, without_marks};
pub use outline::{Heading, Image, Link, Outline};
pub use parts::{ElementPart, Part};
pub use robots::Robots;
pub use site::{SitePage, duplicates, leave_out_repeated};
pub use sitemap::Sitemap;

use std::collections::HashSet;

use encoding_rs::{Encoding, UTF_8};

use document::{DOCUMENT, Document, Id, Step};
use left_out::{Strictness, is_left_out};

/// Maximum letters of a label in a menu, such as its title.
const MAX_LABEL_LENGTH: usize = 20;

/// The headers of a response that describe its page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headers<'a> {
    /// `Content-Type`, which may name the encoding.
    pub content_type: Option<&'a str>,
    /// Each `X-Robots-Tag`.
    pub robots: &'a [&'a str],
}

/// A page.
#[derive(Clone, Debug)]
pub struct Page {
    /// The encoding of the source.
    pub encoding: &'static Encoding,
    /// The statements of the page about itself.
    pub head: Head,
    /// Its headings, links and pictures.
    pub outline: Outline,
    /// Its text, with the lines around the content. What is hidden is left out, and so are menus and consent
    /// banners.
    pub lines: Vec<Line>,
}

impl Page {
    /// Reads a page from its bytes.
    pub fn read(source: &[u8]) -> Self {
        Self::read_response(source, Headers::default())
    }

    /// Reads a page from the body of a response.
    pub fn read_response(source: &[u8], headers: Headers<'_>) -> Self {
        let (encoding, from) = encoding::detect(source, headers.content_type);
        let mut page = Self::of(&parser::parse(source, from, encoding), encoding);
        for value in headers.robots {
            page.head.add_robots_header(value);
        }
        page
    }

    /// Reads a page like [`Page::read_response`], and passes each of its elements and texts to `visit`, in
    /// the order of the document. The content of templates is not among them.
    pub fn read_parts(source: &[u8], headers: Headers<'_>, visit: &mut dyn FnMut(Part<'_>)) -> Self {
        let (encoding, from) = encoding::detect(source, headers.content_type);
        let document = parser::parse(source, from, encoding);
        parts::visit(&document, visit);
        let mut page = Self::of(&document, encoding);
        for value in headers.robots {
            page.head.add_robots_header(value);
        }
        page
    }

    fn of(document: &Document, encoding: &'static Encoding) -> Self {
        Self {
            encoding,
            head: Head::read(document, &document.elements()),
            outline: Outline::read(document),
            lines: lines_of(document),
        }
    }

    /// Returns the title, or else the first heading.
    pub fn name(&self) -> Option<&str> {
        let heading = || self.outline.headings.iter().map(|heading| heading.text.as_str());
        self.head.title.as_deref().or_else(|| heading().find(|text| !text.is_empty()))
    }

    /// Returns the text for readers, as [`text_of`] writes it.
    pub fn text(&self) -> String {
        text_of(without_furniture(&self.lines))
    }
}

/// Returns the names of the attributes of the scripts of a page whose address contains a text.
pub fn attributes_of_script(page: &[u8], address: &str) -> Vec<String> {
    let (encoding, from) = encoding::detect(page, None);
    let document = parser::parse(page, from, encoding);
    let is_meant = |id: &document::Id| {
        document.name(*id) == "script"
            && document.attribute(*id, "src").is_some_and(|src| src.contains(address))
    };
    document.elements().into_iter().filter(is_meant).flat_map(|id| document.attribute_names(id)).collect()
}

/// Returns the text of HTML without a head, as [`text_of`] writes it.
pub fn text_of_html(html: &str) -> String {
    text_of(without_furniture(&lines_of(&parser::parse(html.as_bytes(), 0, UTF_8))))
}

/// Returns whether a text of unknown kind is HTML: it has the end tag of a known element, or an element that
/// has none.
pub fn is_html(text: &str) -> bool {
    /// Elements that texts are made of.
    const KNOWN: [&str; 36] = [
        "a",
        "abbr",
        "article",
        "b",
        "blockquote",
        "body",
        "code",
        "dd",
        "div",
        "dl",
        "dt",
        "em",
        "figure",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "html",
        "i",
        "li",
        "main",
        "ol",
        "p",
        "pre",
        "section",
        "small",
        "span",
        "strong",
        "table",
        "td",
        "tr",
        "u",
        "ul",
    ];
    let start = text.trim_start();
    if ["<!doctype", "<html"]
        .iter()
        .any(|tag| start.get(..tag.len()).is_some_and(|text| text.eq_ignore_ascii_case(tag)))
    {
        return true;
    }
    text.split('<').skip(1).any(|tag| {
        let (is_end, tag) = tag.strip_prefix('/').map_or((false, tag), |rest| (true, rest));
        let name = &tag[..tag.bytes().take_while(u8::is_ascii_alphanumeric).count()];
        let is_tag = tag[name.len()..].starts_with(['>', ' ', '/', '\n', '\t']);
        let is = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        is_tag && if is_end { is(&KNOWN) } else { is(&["br", "hr", "img", "p", "li"]) }
    })
}

/// Returns the lines of a document: those of its main element, or else of its body.
fn lines_of(document: &Document) -> Vec<Line> {
    for strictness in [Strictness::Full, Strictness::Hidden] {
        let (main, footers) = landmarks(document, strictness);
        let mut lines = text::read(document, &main, strictness);
        if lines.is_empty() {
            lines = text::read(document, &[DOCUMENT], strictness);
        } else {
            lines.extend(text::read(document, &footers, strictness).into_iter().map(in_footer));
        }
        if !lines.is_empty() {
            return lines;
        }
    }
    Vec::new()
}

/// Returns the main elements of a document, and the footers beside them.
fn landmarks(document: &Document, strictness: Strictness) -> (Vec<Id>, Vec<Id>) {
    let (mut main, mut footers) = (Vec::new(), Vec::new());
    document.walk(DOCUMENT, |step| {
        let Step::Enter(id) = step else { return false };
        if is_left_out(document, id, strictness) {
            return false;
        }
        let role = document.attribute(id, "role").unwrap_or_default();
        match document.name(id) {
            _ if role.eq_ignore_ascii_case("main") => main.push(id),
            "main" => main.push(id),
            "footer" if !zone::is_in_section(document, id) => footers.push(id),
            _ => return true,
        }
        false
    });
    (main, footers)
}

fn in_footer(line: Line) -> Line {
    Line { zone: Zone::Footer, ..line }
}

/// Leaves out the lines around the content that tell nothing by themselves: links of menus, and what stands
/// in a footer without a fact, such as an address or hours. A page without other lines keeps them.
fn without_furniture(lines: &[Line]) -> impl Iterator<Item = &Line> {
    let is_fact = |text: &str| text.contains('@') || text.chars().any(char::is_numeric);
    let is_copyright = |text: &str| text.contains('©') || text.to_ascii_lowercase().starts_with("copyright");
    let headings = lines.iter().filter(|line| matches!(line.kind, LineKind::Heading(_)));
    let headings: HashSet<&str> = headings.map(|line| line.text.as_str()).collect();
    let is_kept = move |line: &&Line| match line.zone {
        Zone::Content => true,
        Zone::Header if matches!(line.kind, LineKind::Heading(_)) => !line.is_link,
        Zone::Header => !line.is_link && !headings.contains(line.text.as_str()),
        Zone::Menu => !line.is_link && (is_fact(&line.text) || line.text.chars().count() > MAX_LABEL_LENGTH),
        Zone::Footer => !line.is_link && is_fact(&line.text) && !is_copyright(&line.text),
    };
    let has_content = lines.iter().any(|line| is_kept(&line));
    lines.iter().filter(move |line| !has_content || is_kept(line))
}
