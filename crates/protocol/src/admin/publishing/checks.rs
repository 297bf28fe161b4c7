//! What could be better about an article or a page head, before it is published.

use super::html::{images_without_text, runs_code, text_of_html};
use super::{Entry, EntryKind, SyncedPage, text_of};
use crate::Value;

/// Maximum characters of a title that search engines show.
pub const MAX_TITLE: usize = 60;
const MIN_TITLE: usize = 10;
/// Maximum characters of a description that search engines show.
pub const MAX_DESCRIPTION: usize = 160;
/// The characters of a description below which it is short.
pub const MIN_DESCRIPTION: usize = 50;
/// The words below which an article is short.
const MIN_WORDS: usize = 150;
/// The parts of a path by which a browser reads it as another one.
const UNUSUAL: [&str; 6] = ["//", "\\", "%2e", "%2f", "%5c", "%00"];

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Should be mended before it is published. No rule publishes it automatically, unless it says so.
    Problem,
    /// Could be better.
    Advice,
}

/// Something that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The path may be read as another one, which no rule would recognise.
    UnusualPath,
    /// There is no title.
    TitleMissing,
    /// `robots` removes the page from search engines.
    Noindex,
    /// The canonical address is not a full one.
    CanonicalRelative,
    /// The article contains a script or an event handler.
    RunsCode,
    /// The title has more than [`MAX_TITLE`] characters: their number.
    TitleLong(usize),
    /// The title has few characters: their number.
    TitleShort(usize),
    /// There is no description.
    DescriptionMissing,
    /// The description repeats the title.
    DescriptionRepeatsTitle,
    /// The description has more than [`MAX_DESCRIPTION`] characters: their number.
    DescriptionLong(usize),
    /// The description has less than [`MIN_DESCRIPTION`] characters: their number.
    DescriptionShort(usize),
    /// There is no text for a preview in social networks.
    OpenGraphMissing,
    /// There is no structured data.
    StructuredDataMissing,
    /// Images have no alternative text: their number.
    ImagesWithoutText(usize),
    /// The article has few words: their number.
    ShortArticle(usize),
}

impl Finding {
    /// Returns how much it matters.
    pub fn level(self) -> Level {
        match self {
            Self::UnusualPath
            | Self::TitleMissing
            | Self::Noindex
            | Self::CanonicalRelative
            | Self::RunsCode => Level::Problem,
            _ => Level::Advice,
        }
    }
}

/// Returns what was found, problems first.
pub fn check(entry: &Entry<'_>) -> Vec<Finding> {
    let mut findings = match entry.kind {
        EntryKind::Article => check_article(entry.body),
        EntryKind::Overlay => check_head(entry.body, entry.before.page.as_ref()),
    };
    findings.extend(is_unusual(entry.path).then_some(Finding::UnusualPath));
    findings.sort_by_key(|finding| finding.level() != Level::Problem);
    findings
}

fn is_unusual(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let path_only = lower.split(['?', '#']).next().unwrap_or_default();
    !path.starts_with('/')
        || path.chars().any(char::is_control)
        || UNUSUAL.iter().any(|part| path_only.contains(part))
        || path_only.split('/').any(|segment| segment == "." || segment == "..")
}

