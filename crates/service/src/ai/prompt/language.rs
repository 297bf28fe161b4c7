//! The language that a visitor writes in, by its name for a model.

use crate::knowledge::Language;

/// The scripts that one language has, or nearly so.
const SCRIPTS: [(std::ops::RangeInclusive<char>, &str); 7] = [
    ('\u{3040}'..='\u{30ff}', "Japanese"),
    ('\u{ac00}'..='\u{d7af}', "Korean"),
    ('\u{e00}'..='\u{e7f}', "Thai"),
    ('\u{590}'..='\u{5ff}', "Hebrew"),
    ('\u{370}'..='\u{3ff}', "Greek"),
    ('\u{900}'..='\u{97f}', "Hindi"),
    ('\u{3400}'..='\u{9fff}', "Chinese"),
];

/// Returns the language of a message, or of the page where the message does not tell; `None` where neither
/// does.
pub(super) fn of(message: &str, locale: Option<&str>) -> Option<&'static str> {
    let has = |range: &std::ops::RangeInclusive<char>| message.chars().any(|letter| range.contains(&letter));
    if let Some((_, name)) = SCRIPTS.iter().find(|(range, _)| has(range)) {
        // A Japanese sentence may have no kana.
        let is_japanese = *name == "Chinese" && locale.is_some_and(|tag| tag.starts_with("ja"));
        return Some(if is_japanese { "Japanese" } else { name });
    }
    if has(&('\u{400}'..='\u{4ff}')) {
        // Russian, Ukrainian and others.
        return None;
    }
    let page = locale.and_then(Language::of_tag).unwrap_or(Language::Other);
    Some(match Language::detected(message, page) {
        Language::English => "English",
        Language::German => "German",
        Language::French => "French",
        Language::Spanish => "Spanish",
        Language::Italian => "Italian",
        Language::Portuguese => "Portuguese",
        Language::Dutch => "Dutch",
        Language::Danish => "Danish",
        Language::Swedish => "Swedish",
        Language::Norwegian => "Norwegian",
        Language::Finnish => "Finnish",
        Language::Hungarian => "Hungarian",
        Language::Romanian => "Romanian",
        Language::Turkish => "Turkish",
        Language::Polish => "Polish",
        Language::Czech => "Czech",
        Language::Indonesian => "Indonesian",
        Language::Vietnamese => "Vietnamese",
        Language::Arabic => "Arabic",
        Language::Other => return None,
    })
}
