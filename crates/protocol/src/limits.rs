//! The contract's limits (section 8).

use std::ops::RangeInclusive;

/// Characters of a visitor's message. What a character is the contract does not say: see [`message_length`].
pub const MESSAGE_LENGTH: RangeInclusive<usize> = 1..=4000;

/// Events of one request.
pub const EVENTS: RangeInclusive<usize> = 1..=50;

/// Characters of an `Idempotency-Key`. Given for `POST /events`; kept everywhere.
pub const KEY_LENGTH: RangeInclusive<usize> = 8..=160;

/// Items of one page of a content sync. The contract shows no number (8); this one keeps a page of ordinary articles
/// below a megabyte.
pub const CONTENT_ITEMS: RangeInclusive<usize> = 1..=100;

/// Maximum characters of a language tag. The contract shows no number (8); this one is what BCP 47 (4.4.1) tells
/// implementations to have room for.
pub const LANGUAGE_TAG_LENGTH: usize = 35;

/// Maximum number of locales that a site says it supports (4.2). The contract shows no number (8); no site has more.
pub const SUPPORTED_LOCALES: usize = 200;

/// The length of a message as the strictest reading of 'character' counts it: UTF-16 code units, as JavaScript does.
/// No service that counts code points or graphemes counts more.
pub fn message_length(text: &str) -> usize {
    text.encode_utf16().count()
}
