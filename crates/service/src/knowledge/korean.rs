//! Removes the particles and the endings of verbs that Korean joins to words.

/// Endings, longest first. They are removed as long as two syllables are left.
const ENDINGS: [&str; 46] = [
    "할수있나요",
    "하시나요",
    "했습니다",
    "하십니까",
    "하나요",
    "합니다",
    "합니까",
    "됩니다",
    "됩니까",
    "되나요",
    "입니다",
    "입니까",
    "습니다",
    "습니까",
    "있나요",
    "인가요",
    "에서는",
    "에서도",
    "으로는",
    "이에요",
    "예요",
    "나요",
    "가요",
    "해요",
    "하는",
    "하고",
    "한다",
    "에서",
    "에게",
    "까지",
    "부터",
    "으로",
    "이나",
    "이랑",
    "라도",
    "은",
    "는",
    "이",
    "가",
    "을",
    "를",
    "의",
    "에",
    "로",
    "와",
    "과",
];
/// Particles that are removed even if one syllable is left.
const SURE: [char; 4] = ['은', '는', '을', '를'];
/// Maximum endings of a word.
const MAX_ENDINGS: usize = 2;
const MIN_STEM: usize = 2;

/// Returns a run of Hangul without its endings.
pub(super) fn stem(run: &[char]) -> &[char] {
    let mut stem = run;
    for _ in 0..MAX_ENDINGS {
        let without = |ending: &&str| {
            let length = ending.chars().count();
            let rest = stem.len().checked_sub(length).filter(|rest| *rest >= MIN_STEM)?;
            stem[rest..].iter().copied().eq(ending.chars()).then(|| &stem[..rest])
        };
        let Some(rest) = ENDINGS.iter().find_map(without) else { break };
        stem = rest;
    }
    match stem {
        [syllable, last] if SURE.contains(last) => std::slice::from_ref(syllable),
        _ => stem,
    }
}

/// Returns whether a run is Hangul.
pub(super) fn is_korean(run: &[char]) -> bool {
    run.first().is_some_and(|first| matches!(first, '\u{ac00}'..='\u{d7a3}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_particles_and_endings_of_verbs() {
        for (word, expected) in [
            ("배송비는", "배송비"),
            ("배송비가", "배송비"),
            ("매장에서는", "매장"),
            ("가능한가요", "가능한"),
            ("환불하나요", "환불"),
            ("컵은", "컵"),
            ("배송", "배송"),
            ("", ""),
        ] {
            let run: Vec<char> = word.chars().collect();
            assert_eq!(String::from_iter(stem(&run)), expected, "{word}");
        }
    }
}
