//! The addresses of a site that are known: pages, files, redirects, and what does not exist.

use std::collections::HashMap;

/// Maximum redirects that are followed.
const MAX_HOPS: usize = 10;

/// The kind of a known address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// A page, by its index.
    Page(usize),
    /// Another file.
    File,
    /// A redirect to an address of the site, or to another website.
    Redirect(Option<String>),
    /// An address that answers with this status.
    Missing(u16),
}

/// The address to which a page sends its readers at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refresh {
    /// To a page of the site, by its key.
    Page(String),
    /// To another website.
    Elsewhere,
}

impl Refresh {
    /// Returns the key of the page.
    pub(crate) fn page(&self) -> Option<&String> {
        match self {
            Self::Page(key) => Some(key),
            Self::Elsewhere => None,
        }
    }
}

/// The end of a chain of redirects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Page(usize),
    File,
    Missing,
    Unknown,
    Loop,
}

/// All known addresses.
#[derive(Debug)]
pub(crate) struct Pages {
    known: HashMap<String, Known>,
    is_folder: bool,
    rules: Vec<String>,
    /// Addresses at and below which anything may be.
    unknown: Vec<String>,
    /// Whether rules of the host can serve any address.
    serves_all: bool,
    /// The pages by the last part of their path, for suggestions; `None` if there are several.
    by_name: HashMap<String, Option<String>>,
}

impl Pages {
    pub(crate) fn new(is_folder: bool) -> Self {
        Self {
            known: HashMap::new(),
            is_folder,
            rules: Vec::new(),
            unknown: Vec::new(),
            serves_all: false,
            by_name: HashMap::new(),
        }
    }

    pub(crate) fn add(&mut self, key: String, known: Known) {
        if matches!(known, Known::Page(_)) {
            let name = key.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
            let entry = self.by_name.entry(name).or_insert_with(|| Some(key.clone()));
            if entry.as_ref() != Some(&key) {
                *entry = None;
            }
        }
        // A page is more than what was known of its address before.
        let is_page = matches!(known, Known::Page(_));
        if is_page || !self.known.contains_key(&key) {
            self.known.insert(key, known);
        }
    }

    pub(crate) fn add_rules(&mut self, text: &str) {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let lower = line.to_ascii_lowercase();
            let any =
                ["rewriterule", "redirectmatch", "rewrite", "*", ":splat", "errordocument", "multiviews"];
            self.serves_all |= any.iter().any(|word| lower.contains(word));
            self.rules.push(line.to_owned());
        }
    }

    /// Says that anything may be at and below an address.
    pub(crate) fn add_unknown(&mut self, key: String) {
        self.unknown.push(key);
    }

    /// Returns what is known of an address, with the ways in which servers complete it.
    pub(crate) fn get(&self, key: &str) -> Option<&Known> {
        if let Some(known) = self.known.get(key) {
            return Some(known);
        }
        let (path, query) = key.split_once('?').map_or((key, None), |(path, query)| (path, Some(query)));
        let with = |path: String| query.map_or_else(|| path.clone(), |query| format!("{path}?{query}"));
        let bare = path.trim_end_matches('/');
        let mut variants = vec![with(format!("{bare}/")), with(bare.to_owned())];
        if self.is_folder {
            variants.extend([format!("{bare}.html"), format!("{bare}.htm")]);
        }
        variants.iter().find_map(|variant| self.known.get(variant))
    }

    /// Follows the redirects from an address. Returns their number and the end. `refresh` tells where a page
    /// sends its readers.
    pub(crate) fn follow<'a>(
        &self,
        key: &str,
        refresh: impl Fn(usize) -> Option<&'a Refresh>,
    ) -> (usize, End) {
        let mut at = key.to_owned();
        let mut seen = vec![at.clone()];
        for hops in 0..=MAX_HOPS {
            let next = match self.get(&at) {
                // Hidden files are not read, but may be served.
                None if self.is_folder && !at.contains("/.") && !self.may_be_served(&at) => {
                    return (hops, End::Missing);
                }
                Some(Known::File) => return (hops, End::File),
                Some(Known::Missing(404 | 410)) => return (hops, End::Missing),
                None | Some(Known::Missing(_) | Known::Redirect(None)) => return (hops, End::Unknown),
                Some(Known::Redirect(Some(next))) => next.clone(),
                Some(Known::Page(page)) => match refresh(*page) {
                    None => return (hops, End::Page(*page)),
                    Some(Refresh::Elsewhere) => return (hops + 1, End::Unknown),
                    Some(Refresh::Page(next)) => next.clone(),
                },
            };
            if seen.contains(&next) {
                return (hops + 1, End::Loop);
            }
            seen.push(next.clone());
            at = next;
        }
        (MAX_HOPS, End::Loop)
    }

    /// Returns whether a rule of the host may serve an address without a file.
    fn may_be_served(&self, key: &str) -> bool {
        let bare = key.trim_end_matches('/');
        let is_below = |place: &String| {
            bare.strip_prefix(place.trim_end_matches('/'))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.serves_all
            || self.unknown.iter().any(is_below)
            || self.rules.iter().any(|rule| !bare.is_empty() && rule.contains(bare))
    }

    /// Returns the only page with the same last part as an address that does not exist.
    pub(crate) fn namesake(&self, key: &str) -> Option<&str> {
        let name = key.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty())?;
        let variants = [name.to_owned(), format!("{name}.html")];
        variants.iter().find_map(|name| self.by_name.get(name)?.as_deref())
    }
}
