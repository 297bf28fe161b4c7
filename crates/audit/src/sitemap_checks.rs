//! Checks of sitemaps.

use std::collections::HashSet;

use chat_page::Sitemap;
use url::Url;

use crate::facts::is_same;
use crate::known::End;
use crate::rule::{
    SITEMAP_BLOCKED, SITEMAP_BROKEN, SITEMAP_FOREIGN, SITEMAP_INCOMPLETE, SITEMAP_INVALID, SITEMAP_MISSING,
    SITEMAP_NOINDEX, SITEMAP_NOT_CANONICAL, SITEMAP_REDIRECT,
};
use crate::site_checks::Context;

pub(crate) fn check(context: &mut Context<'_>, sitemaps: &[(String, Option<Sitemap>)]) {
    if sitemaps.is_empty() {
        if context.pages.len() > 1 && context.site.is_complete {
            context.findings.add_file(&SITEMAP_MISSING, "/sitemap.xml", 1, "sitemap.xml", None);
        }
        return;
    }
    let mut listed = HashSet::new();
    let mut is_readable = true;
    for (path, sitemap) in sitemaps {
        let Some(sitemap) = sitemap else {
            is_readable = false;
            context.findings.add_file(&SITEMAP_INVALID, path, 1, path.as_str(), None);
            continue;
        };
        for address in &sitemap.pages {
            entry(context, path, address, &mut listed);
        }
    }
    if is_readable && context.site.is_complete && !listed.is_empty() {
        for (index, page) in context.pages.iter().enumerate() {
            if page.is_indexable() && !listed.contains(&index) {
                let evidence = page.address.clone();
                context.findings.add(&SITEMAP_INCOMPLETE, (index, page, 1), page.key.clone(), evidence, None);
            }
        }
    }
}

fn entry(context: &mut Context<'_>, path: &str, address: &str, listed: &mut HashSet<usize>) {
    let Ok(url) = context.site.root.join(address) else {
        context.findings.add_file(&SITEMAP_BROKEN, path, 1, address, None);
        return;
    };
    let url = match context.key(&url) {
        Some(_) => url,
        None if context.knows_host() => {
            context.findings.add_file(&SITEMAP_FOREIGN, path, 1, address, None);
            return;
        }
        // The host of a folder is not known: the path is what can be compared.
        None => {
            let Some(own) = own(context, &url) else { return };
            own
        }
    };
    let key = crate::address::key(&url, context.site.is_folder);
    let (hops, end) = context.follow(&key);
    match end {
        End::Missing => {
            let suggestion = context.known.namesake(&key).map(str::to_owned);
            context.findings.add_file(&SITEMAP_BROKEN, path, 1, address, suggestion);
        }
        End::Page(index) => {
            let page = &context.pages[index];
            listed.insert(index);
            if hops > 0 {
                context.findings.add_file(&SITEMAP_REDIRECT, path, 1, address, Some(page.address.clone()));
            } else if page.is_noindex {
                context.findings.add_file(&SITEMAP_NOINDEX, path, 1, address, None);
            } else if page.is_copy() && is_same(&key, &page.key) {
                let canonical = page.canonical.as_ref().map(|(url, _)| url.to_string());
                context.findings.add_file(&SITEMAP_NOT_CANONICAL, path, 1, address, canonical);
            }
        }
        _ => {}
    }
    if context.robots.is_some_and(|robots| !robots.allows("Googlebot", &url)) {
        context.findings.add_file(&SITEMAP_BLOCKED, path, 1, address, None);
    }
}

/// Returns an address on another host as one of the site.
fn own(context: &Context<'_>, url: &Url) -> Option<Url> {
    context.site.root.join(url.path()).ok()
}
