//! The languages of the console, and which of them serves a locale.

/// The tag of English, which is compiled in.
pub const ENGLISH: &str = "en";

/// Tags of the languages with their own names, English first. All others are in `texts/`.
pub const LANGUAGES: [(&str, &str); 20] = [
    (ENGLISH, "English"),
    ("ar", "العربية"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("fr", "Français"),
    ("he", "עברית"),
    ("hi", "हिन्दी"),
    ("id", "Bahasa Indonesia"),
    ("it", "Italiano"),
    ("ja", "日本語"),
    ("ko", "한국어"),
    ("nl", "Nederlands"),
    ("pl", "Polski"),
    ("pt-BR", "Português (Brasil)"),
    ("ru", "Русский"),
    ("th", "ไทย"),
    ("tr", "Türkçe"),
    ("vi", "Tiếng Việt"),
    ("zh-CN", "简体中文"),
    ("zh-TW", "繁體中文"),
];

/// Returns the direction of a language's text, `rtl` or `ltr`.
pub fn direction(tag: &str) -> &'static str {
    if matches!(tag, "ar" | "he") { "rtl" } else { "ltr" }
}

/// Returns the tag of the language that serves a locale (BCP 47) in any region. A language in another script
/// than its usual one is not served, except for Chinese.
pub fn language_of(locale: &str) -> Option<&'static str> {
    let lower = locale.replace('_', "-").to_ascii_lowercase();
    let mut parts = lower.split('-');
    let primary = match parts.next()? {
        "iw" => "he",
        "in" => "id",
        "cmn" => "zh",
        primary => primary,
    };
    // Private and extended parts come after a part of one character.
    let parts: Vec<&str> = parts.take_while(|part| part.len() > 1).collect();
    let script =
        parts.first().copied().filter(|part| part.len() == 4 && part.is_ascii() && !is_variant(part));
    if primary == "zh" {
        let is_traditional = match script {
            Some("hant") => true,
            Some("hans") => false,
            Some(_) => return None,
            None => parts.iter().any(|part| matches!(*part, "tw" | "hk" | "mo")),
        };
        return Some(if is_traditional { "zh-TW" } else { "zh-CN" });
    }
    let (tag, _) = LANGUAGES.iter().find(|(tag, _)| tag.split('-').next() == Some(primary))?;
    (script.is_none() || script == Some(usual_script(primary))).then_some(*tag)
}

/// Returns whether a part of four characters is a variant, such as `1996`, and not a script.
fn is_variant(part: &str) -> bool {
    part.starts_with(|first: char| first.is_ascii_digit())
}

fn usual_script(primary: &str) -> &'static str {
    match primary {
        "ar" => "arab",
        "he" => "hebr",
        "hi" => "deva",
        "ja" => "jpan",
        "ko" => "kore",
        "ru" => "cyrl",
        "th" => "thai",
        _ => "latn",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locale_is_served_by_its_language_in_any_region() {
        for (expected, locales) in [
            (Some("en"), &["en", "en-GB", "EN_us"][..]),
            (Some("ar"), &["ar", "ar-EG", "ar-u-nu-latn", "ar-Arab-MA"]),
            (Some("de"), &["de", "de-AT", "de_DE", "de-1996", "de-Latn"]),
            (Some("he"), &["he-IL", "iw"]),
            (Some("id"), &["in-ID"]),
            (Some("pt-BR"), &["pt", "pt-PT"]),
            (Some("zh-CN"), &["zh", "zh-SG", "zh-Hans-HK", "cmn"]),
            (Some("zh-TW"), &["zh-TW", "zh-HK", "zh-Hant", "zh_MO"]),
            (None, &["sv", "ar-Latn", "hi-Latn", "", "-", "x", "zh-Latn", "fil"]),
        ] {
            for locale in locales {
                assert_eq!(language_of(locale), expected, "{locale}");
            }
        }
    }

    #[test]
    fn every_language_serves_itself_and_has_its_texts() {
        let mut folders: Vec<_> = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/texts"))
            .expect("a folder of texts")
            .map(|entry| entry.expect("an entry").file_name().into_string().expect("a tag"))
            .collect();
        folders.sort();
        let mut tags: Vec<_> = LANGUAGES.iter().map(|(tag, _)| *tag).collect();
        assert!(tags.iter().all(|tag| language_of(tag) == Some(tag)), "{tags:?}");
        tags.sort_unstable();
        assert_eq!(folders, tags);
    }
}
