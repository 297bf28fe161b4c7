//! Headings, links, pictures and files of a page.

use std::collections::HashSet;
use std::ops::Range;

use chat_page::ElementPart;
use url::Url;

use crate::address::{climbs_out, decoded, is_local, key};
use crate::facts::{Kind, Reading, Reference};
use crate::rule::{
    HEADING_EMPTY, HEADING_SKIPPED, ID_DUPLICATE, IMAGE_ALT_FILE, IMAGE_ALT_MISSING, IMAGE_SIZE,
    LINK_GENERIC, LINK_HTTP, LINK_LOCAL, LINK_MALFORMED, LINK_NO_TEXT, LINK_SCRIPT, MIXED_CONTENT,
    MIXED_IMAGE, Rule,
};
use crate::similar::hash;

/// Maximum references that are kept of a page.
const MAX_REFERENCES: usize = 5000;
/// Maximum pictures of a page that are findings for lack of a size, and the like.
const MAX_NOTES: usize = 50;
/// Texts of links that say nothing about their targets.
const GENERIC: [&str; 40] = [
    "click here",
    "click this",
    "click",
    "here",
    "this",
    "more",
    "read more",
    "learn more",
    "more info",
    "more…",
    "go",
    "start",
    "link",
    "details",
    "hier",
    "hier klicken",
    "klicken sie hier",
    "mehr",
    "mehr erfahren",
    "weiterlesen",
    "weiter",
    "ici",
    "cliquez ici",
    "en savoir plus",
    "lire la suite",
    "aquí",
    "haga clic aquí",
    "leer más",
    "ver más",
    "qui",
    "clicca qui",
    "leggi tutto",
    "aqui",
    "clique aqui",
    "saiba mais",
    "点击这里",
    "こちら",
    "詳しくはこちら",
    "اضغط هنا",
    "здесь",
];

/// The elements that were found so far.
#[derive(Debug, Default)]
pub(crate) struct Elements {
    pub(crate) references: Vec<Reference>,
    /// The links within the site that robots may follow.
    pub(crate) links: Vec<Url>,
    known: HashSet<(String, Option<String>, Kind)>,
    pub(crate) ids: HashSet<u64>,
    /// The level, text and tag of each heading.
    pub(crate) h1: Vec<(String, Range<usize>)>,
    last_level: u8,
    notes: usize,
}

