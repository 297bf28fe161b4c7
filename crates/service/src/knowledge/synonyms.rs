//! Words for the same thing, as visitors and websites use them: a question about shipping finds the page
//! about delivery.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::language::Language;
use super::words::{Word, words};

/// Groups of words: a line for each, after its language.
const SYNONYMS: &str = include_str!("synonyms.txt");

/// Minimum letters of a part of a compound.
const MIN_PART: usize = 5;

/// The groups by the stems, or the runs of characters, of their words.
struct Groups {
    members: Vec<Vec<String>>,
    by_stem: HashMap<(Language, String), Vec<usize>>,
    by_run: Vec<(String, usize)>,
}

static GROUPS: LazyLock<Groups> = LazyLock::new(|| {
    let mut groups = Groups { members: Vec::new(), by_stem: HashMap::new(), by_run: Vec::new() };
    for line in SYNONYMS.lines() {
        let Some((tag, list)) = line.split_once(' ') else { continue };
        let language = Language::of_tag(tag).unwrap_or(Language::English);
        let group = groups.members.len();
        let mut members = Vec::new();
        for word in words(list) {
            match word {
                Word::Spaced(word) => {
                    groups.by_stem.entry((language, language.stem(&word))).or_default().push(group);
                    members.push(word);
                }
                Word::Unspaced(run) => {
                    let run = String::from_iter(run);
                    groups.by_run.push((run.clone(), group));
                    members.push(run);
                }
            }
        }
        groups.members.push(members);
    }
    groups
});

/// Returns the other words for a word; in a language with compounds, also for the word that it begins or ends
/// with.
pub(super) fn of_word(word: &str, language: Language) -> Vec<&'static str> {
    let stem = language.stem(word);
    let mut groups: Vec<usize> = GROUPS.by_stem.get(&(language, stem.clone())).cloned().unwrap_or_default();
    if groups.is_empty() && language.has_compounds() {
        let parts = GROUPS.by_stem.iter().filter(|((of, part), _)| {
            *of == language && part.len() >= MIN_PART && (stem.starts_with(part) || stem.ends_with(part))
        });
        groups = parts.flat_map(|(_, groups)| groups.iter().copied()).collect();
        groups.sort_unstable();
        groups.dedup();
    }
    let members = groups.into_iter().flat_map(|group| &GROUPS.members[group]);
    members.map(String::as_str).filter(|member| language.stem(member) != stem).collect()
}

/// Returns the known words in a run of characters, each with the other words for it.
pub(super) fn of_run(run: &str) -> Vec<(&'static str, Vec<&'static str>)> {
    let known = GROUPS.by_run.iter().filter(|(word, _)| run.contains(word.as_str()));
    let others = known.map(|(word, group)| {
        let others = GROUPS.members[*group].iter().filter(|other| *other != word);
        (word.as_str(), others.map(String::as_str).collect())
    });
    others.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_other_words_for_a_word_in_any_of_its_forms() {
        assert!(of_word("shipped", Language::English).contains(&"delivery"));
        assert!(of_word("lieferungen", Language::German).contains(&"versand"));
        assert_eq!(of_word("celadon", Language::English), Vec::<&str>::new());
        let known = of_run("邮费多少钱");
        assert!(known.iter().any(|(word, others)| *word == "邮费" && others.contains(&"运费")));
    }
}
