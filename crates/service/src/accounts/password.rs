//! Which passwords are accepted.

use std::collections::HashSet;

use unicode_normalization::UnicodeNormalization;

use crate::error::ApiError;

/// Minimum length of a password, in characters.
const MIN_CHARS: usize = 10;
/// Maximum length of a password, in characters.
const MAX_CHARS: usize = 1000;
/// Minimum number of different characters.
const MIN_DISTINCT_CHARS: usize = 5;

/// The words that most of the worst passwords consist of, before and after which people add digits. Shorter
/// passwords are refused anyway.
const WORST: [&str; 40] = [
    "abcdefghij",
    "administrator",
    "basketball",
    "changeme",
    "computer",
    "dragon",
    "football",
    "iloveyou",
    "internet",
    "letmein",
    "liverpool",
    "login",
    "manchester",
    "master",
    "michelle",
    "monkey",
    "mustang",
    "operator",
    "passw0rd",
    "password",
    "passwort",
    "princess",
    "qazwsx",
    "qwerty",
    "qwertyuiop",
    "qwertz",
    "qwertzuiop",
    "secret",
    "shadow",
    "starwars",
    "summer",
    "sunshine",
    "superman",
    "supersecret",
    "support",
    "trustno",
    "welcome",
    "whatever",
    "winter",
    "zxcvbnm",
];

/// A password as it is hashed: normalised, so that it is the same from every keyboard.
pub(super) fn normalize(password: &str) -> String {
    // The rest of a password that is too long to be valid makes no difference.
    password.chars().take(MAX_CHARS + 1).nfkc().collect()
}

/// Accepts a new password. `context` is what an attacker tries first: the e-mail address and names.
pub(super) fn accept(password: &str, context: &[&str]) -> Result<String, ApiError> {
    let password = normalize(password);
    let length = password.chars().count();
    let refused = |reason: String| Err(ApiError::InvalidRequest(format!("invalid password: {reason}.")));
    if length < MIN_CHARS {
        return refused(format!("expected at least {MIN_CHARS} characters, got {length}"));
    }
    if length > MAX_CHARS {
        return refused(format!("expected at most {MAX_CHARS} characters"));
    }
    let folded = password.to_lowercase();
    if is_simple(&folded)
        || WORST.contains(&core(&folded))
        || context.iter().any(|word| repeats(&folded, word))
    {
        return refused(
            "expected one that others do not guess: use several words, or a password manager".to_owned(),
        );
    }
    Ok(password)
}

/// Returns whether a password has few different characters, or runs along the alphabet or the digits.
fn is_simple(password: &str) -> bool {
    let chars: Vec<u32> = password.chars().map(u32::from).collect();
    let distinct: HashSet<u32> = chars.iter().copied().collect();
    let steps: Vec<i64> = chars.windows(2).map(|pair| i64::from(pair[1]) - i64::from(pair[0])).collect();
    // 9 is followed by 0.
    let runs = |step: i64| steps.iter().filter(|found| **found == step || **found == -9 * step).count();
    distinct.len() < MIN_DISTINCT_CHARS || runs(1).max(runs(-1)) * 4 >= steps.len() * 3
}

/// Returns a password without what people add around a word. A word that is repeated counts once.
fn core(password: &str) -> &str {
    let word = password.trim_matches(|character: char| !character.is_alphabetic());
    let middle = word.len() / 2;
    match word.split_at_checked(middle) {
        Some((first, second)) if first == second => first,
        _ => word,
    }
}

/// Returns whether a password is a word of its context, or a part of that between `@`, dots and spaces, with
/// no more than what people add around it.
fn repeats(password: &str, word: &str) -> bool {
    let folded = normalize(word).to_lowercase();
    let bare = core(password);
    let parts = folded.split(['@', '.', ' ', '-', '+', '_']);
    let joined = folded.replace(' ', "");
    [folded.as_str(), joined.as_str()]
        .into_iter()
        .chain(parts)
        .filter(|part| part.chars().count() > 2)
        .any(|part| password == part || bare == core(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(password: &str) -> bool {
        accept(password, &["ada.lovelace@example.com", "Ada Lovelace", "Harbour Coffee"]).is_ok()
    }

    #[test]
    fn accepts_long_passwords_in_every_script() {
        for password in [
            "correct horse battery staple",
            "kT9#vQ2!xR7$",
            "пароль из пяти слов",
            "密码很长而且没有人猜到它",
            "1029384756102938x",
            "password of my grandmother",
            "harbour coffee with ada",
        ] {
            assert!(accepted(password), "{password}");
        }
        assert!(accepted(&"four score and 7 years".repeat(45)));
    }

    #[test]
    fn refuses_passwords_that_are_guessed_first() {
        for password in [
            "",
            "short",
            "123456789",
            "1234567890",
            "0987654321",
            "1111111111",
            "aaaaaaaaaaab",
            "ababababab",
            "abcdefghijklm",
            "password123",
            "Password2024!",
            "passwordpassword",
            "QWERTYUIOP",
            "qwertzuiop1",
            "!!!welcome!!!",
            "changeme123",
            "ada.lovelace@example.com",
            "Ada.Lovelace@Example.com",
            "lovelace1843",
            "harbour coffee",
            "HarbourCoffee1",
            "supersecret",
        ] {
            assert!(!accepted(password), "{password}");
        }
        assert!(!accepted(&"four score and 7 years".repeat(46)));
        assert!(!accepted(&"\u{fdfa}".repeat(1000)), "18 characters each, once normalised");
        assert!(!accepted(&"x".repeat(1_000_000)));
    }
}
