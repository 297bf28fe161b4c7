//! Pages in a folder: which file a path is, what an article looks like, and what the folder has to be synced.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use chat_protocol::{ContentItem, ContentKind};
use html_escape::{decode_html_entities, encode_safe};
use lol_html::html_content::TextType;
use lol_html::{RewriteStrSettings, element, rewrite_str, text};

use super::head::MARK;
use super::record::Version;

/// A path that is no page of the site.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0} is no path of a page: it must begin with / and have no parts that are empty or begin with a dot"
)]
pub struct PageError(String);

/// The file of a page. `/a` and `/a/` are `a/index.html`, `/a.html` is itself. No path leads out of the folder.
pub(super) fn file_of(root: &Path, path: &str) -> Result<PathBuf, PageError> {
    let bad = || PageError(path.to_owned());
    let rest = path.strip_prefix('/').ok_or_else(bad)?;
    let mut file = root.to_owned();
    for part in rest.strip_suffix('/').unwrap_or(rest).split('/').filter(|_| !rest.is_empty()) {
        let plain = Path::new(part).components().all(|component| matches!(component, Component::Normal(_)));
        let odd = part.is_empty() || part.starts_with('.') || part.contains(['\\', '\0', ':', '%', '?', '#']);
        if odd || !plain || part.len() > 200 {
            return Err(bad());
        }
        file.push(part);
    }
    if path.ends_with('/') || !is_html(&file) {
        file.push("index.html");
    }
    Ok(file)
}

fn is_html(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "html" || extension == "htm")
}

/// Whether an overlay was applied to this page.
pub(super) fn is_ours(html: &str) -> bool {
    html.contains(MARK)
}

/// An article as a page. What is a whole document already stays one.
pub(super) fn render(version: &Version, template: Option<&str>) -> String {
    let start = version.content.trim_start();
    let is = |begin: &str| start.get(..begin.len()).is_some_and(|text| text.eq_ignore_ascii_case(begin));
    if is("<!doctype") || is("<html") {
        return version.content.clone();
    }
    let title = encode_safe(&version.title);
    let locale = encode_safe(version.locale.as_deref().unwrap_or("en"));
    let template = template.unwrap_or(PLAIN);
    // The content last: what it says is no place to fill in.
    let page = template.replace("{{title}}", &title).replace("{{locale}}", &locale);
    page.replacen("{{content}}", &version.content, 1)
}

const PLAIN: &str = include_str!("plain.html");

/// The pages of a folder as items to be synced: every HTML file that robots may index, in the order of their paths.
pub fn items(root: &Path, origin: &str) -> io::Result<Vec<ContentItem>> {
    let mut files = Vec::new();
    collect(root, &mut files)?;
    files.sort();
    let mut items = Vec::new();
    for file in files {
        let html = fs::read(&file)?;
        let below = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let path = match below.strip_suffix("index.html") {
            Some(directory) => format!("/{}", directory.trim_end_matches('/')),
            None => format!("/{below}"),
        };
        items.extend(item(&path, origin, &String::from_utf8_lossy(&html)));
    }
    Ok(items)
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with('.') || name == "404.html" {
            continue;
        }
        if path.is_dir() {
            collect(&path, files)?;
        } else if is_html(&path) {
            files.push(path);
        }
    }
    Ok(())
}

/// A page as an item: what its `<main>` says, or else its `<body>`; none for a page that robots may not index.
fn item(path: &str, origin: &str, html: &str) -> Option<ContentItem> {
    let (title, main, body) = (RefCell::default(), RefCell::default(), RefCell::default());
    let (summary, robots) = (RefCell::new(None), RefCell::new(String::new()));
    let keep = |into: &RefCell<String>, chunk: &lol_html::html_content::TextChunk<'_>| {
        if matches!(chunk.text_type(), TextType::Data | TextType::RCData) {
            into.borrow_mut().push_str(chunk.as_str());
        }
    };
    let settings = RewriteStrSettings {
        element_content_handlers: vec![
            text!("head > title", |chunk| {
                keep(&title, chunk);
                Ok(())
            }),
            text!("main", |chunk| {
                keep(&main, chunk);
                Ok(())
            }),
            text!("body", |chunk| {
                keep(&body, chunk);
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
    if robots.into_inner().contains("noindex") {
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

/// The text of a page, a paragraph a line.
fn lines(text: &str) -> String {
    let text = decode_html_entities(text);
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_file_in_the_folder_and_never_one_outside() {
        let file = |path: &str| file_of(Path::new("/site"), path).map(|file| file.display().to_string());
        assert_eq!(file("/"), Ok("/site/index.html".to_owned()));
        assert_eq!(file("/news"), Ok("/site/news/index.html".to_owned()));
        assert_eq!(file("/news/a.html"), Ok("/site/news/a.html".to_owned()));
        assert_eq!(file("/v1.2/"), Ok("/site/v1.2/index.html".to_owned()));
        for bad in
            ["news", "", "/../x", "/a/../../x", "/.htaccess", "//x", "/a//b", "/a\\b", "/%2e%2e/x", "/a\0b"]
        {
            assert!(file(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_pages_item_says_what_its_main_part_says() {
        let html = "<head><title>Mugs &amp; cups</title><meta name=description content='All mugs'></head>\
                    <body><nav>Home</nav><main><h1>Mugs</h1><p>Hold 320&nbsp;ml</p><script>x</script></main></body>";
        let item = item("/mugs", "https://shop.example/", html).expect("an item");
        assert_eq!(item.title.as_deref(), Some("Mugs & cups"));
        assert_eq!(item.summary.as_deref(), Some("All mugs"));
        assert_eq!(item.content.as_deref(), Some("Mugs\nHold 320 ml"));
        assert_eq!(item.url.as_deref(), Some("https://shop.example/mugs"));
    }

    #[test]
    fn a_page_that_robots_may_not_index_is_not_synced() {
        assert!(item("/x", "", "<head><meta name=robots content='noindex, nofollow'></head>").is_none());
    }
}
