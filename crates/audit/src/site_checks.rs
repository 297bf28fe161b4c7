//! Checks that need all pages together.

use std::collections::{HashMap, HashSet};

use chat_page::Robots;
use url::Url;

use crate::address::key;
use crate::facts::Facts;
use crate::findings::{Findings, Work};
use crate::known::{End, Pages};
use crate::rule::{DESCRIPTION_DUPLICATE, PAGE_ORPHAN, TITLE_DUPLICATE};
use crate::{Rule, Site};

/// All that is known when the pages are compared.
pub(crate) struct Context<'a> {
    pub(crate) site: &'a Site,
    /// The public origin of a folder, as its pages name it.
    pub(crate) origin: Option<&'a Site>,
    pub(crate) pages: &'a [Facts],
    pub(crate) known: &'a Pages,
    pub(crate) robots: Option<&'a Robots>,
    pub(crate) findings: &'a mut Findings,
    pub(crate) work: &'a mut Work,
}

impl Context<'_> {
    /// Returns whether an address belongs to the site.
    pub(crate) fn contains(&self, url: &Url) -> bool {
        self.site.contains(url) || self.origin.is_some_and(|origin| origin.contains(url))
    }

    /// Returns whether the site's own host is known, so that another one is foreign.
    pub(crate) fn knows_host(&self) -> bool {
        self.site.is_public || self.origin.is_some()
    }

    /// Returns the public address of a page.
    pub(crate) fn public(&self, page: &Facts) -> Option<Url> {
        let root = self.origin.unwrap_or(self.site);
        self.knows_host().then(|| root.root.join(page.url.path()).ok())?
    }

    /// Returns the key of an address within the site.
    pub(crate) fn key(&self, url: &Url) -> Option<String> {
        self.contains(url).then(|| key(url, self.site.is_folder))
    }

    /// Follows the redirects from an address.
    pub(crate) fn follow(&mut self, key: &str) -> (usize, End) {
        self.work.lookups += 1;
        self.known.follow(key, |page| self.pages[page].refresh.as_ref())
    }
}

/// Compares titles and descriptions, and finds pages that nothing links to.
pub(crate) fn check(context: &mut Context<'_>) {
    duplicates(context, &TITLE_DUPLICATE, |page| page.title.as_deref());
    duplicates(context, &DESCRIPTION_DUPLICATE, |page| page.description.as_deref());
    if context.site.is_complete && context.pages.len() > 1 {
        orphans(context);
    }
}

/// Finds texts that several pages of one language share.
fn duplicates(context: &mut Context<'_>, rule: &'static Rule, text: impl Fn(&Facts) -> Option<&str>) {
    let mut groups: HashMap<(String, String), Vec<usize>> = HashMap::new();
    let mut order = Vec::new();
    for (index, page) in context.pages.iter().enumerate() {
        let Some(text) = text(page).filter(|_| page.is_indexable()) else { continue };
        let language = page.language.clone().unwrap_or_default();
        let language = language.split('-').next().unwrap_or_default().to_ascii_lowercase();
        let group = (text.to_lowercase(), language);
        let pages = groups.entry(group.clone()).or_default();
        if pages.is_empty() {
            order.push(group);
        }
        pages.push(index);
    }
    for group in order {
        let pages = &groups[&group];
        if pages.len() < 2 {
            continue;
        }
        for index in pages {
            let page = &context.pages[*index];
            let evidence = text(page).unwrap_or_default().to_owned();
            context.findings.add(
                rule,
                (*index, page, 1),
                format!("{}\0{}", group.0, group.1),
                evidence,
                None,
            );
        }
    }
}

/// Finds pages to which no other page links, not even as a translation or by a redirect.
fn orphans(context: &mut Context<'_>) {
    let mut linked = HashSet::new();
    for index in 0..context.pages.len() {
        let page = &context.pages[index];
        let links = page.references.iter().map(|reference| reference.key.clone());
        let alternates = page.alternates.iter().filter_map(|(_, url, _)| context.key(url));
        let refresh = page.refresh.iter().filter_map(|refresh| refresh.page().cloned());
        let keys: Vec<String> = links.chain(alternates).chain(refresh).collect();
        for key in keys {
            if let (_, End::Page(target)) = context.follow(&key)
                && target != index
            {
                linked.insert(target);
            }
        }
    }
    for (index, page) in context.pages.iter().enumerate() {
        // The first page of a crawl is where readers begin.
        let is_start = page.key == "/" || (index == 0 && !context.site.is_folder);
        if page.is_indexable() && !is_start && !linked.contains(&index) {
            context.findings.add(
                &PAGE_ORPHAN,
                (index, page, 1),
                page.key.clone(),
                page.address.clone(),
                None,
            );
        }
    }
}
