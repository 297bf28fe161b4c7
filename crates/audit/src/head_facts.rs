//! The elements that describe a page.

use std::ops::Range;

use chat_page::ElementPart;
use url::Url;

use crate::address::is_local;
use crate::facts::Reading;
use crate::language;
use crate::rule::{
    CANONICAL_INVALID, CANONICAL_MULTIPLE, CANONICAL_RELATIVE, DESCRIPTION_MULTIPLE, HEAD_IN_BODY,
    HREFLANG_BROKEN, HREFLANG_INVALID, LINK_LOCAL, ROBOTS_CONFLICT, TITLE_MULTIPLE,
};

/// Maximum seconds after which a page that sends its readers elsewhere counts as a redirect.
const MAX_REFRESH_SECONDS: u32 = 10;
/// Maximum translations of a page.
const MAX_ALTERNATES: usize = 500;

/// The statements of a page about itself. Ranges are those of tags in the source.
#[derive(Debug, Default)]
pub(crate) struct HeadFacts {
    /// The tag of `<html>`, and whether it was seen in the source.
    pub(crate) root: Range<usize>,
    pub(crate) language: Option<String>,
    pub(crate) xml_language: Option<String>,
    pub(crate) titles: Vec<String>,
    pub(crate) title_at: Range<usize>,
    pub(crate) descriptions: Vec<String>,
    pub(crate) description_at: Range<usize>,
    pub(crate) canonicals: Vec<(Url, usize)>,
    pub(crate) canonical_at: Range<usize>,
    pub(crate) canonical_source: String,
    pub(crate) alternates: Vec<(String, Url, usize)>,
    pub(crate) is_noindex: bool,
    robots: Vec<String>,
    /// The address to which readers are sent.
    pub(crate) refresh: Option<Url>,
    pub(crate) viewport: Option<(String, Range<usize>)>,
    pub(crate) has_charset: bool,
    pub(crate) open_graph: Vec<(String, String, Range<usize>)>,
    pub(crate) twitter_card: Option<(String, Range<usize>)>,
    /// JSON-LD, with its tag.
    pub(crate) data: Vec<(String, Range<usize>)>,
}

impl HeadFacts {
    /// Returns the value of a property of Open Graph.
    pub(crate) fn og(&self, name: &str) -> Option<(&str, Range<usize>)> {
        let found = self.open_graph.iter().find(|(property, ..)| property == name)?;
        Some((&found.1, found.2.clone()))
    }
}

