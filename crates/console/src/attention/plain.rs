//! Text of visitors for places that are not ours: titles and notifications of the operating system.

/// Returns a text in one line without characters that are not seen or that change the order of others, so
/// that nobody's name can look like a part of the interface. Longer texts end with an ellipsis.
pub fn plain(text: &str, max_characters: usize) -> String {
    let mut plain = String::new();
    let mut count = 0;
    for character in text.trim_end().chars() {
        if is_hidden(character) {
            continue;
        }
        let space = character.is_whitespace() || character.is_control();
        if space && (plain.is_empty() || plain.ends_with(' ')) {
            continue;
        }
        if count == max_characters {
            plain.truncate(plain.trim_end().len());
            plain.push('…');
            return plain;
        }
        plain.push(if space { ' ' } else { character });
        count += 1;
    }
    plain.truncate(plain.trim_end().len());
    plain
}

/// Returns whether a character is invisible or changes the direction of text. Joiners are kept: Persian,
/// Hindi and emoji need them.
fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_one_line() {
        assert_eq!(plain("  Ann\n\n\tLee \u{2028} ", 40), "Ann Lee");
        assert_eq!(plain("Ann\0Lee\u{7f}", 40), "Ann Lee");
    }

    #[test]
    fn nothing_turns_the_order_of_the_text_around() {
        assert_eq!(plain("\u{202e}evil\u{2066}\u{200b}\u{feff}", 40), "evil");
        assert_eq!(plain("\u{200f}\u{61c}\u{200b}", 40), "");
    }

    #[test]
    fn languages_and_emoji_keep_what_they_need() {
        for name in ["نیم\u{200c}فاصله", "👩\u{200d}🚀", "Zoë", "王芳"] {
            assert_eq!(plain(name, 40), name);
        }
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(plain("Ann Lee", 4), "Ann…");
        assert_eq!(plain("Ann Lee", 7), "Ann Lee");
        assert_eq!(plain("Ann Lee ", 7), "Ann Lee");
        assert_eq!(plain("x", 0), "…");
    }
}
