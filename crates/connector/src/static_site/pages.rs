//! Converts HTML pages to content items for a sync.

use std::io;
use std::path::Path;

use chat_page::{Outline, Page, SitePage, duplicates, leave_out_repeated};
use chat_protocol::{ContentItem, ContentKind, TextFormat, is_language_tag};
use tracing::info;

use super::tree::Tree;
use crate::printable::Printable;

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
    leave_out_repeated(&mut pages);
    Ok(pages.into_iter().map(|page| item(page, origin)).collect())
}

/// Reads a page; `None` if robots may not index it.
fn read(path: String, html: &[u8]) -> Option<SitePage> {
    let mut page = Page::read(html);
    if page.head.is_noindex() {
        return None;
    }
    page.head.title = page.name().map(str::to_owned);
    // Thousands of pages are held at a time, and their links are not needed.
    page.outline = Outline::default();
    Some(SitePage { path, page })
}

fn item(SitePage { path, page }: SitePage, origin: &str) -> ContentItem {
    ContentItem {
        url: Some(format!("{}{path}", origin.trim_end_matches('/'))),
        locale: page.head.language.clone().filter(|language| is_language_tag(language)),
        title: page.head.title.clone(),
        summary: page.head.description.clone(),
        content: Some(page.text()),
        format: Some(TextFormat::Text),
        path: Some(path.clone()),
        ..ContentItem::new(path, ContentKind::Page)
    }
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
    fn a_page_without_a_title_is_named_by_its_heading() {
        let item = items_in(&[("a.html", "<html lang='not a language'><h1>Mugs</h1>")]).remove(0);
        assert_eq!((item.title.as_deref(), item.locale), (Some("Mugs"), None));
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
            let content = item(page, "https://shop.example").content;
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
