//! Canonical addresses and translations, compared with the pages to which they lead.

use std::collections::HashMap;

use url::Url;

use crate::facts::{Facts, is_same};
use crate::known::End;
use crate::rule::{
    CANONICAL_AND_NOINDEX, CANONICAL_BROKEN, CANONICAL_CHAIN, CANONICAL_FOREIGN, CANONICAL_NOINDEX,
    HREFLANG_BROKEN, HREFLANG_CONFLICT, HREFLANG_NO_RETURN, HREFLANG_NO_SELF, HREFLANG_NOT_CANONICAL,
};
use crate::site_checks::Context;

pub(crate) fn check(context: &mut Context<'_>) {
    for index in 0..context.pages.len() {
        let page = &context.pages[index];
        if let Some((url, line)) = &page.canonical {
            canonical(context, (index, page, *line), url);
        }
        if !page.alternates.is_empty() && page.refresh.is_none() {
            translations(context, index, page);
        }
    }
}

fn canonical(context: &mut Context<'_>, place: (usize, &Facts, usize), url: &Url) {
    let (_, page, _) = place;
    let evidence = format!("canonical {}", page.canonical_source);
    let Some(key) = context.key(url) else {
        // Of a folder whose host is not known, any host may be its own.
        if context.knows_host() && url.has_host() && !crate::address::is_local(url) {
            let own = context.public(page).map(String::from);
            let host = url.host_str().unwrap_or_default();
            context.findings.add(&CANONICAL_FOREIGN, place, host, evidence, own);
        }
        return;
    };
    let is_own = is_same(&key, &page.key);
    if is_own {
        return;
    }
    if page.is_noindex {
        context.findings.add(&CANONICAL_AND_NOINDEX, place, page.key.clone(), evidence.clone(), None);
    }
    let group = format!("{}\0{key}", page.key);
    match context.follow(&key) {
        (_, End::Missing) => {
            let suggestion = context.known.namesake(&key).map(str::to_owned);
            context.findings.add(&CANONICAL_BROKEN, place, group, evidence, suggestion);
        }
        (hops, End::Page(target)) => {
            let target = &context.pages[target];
            if target.is_noindex {
                context.findings.add(&CANONICAL_NOINDEX, place, group, evidence, None);
            } else if hops > 0 || target.is_copy() {
                context.findings.add(&CANONICAL_CHAIN, place, group, evidence, None);
            }
        }
        _ => {}
    }
}

fn translations(context: &mut Context<'_>, index: usize, page: &Facts) {
    let mut by_language: HashMap<String, &Url> = HashMap::new();
    let mut names_itself = false;
    let mut has_language = false;
    for (language, url, line) in &page.alternates {
        let language = language.to_ascii_lowercase();
        let place = (index, page, *line);
        let evidence = format!("hreflang=\"{language}\" {url}");
        let group = format!("{}\0{language}\0{url}", page.key);
        has_language |= language != "x-default";
        if by_language.insert(language.clone(), url).is_some_and(|other| other != url) {
            context.findings.add(&HREFLANG_CONFLICT, place, group.clone(), evidence.clone(), None);
        }
        let Some(key) = context.key(url) else { continue };
        if is_same(&key, &page.key) {
            names_itself = true;
            continue;
        }
        let (hops, end) = context.follow(&key);
        match end {
            End::Missing => context.findings.add(&HREFLANG_BROKEN, place, group, evidence, None),
            End::Page(target) => {
                let other = &context.pages[target];
                if hops > 0 || other.is_noindex || other.is_copy() {
                    context.findings.add(&HREFLANG_NOT_CANONICAL, place, group, evidence, None);
                } else if !names(context, other, page) {
                    context.findings.add(&HREFLANG_NO_RETURN, place, group, evidence, None);
                }
            }
            _ => {}
        }
    }
    // A page of feeds or other formats may name one other version only; a page that is a copy names no group.
    if !names_itself && has_language && !page.is_copy() && context.knows_host_of(page) {
        let line = page.alternates[0].2;
        let languages: Vec<&str> = page.alternates.iter().map(|(language, ..)| language.as_str()).collect();
        context.findings.add(
            &HREFLANG_NO_SELF,
            (index, page, line),
            page.key.clone(),
            languages.join(", "),
            None,
        );
    }
}

/// Returns whether one of the translations of a page is another page.
fn names(context: &Context<'_>, page: &Facts, other: &Facts) -> bool {
    page.alternates.iter().any(|(_, url, _)| context.key(url).is_some_and(|key| is_same(&key, &other.key)))
}

impl Context<'_> {
    /// Returns whether the translations of a page can be compared with its own address: one of them is on the
    /// site.
    fn knows_host_of(&self, page: &Facts) -> bool {
        self.knows_host() || page.alternates.iter().any(|(_, url, _)| self.site.contains(url))
    }
}