impl Reading<'_> {
    pub(crate) fn read_element(&mut self, element: &ElementPart<'_>) {
        if let Some(id) = element.attribute("id").filter(|id| !id.is_empty()) {
            let is_new = self.elements.ids.insert(hash(id.as_bytes(), 0));
            if !is_new {
                self.note_common(&ID_DUPLICATE, element.tag(), format!("id=\"{id}\""), None);
            }
        }
        match element.name() {
            "a" | "area" => self.read_anchor(element),
            "img" => self.read_image(element),
            "script" | "iframe" | "frame" => {
                self.read_file(element, "src", &MIXED_CONTENT, Some(Kind::Resource));
            }
            "audio" | "video" | "source" | "embed" => self.read_file(element, "src", &MIXED_IMAGE, None),
            "link" => {
                let relation = element.attribute("rel").unwrap_or_default().to_ascii_lowercase();
                if relation.split_ascii_whitespace().any(|one| one == "stylesheet") {
                    self.read_file(element, "href", &MIXED_CONTENT, Some(Kind::Resource));
                }
            }
            name => {
                if let [b'h', level @ b'1'..=b'6'] = name.as_bytes()
                    && element.is_shown
                {
                    self.read_heading(element, level - b'0');
                }
            }
        }
    }

    /// Adds a finding, unless the page has too many of its kind.
    fn note_some(&mut self, rule: &'static Rule, at: Range<usize>, evidence: Option<String>) {
        self.elements.notes += 1;
        if self.elements.notes <= MAX_NOTES {
            match evidence {
                Some(evidence) => self.note_text(rule, at, evidence, None),
                None => self.note(rule, at, None),
            }
        }
    }

    fn read_heading(&mut self, element: &ElementPart<'_>, level: u8) {
        let label = element.label();
        if label.is_empty() {
            if element.attribute("aria-hidden").is_none() {
                self.note_some(&HEADING_EMPTY, element.tag(), None);
            }
            return;
        }
        let last = std::mem::replace(&mut self.elements.last_level, level);
        if last != 0 && level > last + 1 {
            let text: String = label.chars().take(80).collect();
            self.note_some(
                &HEADING_SKIPPED,
                element.tag(),
                Some(format!("<h{level}>{text} after <h{last}>")),
            );
        }
        if level == 1 {
            self.elements.h1.push((label, element.tag()));
        }
    }

    fn read_anchor(&mut self, element: &ElementPart<'_>) {
        if let Some(name) = element.attribute("name") {
            self.elements.ids.insert(hash(name.as_bytes(), 0));
        }
        let Some(href) = element.attribute("href") else { return };
        let href = href.trim().to_owned();
        if element.is_shown {
            self.check_label(element);
        }
        let lower = href.get(..12).unwrap_or(&href).to_ascii_lowercase();
        if lower.starts_with("javascript:") {
            if element.attribute("role") != Some("button") {
                self.note_some(&LINK_SCRIPT, element.tag(), None);
            }
            return;
        }
        if lower.starts_with("www.") {
            self.note(&LINK_MALFORMED, element.tag(), Some(format!("https://{href}")));
            return;
        }
        let Ok(url) = self.base.join(&href) else {
            self.note(&LINK_MALFORMED, element.tag(), None);
            return;
        };
        if is_local(&url) && !is_local(&self.site.root) {
            // Instructions show the address that they mean.
            let is_shown = url.host_str().is_some_and(|host| element.text().contains(host));
            if !is_shown {
                self.note(&LINK_LOCAL, element.tag(), None);
            }
            return;
        }
        if url.scheme() == "http"
            && self.site.is_public
            && self.site.contains(&url)
            && self.site.root.scheme() == "https"
        {
            self.note(&LINK_HTTP, element.tag(), Some(secure(&url)));
        }
        self.refer(&url, &href, element, Kind::Link);
    }

    fn check_label(&mut self, element: &ElementPart<'_>) {
        let has = |name: &str| element.attribute(name).is_some_and(|text| !text.trim().is_empty());
        if element.name() == "area" || has("aria-labelledby") {
            return;
        }
        let label = element.label();
        if label.is_empty() {
            let is_skipped =
                has("aria-hidden") || element.attribute("tabindex").is_some_and(|index| index.trim() == "-1");
            if !is_skipped {
                self.note_some(&LINK_NO_TEXT, element.tag(), None);
            }
            return;
        }
        // Not for a term in code, such as `<this>`.
        let bare = label.trim_start_matches(['«', '»', '(', '[', '→', '▶', ' ']);
        let bare = bare.trim_end_matches(|letter: char| !letter.is_alphanumeric()).to_lowercase();
        if GENERIC.contains(&bare.as_str()) && !has("title") {
            let label: String = label.chars().take(40).collect();
            self.note_some(
                &LINK_GENERIC,
                element.tag(),
                Some(format!("<a href=\"{}\">{label}</a>", element.attribute("href").unwrap_or_default())),
            );
        }
    }

    /// Keeps an address within the site.
    fn refer(&mut self, url: &Url, href: &str, element: &ElementPart<'_>, kind: Kind) {
        let is_known_place =
            !self.site.is_folder || !climbs_out(self.source.url, href) || self.base != *self.source.url;
        if !self.site.contains(url) || !is_known_place || self.elements.references.len() >= MAX_REFERENCES {
            return;
        }
        let key = key(url, self.site.is_folder);
        let fragment = url.fragment().filter(|fragment| !fragment.is_empty()).map(decoded);
        if self.elements.known.insert((key.clone(), fragment.clone(), kind)) {
            let relation = element.attribute("rel").unwrap_or_default().to_ascii_lowercase();
            if kind == Kind::Link && !relation.contains("nofollow") && !self.site.is_folder {
                self.elements.links.push(url.clone());
            }
            let line = self.line(element.tag().start);
            self.elements.references.push(Reference { key, fragment, href: href.to_owned(), line, kind });
        }
    }

    fn read_image(&mut self, element: &ElementPart<'_>) {
        let attribute = |name: &str| element.attribute(name).map(str::trim);
        let is_tiny = |name: &str| attribute(name).is_some_and(|size| matches!(size, "0" | "1"));
        self.read_file(element, "src", &MIXED_IMAGE, Some(Kind::Image));
        if !element.is_shown || is_tiny("width") || is_tiny("height") {
            return;
        }
        let has = |name: &str| attribute(name).is_some_and(|text| !text.is_empty());
        let is_decoration = matches!(attribute("role"), Some("presentation" | "none"))
            || attribute("aria-hidden") == Some("true");
        let is_named = has("aria-label") || has("aria-labelledby") || has("title");
        match attribute("alt") {
            None if !is_decoration && !is_named => self.note_some(&IMAGE_ALT_MISSING, element.tag(), None),
            Some(alt) if is_file_name(alt) => self.note_some(&IMAGE_ALT_FILE, element.tag(), None),
            _ => {}
        }
        let style = attribute("style").unwrap_or_default().to_ascii_lowercase();
        let is_sized = (attribute("width").is_some() && attribute("height").is_some())
            || ["width", "height", "aspect-ratio"].iter().any(|name| style.contains(name));
        if !is_sized && attribute("src").is_some_and(|src| !src.starts_with("data:")) {
            self.note_some(&IMAGE_SIZE, element.tag(), None);
        }
    }

    /// Reads the address of a file that the browser loads.
    fn read_file(
        &mut self,
        element: &ElementPart<'_>,
        attribute: &str,
        mixed: &'static Rule,
        kind: Option<Kind>,
    ) {
        let Some(href) = element.attribute(attribute).map(str::trim).filter(|href| !href.is_empty()) else {
            return;
        };
        let Ok(url) = self.base.join(href) else { return };
        let is_remote = url.scheme() == "http" && !is_local(&url) && Url::parse(href).is_ok();
        let is_secure = self.site.is_public && self.site.root.scheme() == "https";
        if is_remote && is_secure {
            self.note(mixed, element.tag(), Some(secure(&url)));
        } else if is_local(&url) && !is_local(&self.site.root) {
            self.note(&LINK_LOCAL, element.tag(), None);
        }
        if let Some(kind) = kind {
            self.refer(&url, href, element, kind);
        }
    }
}

fn secure(url: &Url) -> String {
    url.as_str().replacen("http:", "https:", 1)
}

/// Returns whether an alternative text is the name of a file, such as `IMG_1234.jpg`.
fn is_file_name(alt: &str) -> bool {
    let lower = alt.to_ascii_lowercase();
    let stem = lower.rsplit_once('.').filter(|(_, end)| {
        matches!(
            *end,
            "jpg" | "jpeg" | "png" | "gif" | "webp" | "svg" | "avif" | "bmp" | "tif" | "tiff" | "heic"
        )
    });
    let number = lower.strip_prefix("img").or(lower.strip_prefix("dsc")).or(lower.strip_prefix("image"));
    let number = number.map(|rest| rest.trim_start_matches(['_', '-', 'n']));
    let is_number =
        number.is_some_and(|rest| rest.len() >= 3 && rest.bytes().all(|byte| byte.is_ascii_digit()));
    stem.is_some_and(|(stem, _)| !stem.is_empty() && !stem.contains(' ')) || is_number
}
