//! What only all pages of a site together show: which pages are the same, and which lines are on all of them.

use std::collections::{HashMap, HashSet};

use url::Url;

use crate::Page;
use crate::lines::{Line, LineKind, Zone};

/// Minimum pages on which a line stands before it counts as repeated: a site of two pages loses nothing.
const MIN_PAGES: usize = 3;
/// The part of the pages on which a line around the content stands before it counts as repeated. Parts of a
/// site have menus of their own.
const FURNITURE_SHARE: usize = 10;
/// The part of the pages, in tenths, for any other line: one that several products share is no frame.
const CONTENT_TENTHS: usize = 9;

/// A page with its path on the site.
#[derive(Clone, Debug)]
pub struct SitePage {
    /// The path, such as `/mugs.html`.
    pub path: String,
    /// The page.
    pub page: Page,
}

/// Returns the indices of the pages that are not read, because they send their readers elsewhere: by a
/// refresh, or by a canonical address.
///
/// A canonical address that differs in its host, its `.html` or its last `/` only is that of the page itself.
/// One with further folders before the path is, too: the site may be served below them.
pub fn duplicates(pages: &[SitePage], origin: &str) -> HashSet<usize> {
    let known: HashSet<String> = pages.iter().map(|page| normalized(&page.path)).collect();
    let is_elsewhere = |(_, SitePage { path, page }): &(usize, &SitePage)| {
        // A path without the name of a file is that of a folder.
        let is_file = path.strip_suffix(".html").or(path.strip_suffix(".htm")).is_some();
        let address = if is_file { path.clone() } else { format!("{}/", path.trim_end_matches('/')) };
        let Some(own) = Url::parse(origin).ok().and_then(|origin| origin.join(&address).ok()) else {
            return false;
        };
        let base = page.head.base.as_deref().and_then(|base| own.join(base).ok());
        let base = base.unwrap_or_else(|| own.clone());
        let target = |address: &str| base.join(address).ok();
        let redirect = page.head.redirect.as_deref().filter(|address| !address.is_empty()).and_then(target);
        if redirect.is_some_and(|target| normalized(target.path()) != normalized(path)) {
            return true;
        }
        let Some(canonical) = page.head.canonical.as_deref().and_then(target) else { return false };
        let (canonical, path) = (normalized(canonical.path()), normalized(path));
        let is_below = canonical.ends_with(&format!("/{path}")) && !known.contains(&canonical);
        let is_same = canonical == path || is_below;
        // The front page may be served below any folder: it is a duplicate of a known page only.
        !is_same && (!path.is_empty() || known.contains(&canonical))
    };
    pages.iter().enumerate().filter(is_elsewhere).map(|(index, _)| index).collect()
}

/// Returns a path without what servers add or leave out.
fn normalized(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = percent_decoded(path);
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".html").or(path.strip_suffix(".htm")).unwrap_or(path);
    let path = path
        .strip_suffix("index")
        .filter(|folder| folder.is_empty() || folder.ends_with('/'))
        .unwrap_or(path);
    path.trim_end_matches('/').to_owned()
}

fn percent_decoded(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = (*first == b'%').then(|| tail.get(..2)).flatten();
        let code = digits.and_then(|digits| str::from_utf8(digits).ok());
        let byte = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Leaves out the lines that repeat across the pages of a site, in each language: menus, headers, footers.
///
/// Links go from all pages. Any other line, such as an address or opening hours, stays on one page, the one
/// with the shortest path.
pub fn leave_out_repeated(pages: &mut [SitePage]) {
    let mut languages: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, page) in pages.iter().enumerate() {
        let language = page.page.head.language.as_deref().unwrap_or_default().to_ascii_lowercase();
        languages.entry(language).or_default().push(index);
    }
    for mut group in languages.into_values().filter(|group| group.len() >= MIN_PAGES) {
        group
            .sort_by_key(|index| (pages[*index].path.matches('/').count(), pages[*index].path.len(), *index));
        let counts = counts(pages, &group);
        let mut kept = HashSet::new();
        for index in &group {
            let lines = &mut pages[*index].page.lines;
            let outside = left_out(lines, &counts, group.len(), &mut kept);
            let mut outside = outside.into_iter();
            lines.retain(|_| !outside.next().unwrap_or_default());
        }
    }
}

/// Returns the number of pages that have each line, of those that may be repeated.
fn counts(pages: &[SitePage], group: &[usize]) -> HashMap<String, usize> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for index in group {
        let lines: HashSet<&str> = pages[*index].page.lines.iter().map(|line| line.text.as_str()).collect();
        for line in lines {
            *counts.entry(line).or_default() += 1;
        }
    }
    let enough = |count: usize| count >= MIN_PAGES && count * FURNITURE_SHARE >= group.len();
    counts
        .into_iter()
        .filter(|(_, count)| enough(*count))
        .map(|(line, count)| (line.to_owned(), count))
        .collect()
}

/// Returns which lines of a page are left out. `kept` has the lines that an earlier page has kept.
fn left_out(
    lines: &[Line],
    counts: &HashMap<String, usize>,
    total: usize,
    kept: &mut HashSet<String>,
) -> Vec<bool> {
    let is_outside = |line: &Line| {
        counts.get(&line.text).is_some_and(|count| is_repeated(line, *count, total))
            && (line.is_link || kept.contains(&line.text))
    };
    let mut outside: Vec<bool> = lines.iter().map(is_outside).collect();
    // A heading stays with what is below it.
    for index in (0..lines.len()).rev() {
        let is_heading = |index: usize| matches!(lines[index].kind, LineKind::Heading(_));
        let has_text = lines.len() > index + 1 && !outside[index + 1] && !is_heading(index + 1);
        if is_heading(index) && lines[index].zone == Zone::Content && has_text {
            outside[index] = false;
        }
    }
    kept.extend(lines.iter().map(|line| &line.text).filter(|text| counts.contains_key(*text)).cloned());
    outside
}

/// Returns whether a line that stands on this number of pages belongs to the frame of the site.
fn is_repeated(line: &Line, count: usize, total: usize) -> bool {
    if line.is_link || line.zone != Zone::Content {
        return count * FURNITURE_SHARE >= total;
    }
    // All products may have the same price.
    let has_number = line.text.contains(|letter: char| letter.is_numeric() || letter == '@');
    count * 10 >= total * CONTENT_TENTHS && line.kind != LineKind::Row && !has_number
}

#[cfg(test)]
mod site_tests;
