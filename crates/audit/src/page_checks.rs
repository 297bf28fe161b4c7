//! Checks of a page alone: its head, its language and its text.

use std::ops::Range;

use chat_page::Page;

use crate::facts::Reading;
use crate::language;
use crate::measure::{DESCRIPTION_SIZE, TITLE_SIZE, pixels};
use crate::rule::{
    CANONICAL_HTTP, CHARSET_MISSING, CONTENT_EMPTY, CONTENT_THIN, DESCRIPTION_CUT, DESCRIPTION_LONG,
    DESCRIPTION_MISSING, DESCRIPTION_SHORT, DESCRIPTION_TITLE, ENCODING_BROKEN, H1_MISSING, H1_MULTIPLE,
    LANG_INVALID, LANG_MISMATCH, LANG_MISSING, OG_IMAGE_RELATIVE, OG_INCOMPLETE, OG_MISSING, OG_URL_CONFLICT,
    TITLE_CUT, TITLE_LONG, TITLE_MISSING, TWITTER_CARD_INVALID, VIEWPORT_MISSING, VIEWPORT_ZOOM,
};

/// Maximum width of a title in search results, in pixels.
const MAX_TITLE_WIDTH: u32 = 600;
/// Maximum width of a description in search results, in pixels.
const MAX_DESCRIPTION_WIDTH: u32 = 960;
/// Minimum width of a description, in pixels: about 50 Latin or 22 Chinese characters.
const MIN_DESCRIPTION_WIDTH: u32 = 310;
/// Minimum words of a page.
const MIN_WORDS: usize = 50;
/// The properties that Open Graph requires.
const OPEN_GRAPH: [&str; 4] = ["title", "type", "image", "url"];
/// Types of Twitter cards.
const CARDS: [&str; 4] = ["summary", "summary_large_image", "app", "player"];
/// The viewport that suits most pages.
const VIEWPORT: &str = "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">";

pub(crate) fn check(reading: &mut Reading<'_>, page: &Page, text: &str, words: usize) {
    encoding(reading, page);
    // A page that sends its readers on at once is not read by anybody.
    if reading.head.refresh.is_some() {
        return;
    }
    title(reading);
    language(reading, text);
    let at = reading.head.root.clone();
    let scale = reading.head.viewport.clone();
    match scale {
        None => reading.note_common(&VIEWPORT_MISSING, at.clone(), "<head>", Some(VIEWPORT.to_owned())),
        Some((content, at)) if blocks_zoom(&content) => reading.note(&VIEWPORT_ZOOM, at, None),
        Some(_) => {}
    }
    headings(reading, &at);
    if words == 0 {
        reading.note_common(&CONTENT_EMPTY, at.clone(), "<body>", None);
    }
    // A page that is not to be found needs no advice for search and social networks.
    if reading.head.is_noindex || page.head.is_noindex() || reading.source.status != 200 {
        return;
    }
    if (1..MIN_WORDS).contains(&words) {
        reading.note_common(&CONTENT_THIN, at.clone(), "fewer than 50 words", None);
    }
    description(reading, &at);
    social(reading, &at);
    if let Some((url, _)) = reading.head.canonicals.first().cloned()
        && url.scheme() == "http"
        && reading.site.is_public
        && reading.site.root.scheme() == "https"
        && reading.site.contains(&url)
    {
        let secure = url.as_str().replacen("http:", "https:", 1);
        let at = reading.head.canonical_at.clone();
        reading.note(&CANONICAL_HTTP, at, Some(secure));
    }
}

fn encoding(reading: &mut Reading<'_>, page: &Page) {
    let html = reading.source.html;
    let bom = encoding_rs::Encoding::for_bom(html).map_or(0, |(_, length)| length);
    if page.encoding.decode_without_bom_handling(&html[bom..]).1 {
        let at = str::from_utf8(html).err().map_or(0, |error| error.valid_up_to());
        let evidence = format!("invalid bytes for {}", page.encoding.name());
        reading.note_text(&ENCODING_BROKEN, at..at, evidence, None);
    }
    let header = reading
        .source
        .headers
        .content_type
        .is_some_and(|kind| kind.to_ascii_lowercase().contains("charset="));
    if bom == 0 && !header && !reading.head.has_charset && !html.is_ascii() && !html.starts_with(b"<?xml") {
        let suggestion = format!("<meta charset=\"{}\">", page.encoding.name().to_ascii_lowercase());
        let at = reading.head.root.clone();
        reading.note_common(&CHARSET_MISSING, at, "<head>", Some(suggestion));
    }
}

fn title(reading: &mut Reading<'_>) {
    let title = reading.head.titles.first().cloned().unwrap_or_default();
    let at = reading.head.title_at.clone();
    if title.is_empty() {
        let heading = reading.elements.h1.first().map(|(text, _)| text.clone());
        let heading = heading.filter(|text| pixels(text, TITLE_SIZE) <= MAX_TITLE_WIDTH);
        let evidence = if reading.head.titles.is_empty() { "<head>" } else { "<title></title>" };
        reading.note_text(&TITLE_MISSING, at, evidence, heading);
        return;
    }
    let width = pixels(&title, TITLE_SIZE);
    if is_cut(&title) || title.ends_with(['|', '-', '–', '—', '·', '»', ':']) {
        reading.note_text(&TITLE_CUT, at, title, None);
    } else if width > MAX_TITLE_WIDTH {
        reading.note_text(&TITLE_LONG, at, format!("{title} ({width} pixels)"), None);
    }
}

