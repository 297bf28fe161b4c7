//! Patterns for `LIKE … ESCAPE '!'`.

/// Returns the pattern of texts that contain a text; empty for an empty one.
pub(crate) fn containing(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!("%{}%", escaped(text)) }
}

/// Returns the pattern of texts that begin with a text; empty for an empty one.
pub(crate) fn beginning_with(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!("{}%", escaped(text)) }
}

fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for character in text.chars() {
        // PostgreSQL stores no NUL, and refuses to look for one.
        if character == '\0' {
            continue;
        }
        if ['%', '_', '!'].contains(&character) {
            pattern.push('!');
        }
        pattern.push(character);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_of_a_text_match_only_themselves() {
        assert_eq!(containing(" 100% sure_! "), "%100!% sure!_!!%");
        assert_eq!(beginning_with("site."), "site.%");
        assert_eq!((containing("  "), beginning_with("")), (String::new(), String::new()));
    }
}
