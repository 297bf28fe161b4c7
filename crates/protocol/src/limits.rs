//! The contract's limits (section 8).

use std::ops::RangeInclusive;

/// Characters of a visitor's message. The contract does not define a character: see [`message_length`].
pub const MESSAGE_LENGTH: RangeInclusive<usize> = 1..=4000;

/// Events in one request.
pub const EVENTS: RangeInclusive<usize> = 1..=50;

/// Characters of an `Idempotency-Key`. The contract specifies it for `POST /events`; it is applied
/// everywhere.
pub const KEY_LENGTH: RangeInclusive<usize> = 8..=160;

/// Items on one page of a content sync. The contract specifies no number (8); this one keeps a page of
/// ordinary articles below a megabyte.
pub const CONTENT_ITEMS: RangeInclusive<usize> = 1..=100;

/// Maximum characters of a language tag. The contract specifies no number (8); this is the minimum that BCP
/// 47 (4.4.1) requires implementations to support.
pub const LANGUAGE_TAG_LENGTH: usize = 35;

/// Maximum number of a site's supported locales (4.2). The contract specifies no number (8).
pub const SUPPORTED_LOCALES: usize = 200;

/// Returns the length of a message in UTF-16 code units, as JavaScript counts it. A service that counts code
/// points or graphemes never counts more.
pub fn message_length(text: &str) -> usize {
    text.encode_utf16().count()
}
