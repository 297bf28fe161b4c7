//! What could be better about an article or a page head, before it is published.

use serde_json::Value;

use crate::api::publishing::{Review, SyncedPage, text_of};
use crate::text::publishing as texts;

/// The characters of a title and of a description that search engines show.
const MAX_TITLE: usize = 60;
const MIN_TITLE: usize = 10;
const MAX_DESCRIPTION: usize = 160;
const MIN_DESCRIPTION: usize = 50;
/// The words below which an article is short.
const MIN_WORDS: usize = 150;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// Should be mended before it is published.
    Problem,
    /// Could be better.
    Advice,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) level: Level,
    pub(super) text: String,
}

/// Returns what was found, problems first.
pub(super) fn check(review: &Review, page: Option<&SyncedPage>) -> Vec<Finding> {
    let mut findings =
        if review.is_article() { check_article(&review.body) } else { check_head(&review.body, page) };
    findings.sort_by_key(|finding| finding.level != Level::Problem);
    findings
}

fn problem(text: impl Into<String>) -> Finding {
    Finding { level: Level::Problem, text: text.into() }
}

fn advice(text: impl Into<String>) -> Finding {
    Finding { level: Level::Advice, text: text.into() }
}

fn counted(text: crate::text::Text, count: usize, max: usize) -> String {
    text.with(&[
        ("count", &count.to_string()),
        ("max", &max.to_string()),
        ("min", &MIN_DESCRIPTION.to_string()),
    ])
}

fn check_head(overlay: &Value, page: Option<&SyncedPage>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let title = text_of(overlay, "title");
    let description = text_of(overlay, "description");
    let known = |name: fn(&SyncedPage) -> Option<&String>| page.and_then(name).map(String::as_str);
    match title.or(known(|page| page.title.as_ref())) {
        None => findings.push(problem(texts::CHECK_TITLE_MISSING.get())),
        Some(title) => findings.extend(check_title(title)),
    }
    match description.or(known(|page| page.description.as_ref())) {
        None => findings.push(advice(texts::CHECK_DESCRIPTION_MISSING.get())),
        Some(description) => findings.extend(check_description(description, title)),
    }
    if text_of(overlay, "canonicalUrl").is_some_and(|address| !address.starts_with("https://")) {
        findings.push(problem(texts::CHECK_CANONICAL_RELATIVE.get()));
    }
    if text_of(overlay, "robots").is_some_and(|robots| robots.to_ascii_lowercase().contains("noindex")) {
        findings.push(problem(texts::CHECK_NOINDEX.get()));
    }
    let is_empty = |name: &str| match overlay.get(name) {
        Some(Value::Object(members)) => members.is_empty(),
        Some(Value::Array(values)) => values.is_empty(),
        _ => true,
    };
    if is_empty("openGraph") {
        findings.push(advice(texts::CHECK_OG_MISSING.get()));
    }
    if is_empty("structuredData") {
        findings.push(advice(texts::CHECK_STRUCTURED_MISSING.get()));
    }
    findings
}

fn check_title(title: &str) -> Option<Finding> {
    // The service's own suggestions end with an ellipsis where they were cut.
    match title.trim().trim_end_matches('…').chars().count() {
        0 => Some(problem(texts::CHECK_TITLE_MISSING.get())),
        count if count > MAX_TITLE => Some(advice(counted(texts::CHECK_TITLE_LONG, count, MAX_TITLE))),
        count if count < MIN_TITLE => Some(advice(counted(texts::CHECK_TITLE_SHORT, count, MAX_TITLE))),
        _ => None,
    }
}

fn check_description(description: &str, title: Option<&str>) -> Option<Finding> {
    let description = description.trim();
    if title.is_some_and(|title| title.trim() == description) {
        return Some(advice(texts::CHECK_DESCRIPTION_SAME.get()));
    }
    match description.chars().count() {
        count if count > MAX_DESCRIPTION => {
            Some(advice(counted(texts::CHECK_DESCRIPTION_LONG, count, MAX_DESCRIPTION)))
        }
        count if count < MIN_DESCRIPTION => {
            Some(advice(counted(texts::CHECK_DESCRIPTION_SHORT, count, MAX_DESCRIPTION)))
        }
        _ => None,
    }
}

fn check_article(article: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(check_title(text_of(article, "title").unwrap_or_default()));
    let html = text_of(article, "content").unwrap_or_default();
    let tags = tags(html);
    if tags.iter().any(|tag| runs_code(tag)) {
        findings.push(problem(texts::CHECK_SCRIPT.get()));
    }
    let bare = tags.iter().filter(|tag| is_named(tag, "img") && !tag.contains("alt=")).count();
    if bare > 0 {
        findings.push(advice(texts::CHECK_IMAGE_ALT.count(i64::try_from(bare).unwrap_or(i64::MAX))));
    }
    let words = text_of_html(html).split_whitespace().count();
    if words < MIN_WORDS {
        findings.push(advice(texts::CHECK_SHORT_ARTICLE.count(i64::try_from(words).unwrap_or(0))));
    }
    findings
}

