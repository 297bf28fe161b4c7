//! A light stemmer for Hindi: it removes the endings of cases, numbers and genders, and leaves the rest of a
//! word as it is. It follows Ramanathan and Rao.

/// Minimum characters that are left of a word.
const MIN_STEM: usize = 2;

/// Endings, longest first.
const ENDINGS: [&str; 33] = [
    "ियों",
    "ियाँ",
    "ियां",
    "ाएं",
    "ाओं",
    "ुओं",
    "ुएं",
    "ाने",
    "ाना",
    "ाता",
    "ाती",
    "ाते",
    "ेगा",
    "ेगी",
    "ेंगे",
    "ने",
    "नी",
    "ना",
    "ते",
    "ती",
    "ता",
    "ों",
    "ें",
    "ीं",
    "ो",
    "े",
    "ू",
    "ु",
    "ी",
    "ि",
    "ा",
    "ँ",
    "ं",
];

/// Returns the stem of a folded word.
pub(super) fn stem(word: &str) -> &str {
    let without = |ending: &&str| {
        let rest = word.strip_suffix(ending)?;
        (rest.chars().count() >= MIN_STEM).then_some(rest)
    };
    ENDINGS.iter().find_map(without).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_the_same_stem() {
        for (one, other) in [("किताब", "किताबें"), ("किताबों", "किताब"), ("लडका", "लडके"), ("दुकान", "दुकानों")]
        {
            assert_eq!(stem(one), stem(other), "{one} {other}");
        }
        assert_eq!((stem("घर"), stem("के")), ("घर", "के"));
    }
}
