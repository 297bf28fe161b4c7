//! A page as it is kept between a run and the next: its lines, by which what repeats across the website is
//! found, and its links.

use std::io::{Read, Write};

use chat_page::{Line, LineKind, Page, SitePage, Zone};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};

use crate::text::truncate_bytes;

/// Maximum bytes of the text of a page; the rest is left out.
const MAX_TEXT_BYTES: usize = 48 * 1024;
/// Maximum lines of a page.
const MAX_LINES: usize = 2000;
/// Maximum links of a page that are followed.
pub(super) const MAX_LINKS: usize = 500;
/// Maximum bytes of these links.
pub(super) const MAX_LINK_BYTES: usize = 64 * 1024;
/// Maximum bytes of the title and of the description each.
const MAX_HEAD_BYTES: usize = 4 * 1024;
/// Maximum bytes of a page, unpacked: its text and its links.
const MAX_UNPACKED_BYTES: u64 = 4 * 1024 * 1024;
/// Bytes that a line needs in memory beside its text.
const LINE_BYTES: usize = 64;

/// A page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct StoredPage {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) language: Option<String>,
    lines: Vec<StoredLine>,
    /// The addresses that the page links to; `None` if the run followed none.
    pub(super) links: Option<Vec<String>>,
}

/// The kind, the zone and whether all of it is a link, as one number; and the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StoredLine(u8, String);

const ZONES: [Zone; 4] = [Zone::Content, Zone::Header, Zone::Footer, Zone::Menu];

impl StoredLine {
    fn new(line: Line) -> Self {
        let kind = match line.kind {
            LineKind::Text => 0,
            LineKind::Heading(level) => level.clamp(1, 6),
            LineKind::Item => 7,
            LineKind::Row => 8,
        };
        let zone = ZONES.iter().position(|zone| *zone == line.zone).unwrap_or_default();
        let zone = u8::try_from(zone).unwrap_or_default();
        Self(kind + 16 * zone + 64 * u8::from(line.is_link), line.text)
    }

    fn into_line(self) -> Line {
        let Self(code, text) = self;
        let kind = match code % 16 {
            level @ 1..=6 => LineKind::Heading(level),
            7 => LineKind::Item,
            8 => LineKind::Row,
            _ => LineKind::Text,
        };
        let zone = ZONES.get(usize::from(code / 16 % 4)).copied().unwrap_or_default();
        Line { kind, text, zone, is_link: code >= 64 }
    }
}

impl StoredPage {
    /// Takes from a page what is kept.
    pub(super) fn new(page: Page, links: Option<Vec<String>>) -> Self {
        let short = |text: &str| truncate_bytes(text, MAX_HEAD_BYTES).to_owned();
        let title = page.name().map(short);
        let mut bytes = 0;
        let read = page.lines.into_iter().take(MAX_LINES).take_while(|line| {
            bytes += line.text.len();
            bytes <= MAX_TEXT_BYTES
        });
        let (description, language) = (page.head.description.as_deref().map(short), page.head.language);
        Self { title, description, language, lines: read.map(StoredLine::new).collect(), links }
    }

    /// Returns the page in few bytes.
    pub(super) fn packed(&self) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        let json = serde_json::to_vec(self).unwrap_or_default();
        // Writing into memory does not fail.
        let _ = encoder.write_all(&json);
        encoder.finish().unwrap_or_default()
    }

    /// Reads a packed page.
    pub(super) fn unpack(packed: &[u8]) -> Self {
        let mut json = Vec::new();
        let _ = DeflateDecoder::new(packed).take(MAX_UNPACKED_BYTES).read_to_end(&mut json);
        serde_json::from_slice(&json).unwrap_or_default()
    }

    /// Returns the bytes that it needs in memory without its links.
    pub(super) fn memory(&self) -> usize {
        let head = [&self.title, &self.description, &self.language].into_iter().flatten().map(String::len);
        self.lines.iter().map(|line| line.1.len() + LINE_BYTES).chain(head).sum()
    }

    /// Returns the page for the comparison with the others of its website.
    pub(super) fn into_page(self, path: String) -> SitePage {
        let mut page = Page::read(b"");
        page.head.title = self.title;
        page.head.description = self.description;
        page.head.language = self.language;
        page.lines = self.lines.into_iter().map(StoredLine::into_line).collect();
        SitePage { path, page }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_the_same_after_it_was_kept() {
        let html = "<html lang=de><title>T</title><meta name=description content=D><header><h1>A</h1></header>\
            <nav><a href=/x>Menu</a></nav><main><h2>B</h2><p>Text</p><ul><li>Item</ul><table><tr><td>1<td>2</table></main>\
            <footer>Call 123</footer>";
        let page = Page::read(html.as_bytes());
        let kept = StoredPage::unpack(&StoredPage::new(page.clone(), Some(vec!["/x".to_owned()])).packed());
        assert_eq!(kept.links.as_deref(), Some(["/x".to_owned()].as_slice()));
        let again = kept.into_page("/".to_owned()).page;
        assert_eq!((&again.lines, again.text()), (&page.lines, page.text()));
        assert_eq!(again.head.language, page.head.language);
        assert!(!again.lines.is_empty());
    }

    #[test]
    fn a_huge_page_is_cut_off() {
        let lines = format!("<main>{}", "<p>x</p>".repeat(10_000));
        assert_eq!(StoredPage::new(Page::read(lines.as_bytes()), None).lines.len(), MAX_LINES);
        let long = format!("<main>{}", format!("<p>{}</p>", "word ".repeat(200)).repeat(200));
        assert!(StoredPage::new(Page::read(long.as_bytes()), None).memory() < 2 * MAX_TEXT_BYTES);
        let titled = format!("<title>{}</title><p>x", "word ".repeat(100_000));
        assert!(StoredPage::new(Page::read(titled.as_bytes()), None).memory() < 2 * MAX_HEAD_BYTES);
        assert_eq!(StoredPage::unpack(b"\xff\xff"), StoredPage::default());
    }
}