fn check_head(overlay: &Value, page: Option<&SyncedPage>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let own = page.and_then(|page| page.head.as_ref());
    let title = text_of(overlay, "title").or_else(|| match (own, page) {
        (Some(own), _) => own.title.as_deref(),
        (None, page) => page.and_then(|page| page.title.as_deref()),
    });
    let description = text_of(overlay, "description").or_else(|| match (own, page) {
        (Some(own), _) => own.description.as_deref(),
        (None, page) => page.and_then(|page| page.description.as_deref()),
    });
    // Nothing is known to be missing on a page that the site has not synced.
    let is_known = page.is_some();
    match title {
        None => findings.extend(is_known.then_some(Finding::TitleMissing)),
        Some(title) => findings.extend(check_title(title)),
    }
    match description {
        None => findings.extend(is_known.then_some(Finding::DescriptionMissing)),
        Some(description) => findings.extend(check_description(description, title)),
    }
    if text_of(overlay, "canonicalUrl").is_some_and(|address| !address.starts_with("https://")) {
        findings.push(Finding::CanonicalRelative);
    }
    if text_of(overlay, "robots").is_some_and(hides_page) {
        findings.push(Finding::Noindex);
    }
    let is_empty = |name: &str| match overlay.get(name) {
        Some(Value::Object(members)) => members.is_empty(),
        Some(Value::List(values)) => values.is_empty(),
        _ => true,
    };
    if is_empty("openGraph") && own.is_none_or(|own| own.open_graph.is_empty()) {
        findings.push(Finding::OpenGraphMissing);
    }
    // A page of a known head needs structured data only if it is about a thing that has some.
    if is_empty("structuredData") && own.is_none() {
        findings.push(Finding::StructuredDataMissing);
    }
    findings
}

/// Returns whether the content of `robots` removes a page from search engines. `none` means `noindex` too.
fn hides_page(robots: &str) -> bool {
    let robots = robots.to_ascii_lowercase();
    robots.contains("noindex") || robots.split([',', ' ', ':']).any(|rule| rule.trim() == "none")
}

fn check_title(title: &str) -> Option<Finding> {
    match title.trim().chars().count() {
        0 => Some(Finding::TitleMissing),
        count if count > MAX_TITLE => Some(Finding::TitleLong(count)),
        count if count < MIN_TITLE => Some(Finding::TitleShort(count)),
        _ => None,
    }
}

fn check_description(description: &str, title: Option<&str>) -> Option<Finding> {
    let description = description.trim();
    if title.is_some_and(|title| repeats_title(description, title)) {
        return Some(Finding::DescriptionRepeatsTitle);
    }
    match description.chars().count() {
        count if count > MAX_DESCRIPTION => Some(Finding::DescriptionLong(count)),
        count if count < MIN_DESCRIPTION => Some(Finding::DescriptionShort(count)),
        _ => None,
    }
}

