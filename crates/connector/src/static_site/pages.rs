//! Converts HTML pages to content items for a sync.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

use chat_page::{Outline, Page, SitePage, duplicates, leads, leave_out_repeated};
use chat_protocol::{ContentItem, ContentKind, PageHead, TextFormat, Value, is_language_tag};
use tracing::info;

use super::tree::Tree;
use crate::printable::Printable;

/// The characters of sentences that can be a description, as the service's check has them.
const DESCRIPTION: RangeInclusive<usize> = 50..=160;
/// Maximum bytes of structured data whose types are read.
const MAX_DATA_BYTES: usize = 256 * 1024;

/// Returns the pages of a folder as content items, in the order of their paths: every HTML file that robots
/// may index and that does not send its readers elsewhere. Symbolic links are not followed, so that nothing
/// outside of the folder is read.
pub fn items(root: &Path, origin: &str) -> io::Result<Vec<ContentItem>> {
    items_of(&Tree::new(root), origin, |_, html| Ok(html))
}

/// Returns the pages as content items; `own` returns the site's own source of a page, as it was before an
/// overlay was applied to it.
pub(super) fn items_of(
    tree: &Tree,
    origin: &str,
    own: impl Fn(&str, Vec<u8>) -> io::Result<Vec<u8>>,
) -> io::Result<Vec<ContentItem>> {
    let mut pages = Vec::new();
    let mut failure = Ok(());
    tree.walk(&mut |below, html| {
        let path = match below.strip_suffix("index.html") {
            Some(folder) if folder.is_empty() || folder.ends_with('/') => {
                format!("/{}", folder.trim_end_matches('/'))
            }
            _ => format!("/{below}"),
        };
        match own(&path, html) {
            Ok(html) => pages.extend(read(path, &html)),
            Err(error) => failure = Err(error),
        }
    })?;
    failure?;
    let duplicates = duplicates(&pages, origin);
    for index in &duplicates {
        let SitePage { path, page } = &pages[*index];
        let target = page.head.redirect.as_deref().or(page.head.canonical.as_deref()).unwrap_or_default();
        info!("skipped {}: it refers its readers to {}", Printable(path), Printable(target));
    }
    let mut index = 0;
    pages.retain(|_| {
        index += 1;
        !duplicates.contains(&(index - 1))
    });
    let leads = leads(&pages, &DESCRIPTION);
    leave_out_repeated(&mut pages);
    Ok(pages.into_iter().zip(leads).map(|(page, lead)| item(page, lead, origin)).collect())
}

/// Reads a page; `None` if robots may not index it.
fn read(path: String, html: &[u8]) -> Option<SitePage> {
    let mut page = Page::read(html);
    if page.head.is_noindex() {
        return None;
    }
    // Thousands of pages are held at a time, and their links are not needed.
    page.outline = Outline { headings: std::mem::take(&mut page.outline.headings), ..Outline::default() };
    Some(SitePage { path, page })
}

fn item(SitePage { path, page }: SitePage, lead: Option<String>, origin: &str) -> ContentItem {
    ContentItem {
        url: Some(format!("{}{path}", origin.trim_end_matches('/'))),
        locale: page.head.language.clone().filter(|language| is_language_tag(language)),
        title: page.name().map(str::to_owned),
        summary: page.head.description.clone(),
        content: Some(page.text()),
        format: Some(TextFormat::Text),
        path: Some(path.clone()),
        data: head(page, lead).into_data(),
        ..ContentItem::new(path, ContentKind::Page)
    }
}

/// Returns what the page has in its own head, by which the service knows what is missing.
fn head(page: Page, lead: Option<String>) -> PageHead {
    let chat_page::Head {
        title, description, canonical, robots, redirect, open_graph, structured_data, ..
    } = page.head;
    let structured_data =
        structured_data.iter().flat_map(|json| types(json)).collect::<BTreeSet<_>>().into_iter().collect();
    let redirect = redirect.is_some();
    PageHead { title, description, canonical, robots, redirect, open_graph, structured_data, lead }
}

