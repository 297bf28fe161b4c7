//! The e-mail address by which an operator signs in.

use unicode_normalization::UnicodeNormalization;

use crate::error::ApiError;

/// Maximum length of an address, in bytes (RFC 5321, 4.5.3.1.3, without the angle brackets).
const MAX_BYTES: usize = 254;

/// Parses an address that SMTP can deliver to, and normalises it: without surrounding spaces, composed (NFC),
/// in lower case.
///
/// Compatibility characters are kept, so that no address turns into that of somebody else.
pub(crate) fn parse_email(text: &str) -> Result<String, ApiError> {
    normalize(text).ok_or_else(|| {
        ApiError::InvalidRequest("invalid email: expected an address such as name@example.com.".to_owned())
    })
}

fn normalize(text: &str) -> Option<String> {
    let text = text.trim();
    if text.len() > MAX_BYTES || text.chars().any(char::is_control) {
        return None;
    }
    let email: String = text.nfc().flat_map(char::to_lowercase).nfc().collect();
    // Lower case may be longer.
    (email.len() <= MAX_BYTES && email.parse::<lettre::Address>().is_ok()).then_some(email)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn accepts_every_address_that_smtp_can_deliver_to() {
        for (given, expected) in [
            ("ada@example.com", "ada@example.com"),
            ("  Ada@Example.COM\n", "ada@example.com"),
            ("ada+chat@example.com", "ada+chat@example.com"),
            ("o'neil_{x}@example.com", "o'neil_{x}@example.com"),
            ("\"ada lovelace\"@example.com", "\"ada lovelace\"@example.com"),
            ("ada@[192.0.2.1]", "ada@[192.0.2.1]"),
            ("JÜRGEN@Müller.example", "jürgen@müller.example"),
            ("ju\u{308}rgen@example.com", "jürgen@example.com"),
            ("用户@例え.jp", "用户@例え.jp"),
        ] {
            assert_eq!(normalize(given).as_deref(), Some(expected), "{given}");
        }
    }

    #[test]
    fn refuses_what_is_no_address_too_long_or_more_than_one() {
        let long = format!("{}@example.com", "a".repeat(65));
        let longer = format!("a@{}.com", "b.".repeat(130));
        let huge = "a@".repeat(1_000_000);
        for text in [
            "",
            "ada",
            "@example.com",
            "ada@",
            "ada@@example.com",
            "a,b@example.com",
            "ada@example.com, eve@example.com",
            "ada@example.com\r\nBcc: eve@example.com",
            "\"a\r\nb\"@example.com",
            "ada\0@example.com",
            "ada@exa mple.com",
            "<ada@example.com>",
            &long,
            &longer,
            &huge,
        ] {
            assert_eq!(normalize(text), None, "{}", text.chars().take(80).collect::<String>());
        }
    }

    #[test]
    fn keeps_addresses_apart_that_only_look_the_same() {
        assert_ne!(normalize("ada@example.com"), normalize("аda@example.com"), "a Cyrillic letter");
        assert_ne!(normalize("ada@example.com"), normalize("ａda@example.com"), "a full-width letter");
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(text in "\\PC{0,20}@\\PC{0,20}") {
            if let Some(email) = normalize(&text) {
                prop_assert_eq!(normalize(&email), Some(email));
            }
        }
    }
}
