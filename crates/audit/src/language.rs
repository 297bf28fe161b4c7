//! Language tags, and the scripts of languages.

/// The languages of ISO 639-1.
const LANGUAGES: &str = "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy \
    da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii \
    ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr \
    ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl \
    sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh \
    zu in iw ji jw mo sh";
/// The regions of ISO 3166-1.
const REGIONS: &str = "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR \
    BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET \
    FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ \
    IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML \
    MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS \
    PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL \
    TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW XK";

/// Returns whether a text has the form of a language tag, with a language that may exist.
pub(crate) fn is_tag(text: &str) -> bool {
    let mut parts = text.split('-');
    let first = parts.next().unwrap_or_default();
    let is_language = match first.len() {
        2 => is_language(first),
        3..=8 => first.bytes().all(|byte| byte.is_ascii_alphabetic()),
        1 => matches!(first, "x" | "X" | "i" | "I") && text.len() > 2,
        _ => false,
    };
    is_language
        && parts.all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// Returns whether search engines understand the language of a translation; languages of three letters, and
/// regions by number, are left to them.
pub(crate) fn is_hreflang(text: &str) -> bool {
    if text.eq_ignore_ascii_case("x-default") {
        return true;
    }
    let region = text.split('-').skip(1).find(|part| part.len() == 2);
    is_tag(text) && region.is_none_or(is_region)
}

fn is_language(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    LANGUAGES.split_ascii_whitespace().any(|language| language == lower)
}

fn is_region(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    REGIONS.split_ascii_whitespace().any(|region| region == upper)
}

/// Returns the tag that is meant by a usual mistake.
pub(crate) fn corrected(text: &str) -> Option<String> {
    let mut tag = text.trim().replace('_', "-");
    for (wrong, right) in
        [("jp", "ja"), ("cn", "zh"), ("kr", "ko"), ("gr", "el"), ("ua", "uk"), ("dk", "da"), ("cz", "cs")]
    {
        if tag.eq_ignore_ascii_case(wrong) {
            right.clone_into(&mut tag);
        }
    }
    if let Some((language, region)) = tag.clone().split_once('-')
        && region.eq_ignore_ascii_case("uk")
    {
        tag = format!("{language}-GB");
    }
    (tag != text && is_hreflang(&tag)).then_some(tag)
}

/// A script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Latin,
    Cyrillic,
    Greek,
    Arabic,
    Hebrew,
    Thai,
    Devanagari,
    Japanese,
    Chinese,
    Korean,
    Other,
}

fn script_of(letter: char) -> Option<Script> {
    Some(match letter {
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Script::Latin,
        '\u{370}'..='\u{3ff}' => Script::Greek,
        '\u{400}'..='\u{52f}' => Script::Cyrillic,
        '\u{590}'..='\u{5ff}' => Script::Hebrew,
        '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' => Script::Arabic,
        '\u{900}'..='\u{97f}' => Script::Devanagari,
        '\u{e00}'..='\u{e7f}' => Script::Thai,
        '\u{3041}'..='\u{30ff}' => Script::Japanese,
        '\u{3400}'..='\u{9fff}' => Script::Chinese,
        '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}' => Script::Korean,
        letter if letter.is_alphabetic() => Script::Other,
        _ => return None,
    })
}

/// The scripts of a language; empty where they are not known, or several are usual.
fn scripts(language: &str) -> &'static [Script] {
    match language {
        "en" | "de" | "fr" | "es" | "it" | "pt" | "nl" | "pl" | "cs" | "sv" | "da" | "fi" | "nb" | "no"
        | "tr" | "ro" | "hu" | "vi" | "id" | "sk" | "sl" | "hr" | "et" | "lv" | "lt" => &[Script::Latin],
        "ru" | "uk" | "bg" | "be" | "mk" => &[Script::Cyrillic],
        "el" => &[Script::Greek],
        "ar" | "fa" | "ur" => &[Script::Arabic],
        "he" => &[Script::Hebrew],
        "th" => &[Script::Thai],
        "hi" | "mr" | "ne" => &[Script::Devanagari],
        "ja" => &[Script::Japanese, Script::Chinese],
        "zh" => &[Script::Chinese],
        "ko" => &[Script::Korean, Script::Chinese],
        _ => &[],
    }
}

/// Minimum letters of a text before its script is compared with its language.
const MIN_LETTERS: usize = 200;

/// Returns whether a text has almost no letters of the scripts of a language. Latin letters in a text of
/// another script prove little, as names and code have them: fewer than a fiftieth of its own are needed.
/// Of a language in Latin letters, three quarters must be in other scripts.
pub(crate) fn is_mismatch(tag: &str, text: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default().to_ascii_lowercase();
    let expected = scripts(&language);
    // A script in the tag, as in sr-Latn, says what to expect by itself.
    if expected.is_empty() || parts.any(|part| part.len() == 4) {
        return false;
    }
    let (mut own, mut all) = (0, 0);
    for script in text.chars().filter_map(script_of) {
        all += 1;
        own += usize::from(expected.contains(&script));
    }
    // Japanese text has kana: Chinese characters alone are another language.
    let has_kana = text.chars().any(|letter| script_of(letter) == Some(Script::Japanese));
    if all < MIN_LETTERS {
        return false;
    }
    match language.as_str() {
        _ if expected == [Script::Latin] => own * 4 < all,
        "ja" if !has_kana => true,
        _ => own * 50 < all,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_checked_against_the_standards() {
        for valid in ["en", "en-GB", "zh-Hant-TW", "es-419", "x-default", "de-AT", "sr-Latn", "fil"] {
            assert!(is_hreflang(valid), "{valid}");
        }
        for invalid in ["jp", "en-UK", "en_US", "english!", "", "e", "xx"] {
            assert!(!is_hreflang(invalid), "{invalid}");
        }
        assert_eq!(corrected("en_UK").as_deref(), Some("en-GB"));
        assert_eq!(corrected("jp").as_deref(), Some("ja"));
        assert_eq!(corrected("xx"), None);
    }

    #[test]
    fn the_script_of_a_text_contradicts_its_language() {
        let (russian, english) =
            ("Кружки и чайники ручной работы. ".repeat(20), "Mugs made by hand. ".repeat(30));
        let japanese = "手作りのマグカップです。".repeat(30);
        assert!(is_mismatch("en", &russian) && is_mismatch("ru", &english) && is_mismatch("de", &japanese));
        assert!(!is_mismatch("ru", &format!("{russian}{english}")));
        assert!(!is_mismatch("ja", &japanese) && !is_mismatch("sr", &russian) && !is_mismatch("en", "Да"));
    }
}
