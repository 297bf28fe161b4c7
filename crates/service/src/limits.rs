//! Limits that several modules share: of what people can store, with the errors beyond them, and of slow
//! work.

use chat_protocol::FieldError;

/// Maximum characters of a name.
pub(crate) const MAX_NAME_LENGTH: usize = 200;
/// Maximum characters of an address or a path.
pub(crate) const MAX_URL_LENGTH: usize = 2000;
/// Maximum entries of a list, such as the allowed origins of a site.
pub(crate) const MAX_LIST_LENGTH: usize = 100;

/// Returns how much work that takes a whole processor may be done at a time: at most `max`, and on few
/// processors less, so that half of them stay free for visitors' messages.
pub(crate) fn parallel_work(max: usize) -> usize {
    std::thread::available_parallelism().map_or(1, |processors| (processors.get() / 2).clamp(1, max))
}

/// Maximum characters of a search.
const MAX_SEARCH_LENGTH: usize = 200;

/// Checks the words of a search. SQLite refuses long patterns with an error of its own.
pub(crate) fn check_search(words: Option<&str>) -> Result<(), FieldError> {
    if words.is_some_and(|words| words.chars().count() > MAX_SEARCH_LENGTH) {
        return Err(FieldError::new("q", format!("must have at most {MAX_SEARCH_LENGTH} characters")));
    }
    Ok(())
}

/// Returns a name without surrounding spaces; an error if it is empty or too long, or has control characters.
pub(crate) fn check_name(field: &'static str, name: &str) -> Result<String, FieldError> {
    check_text(field, name, 1, MAX_NAME_LENGTH)
}

/// Returns a text of one line without surrounding spaces, of `min` to `max` characters.
pub(crate) fn check_text(
    field: &'static str,
    text: &str,
    min: usize,
    max: usize,
) -> Result<String, FieldError> {
    let text = text.trim();
    let length = text.chars().count();
    if length < min || length > max || text.chars().any(char::is_control) {
        return Err(FieldError::new(field, format!("must have {min} to {max} characters on one line")));
    }
    Ok(text.to_owned())
}
