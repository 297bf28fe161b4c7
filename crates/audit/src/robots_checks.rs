//! Checks of `robots.txt`.

use crate::crawlers::CRAWLERS;
use crate::rule::{AI_CRAWLER_BLOCKED, ROBOTS_BLOCKS_SITE, ROBOTS_NOINDEX, ROBOTS_SYNTAX};
use crate::site_checks::Context;

const PATH: &str = "/robots.txt";
/// Maximum lines that are findings.
const MAX_LINES: usize = 10;
/// Names of rules; others are extensions, unless they look like one of these.
const NAMES: [&str; 4] = ["user-agent", "disallow", "allow", "sitemap"];
/// Extensions that are in use.
const EXTENSIONS: [&str; 9] = [
    "crawl-delay",
    "host",
    "clean-param",
    "noindex",
    "request-rate",
    "visit-time",
    "content-signal",
    "license",
    "content-usage",
];
/// A name that no rule has.
const ANY: &str = "any-other-robot";

/// Checks the file. Returns the crawlers of answer engines, with whether they are allowed.
pub(crate) fn check(context: &mut Context<'_>, text: Option<&str>) -> Vec<(&'static str, bool)> {
    let (Some(robots), Some(text)) = (context.robots, text) else { return Vec::new() };
    syntax(context, text);
    let root = context.site.root.clone();
    let is_blocked = !robots.allows(ANY, &root);
    if is_blocked && !robots.allows("Googlebot", &root) && !robots.allows("Bingbot", &root) {
        let rule = line_of(text, |line| line.replace(' ', "").eq_ignore_ascii_case("disallow:/"));
        context.findings.add_file(&ROBOTS_BLOCKS_SITE, PATH, rule, "Disallow: /", None);
    }
    let crawlers: Vec<_> = CRAWLERS.iter().map(|name| (*name, robots.allows(name, &root))).collect();
    let blocked: Vec<&str> = crawlers.iter().filter(|(_, allowed)| !allowed).map(|(name, _)| *name).collect();
    // If all robots are forbidden, that is the finding.
    if !blocked.is_empty() && !is_blocked {
        let first = line_of(text, |line| blocked.iter().any(|name| line.contains(name)));
        context.findings.add_file(&AI_CRAWLER_BLOCKED, PATH, first, blocked.join(", "), None);
    }
    for (index, page) in context.pages.iter().enumerate() {
        if page.is_noindex && page.status == 200 && !robots.allows("Googlebot", &page.url) {
            let evidence = page.address.clone();
            context.findings.add(&ROBOTS_NOINDEX, (index, page, 1), page.key.clone(), evidence, None);
        }
    }
    crawlers
}

/// Returns the number of the first line that fits, from 1 on.
fn line_of(text: &str, fits: impl Fn(&str) -> bool) -> usize {
    text.lines().position(|line| fits(line.trim())).map_or(1, |index| index + 1)
}

fn syntax(context: &mut Context<'_>, text: &str) {
    let mut found = 0;
    for (index, line) in text.lines().enumerate() {
        let rule = line.split('#').next().unwrap_or_default().trim().trim_start_matches('\u{feff}').trim();
        if rule.is_empty() || found >= MAX_LINES {
            continue;
        }
        let suggestion = match rule.split_once(':') {
            None => None,
            Some((name, value)) => {
                let name = name.trim().to_ascii_lowercase();
                if NAMES.contains(&name.as_str()) || EXTENSIONS.contains(&name.as_str()) {
                    continue;
                }
                let Some(meant) = NAMES.iter().find(|known| is_near(&name, known)) else { continue };
                Some(format!("{}{}:{value}", meant[..1].to_uppercase(), &meant[1..]))
            }
        };
        found += 1;
        context.findings.add_file(&ROBOTS_SYNTAX, PATH, index + 1, rule, suggestion);
    }
}

/// Returns whether a word differs from another one in at most two letters.
fn is_near(word: &str, other: &str) -> bool {
    if word.len() > other.len() + 2 {
        return false;
    }
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in word.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (index, expected) in other.bytes().enumerate() {
            let cost = diagonal + usize::from(letter != expected);
            diagonal = row[index + 1];
            row[index + 1] = cost.min(diagonal + 1).min(row[index] + 1);
        }
    }
    row[other.len()] <= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelt_names_are_near() {
        assert!(
            is_near("dissallow", "disallow")
                && is_near("useragent", "user-agent")
                && is_near("alow", "allow")
        );
        assert!(!is_near("crawl-delay", "disallow") && !is_near("x", "allow"));
    }
}
