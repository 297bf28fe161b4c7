//! Links, pictures and files, compared with what exists.

use crate::facts::Kind;
use crate::known::{End, Refresh};
use crate::rule::{
    IMAGE_BROKEN, LINK_BROKEN, LINK_FRAGMENT, LINK_REDIRECT, REDIRECT_CHAIN, REDIRECT_LOOP, RESOURCE_BROKEN,
};
use crate::similar::hash;
use crate::site_checks::Context;

pub(crate) fn check(context: &mut Context<'_>) {
    for index in 0..context.pages.len() {
        let page = &context.pages[index];
        if let Some(Refresh::Page(target)) = &page.refresh
            && context.follow(&page.key).1 == End::Loop
        {
            let place = (index, page, 1);
            context.findings.add(
                &REDIRECT_LOOP,
                place,
                page.key.clone(),
                format!("{} → {target}", page.key),
                None,
            );
        }
        for reference in &page.references {
            let place = (index, page, reference.line);
            let (hops, end) = context.follow(&reference.key);
            let href = reference.href.clone();
            let group = reference.key.clone();
            let redirect_rule = if hops > 1 { &REDIRECT_CHAIN } else { &LINK_REDIRECT };
            match (reference.kind, end) {
                (Kind::Link, End::Missing) => {
                    let suggestion = context.known.namesake(&reference.key).map(str::to_owned);
                    context.findings.add(&LINK_BROKEN, place, group, format!("href=\"{href}\""), suggestion);
                }
                (Kind::Image, End::Missing) => {
                    context.findings.add(&IMAGE_BROKEN, place, group, format!("src=\"{href}\""), None);
                }
                (Kind::Resource, End::Missing) => {
                    context.findings.add(&RESOURCE_BROKEN, place, group, format!("\"{href}\""), None);
                }
                (Kind::Link, End::Loop) if page.refresh.is_none() => {
                    context.findings.add(&REDIRECT_LOOP, place, group, format!("href=\"{href}\""), None);
                }
                (Kind::Link, End::Page(target)) => {
                    let target = &context.pages[target];
                    if hops > 0 {
                        let to = Some(target.address.clone());
                        context.findings.add(redirect_rule, place, group, format!("href=\"{href}\""), to);
                    } else if let Some(fragment) = &reference.fragment
                        && is_place(fragment)
                        && !target.ids.contains(&hash(fragment.as_bytes(), 0))
                    {
                        let group = format!("{group}#{fragment}");
                        context.findings.add(&LINK_FRAGMENT, place, group, format!("href=\"{href}\""), None);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Returns whether a fragment names an element, and not the top, a text or the state of a script.
fn is_place(fragment: &str) -> bool {
    !fragment.eq_ignore_ascii_case("top")
        && !fragment.starts_with([':', '!', '/', '?'])
        && !fragment.contains(['=', '&', ':'])
}