impl Reading<'_> {
    pub(crate) fn read_head(&mut self, element: &ElementPart<'_>) {
        let attribute = |name: &str| {
            element.attribute(name).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        match element.name() {
            "html" => {
                self.head.root = element.tag();
                self.head.language = attribute("lang");
                self.head.xml_language = attribute("xml:lang");
            }
            "title" => {
                let text = element.raw_text().split_whitespace().collect::<Vec<_>>().join(" ");
                if self.head.titles.is_empty() {
                    self.head.title_at = element.tag();
                } else {
                    self.note_text(&TITLE_MULTIPLE, element.tag(), format!("<title>{text}</title>"), None);
                }
                self.head.titles.push(text);
            }
            "base" => {
                if let Some(base) = attribute("href").and_then(|href| self.source.url.join(&href).ok()) {
                    self.base = base;
                }
            }
            "meta" => self.read_meta(element),
            "link" => self.read_link(element),
            "script"
                if attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("application/ld+json")) =>
            {
                self.head.data.push((element.raw_text(), element.tag()));
            }
            _ => {}
        }
    }

    fn read_meta(&mut self, element: &ElementPart<'_>) {
        let text = |name: &str| element.attribute(name).map(str::trim).unwrap_or_default().to_owned();
        let (name, content) = (text("name").to_ascii_lowercase(), text("content"));
        let kind = text("http-equiv").to_ascii_lowercase();
        self.head.has_charset |= element.attribute("charset").is_some()
            || (kind == "content-type" && content.to_ascii_lowercase().contains("charset"));
        match name.as_str() {
            "description" if !content.is_empty() => {
                let content = content.split_whitespace().collect::<Vec<_>>().join(" ");
                if self.head.descriptions.is_empty() {
                    self.head.description_at = element.tag();
                } else {
                    self.note(&DESCRIPTION_MULTIPLE, element.tag(), None);
                }
                self.head.descriptions.push(content);
            }
            "robots" | "googlebot" => self.read_robots(element, &name, &content),
            "viewport" => self.head.viewport = Some((content.to_ascii_lowercase(), element.tag())),
            _ => {}
        }
        if !element.is_in_head && matches!(name.as_str(), "description" | "robots") {
            self.note(&HEAD_IN_BODY, element.tag(), None);
        }
        let property = text("property").to_ascii_lowercase();
        let property = if property.is_empty() { name } else { property };
        if let Some(property) = property.strip_prefix("og:") {
            self.head.open_graph.push((property.to_owned(), content.clone(), element.tag()));
        } else if property == "twitter:card" {
            self.head.twitter_card = Some((content.to_ascii_lowercase(), element.tag()));
        }
        if kind == "refresh" && self.head.refresh.is_none() {
            self.head.refresh = self.refresh_of(&content);
        }
    }

    /// Reads the rules of a robots element. A page with rules for all robots that contradict each other is a
    /// finding; a stricter rule for one crawler is none.
    fn read_robots(&mut self, element: &ElementPart<'_>, name: &str, content: &str) {
        let rules: Vec<String> = content
            .to_ascii_lowercase()
            .split([',', ' ', ';'])
            .map(str::trim)
            .filter(|rule| !rule.is_empty())
            .map(str::to_owned)
            .collect();
        let has = |rules: &[String], any: &[&str]| rules.iter().any(|rule| any.contains(&rule.as_str()));
        self.head.is_noindex |= has(&rules, &["noindex", "none"]);
        if name != "robots" {
            return;
        }
        let was_ok = !is_contradictory(&self.head.robots);
        self.head.robots.extend(rules);
        if was_ok && is_contradictory(&self.head.robots) {
            self.note(&ROBOTS_CONFLICT, element.tag(), None);
        }
    }

    fn refresh_of(&self, content: &str) -> Option<Url> {
        let content = content.trim_start();
        let end = content.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(content.len());
        let seconds: u32 = content[..end].parse().unwrap_or(0);
        let rest = content[end..].trim_start_matches(|letter: char| letter == '.' || letter.is_ascii_digit());
        let rest = rest.trim_start_matches([' ', '\t', '\n', ';', ',']);
        if seconds > MAX_REFRESH_SECONDS || rest.is_empty() {
            return None;
        }
        let has_name = rest.get(..3).is_some_and(|name| name.eq_ignore_ascii_case("url"));
        let named = rest.get(3..).filter(|_| has_name).and_then(|rest| rest.trim_start().strip_prefix('='));
        let address = named.unwrap_or(rest).trim().trim_matches(['"', '\'']);
        self.base.join(address).ok().filter(|_| !address.is_empty())
    }

    fn read_link(&mut self, element: &ElementPart<'_>) {
        let relation = element.attribute("rel").unwrap_or_default().to_ascii_lowercase();
        let is = |wanted: &str| relation.split_ascii_whitespace().any(|one| one == wanted);
        let href = element.attribute("href").map(str::trim).unwrap_or_default().to_owned();
        let language = element.attribute("hreflang").map(|tag| tag.trim().to_owned());
        let is_alternate = is("alternate") && !is("stylesheet") && language.is_some();
        if !element.is_in_head && (is("canonical") || is_alternate) {
            self.note(&HEAD_IN_BODY, element.tag(), None);
        }
        if is("canonical") {
            self.read_canonical(element, &href);
        }
        if is_alternate && self.head.alternates.len() < MAX_ALTERNATES {
            let language = language.unwrap_or_default();
            if !language::is_hreflang(&language) {
                self.note(&HREFLANG_INVALID, element.tag(), language::corrected(&language));
            }
            match self.base.join(&href) {
                Ok(url) if !href.is_empty() => {
                    let line = self.line(element.tag().start);
                    self.head.alternates.push((language, url, line));
                }
                _ => self.note(&HREFLANG_BROKEN, element.tag(), None),
            }
        }
    }

    fn read_canonical(&mut self, element: &ElementPart<'_>, href: &str) {
        let url = self.base.join(href).ok().filter(|url| matches!(url.scheme(), "http" | "https" | "file"));
        let Some(url) = url.filter(|_| !href.is_empty()) else {
            self.note(&CANONICAL_INVALID, element.tag(), None);
            return;
        };
        if is_local(&url) && Url::parse(href).is_ok() {
            self.note(&LINK_LOCAL, element.tag(), None);
        }
        if self.head.canonicals.iter().any(|(other, _)| *other != url) {
            self.note(&CANONICAL_MULTIPLE, element.tag(), None);
        }
        if self.head.canonicals.is_empty() {
            if Url::parse(href).is_err() && !href.starts_with("//") {
                let full = self.site.is_public.then(|| url.to_string());
                self.note(&CANONICAL_RELATIVE, element.tag(), full);
            }
            self.head.canonical_at = element.tag();
            href.clone_into(&mut self.head.canonical_source);
        }
        let line = self.line(element.tag().start);
        self.head.canonicals.push((url, line));
    }
}

fn is_contradictory(rules: &[String]) -> bool {
    let has = |any: &[&str]| rules.iter().any(|rule| any.contains(&rule.as_str()));
    (has(&["index", "all"]) && has(&["noindex", "none"]))
        || (has(&["follow", "all"]) && has(&["nofollow", "none"]))
}
