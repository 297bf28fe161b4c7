//! Escapes untrusted text for the terminal: it cannot move the cursor, set a title, change colours, forge a
//! line or reverse the direction of text.

use std::fmt::{self, Display, Formatter, Write};

/// Maximum characters that are printed of an untrusted text.
const MAX_CHARACTERS: usize = 2000;

/// Displays a text on one line: control characters and the like appear as `\u{1b}`, and a very long text is
/// truncated.
///
/// ```
/// use chat_connector::printable::Printable;
///
/// assert_eq!(Printable("a\u{1b}[2Jb").to_string(), r"a\u{1b}[2Jb");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Printable<'a>(pub &'a str);

impl Display for Printable<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(MAX_CHARACTERS) {
            escaped(character, out)?;
        }
        if characters.next().is_some() { out.write_str("…") } else { Ok(()) }
    }
}

/// Escapes a text of several lines; the line breaks stay.
pub fn printable_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push('\n'),
            // Writing to a string cannot fail.
            other => drop(escaped(other, &mut out)),
        }
    }
    out
}

/// Escapes the characters of JSON text that JSON itself leaves as they are, as `\u009b`. The value stays the
/// same.
pub fn printable_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if character != '\n' && is_unprintable(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    out
}

/// Escapes a line of a coloured log; its colour sequences stay.
pub fn printable_log_line(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(character) = rest.chars().next() {
        let length = colour(rest).unwrap_or(character.len_utf8());
        let (head, tail) = rest.split_at(length);
        if character == '\u{1b}' && length > 1 {
            out.push_str(head);
        } else {
            let _ = escaped(character, &mut out);
        }
        rest = tail;
    }
    out
}

/// Returns the length of the colour sequence at the beginning of a text: `ESC [`, digits and semicolons, `m`.
fn colour(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\u{1b}[")?;
    let end = parameters.find(|character: char| !character.is_ascii_digit() && character != ';')?;
    parameters[end..].starts_with('m').then_some("\u{1b}[".len() + end + 1)
}

/// Returns whether a character controls the terminal or the direction of text.
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn escaped(character: char, out: &mut impl Write) -> fmt::Result {
    match character {
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        other if is_unprintable(other) => write!(out, "\\u{{{:x}}}", u32::from(other)),
        other => out.write_char(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_control_characters() {
        assert_eq!(Printable("\x1b]0;pwned\x07\x1b[2J").to_string(), r"\u{1b}]0;pwned\u{7}\u{1b}[2J");
        assert_eq!(Printable("a\nb\tc\rd\u{9b}2J").to_string(), r"a\nb\tc\rd\u{9b}2J");
        assert_eq!(Printable("gpj.\u{202e}exe").to_string(), r"gpj.\u{202e}exe");
        assert_eq!(Printable("Grüße, 你好 👩‍🔧").to_string(), "Grüße, 你好 👩‍🔧");
        assert_eq!(printable_lines("a\nb\x1b"), "a\nb\\u{1b}");
    }

    #[test]
    fn keeps_only_the_colours_of_a_log_line() {
        assert_eq!(printable_log_line("\x1b[1;32mok\x1b[0m"), "\x1b[1;32mok\x1b[0m");
        assert_eq!(printable_log_line("a\x1b[2Jb\x1b]0;t\x07"), r"a\u{1b}[2Jb\u{1b}]0;t\u{7}");
        assert_eq!(printable_log_line("\x1b["), r"\u{1b}[");
    }

    #[test]
    fn truncates_a_very_long_text() {
        assert_eq!(Printable(&"x".repeat(1_000_000)).to_string().chars().count(), MAX_CHARACTERS + 1);
    }

    proptest! {
        #[test]
        fn printed_text_contains_no_control_characters(text in any::<String>()) {
            prop_assert!(!Printable(&text).to_string().chars().any(is_unprintable));
            prop_assert!(!printable_lines(&text).chars().any(|one| one != '\n' && is_unprintable(one)));
            let log = printable_log_line(&text);
            prop_assert!(log.match_indices('\x1b').all(|(at, _)| colour(&log[at..]).is_some()));
        }

        #[test]
        fn printable_json_has_the_same_value(text in any::<String>()) {
            let json = serde_json::Value::from(text).to_string();
            let printable = printable_json(&json);
            prop_assert!(!printable.chars().any(is_unprintable));
            prop_assert_eq!(
                serde_json::from_str::<serde_json::Value>(&printable).expect("JSON"),
                serde_json::from_str::<serde_json::Value>(&json).expect("JSON")
            );
        }
    }
}