/// Returns the types of the objects in JSON-LD; `unknown` for one that cannot be read.
fn types(json: &str) -> HashSet<String> {
    fn add(value: &Value, types: &mut HashSet<String>) {
        match value {
            Value::List(values) => values.iter().for_each(|value| add(value, types)),
            Value::Object(_) => {
                if let Some(graph) = value.get("@graph") {
                    add(graph, types);
                }
                match value.get("@type") {
                    Some(Value::Text(name)) => _ = types.insert(name.clone()),
                    Some(Value::List(names)) => {
                        types.extend(names.iter().filter_map(Value::as_text).map(str::to_owned));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
    }
    let mut types = HashSet::new();
    if let Some(value) = Some(json).filter(|json| json.len() <= MAX_DATA_BYTES)
        && let Ok(value) = serde_json::from_str(value)
    {
        add(&value, &mut types);
    }
    if types.is_empty() {
        types.insert("unknown".to_owned());
    }
    types
}

#[cfg(test)]
mod tests {
    use super::super::head::apply_to_head;
    use super::*;
    use chat_protocol::Overlay;
    use proptest::prelude::*;

    /// Writes pages into a folder, and returns their items.
    fn items_in(pages: &[(&str, &str)]) -> Vec<ContentItem> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, html) in pages {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().expect("a folder")).expect("created");
            std::fs::write(file, html).expect("written");
        }
        items(folder.path(), "https://shop.example/").expect("items")
    }

    #[test]
    fn an_item_has_what_the_page_says_as_plain_text() {
        let html = "<html lang=de-AT><head><title>Tom &amp; Jerry&#39;s &lt;best></title>\
                    <meta name=Description content='All mugs'></head>\
                    <body><nav>Home</nav><main><h1>Mugs</h1><p>Hold 320&nbsp;ml, as <code>&lt;b&gt;</code></p>\
                    <script>x</script></main></body>";
        let item = items_in(&[("mugs.html", html)]).remove(0);
        assert_eq!(item.title.as_deref(), Some("Tom & Jerry's <best>"));
        assert_eq!(item.summary.as_deref(), Some("All mugs"));
        assert_eq!(item.content.as_deref(), Some("# Mugs\nHold 320 ml, as <b>"));
        assert_eq!((item.locale.as_deref(), item.format), (Some("de-AT"), Some(TextFormat::Text)));
        assert_eq!(item.url.as_deref(), Some("https://shop.example/mugs.html"));
    }

    #[test]
    fn an_item_says_what_the_page_has_in_its_own_head() {
        let html = "<title>Mugs</title><link rel=canonical href=http://localhost/mugs.html>\
                    <meta name=robots content=noarchive><meta property=og:title content=Own>\
                    <meta data-seo-overlay name=description content='of an overlay'>\
                    <script type=application/ld+json>{\"@graph\":[{\"@type\":\"Product\"}]}</script>\
                    <script type=application/ld+json>{broken</script>\
                    <h1>Mugs</h1><p>Each mug is thrown, glazed and fired in our own studio in Leeds.";
        let item = items_in(&[("mugs.html", html)]).remove(0);
        let text = |text: &str| Some(text.to_owned());
        let expected = PageHead {
            title: text("Mugs"),
            canonical: text("http://localhost/mugs.html"),
            robots: vec!["noarchive".to_owned()],
            open_graph: vec![("title".to_owned(), "Own".to_owned())],
            structured_data: vec!["Product".to_owned(), "unknown".to_owned()],
            lead: text("Each mug is thrown, glazed and fired in our own studio in Leeds."),
            ..PageHead::default()
        };
        assert_eq!(PageHead::of(&item.data), Some(expected));
    }

    #[test]
    fn a_page_without_a_title_is_named_by_its_heading() {
        let item = items_in(&[("a.html", "<html lang='not a language'><h1>Mugs</h1>")]).remove(0);
        assert_eq!((item.title.as_deref(), &item.locale), (Some("Mugs"), &None));
        assert_eq!(PageHead::of(&item.data).expect("a head").title, None);
    }

    #[test]
    fn pages_that_are_not_for_readers_are_left_out() {
        let items = items_in(&[
            ("a.html", "<p>A page"),
            ("hidden.html", "<meta name=ROBOTS content=NONE><p>secret"),
            ("moved/index.html", "<meta http-equiv=refresh content='0; url=/a.html'><p>Moved"),
            ("copy.html", "<link rel=canonical href=https://shop.example/a.html><p>A page"),
            ("404.html", "<p>Not found"),
        ]);
        let paths: Vec<&str> = items.iter().map(|item| item.external_id.as_str()).collect();
        assert_eq!(paths, ["/a.html"]);
    }

    /// Converts a page to an item, and applies an overlay to it.
    fn read_and_rewrite(html: &[u8]) {
        if let Some(page) = read("/x".to_owned(), html) {
            let content = item(page, None, "https://shop.example").content;
            assert!(content.is_some_and(|content| content.lines().all(|line| !line.trim().is_empty())));
        }
        let overlay = Overlay { title: Some("T".into()), robots: Some("all".into()), ..Overlay::default() };
        // Fails for a page that is not read up to the end of its head.
        let _ = apply_to_head(html, &overlay);
    }

    proptest! {
        #[test]
        fn handles_pages_of_any_bytes(
            parts in proptest::collection::vec(
                prop_oneof![
                    "</?(html|head|body|main|title|meta|p|br|svg|math|template|script|style|textarea|plaintext|select|table)[ />]?"
                        .prop_map(String::into_bytes),
                    "<[a-z!?/-]{0,6}( [a-z]{0,4}=?['\"]?[a-z<>&;#x0-9]{0,8}['\"]?){0,3}>?".prop_map(String::into_bytes),
                    "(<meta name=(robots|description) content=[a-z'\"&;]{0,9}>|<!--|-->|<!\\[CDATA\\[|\\]\\]>|&[a-z#0-9]{0,9};?)"
                        .prop_map(String::into_bytes),
                    proptest::collection::vec(any::<u8>(), 0..12),
                ],
                0..40,
            ),
        ) {
            read_and_rewrite(&parts.concat());
        }
    }
}
