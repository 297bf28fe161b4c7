//! Results on standard output.

use std::fmt::Display;
use std::io::{self, Write};

use chat_connector::printable::{printable_json, printable_lines};

/// Prints a result as JSON or as text. A closed pipe is ignored: the work is done.
pub(crate) fn say(json: bool, value: &impl Display, words: impl FnOnce() -> String) {
    let text = if json { printable_json(&value.to_string()) } else { printable_lines(&words()) };
    let _ = writeln!(io::stdout(), "{text}");
}

/// Formats a count with its noun.
pub(crate) fn count(number: u64, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}
