//! Fuzzy search in short texts: the letters of the query in order, anywhere, as editors do it.

/// Points of a letter that is found.
const FOUND: i32 = 1;
/// More points at the start of the text, at the start of a word, and right behind the letter before.
const AT_START: i32 = 12;
const AT_WORD: i32 = 8;
const ADJACENT: i32 = 10;
/// The points that a word needs for each of its letters: letters here and there are no match.
const MIN_AVERAGE: i32 = 6;
/// Maximum characters of a query and of a text that are compared.
const MAX_QUERY: usize = 64;
const MAX_TEXT: usize = 160;

/// A text that a query fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Match {
    /// How well it fits: higher is better.
    pub score: i32,
    /// The characters that were found, by their number, in order.
    pub marks: Vec<usize>,
}

/// Finds a query in a text. Each word of the query must be found; their order is free.
pub fn find(query: &str, text: &str) -> Option<Match> {
    let text: Vec<char> = text.chars().take(MAX_TEXT).map(fold).collect();
    let mut found = Match::default();
    for word in query.split_whitespace() {
        let word: Vec<char> = word.chars().take(MAX_QUERY).map(fold).collect();
        let least = MIN_AVERAGE * i32::try_from(word.len()).unwrap_or(i32::MAX);
        let part = find_word(&word, &text).filter(|part| part.score >= least)?;
        found.score += part.score;
        found.marks.extend(part.marks);
    }
    // Of two texts with the same hits, the shorter one is meant.
    found.score -= i32::try_from(text.len() / 8).unwrap_or(0);
    found.marks.sort_unstable();
    found.marks.dedup();
    Some(found)
}

/// Returns the best items for a query, best first, at most `limit`. Items of the same score keep their order.
/// An empty query fits every item.
pub fn rank<'a, T>(query: &str, items: impl Iterator<Item = (T, &'a str)>, limit: usize) -> Vec<(T, Match)> {
    let mut found: Vec<(T, Match)> =
        items.filter_map(|(item, text)| Some((item, find(query, text)?))).collect();
    if !query.trim().is_empty() {
        found.sort_by_key(|(_, found)| std::cmp::Reverse(found.score));
    }
    found.truncate(limit);
    found
}

/// Finds the letters of a word in a text, where they give the most points.
fn find_word(word: &[char], text: &[char]) -> Option<Match> {
    // best[i][j]: the most points of the first i + 1 letters, the last of them at j; and where the one before
    // it is.
    let mut best: Vec<Vec<Option<(i32, usize)>>> = Vec::with_capacity(word.len());
    for (number, letter) in word.iter().enumerate() {
        let mut row = vec![None; text.len()];
        // The best place of the letter before, of those further left.
        let mut before: Option<(i32, usize)> = None;
        for (at, written) in text.iter().enumerate() {
            if number > 0
                && at > 0
                && let Some((score, _)) = best[number - 1][at - 1]
                && before.is_none_or(|(other, _)| score >= other)
            {
                before = Some((score, at - 1));
            }
            if written != letter {
                continue;
            }
            let points = FOUND + place(text, at);
            if number == 0 {
                row[at] = Some((points, at));
                continue;
            }
            let Some((score, from)) = before else { continue };
            let apart = (score + points, from);
            let adjacent = best[number - 1][at - 1].map(|(score, _)| (score + points + ADJACENT, at - 1));
            row[at] = Some(adjacent.filter(|adjacent| adjacent.0 >= apart.0).unwrap_or(apart));
        }
        best.push(row);
    }
    let last = best.last()?;
    let ends = last.iter().enumerate().filter_map(|(at, cell)| cell.map(|(score, _)| (score, at)));
    let (score, end) = ends.max_by_key(|(score, at)| (*score, std::cmp::Reverse(*at)))?;
    let mut marks = vec![end];
    for row in best.iter().skip(1).rev() {
        let (_, from) = row[marks[marks.len() - 1]]?;
        marks.push(from);
    }
    marks.reverse();
    Some(Match { score, marks })
}

fn place(text: &[char], at: usize) -> i32 {
    match at.checked_sub(1).map(|before| text[before]) {
        None => AT_START,
        Some(before) if !before.is_alphanumeric() => AT_WORD,
        Some(_) => 0,
    }
}

/// Returns a letter in lower case and, if it is a Latin one, without its accent.
fn fold(letter: char) -> char {
    let lower = letter.to_lowercase().next().unwrap_or(letter);
    match lower {
        'à'..='å' | 'ā' | 'ă' | 'ą' => 'a',
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => 'c',
        'ď' | 'đ' | 'ð' => 'd',
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => 'e',
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => 'g',
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => 'i',
        'ĺ' | 'ļ' | 'ľ' | 'ł' => 'l',
        'ñ' | 'ń' | 'ņ' | 'ň' => 'n',
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' => 'o',
        'ŕ' | 'ŗ' | 'ř' => 'r',
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' | 'ß' => 's',
        'ţ' | 'ť' | 'ț' => 't',
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => 'u',
        'ý' | 'ÿ' => 'y',
        'ź' | 'ż' | 'ž' => 'z',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best<'a>(query: &str, texts: &[&'a str]) -> Vec<&'a str> {
        let items = texts.iter().map(|text| (*text, *text));
        rank(query, items, 10).into_iter().map(|(text, _)| text).collect()
    }

    #[test]
    fn finds_the_letters_in_their_order_and_nothing_else() {
        assert!(find("clc", "Close conversation").is_some());
        assert!(find("xyz", "Close conversation").is_none());
        assert!(find("ann", "Add Returning").is_none(), "letters here and there");
        assert!(find("esolc", "Close").is_none());
        assert_eq!(find("cc", "Close conversation").expect("a match").marks, [0, 6]);
    }

    #[test]
    fn starts_of_words_and_runs_of_letters_come_first() {
        assert_eq!(
            best("rep", &["Prepare", "Go to reports", "Reply"]),
            ["Reply", "Go to reports", "Prepare"]
        );
        assert_eq!(best("set", &["Reset", "Settings"]), ["Settings", "Reset"]);
        assert_eq!(best("anna", &["Hannah and Anna", "Anna"])[0], "Anna");
    }

    #[test]
    fn words_of_the_query_may_stand_in_any_order() {
        assert_eq!(find("lee ann", "Ann Lee").expect("a match").marks, [0, 1, 2, 4, 5, 6]);
        assert!(find("ann bob", "Ann Lee").is_none());
    }

    #[test]
    fn case_and_accents_do_not_matter() {
        assert!(find("zoe", "Zoë").is_some());
        assert!(find("MÜLLER", "Muller").is_some());
        assert!(find("ола", "Олаф").is_some());
        assert!(find("注文", "ご注文の確認").is_some());
    }

    #[test]
    fn an_empty_query_keeps_the_order_of_the_items() {
        assert_eq!(best(" ", &["Long text of an item", "A"]), ["Long text of an item", "A"]);
        let texts = ["b", "a", "c"];
        assert_eq!(rank("", texts.iter().map(|text| (*text, *text)), 2).len(), 2);
    }

    #[test]
    fn marks_are_characters_of_long_and_strange_texts() {
        let long = "é".repeat(5000);
        let found = find(&"e".repeat(500), &long).expect("a match");
        assert!(found.marks.iter().all(|mark| *mark < MAX_TEXT));
        assert!(find("a", "").is_none());
    }
}