/// Returns whether a description is the title again, whatever its case, spaces and full stop are.
pub fn repeats_title(description: &str, title: &str) -> bool {
    let words = |text: &str| {
        let lower = text.trim().trim_end_matches('.').to_lowercase();
        lower.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    words(description) == words(title)
}

fn check_article(article: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(check_title(text_of(article, "title").unwrap_or_default()));
    let html = text_of(article, "content").unwrap_or_default();
    if runs_code(html) {
        findings.push(Finding::RunsCode);
    }
    let bare = images_without_text(html);
    if bare > 0 {
        findings.push(Finding::ImagesWithoutText(bare));
    }
    let words = text_of_html(html).split_whitespace().count();
    if words < MIN_WORDS {
        findings.push(Finding::ShortArticle(words));
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Before;
    use super::*;
    use crate::PageHead;

    fn check_at(
        kind: EntryKind,
        path: &str,
        body: serde_json::Value,
        page: Option<SyncedPage>,
    ) -> Vec<Finding> {
        let body = serde_json::from_value(body).expect("a value");
        let before = Before { page, overlay: Value::Null };
        check(&Entry { kind, path, locale: "", body: &body, before: &before })
    }

    fn good() -> serde_json::Value {
        json!({
            "title": "Mugs made by hand in Leeds",
            "description": "Each mug is thrown, glazed and fired in our own studio. Order by noon, and it leaves today.",
            "canonicalUrl": "https://shop.example/mugs",
            "openGraph": {"title": "Mugs"},
            "structuredData": [{"@type": "Product"}],
        })
    }

    #[test]
    fn a_good_page_head_passes() {
        assert_eq!(check_at(EntryKind::Overlay, "/mugs", good(), None), []);
        let mut partial = good();
        (partial["title"], partial["description"]) = (json!(null), json!(null));
        assert_eq!(check_at(EntryKind::Overlay, "/mugs", partial, None), [], "the page is not known");
    }

    #[test]
    fn each_weakness_of_a_page_head_is_found() {
        let first = |name: &str, value: serde_json::Value| {
            let mut body = good();
            body[name] = value;
            check_at(EntryKind::Overlay, "/mugs", body, Some(SyncedPage::default())).remove(0)
        };
        let long = "x".repeat(61);
        for (name, value, finding) in [
            ("title", json!(null), Finding::TitleMissing),
            ("title", json!("   "), Finding::TitleMissing),
            ("title", json!(long), Finding::TitleLong(61)),
            ("title", json!("Mugs"), Finding::TitleShort(4)),
            ("description", json!(null), Finding::DescriptionMissing),
            ("description", json!("Mugs made by hand in Leeds"), Finding::DescriptionRepeatsTitle),
            ("description", json!("Mugs"), Finding::DescriptionShort(4)),
            ("description", json!("x".repeat(161)), Finding::DescriptionLong(161)),
            ("canonicalUrl", json!("/mugs"), Finding::CanonicalRelative),
            ("robots", json!("NOINDEX, follow"), Finding::Noindex),
            ("robots", json!("None"), Finding::Noindex),
            ("robots", json!("googlebot: noindex"), Finding::Noindex),
            ("openGraph", json!({}), Finding::OpenGraphMissing),
            ("structuredData", json!([]), Finding::StructuredDataMissing),
        ] {
            assert_eq!(first(name, value.clone()), finding, "{name}: {value}");
        }
    }

    #[test]
    fn what_the_page_has_itself_need_not_be_in_the_overlay() {
        let mut body = good();
        body["title"] = json!(null);
        let page = SyncedPage { title: Some("Mugs made by hand".to_owned()), ..SyncedPage::default() };
        assert_eq!(check_at(EntryKind::Overlay, "/mugs", body, Some(page)), []);
    }

    #[test]
    fn a_known_head_counts_and_the_items_name_does_not() {
        let head = |description: &str| PageHead {
            description: Some(description.to_owned()),
            open_graph: vec![("title".to_owned(), "Mugs".to_owned())],
            ..PageHead::default()
        };
        let page = |head| SyncedPage {
            title: Some("Mugs made by hand in Leeds".to_owned()),
            head: Some(head),
            ..SyncedPage::default()
        };
        let long = "Each mug is thrown, glazed and fired in our own studio.";
        assert_eq!(
            check_at(EntryKind::Overlay, "/mugs", json!({}), Some(page(head(long)))),
            [Finding::TitleMissing]
        );
        let titled = json!({"title": "Mugs made by hand"});
        let repeated = head("mugs  made by Hand.");
        let found = check_at(EntryKind::Overlay, "/mugs", titled, Some(page(repeated)));
        assert_eq!(found, [Finding::DescriptionRepeatsTitle]);
    }

    #[test]
    fn scripts_in_an_article_are_a_problem_and_images_need_words() {
        let article = |html: &str| {
            let body = json!({"title": "News of the studio", "content": html});
            check_at(EntryKind::Article, "/news", body, None)
        };
        assert_eq!(article("<script>x()</script>")[0], Finding::RunsCode);
        let long = "word ".repeat(200);
        assert_eq!(article(&format!("<p>{long}</p><img src=a alt=''>")), []);
        let bare = article(&format!("<p>{long}</p><img src=a><img src=b/>"));
        assert_eq!(bare, [Finding::ImagesWithoutText(2)]);
    }

    #[test]
    fn paths_that_a_browser_reads_as_others_are_a_problem() {
        for path in ["", "blog", "/blog/../admin", "/./a", "//evil.example", "/a%2E%2e/b", "/a\\b", "/a\nb"] {
            assert_eq!(check_at(EntryKind::Overlay, path, good(), None), [Finding::UnusualPath], "{path:?}");
        }
        for path in ["/", "/blog/a..b", "/über/uns", "/a.html?from=//x#..", "/blog/%20"] {
            assert_eq!(check_at(EntryKind::Overlay, path, good(), None), [], "{path:?}");
        }
    }
}