/// Returns the tags of HTML in lower case, without their brackets. It is for hints only: the site decides
/// what it takes.
fn tags(html: &str) -> Vec<String> {
    html.split('<').skip(1).filter_map(|part| part.split('>').next()).map(str::to_ascii_lowercase).collect()
}

fn is_named(tag: &str, name: &str) -> bool {
    tag.split(|letter: char| letter.is_whitespace() || letter == '/').next() == Some(name)
}

fn runs_code(tag: &str) -> bool {
    let has_handler = tag.split_whitespace().skip(1).any(|part| part.starts_with("on") && part.contains('='));
    is_named(tag, "script") || is_named(tag, "iframe") || has_handler || tag.contains("javascript:")
}

/// Returns the words of HTML without its tags.
pub(super) fn text_of_html(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut parts = html.split('<');
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let (tag, behind) = part.split_once('>').unwrap_or((part, ""));
        let tag = tag.to_ascii_lowercase();
        // The content of these elements is code.
        if !is_named(&tag, "script") && !is_named(&tag, "style") {
            text.push(' ');
            text.push_str(behind);
        }
    }
    let text = text.replace("&nbsp;", " ").replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&#39;", "'").replace("&amp;", "&").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn overlay(body: Value) -> Review {
        Review { kind: "overlay".to_owned(), body, ..Review::default() }
    }

    fn good() -> Value {
        json!({
            "title": "Mugs made by hand in Leeds",
            "description": "Each mug is thrown, glazed and fired in our own studio. Order by noon, and it leaves today.",
            "canonicalUrl": "https://shop.example/mugs",
            "openGraph": {"title": "Mugs"},
            "structuredData": [{"@type": "Product"}],
        })
    }

    fn found(mut body: Value, name: &str, value: Value) -> Vec<Finding> {
        body[name] = value;
        check(&overlay(body), None)
    }

    #[test]
    fn a_good_page_head_passes() {
        assert_eq!(check(&overlay(good()), None), []);
    }

    #[test]
    fn each_weakness_of_a_page_head_is_found() {
        let first = |name: &str, value: Value| found(good(), name, value).remove(0);
        assert_eq!(first("title", Value::Null).level, Level::Problem);
        assert!(first("title", "x".repeat(61).into()).text.contains("61"));
        assert!(first("title", "Mugs".into()).text.contains('4'));
        assert_eq!(first("description", Value::Null).level, Level::Advice);
        assert_eq!(
            first("description", "Mugs made by hand in Leeds".into()).text,
            texts::CHECK_DESCRIPTION_SAME.get()
        );
        assert_eq!(first("canonicalUrl", "/mugs".into()).level, Level::Problem);
        assert_eq!(first("robots", "NOINDEX, follow".into()).level, Level::Problem);
        assert_eq!(first("openGraph", json!({})).level, Level::Advice);
        assert_eq!(first("structuredData", json!([])).level, Level::Advice);
    }

    #[test]
    fn what_the_page_has_itself_need_not_be_in_the_overlay() {
        let mut body = good();
        body["title"] = Value::Null;
        let page = SyncedPage { title: Some("Mugs made by hand".to_owned()), ..SyncedPage::default() };
        assert_eq!(check(&overlay(body), Some(&page)), []);
    }

    #[test]
    fn scripts_in_an_article_are_a_problem_and_images_need_words() {
        let article = |html: &str| {
            let body = json!({"title": "News of the studio", "content": html});
            check(&Review { kind: "article".to_owned(), body, ..Review::default() }, None)
        };
        for html in [
            "<script>x()</script>",
            "<p onclick='x()'>a</p>",
            "<A HREF=\"javascript:x()\">a</A>",
            "<iframe src=x></iframe>",
        ] {
            assert_eq!(article(html)[0].level, Level::Problem, "{html}");
        }
        let long = "word ".repeat(200);
        assert_eq!(article(&format!("<p>{long}</p><img src=a alt=''>")), []);
        let findings = article(&format!("<p>{long}</p><img src=a><img src=b/>"));
        assert!(findings[0].text.contains('2'), "{findings:?}");
    }

    #[test]
    fn the_text_of_html_has_no_tags() {
        assert_eq!(text_of_html("<h1>A</h1><p>b &amp; c<br>d</p>"), "A b & c d");
        assert_eq!(text_of_html("a<script>x()</script> b<STYLE>p{}</STYLE>"), "a b");
        assert_eq!(text_of_html("a < b"), "a");
        assert_eq!(text_of_html("&amp;lt;"), "&lt;");
    }
}