/// Returns whether a text ends as templates cut it. Three dots of their own, as in "and more ...", count too.
fn is_cut(text: &str) -> bool {
    let end = text.trim_end();
    end.ends_with('…') || end.ends_with("...") || end.ends_with("[…]")
}

fn language(reading: &mut Reading<'_>, text: &str) {
    let at = reading.head.root.clone();
    match reading.head.language.clone() {
        None => {
            let known = reading.head.xml_language.clone();
            let locale = reading.head.og("locale").map(|(locale, _)| locale.replace('_', "-"));
            let tag = known.or(locale).filter(|tag| language::is_tag(tag));
            reading.note_common(&LANG_MISSING, at, "<html>", tag.map(|tag| format!("<html lang=\"{tag}\">")));
        }
        Some(tag) if !language::is_tag(&tag) => {
            reading.note_text(&LANG_INVALID, at, format!("lang=\"{tag}\""), language::corrected(&tag));
        }
        Some(tag) if language::is_mismatch(&tag, text) => {
            let start: String = text.trim_start_matches('#').trim().chars().take(60).collect();
            reading.note_text(&LANG_MISMATCH, at, format!("lang=\"{tag}\": {start}"), None);
        }
        Some(_) => {}
    }
}

fn blocks_zoom(content: &str) -> bool {
    content.split([',', ';']).filter_map(|part| part.split_once('=')).any(|(name, value)| {
        let value = value.trim();
        match name.trim() {
            "user-scalable" => matches!(value, "no" | "0"),
            "maximum-scale" => value.parse::<f64>().is_ok_and(|scale| (0.0..2.0).contains(&scale)),
            _ => false,
        }
    })
}

fn headings(reading: &mut Reading<'_>, at: &Range<usize>) {
    let h1 = reading.elements.h1.clone();
    match h1.as_slice() {
        [] if !reading.all_text.trim().is_empty() => {
            reading.note_common(&H1_MISSING, at.clone(), "<body>", None);
        }
        [_, (second, at), ..] => {
            let text: String = second.chars().take(80).collect();
            reading.note_text(&H1_MULTIPLE, at.clone(), format!("{} times, then <h1>{text}", h1.len()), None);
        }
        _ => {}
    }
}

fn description(reading: &mut Reading<'_>, at: &Range<usize>) {
    let Some(description) = reading.head.descriptions.first().cloned() else {
        reading.note_common(&DESCRIPTION_MISSING, at.clone(), "<head>", None);
        return;
    };
    let at = reading.head.description_at.clone();
    let title = reading.head.titles.first().cloned().unwrap_or_default();
    let width = pixels(&description, DESCRIPTION_SIZE);
    if is_cut(&description) {
        reading.note_text(&DESCRIPTION_CUT, at, description, None);
    } else if description.eq_ignore_ascii_case(&title) {
        reading.note_text(&DESCRIPTION_TITLE, at, description, None);
    } else if width > MAX_DESCRIPTION_WIDTH {
        reading.note_text(&DESCRIPTION_LONG, at, format!("{description} ({width} pixels)"), None);
    } else if width < MIN_DESCRIPTION_WIDTH {
        reading.note_text(&DESCRIPTION_SHORT, at, description, None);
    }
}

fn social(reading: &mut Reading<'_>, at: &Range<usize>) {
    if let Some((card, at)) = reading.head.twitter_card.clone()
        && !CARDS.contains(&card.as_str())
    {
        reading.note(&TWITTER_CARD_INVALID, at, None);
    }
    let Some((_, _, first)) = reading.head.open_graph.first().cloned() else {
        reading.note_common(&OG_MISSING, at.clone(), "<head>", None);
        return;
    };
    let missing = |name: &&&str| reading.head.og(name).is_none_or(|(value, _)| value.is_empty());
    let missing: Vec<String> = OPEN_GRAPH.iter().filter(missing).map(|name| format!("og:{name}")).collect();
    // One or two properties, such as those of a verification, are no preview yet.
    if !missing.is_empty() {
        reading.note_text(&OG_INCOMPLETE, first, format!("without {}", missing.join(", ")), None);
    }
    if let Some((image, at)) = reading.head.og("image").map(|(image, at)| (image.to_owned(), at))
        && !image.is_empty()
        && !image.contains("://")
    {
        let full = reading.base.join(&image).ok().filter(|_| reading.site.is_public);
        reading.note(&OG_IMAGE_RELATIVE, at, full.map(String::from));
    }
    let canonical = reading.head.canonicals.first().map(|(url, _)| url.clone());
    if let Some((own, at)) = reading.head.og("url").map(|(own, at)| (own.to_owned(), at))
        && let Some(canonical) = canonical
        && let Ok(url) = reading.base.join(&own)
        && url != canonical
        && url::Url::parse(&reading.head.canonical_source).is_ok()
    {
        reading.note(&OG_URL_CONFLICT, at, Some(canonical.into()));
    }
}
