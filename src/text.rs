//! Texts: the interface's own, and times in the visitor's language.

pub mod emoji;
mod intl;
pub mod strings;
pub mod time;

/// Removes and returns the text before the next `end`, and removes `end` itself.
pub fn take<'text>(rest: &mut &'text str, end: u8) -> &'text str {
    let at = rest.bytes().position(|byte| byte == end).unwrap_or(rest.len());
    let taken = rest.get(..at).unwrap_or_default();
    *rest = rest.get(at + 1..).unwrap_or_default();
    taken
}
