//! Splits a message into its clauses.

use super::fold::Folded;

/// A part of a sentence between two commas.
#[derive(Debug)]
pub(super) struct Clause<'a> {
    pub(super) text: &'a str,
    pub(super) folded: Folded,
    /// Whether the sentence began before this clause.
    pub(super) continues: bool,
    /// Whether a question mark follows.
    pub(super) asks: bool,
}

impl Clause<'_> {
    /// Returns the part of the clause between two positions of the folded text; `None` is the end.
    pub(super) fn between(&self, from: usize, to: Option<usize>) -> &str {
        let from = self.folded.offset(from).unwrap_or(self.text.len());
        let to = to.and_then(|to| self.folded.offset(to)).unwrap_or(self.text.len());
        self.text.get(from..to).unwrap_or_default()
    }
}

/// The break between two clauses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Break {
    Comma,
    Stop,
    Question,
}

/// Returns the clauses of a message that have a letter, a digit or an emoji.
pub(super) fn clauses(message: &str) -> impl Iterator<Item = Clause<'_>> {
    let mut breaks: Vec<(usize, usize, Break)> = Vec::new();
    let mut before = ' ';
    let mut letters = message.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map_or(' ', |(_, next)| *next);
        if let Some(kind) = kind_of_break(before, letter, next) {
            breaks.push((at, at + letter.len_utf8(), kind));
        }
        before = letter;
    }
    breaks.push((message.len(), message.len(), Break::Stop));
    let (mut from, mut continues) = (0, false);
    breaks.into_iter().filter_map(move |(at, after, kind)| {
        let text = message.get(from..at).unwrap_or_default();
        let clause = Clause { text, folded: Folded::new(text), continues, asks: kind == Break::Question };
        from = after;
        if clause.folded.as_str().is_empty() {
            return None;
        }
        continues = kind == Break::Comma;
        Some(clause)
    })
}

fn kind_of_break(before: char, letter: char, next: char) -> Option<Break> {
    match letter {
        '?' | '？' | '؟' | '⁇' => Some(Break::Question),
        '!' | '！' | '。' | '।' | '…' | '\n' | '\r' => Some(Break::Stop),
        // The comma of a number stands between digits, and so does the point of a date.
        '.' if next.is_whitespace() && !before.is_numeric() => Some(Break::Stop),
        ',' if next.is_whitespace() || !before.is_numeric() => Some(Break::Comma),
        '.' | ':' if next.is_whitespace() => Some(Break::Comma),
        '，' | '、' | '،' | ';' | '；' | '؛' | '—' | '：' => Some(Break::Comma),
        '–' | '-' if before.is_whitespace() && next.is_whitespace() => Some(Break::Comma),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_dates_are_no_ends_of_sentences() {
        let texts = |message: &str| -> Vec<String> {
            clauses(message).map(|clause| clause.text.trim().to_owned()).collect()
        };
        assert_eq!(texts("Hi, is it 4.90 or 5,90? Thanks!"), ["Hi", "is it 4.90 or 5,90", "Thanks"]);
        assert_eq!(texts("Open on 01.05.2026?"), ["Open on 01.05.2026"]);
        assert_eq!(texts("你好，请问几点开门？谢谢"), ["你好", "请问几点开门", "谢谢"]);
        assert_eq!(texts("?! ..."), Vec::<String>::new());
    }
}
