//! Findings, and the score.

use std::collections::{HashMap, HashSet};

use crate::facts::Facts;
use crate::rule::{Rule, Severity};

/// Maximum characters of an excerpt.
const MAX_EVIDENCE: usize = 160;
/// Points that a finding takes from its page, or, if it has none, from the site.
const fn weight(severity: Severity) -> u32 {
    match severity {
        Severity::Error => 15,
        Severity::Warning => 5,
        Severity::Note => 1,
    }
}

/// A place at which something was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The index of the page in [`Report::pages`]; `None` for a file of the site, such as `robots.txt`.
    pub page: Option<usize>,
    /// The address of the page or file, as a path.
    pub address: String,
    /// The file, relative to the folder.
    pub file: Option<String>,
    /// The line in the source, from 1 on.
    pub line: usize,
    /// How often it was found there.
    pub count: usize,
}

/// The same finding, at all of its places.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The smallest excerpt that shows it.
    pub evidence: String,
    /// The text to write instead, where there is only one answer.
    pub suggestion: Option<String>,
    /// The places, at least one.
    pub places: Vec<Place>,
}

/// A page of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSummary {
    /// The address, as a path.
    pub address: String,
    /// The file, relative to the folder.
    pub file: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// The words of the text; two characters of Chinese or Japanese count as one.
    pub words: usize,
    /// The score from 0 to 100.
    pub score: u32,
}

/// The work of an audit, to see that it grows no faster than the site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Elements and texts that were read.
    pub parts: u64,
    /// Addresses that were looked up.
    pub lookups: u64,
    /// Pairs of pages whose texts were compared.
    pub comparisons: u64,
}

/// The result of an audit.
#[derive(Clone, Debug)]
pub struct Report {
    /// The pages, in the order in which they were added.
    pub pages: Vec<PageSummary>,
    /// The findings, the gravest first.
    pub findings: Vec<Finding>,
    /// The score from 0 to 100.
    pub score: u32,
    /// Known crawlers of answer engines, with whether `robots.txt` allows them the front page. Empty
    /// without a `robots.txt`.
    pub crawlers: Vec<(&'static str, bool)>,
    /// The work that it took.
    pub work: Work,
}

impl Report {
    /// Returns the number of findings of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.rule.severity == severity).count()
    }
}

/// A finding of the page that is being read.
#[derive(Clone, Debug)]
pub(crate) struct Note {
    pub(crate) rule: &'static Rule,
    pub(crate) line: usize,
    /// Findings of the same rule and group are one.
    pub(crate) group: String,
    pub(crate) evidence: String,
    pub(crate) suggestion: Option<String>,
    pub(crate) place: (String, Option<String>),
}

/// The findings so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    list: Vec<Finding>,
    index: HashMap<(&'static str, String), usize>,
}

impl Findings {
    /// Adds a finding of the page with this index.
    pub(crate) fn add_note(&mut self, note: Note, page: usize) {
        let (address, file) = note.place;
        let place = Place { page: Some(page), address, file, line: note.line, count: 1 };
        self.add_at(note.rule, place, note.group, &note.evidence, note.suggestion);
    }

    /// Adds a finding of a page.
    pub(crate) fn add(
        &mut self,
        rule: &'static Rule,
        (index, page, line): (usize, &Facts, usize),
        group: impl Into<String>,
        evidence: impl Into<String>,
        suggestion: Option<String>,
    ) {
        let place = Place {
            page: Some(index),
            address: page.address.clone(),
            file: page.file.clone(),
            line,
            count: 1,
        };
        let evidence: String = evidence.into();
        self.add_at(rule, place, group.into(), &evidence, suggestion);
    }

    /// Returns whether there is a finding of this rule and group.
    pub(crate) fn has(&self, rule: &'static Rule, group: &str) -> bool {
        self.index.contains_key(&(rule.id, group.to_owned()))
    }

    /// Adds a finding of a file of the site, such as `robots.txt`.
    pub(crate) fn add_file(
        &mut self,
        rule: &'static Rule,
        path: &str,
        line: usize,
        evidence: impl Into<String>,
        suggestion: Option<String>,
    ) {
        let evidence = evidence.into();
        let file = Some(path.trim_start_matches('/').to_owned());
        let place = Place { page: None, address: path.to_owned(), file, line, count: 1 };
        self.add_at(rule, place, evidence.clone(), &evidence, suggestion);
    }

    fn add_at(
        &mut self,
        rule: &'static Rule,
        place: Place,
        group: String,
        evidence: &str,
        suggestion: Option<String>,
    ) {
        let next = self.list.len();
        let index = *self.index.entry((rule.id, group)).or_insert(next);
        if index == next {
            let evidence = shortened(evidence);
            self.list.push(Finding { rule, evidence, suggestion, places: vec![place] });
            return;
        }
        let finding = &mut self.list[index];
        match finding.places.last_mut() {
            Some(last) if last.page == place.page && last.address == place.address => last.count += 1,
            _ => finding.places.push(place),
        }
        if finding.suggestion != suggestion {
            // One that does not hold everywhere is none.
            finding.suggestion = None;
        }
    }
}

/// Returns a text on one line, not too long.
fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut letters = line.chars();
    let start: String = letters.by_ref().take(MAX_EVIDENCE).collect();
    if letters.next().is_some() { start + "…" } else { start }
}

/// Makes the report.
pub(crate) fn report(
    pages: &[Facts],
    findings: Findings,
    crawlers: Vec<(&'static str, bool)>,
    work: Work,
) -> Report {
    let mut list = findings.list;
    let mut rules_of_pages: Vec<HashSet<&'static str>> = vec![HashSet::new(); pages.len()];
    let mut scores = vec![100_u32; pages.len()];
    let mut of_site = HashSet::new();
    let mut site_points = 0;
    for finding in &list {
        let points = weight(finding.rule.severity);
        for place in &finding.places {
            match place.page {
                Some(page) if rules_of_pages[page].insert(finding.rule.id) => {
                    scores[page] = scores[page].saturating_sub(points);
                }
                None if of_site.insert(finding.rule.id) => site_points += points,
                _ => {}
            }
        }
    }
    list.sort_by(|one, other| {
        let order = (other.rule.severity, one.rule.id).cmp(&(one.rule.severity, other.rule.id));
        let order = order.then_with(|| other.places.len().cmp(&one.places.len()));
        order
            .then_with(|| one.places[0].address.cmp(&other.places[0].address))
            .then_with(|| one.evidence.cmp(&other.evidence))
    });
    let count = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    let mean = scores.iter().map(|score| u64::from(*score)).sum::<u64>() / u64::from(count.max(1));
    let score = u32::try_from(mean).unwrap_or(100).saturating_sub(site_points);
    let summary = |(page, score): (&Facts, u32)| PageSummary {
        address: page.address.clone(),
        file: page.file.clone(),
        title: page.title.clone(),
        words: page.words,
        score,
    };
    let pages = pages.iter().zip(scores).map(summary).collect();
    Report { pages, findings: list, score, crawlers, work }
}
