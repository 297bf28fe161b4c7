//! A light stemmer for Arabic: it removes articles, conjunctions and endings, and leaves the rest of a word
//! as it is. It follows light10 (Larkey, Ballesteros and Connell).

/// Minimum letters that are left of a word.
const MIN_STEM: usize = 3;

/// Prefixes, longest first.
const PREFIXES: [&str; 7] = ["وال", "بال", "كال", "فال", "ولل", "ال", "لل"];
/// Endings, each removed at most once, in this order.
const ENDINGS: [&str; 10] = ["ا", "ها", "كم", "ان", "ات", "ون", "ين", "يه", "ه", "ي"];

/// Returns the stem of a folded word.
pub(super) fn stem(word: &str) -> String {
    let mut stem = word;
    if let Some(rest) = PREFIXES.iter().find_map(|prefix| without(stem.strip_prefix(prefix))) {
        stem = rest;
    } else if let Some(rest) = without(stem.strip_prefix('و')) {
        stem = rest;
    }
    for ending in ENDINGS {
        if let Some(rest) = without(stem.strip_suffix(ending)) {
            stem = rest;
        }
    }
    stem.to_owned()
}

/// Returns what is left of a word, if that is enough.
fn without(rest: Option<&str>) -> Option<&str> {
    rest.filter(|rest| rest.chars().count() >= MIN_STEM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_articles_and_endings() {
        for (word, expected) in [
            ("التوصيل", "توصيل"),
            ("والطلبات", "طلب"),
            ("بالبطاقه", "بطاق"),
            ("للاسترجاع", "استرجاع"),
            ("مواعيدكم", "مواعيد"),
            ("طبيب", "طبيب"),
            ("الى", "الى"),
        ] {
            assert_eq!(stem(word), expected);
        }
    }
}
