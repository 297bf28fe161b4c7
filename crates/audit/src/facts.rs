//! The facts that are kept of a page, and how they are read.

use std::collections::HashSet;
use std::ops::Range;

use chat_page::{ElementPart, Page, Part};
use encoding_rs::UTF_8;
use url::Url;

use crate::address::key;
use crate::element_checks::Elements;
use crate::findings::{Note, Work};
use crate::head_facts::HeadFacts;
use crate::known::Refresh;
use crate::measure;
use crate::rule::Rule;
use crate::similar::Print;
use crate::{PageSource, Site, page_checks, schema};

/// A link, picture or file that a page names, within the site.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    pub(crate) key: String,
    /// The part behind `#`, decoded.
    pub(crate) fragment: Option<String>,
    /// The address, as the page has it.
    pub(crate) href: String,
    pub(crate) line: usize,
    pub(crate) kind: Kind,
}

/// The kind of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Link,
    Image,
    Resource,
}

/// The facts that are kept of a page.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) url: Url,
    pub(crate) key: String,
    pub(crate) address: String,
    pub(crate) file: Option<String>,
    pub(crate) status: u16,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) language: Option<String>,
    /// The canonical address, with its line.
    pub(crate) canonical: Option<(Url, usize)>,
    pub(crate) canonical_source: String,
    /// The translations: language, address and line.
    pub(crate) alternates: Vec<(String, Url, usize)>,
    pub(crate) is_noindex: bool,
    pub(crate) refresh: Option<Refresh>,
    pub(crate) references: Vec<Reference>,
    /// Hashes of the ids.
    /// The links within the site, until somebody asks for them.
    pub(crate) links: Vec<Url>,
    pub(crate) ids: HashSet<u64>,
    pub(crate) words: usize,
    pub(crate) print: Print,
    pub(crate) notes: Vec<Note>,
}

impl Facts {
    /// Returns whether search engines may list the page itself.
    pub(crate) fn is_indexable(&self) -> bool {
        self.status == 200 && !self.is_noindex && self.refresh.is_none() && !self.is_copy()
    }

    /// Returns whether its canonical address is another page.
    pub(crate) fn is_copy(&self) -> bool {
        self.canonical
            .as_ref()
            .is_some_and(|(url, _)| !is_same(&key(url, !self.key.contains('?')), &self.key))
    }
}

/// Returns whether two keys differ only in what servers complete.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    fn bare(key: &str) -> &str {
        let key = key.trim_end_matches('/');
        key.strip_suffix(".html").or(key.strip_suffix(".htm")).unwrap_or(key)
    }
    bare(one) == bare(other)
}

/// A page while it is read.
pub(crate) struct Reading<'a> {
    pub(crate) site: &'a Site,
    pub(crate) source: PageSource<'a>,
    /// The address to which others are relative.
    pub(crate) base: Url,
    pub(crate) head: HeadFacts,
    pub(crate) elements: Elements,
    /// The text of the page with all that is hidden, for comparisons.
    pub(crate) all_text: String,
    newlines: Vec<usize>,
    pending: Vec<Pending>,
}

/// A finding whose excerpt is not decoded yet.
struct Pending {
    rule: &'static Rule,
    at: Range<usize>,
    evidence: Option<String>,
    group: Option<String>,
    suggestion: Option<String>,
}

impl Reading<'_> {
    /// Adds a finding whose excerpt is a tag.
    pub(crate) fn note(&mut self, rule: &'static Rule, at: Range<usize>, suggestion: Option<String>) {
        self.pending.push(Pending { rule, at, evidence: None, group: None, suggestion });
    }

    /// Adds a finding with a text as its excerpt.
    pub(crate) fn note_text(
        &mut self,
        rule: &'static Rule,
        at: Range<usize>,
        evidence: impl Into<String>,
        suggestion: Option<String>,
    ) {
        self.pending.push(Pending { rule, at, evidence: Some(evidence.into()), group: None, suggestion });
    }

    /// Adds a finding that is the same on all pages, whatever its excerpt is.
    pub(crate) fn note_common(
        &mut self,
        rule: &'static Rule,
        at: Range<usize>,
        evidence: impl Into<String>,
        suggestion: Option<String>,
    ) {
        let group = Some(String::new());
        self.pending.push(Pending { rule, at, evidence: Some(evidence.into()), group, suggestion });
    }

    /// Returns the line of a byte, from 1 on.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.newlines.partition_point(|newline| *newline < at) + 1
    }

    fn element(&mut self, element: &ElementPart<'_>) {
        self.read_head(element);
        self.read_element(element);
    }
}

/// Reads a page, with what can be said of it alone.
pub(crate) fn read(site: &Site, source: PageSource<'_>, work: &mut Work) -> Facts {
    let newlines =
        source.html.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    let mut reading = Reading {
        site,
        source,
        base: source.url.clone(),
        head: HeadFacts::default(),
        elements: Elements::default(),
        all_text: String::new(),
        newlines,
        pending: Vec::new(),
    };
    let mut parts = 0;
    let page = Page::read_parts(source.html, source.headers, &mut |part| {
        parts += 1;
        match part {
            Part::Element(element) => reading.element(&element),
            Part::Text { text, .. } => {
                reading.all_text.push_str(text);
                reading.all_text.push(' ');
            }
        }
    });
    work.parts += parts;
    let text = page.text();
    let words = measure::words(&text);
    schema::check(&mut reading);
    page_checks::check(&mut reading, &page, &text, measure::count(&words));
    facts(reading, &page, &words)
}

fn facts(reading: Reading<'_>, page: &Page, words: &[String]) -> Facts {
    let is_folder = reading.site.is_folder;
    let PageSource { url, file, status, html, headers } = reading.source;
    let address = match url.query() {
        Some(query) if !is_folder => format!("{}?{query}", url.path()),
        _ => url.path().to_owned(),
    };
    let address = crate::address::decoded(&address);
    let place = (address.clone(), file.map(str::to_owned));
    let excerpt = |range: &Range<usize>| {
        let bytes = html.get(range.clone()).unwrap_or_default();
        let encoding = if page.encoding.is_ascii_compatible() { page.encoding } else { UTF_8 };
        encoding.decode_without_bom_handling(bytes).0.into_owned()
    };
    let notes = reading.pending.iter().map(|pending| {
        let evidence = pending.evidence.clone().unwrap_or_else(|| excerpt(&pending.at));
        Note {
            rule: pending.rule,
            line: reading.line(pending.at.start),
            group: pending.group.clone().unwrap_or_else(|| evidence.clone()),
            evidence,
            suggestion: pending.suggestion.clone(),
            place: place.clone(),
        }
    });
    let notes = notes.collect();
    let header_rules = headers.robots.iter().any(|_| page.head.is_noindex());
    let head = reading.head;
    let refresh = head.refresh.map(|url| {
        if reading.site.contains(&url) { Refresh::Page(key(&url, is_folder)) } else { Refresh::Elsewhere }
    });
    Facts {
        url: url.clone(),
        key: key(url, is_folder),
        address,
        file: file.map(str::to_owned),
        status,
        title: head.titles.into_iter().next().filter(|title| !title.is_empty()),
        description: head.descriptions.into_iter().next(),
        language: head.language,
        canonical: head.canonicals.first().cloned(),
        canonical_source: head.canonical_source,
        alternates: head.alternates,
        is_noindex: head.is_noindex || header_rules,
        refresh,
        references: reading.elements.references,
        links: reading.elements.links,
        ids: reading.elements.ids,
        words: measure::count(words),
        print: Print::new(words),
        notes,
    }
}
