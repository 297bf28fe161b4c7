//! Limits of what people can store, and the errors beyond them.

use chat_protocol::FieldError;

/// Maximum characters of a name.
pub(crate) const MAX_NAME_LENGTH: usize = 200;
/// Maximum characters of an address or a path.
pub(crate) const MAX_URL_LENGTH: usize = 2000;
/// Maximum entries of a list, such as the allowed origins of a site.
pub(crate) const MAX_LIST_LENGTH: usize = 100;

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
