//! Converts HTML pages to content items for a sync.

use std::cell::RefCell;
use std::io;
use std::path::Path;

use chat_protocol::{ContentItem, ContentKind};
use html_escape::decode_html_entities;
use lol_html::html_content::TextType;
use lol_html::{RewriteStrSettings, element, rewrite_str, text};

use super::tree::Tree;

/// Returns the pages of a folder as content items: every HTML file that robots may index, in the order of
/// their paths. Symbolic links are not followed, so that nothing outside of the folder is read.
pub fn items(root: &Path, origin: &str) -> io::Result<Vec<ContentItem>> {
    items_of(&Tree::new(root), origin)
}

pub(super) fn items_of(tree: &Tree, origin: &str) -> io::Result<Vec<ContentItem>> {
    let mut items = Vec::new();
    tree.walk(&mut |below, html| {
        let path = match below.strip_suffix("index.html") {
            Some(folder) if folder.is_empty() || folder.ends_with('/') => {
                format!("/{}", folder.trim_end_matches('/'))
            }
            _ => format!("/{below}"),
        };
        items.extend(item(&path, origin, &String::from_utf8_lossy(&html)));
    })?;
    Ok(items)
}

/// Converts a page to an item with the text of its `<main>`, or else its `<body>`; `None` for a page that
/// robots may not index.
fn item(path: &str, origin: &str, html: &str) -> Option<ContentItem> {
    let (title, main, body) = (RefCell::default(), RefCell::default(), RefCell::default());
    let (summary, robots) = (RefCell::new(None), RefCell::new(String::new()));
    let collect = |into: &RefCell<String>, chunk: &lol_html::html_content::TextChunk<'_>| {
        if matches!(chunk.text_type(), TextType::Data | TextType::RCData) {
            into.borrow_mut().push_str(chunk.as_str());
        }
    };
    let settings = RewriteStrSettings {
        element_content_handlers: vec![
            text!("head > title", |chunk| {
                collect(&title, chunk);
                Ok(())
            }),
            text!("main", |chunk| {
                collect(&main, chunk);
                Ok(())
            }),
            text!("body", |chunk| {
                collect(&body, chunk);
                Ok(())
            }),
            element!("p,li,h1,h2,h3,h4,tr,dt,dd,br,div,section", |_| {
                main.borrow_mut().push('\n');
                body.borrow_mut().push('\n');
                Ok(())
            }),
            element!("meta[name=description]", |meta| {
                *summary.borrow_mut() = meta.get_attribute("content");
                Ok(())
            }),
            element!("meta[name=robots]", |meta| {
                *robots.borrow_mut() = meta.get_attribute("content").unwrap_or_default();
                Ok(())
            }),
        ],
        ..RewriteStrSettings::new()
    };
    rewrite_str(html, settings).ok()?;
    if robots.into_inner().to_ascii_lowercase().contains("noindex") {
        return None;
    }
    let (main, body) = (main.into_inner(), body.into_inner());
    let content = lines(if main.trim().is_empty() { &body } else { &main });
    let decoded = |text: String| decode_html_entities(text.trim()).into_owned();
    Some(ContentItem {
        path: Some(path.to_owned()),
        url: Some(format!("{}{path}", origin.trim_end_matches('/'))),
        title: Some(decoded(title.into_inner())).filter(|title| !title.is_empty()),
        summary: summary.into_inner().map(decoded),
        content: Some(content),
        ..ContentItem::new(path, ContentKind::Page)
    })
}

/// Normalises text: one paragraph on each line, with single spaces.
fn lines(text: &str) -> String {
    let text = decode_html_entities(text);
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::head::apply_to_head;
    use super::*;
    use chat_protocol::Overlay;
    use proptest::prelude::*;

    #[test]
    fn an_item_has_the_text_of_the_main_element() {
        let html = "<head><title>Mugs &amp; cups</title><meta name=description content='All mugs'></head>\
                    <body><nav>Home</nav><main><h1>Mugs</h1><p>Hold 320&nbsp;ml</p><script>x</script></main></body>";
        let item = item("/mugs", "https://shop.example/", html).expect("an item");
        assert_eq!(item.title.as_deref(), Some("Mugs & cups"));
        assert_eq!(item.summary.as_deref(), Some("All mugs"));
        assert_eq!(item.content.as_deref(), Some("Mugs\nHold 320 ml"));
        assert_eq!(item.url.as_deref(), Some("https://shop.example/mugs"));
    }

    #[test]
    fn skips_pages_with_noindex() {
        assert!(item("/x", "", "<head><meta name=robots content='NoIndex, nofollow'></head>").is_none());
    }

    /// Converts a page to an item, and applies an overlay to it.
    fn read_and_rewrite(html: &str) {
        if let Some(item) = item("/x", "https://shop.example", html) {
            assert!(item.content.is_some_and(|content| content.lines().all(|line| !line.trim().is_empty())));
        }
        let overlay = Overlay { title: Some("T".into()), robots: Some("all".into()), ..Overlay::default() };
        // Fails for a page without a head.
        let _ = apply_to_head(html, &overlay);
    }

    #[test]
    fn handles_pages_of_hostile_shape() {
        let depth = 50_000;
        for shape in [
            "<div>".repeat(depth),
            format!("<body>{}{}", "<main><p>".repeat(depth), "</p></main>".repeat(depth)),
            "<head><title>".repeat(depth),
            format!("<body {}='{}'>x", "a".repeat(1 << 20), "b".repeat(4 << 20)),
            format!("<body {}>x", "a=b ".repeat(depth)),
            format!("<meta name=description content='{}'>", "&amp;".repeat(depth)),
            "<".repeat(1 << 20),
            "<!--".repeat(1 << 18),
            format!("<title>{}", "\0\u{fffd}&#x110000;&#xd800;".repeat(1 << 16)),
            format!("<svg>{}", "<![CDATA[".repeat(1 << 18)),
        ] {
            read_and_rewrite(&shape);
        }
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
            read_and_rewrite(&String::from_utf8_lossy(&parts.concat()));
        }
    }
}
